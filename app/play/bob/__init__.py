"""Band of Brothers in play: a module a chapter of its rules."""
