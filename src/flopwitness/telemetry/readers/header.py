"""The header of a delimited file: names in lower case, each of them once."""

from collections import Counter

from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.reading import Context, Head


def header_of(context: Context, separator: str = ",") -> tuple[str, ...]:
    """Return the names in a file's first line, lower case, without blanks and quotes around them.

    Raises
    ------
    BadInputError
        When a name stands there twice: nobody can say which column is meant.
    """
    names = Head.of(context.input.head()).header(separator)
    n_of = Counter(name for name in names if name)
    twice = next((name for name, n_columns in n_of.items() if n_columns > 1), None)
    if twice is not None:
        raise context.refused("line 1", expected=f"one column {shown(twice)}", got=f"{n_of[twice]} of them")
    return names
