"""Questions that only D-Day at Peleliu asks of a still position."""
