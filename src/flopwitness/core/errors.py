"""Errors for misuse. What samples cannot settle is a value (an Outcome, a bound), never an error."""


class FlopWitnessError(Exception):
    """Root of every error that a user can cause; its text is one line and names the thing."""


class InvalidNounError(FlopWitnessError):
    """A value that breaks the promise of its noun, such as a Trace whose time runs back."""


class BadInputError(FlopWitnessError):
    """Something from outside that cannot be used as it is.

    Parameters
    ----------
    source : str
        The file (or address) it came from.
    where : str
        The line, column or field; empty where the whole source is meant.
    expected, got : str
        What would have been right, and what came.
    """

    def __init__(self, source: str, where: str, *, expected: str, got: str) -> None:
        self.source = source
        self.where = where
        self.expected = expected
        self.got = got
        place = f"{source}: {where}" if where else source
        super().__init__(" ".join(f"{place}: expected {expected}, got {got}".split()))


class CalibrationMismatchError(FlopWitnessError):
    """A calibration that was not made for this chip, these features or this version."""
