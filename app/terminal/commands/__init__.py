"""Commands by subject; a module's `COMMANDS` are added to `sightline`."""
