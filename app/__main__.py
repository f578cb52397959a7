"""`python -m app`: the command line, for the launcher."""

from app.terminal.cli import main

main()
