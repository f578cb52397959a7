"""Demo maps of our own making."""
