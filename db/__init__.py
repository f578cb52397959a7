"""The nouns of Sightline: tables, the engine, the private cluster, migrations, ruleset data."""

__version__ = "0.9.1"


class SightlineError(Exception):
    """Something a user can mend: the message says what is wrong, the remedy what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message
