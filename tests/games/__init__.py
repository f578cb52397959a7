"""Games that were played through the API, kept as records; and the player who played them."""
