"""Prometheus' text format 0.0.4 and OpenMetrics 1.0: families of samples to lines.

Sources: prometheus.io/docs/instrumenting/exposition_formats and the OpenMetrics specification. Written out
here because a thousand GPUs are 30,000 lines a scrape, for which a general library takes many times as long.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
"""Media types of the two formats."""

GAUGE, COUNTER, INFO = "gauge", "counter", "info"
SUFFIXES = {GAUGE: "", COUNTER: "_total", INFO: "_info"}
"""What a sample's name has behind its family's."""

ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})

Sample = tuple[str, float]
"""Labels as ``labels`` writes them, and the value."""


@dataclass(frozen=True, slots=True)
class Family:
    """Samples of one name, as two columns: families of many GPUs share their labels.

    Attributes
    ----------
    name : str
        Without the suffix of its kind.
    kind : str
        ``"gauge"``, ``"counter"`` or ``"info"``.
    meaning : str
        For people.
    labels : sequence of str
        As ``labels`` writes them; none twice.
    values : sequence of float
        One each; NaN is not known.
    """

    name: str
    kind: str
    meaning: str
    labels: Sequence[str]
    values: Sequence[float]


def gauge(name: str, meaning: str, samples: Iterable[Sample]) -> Family:
    """Return a family of values that go up and down."""
    return _family(name, GAUGE, meaning, samples)


def counter(name: str, meaning: str, samples: Iterable[Sample]) -> Family:
    """Return a family of values that only grow; the name comes without ``_total``."""
    return _family(name, COUNTER, meaning, samples)


def info(name: str, meaning: str, labelled: Iterable[str]) -> Family:
    """Return a family of labels alone, each with the value 1; the name comes without ``_info``."""
    return _family(name, INFO, meaning, ((each, 1.0) for each in labelled))


def _family(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> Family:
    columns = tuple(zip(*samples, strict=True)) or ((), ())
    return Family(name, kind, meaning, *columns)


def labels(**pairs: str) -> str:
    r"""Return labels as they stand between braces, escaped.

    Examples
    --------
    >>> print(labels(UUID="GPU-a", name='a "b"\\c'))
    UUID="GPU-a",name="a \"b\"\\c"
    """
    return ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in pairs.items())


def number(value: float) -> str:
    """Return a value as both formats write it.

    Examples
    --------
    >>> number(0.5), number(float("inf")), number(1e25)
    ('0.5', '+Inf', '1e+25')
    """
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))


def rendered(families: Iterable[Family], *, openmetrics: bool = False) -> bytes:
    """Return an exposition; a family without a known value is left out.

    Examples
    --------
    >>> print(rendered([counter("flop", "Work.", [('bound="low"', 2.0)])]).decode(), end="")
    # HELP flop_total Work.
    # TYPE flop_total counter
    flop_total{bound="low"} 2.0
    """
    lines = [line for family in families for line in _lines(family, openmetrics=openmetrics)]
    if openmetrics:
        lines.append("# EOF")
    return ("\n".join(lines) + "\n").encode(errors="replace")


def _lines(family: Family, *, openmetrics: bool) -> Iterator[str]:
    known, texts = _known(family)
    if not known:
        return
    name = family.name + SUFFIXES[family.kind]
    stated = family.name if openmetrics else name
    kind = GAUGE if family.kind == INFO and not openmetrics else family.kind
    yield f"# HELP {stated} {family.meaning.translate(ESCAPES if openmetrics else HELP_ESCAPES)}"
    yield f"# TYPE {stated} {kind}"
    for label, text in zip(known, texts, strict=True):
        yield f"{name}{{{label}}} {text}" if label else f"{name} {text}"


def _known(family: Family) -> tuple[Sequence[str], list[str]]:
    """Return the labels and texts of what is known; a finite sum says that all of it is."""
    values = list(map(float, family.values))
    if isfinite(sum(values)):
        return family.labels, list(map(repr, values))
    known = [place for place, value in enumerate(values) if not isnan(value)]
    return [family.labels[each] for each in known], [number(values[each]) for each in known]
