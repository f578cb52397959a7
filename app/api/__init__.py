"""The JSON API by subject; a module's `api` is an APIBlueprint."""
