"""Faults on purpose: what is killed, stopped, filled up or cut off, and what must hold all the same."""
