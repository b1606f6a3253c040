"""The command that made a log, where it stands in the log's first lines: ``> nvidia-smi dmon -d 5``."""

import shlex
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.counted import counted_instants
from flopwitness.telemetry.readers.reading import Context, Head

LOOKED_AT_LINES = 5
LONGEST_COMMAND = 2000


def echoed_words(head: Head, tool: str) -> tuple[str, ...]:
    """Return the words of the command that a log begins with, behind the tool's name; none where it does not.

    Examples
    --------
    >>> echoed_words(Head.of(b"> nvidia-smi dmon -i 3 -d 5"), "nvidia-smi dmon")
    ('-i', '3', '-d', '5')
    """
    for line in head.lines[:LOOKED_AT_LINES]:
        plain = " ".join(line[:LONGEST_COMMAND].lstrip(">$# ").split())
        if plain.startswith(tool):
            try:
                return tuple(shlex.split(plain.removeprefix(tool)))
            except ValueError:  # a quotation mark without its second
                return tuple(plain.removeprefix(tool).split())
    return ()


def option(words: tuple[str, ...], *names: str) -> str | None:
    """Return the value of an option, written ``-d 5``, ``-d5``, ``--delay 5`` or ``--delay=5``.

    Examples
    --------
    >>> option(("-i", "3", "--delay=5"), "-d", "--delay"), option(("-d",), "-d")
    ('5', None)
    """
    for place, word in enumerate(words):
        for name in names:
            if word == name:
                return words[place + 1] if place + 1 < len(words) else None
            joint = f"{name}=" if name.startswith("--") else name
            if word.startswith(joint) and (not name.startswith("--") or "=" in word):
                return word.removeprefix(joint)
    return None


def timed_rounds(
    context: Context,
    rounds: NDArray[np.int64],
    tool: str,
    *,
    stated_seconds: float | None,
    usual_seconds: float,
) -> NDArray[np.int64]:
    """Return the instants of rounds without stamps.

    Parameters
    ----------
    context : Context
        Holds when the first round was, and the period where the user gave one.
    rounds : ndarray of shape (n_rows,), int64
        From 0 for the first of the log.
    tool : str
        What wrote it.
    stated_seconds : float or None
        Period that the echoed command asked for.
    usual_seconds : float
        What the tool does unasked.

    Raises
    ------
    BadInputError
        When the user did not say when the log starts.
    """
    period = context.asked.period_seconds or stated_seconds or usual_seconds
    if context.asked.period_seconds is None:
        whose = "the command in the log asks for it" if stated_seconds else f"{tool} does so unasked"
        message = f"rows were taken to be {period:g} s apart: {whose}; give --period where that is wrong"
        severity = Severity.NOTE if stated_seconds else Severity.WARNING
        context.notes.say(Finding("period-assumed", message, severity))
    told = replace(context, asked=replace(context.asked, period_seconds=period))
    return counted_instants(told, rounds, tool)


def seconds_of(text: str | None, *, divisor: float = 1.0) -> float | None:
    """Return an option's value as seconds; None where it is no positive number of a sane size."""
    if text is None or not text.replace(".", "", 1).isdecimal() or not text.isascii() or len(text) > 9:
        return None
    return float(text) / divisor or None
