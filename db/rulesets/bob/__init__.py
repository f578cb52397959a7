"""The data of Band of Brothers."""
