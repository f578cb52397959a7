"""Procedures of Combat Commander: Pacific."""
