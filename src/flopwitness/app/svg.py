"""Figures as inline SVG that follows the page: stand-in colours become variables of its style sheet."""

import io
import re
import warnings
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from flopwitness.app.report.palette import VARIABLES

NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}

PIXELS_PER_POINT = 1.5
"""How large a point of the drawing is on a wide page: letters of 7 points become 10.5 pixels."""

N_DECIMALS = 2
"""Kept of coordinates: a hundredth of a point cannot be seen."""

DECIMAL = re.compile(r"-?\d+\.\d{3,}")
FONT_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
LOCAL_REFERENCE = re.compile(r"(?<=url\(#)")
STAND_IN = re.compile("|".join(VARIABLES))
GEOMETRY = ("d", "x", "y", "width", "height", "transform")


def inline_svg(figure: Figure) -> str:
    """Return a figure as one ``svg`` element for a page of HTML: no declaration, no address, no date.

    Names inside start with the figure's ``gid``, so that several figures live on one page; its label is what
    a screen reader says. Links in it stay on the page. The same figure gives the same text.

    Parameters
    ----------
    figure : Figure
        Drawn in the stand-in colours of ``flopwitness.app.report.palette``.
    """
    root = ET.fromstring(_drawn(figure))  # noqa: S314 - written here, not from outside
    prefix = str(figure.get_gid() or "figure")
    idents = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    for parent in root.iter():
        for child in [child for child in parent if _local(child.tag) in ("metadata", "style")]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {_local(name): value for name, value in element.attrib.items()}
        element.attrib = {
            name: _value(name, value, prefix, idents)
            for name, value in attributes.items()
            if name != "target"
        }
        if element.attrib.get("fill") in VARIABLES:  # of a hatch: only a style may hold a variable
            element.attrib["style"] = f"fill: {VARIABLES[element.attrib.pop('fill')]}"
        if element.tag == "a":
            element.attrib["tabindex"] = "-1"  # the table holds the same rows for a keyboard
    _dress(root, str(figure.get_label()))
    return ET.tostring(root, encoding="unicode")


def _drawn(figure: Figure) -> str:
    buffer = io.StringIO()
    # Letters stay letters, and names inside the drawing depend on nothing but the drawing.
    settings = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "flopwitness"})
    with settings, warnings.catch_warnings():
        # The page's own fonts draw the letters; those that measure them here need not know all.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="svg", transparent=True, metadata=NO_METADATA)
    return buffer.getvalue()


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _value(name: str, value: str, prefix: str, idents: set[str]) -> str:
    """Return an attribute as the page needs it."""
    if name == "id":
        return f"{prefix}-{value}"
    if name == "href" and value[1:] in idents:
        return f"#{prefix}-{value[1:]}"
    if name == "style":
        value = STAND_IN.sub(lambda found: VARIABLES[found[0]], FONT_FAMILY.sub("", value))
    elif name in GEOMETRY:
        value = DECIMAL.sub(lambda found: _rounded(found[0]), " ".join(value.split()))
    return LOCAL_REFERENCE.sub(f"{prefix}-", value)


def _rounded(number: str) -> str:
    return f"{float(number):.{N_DECIMALS}f}".rstrip("0").rstrip(".")


def _dress(root: ET.Element, label: str) -> None:
    """Give the element its name for people and its largest width; it shrinks with the page."""
    _, _, width_points, _ = root.attrib["viewBox"].split()
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": label,
        "style": f"width: {float(width_points) * PIXELS_PER_POINT:.0f}px",
    }
