"""Pages by subject; a module's `pages` is a Blueprint."""
