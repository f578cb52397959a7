"""The data of Combat Commander: Pacific."""
