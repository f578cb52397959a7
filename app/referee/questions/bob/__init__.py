"""Questions that only Band of Brothers has, or asks in its own form: a module a chapter."""
