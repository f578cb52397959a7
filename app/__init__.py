"""The doors of Sightline: command line, JSON API, pages, and the engine that rules."""
