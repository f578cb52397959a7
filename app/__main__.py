"""`python -m app`: the command line, for the launcher."""

from app.cli import main

main()
