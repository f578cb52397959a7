"""The data of Forgotten Pacific Battles."""
