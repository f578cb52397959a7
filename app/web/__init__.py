"""The door for browsers and programs: pages, JSON API, templates and static files."""
