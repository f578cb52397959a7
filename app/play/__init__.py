"""Play: what happens when something is done, and the games that are made of it."""
