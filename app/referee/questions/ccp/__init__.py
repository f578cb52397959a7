"""Questions about a still position that only Combat Commander: Pacific has."""
