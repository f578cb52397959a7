"""Forgotten Pacific Battles in play: a module a chapter of its rules."""
