"""Colours as words: figures are drawn in stand-ins that the page replaces by its own, light or dark."""

from collections.abc import Mapping
from types import MappingProxyType

INK = "#010101"
"""Text and axes."""

MUTED = "#010102"
"""What stands back: grid labels, the experiment's bars."""

GRID = "#010103"
"""Grid lines."""

BAND = "#010104"
"""Wedges and sessions behind the data."""

PAPER = "#010105"
"""The page itself, around dots that overlap."""

SERIES = ("#010201", "#010202", "#010203", "#010204", "#010205", "#010206", "#010207", "#010208")
"""Series, told apart by marker or line as well."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
"""One a series; no two alike without colour."""

LINES: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (4, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
)
"""Dash patterns: whole, dashed, dotted, dash-dotted."""

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        INK: "var(--ink)",
        MUTED: "var(--muted)",
        GRID: "var(--grid)",
        BAND: "var(--band)",
        PAPER: "var(--paper)",
        **{colour: f"var(--c{number})" for number, colour in enumerate(SERIES, start=1)},
    }
)
"""What each stand-in becomes on the page."""

SERIES_NAMES = tuple(f"c{number}" for number in range(1, len(SERIES) + 1))

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#ffffff",
        "ink": "#1b1f24",
        "muted": "#626a73",
        "grid": "#dde1e6",
        "band": "#8795a5",
        **dict(
            zip(
                SERIES_NAMES,
                ("#215abc", "#f4381c", "#005d48", "#bf6aa0", "#609f37", "#2f9c6a", "#951814", "#740267"),
                strict=True,
            )
        ),
    }
)
"""Colours on a light page.

Found by moving Okabe and Ito's palette (2008) until the closest pair was furthest apart under the simulation
of protan, deutan and tritan vision by Machado, Oliveira and Fernandes (2009), each with a contrast of
at least 3 on the page (WCAG 2.2, 1.4.11).
"""

DARK: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#14171c",
        "ink": "#e8ebef",
        "muted": "#a1aab5",
        "grid": "#333a43",
        "band": "#8795a5",
        **dict(
            zip(
                SERIES_NAMES,
                ("#7dd7ff", "#cc7b05", "#139b94", "#e3b798", "#9cf170", "#869aff", "#8262ff", "#e14949"),
                strict=True,
            )
        ),
    }
)
"""Colours on a dark page, found the same way."""


def css_variables(theme: Mapping[str, str]) -> str:
    """Return the declarations of a theme.

    Examples
    --------
    >>> css_variables({"ink": "#000000", "c1": "#ffffff"})
    '--ink: #000000; --c1: #ffffff;'
    """
    return " ".join(f"--{name}: {colour};" for name, colour in theme.items())
