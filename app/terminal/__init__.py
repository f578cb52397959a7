"""The door for people at a terminal: the command line."""
