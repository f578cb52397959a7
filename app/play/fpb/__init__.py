"""Forgotten Pacific Battles, played: one module a chapter of its rules."""
