"""Questions about a still position that only Band of Brothers asks."""
