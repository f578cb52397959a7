"""Campaigns in and out: files of an archivist, chronicles, tables, and what other programs read."""
