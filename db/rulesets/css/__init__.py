"""The data of Guam: Return to Glory."""
