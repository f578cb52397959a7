"""The data of D-Day at Peleliu."""
