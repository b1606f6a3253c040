"""Colours can be read on both pages and told apart by every reader, and never by colour alone."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from flopwitness.app.report.palette import DARK, LIGHT, LINES, MARKERS, SERIES, SERIES_NAMES, VARIABLES

VISION = {
    "usual": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""Machado, Oliveira and Fernandes, 2009, at full severity, on linear RGB."""

XYZ_OF_RGB = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
JUST_APART = 10.0
"""Distance in CIE 1976 L*a*b* that a glance sees; 2.3 is the least that anybody can."""


def linear(colour: str) -> NDArray[np.float64]:
    """Return linear RGB of a hexadecimal colour (IEC 61966-2-1)."""
    value = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return CIE 1976 L*a*b* of linear RGB."""
    ratio = XYZ_OF_RGB @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    """Return the contrast of WCAG 2.2."""
    low, high = sorted(float(XYZ_OF_RGB[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("names", "least"), [(("ink", "muted"), 4.5), (SERIES_NAMES, 3.0)], ids=["text", "series"]
)
def test_colours_can_be_read_on_their_page(theme: Mapping[str, str], names: tuple[str, ...], least: float):
    """WCAG 2.2: text at 4.5 to 1, what a figure needs at 3 to 1."""
    too_faint = [name for name in names if contrast(theme[name], theme["paper"]) < least]

    assert too_faint == []


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_series_are_apart_for_every_eye(theme: Mapping[str, str], vision: str):
    """No two series look alike, with or without all three kinds of cones."""
    seen = [lab(VISION[vision] @ linear(theme[name])) for name in SERIES_NAMES]

    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) > JUST_APART


def test_series_are_apart_without_colour():
    """Each has a marker of its own; neighbouring lines have other dashes."""
    assert len(set(MARKERS)) == len(SERIES)
    assert len(set(LINES)) == len(LINES)


def test_both_themes_have_the_same_names():
    """A figure is drawn once for both."""
    names = {variable.removeprefix("var(--").removesuffix(")") for variable in VARIABLES.values()}

    assert set(LIGHT) == set(DARK) == names
