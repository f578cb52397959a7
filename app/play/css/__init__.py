"""Procedures of Guam: Return to Glory."""
