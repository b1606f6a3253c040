"""Numbers, instants and names as people read them. FLOP is a count, so no prefix stands for it alone."""

from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor, isfinite, isnan, log10

from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol

NOT_KNOWN = "not known"
UNBOUNDED = "unbounded"
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
NANOSECONDS_PER_MILLISECOND = 1_000_000
DATE = len("2026-11-30 ")
NO_BREAK = "\u00a0"
MINUS = "\u2212"

TARGETS = {
    Target.ALGORITHMIC: "algorithmic FLOP (attention counted in full, as PyTorch's FlopCounterMode does)",
    Target.EXECUTED: "executed FLOP (what the hardware did; a causal kernel's skipped half left out)",
}
"""What each target counts."""

PROTOCOLS = {
    Protocol.RANDOM: "A random third of the workloads held out; siblings of their family stay in calibration",
    Protocol.ONE_TRACE: "A random third of the workloads held out, one random trace of each workload a split",
    Protocol.FOLDS: "Folds of whole workloads, each held out once a repeat",
    Protocol.FAMILY: "Each family of workloads held out once: shapes unlike any calibrated on",
    Protocol.DATASET: "Each capture held out once",
    Protocol.FROZEN: "Calibrated once, then asked about other data",
}
"""Who each protocol holds out."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A power of ten that a table or an axis counts FLOP in, so that its cells stay short.

    Examples
    --------
    >>> scale = scale_of([3.646e15, 1.4e15])
    >>> scale.unit.split(), scale.text(3.646e15), scale.text(None)
    (['10¹⁵', 'FLOP'], '3.646', 'not known')
    """

    exponent: int

    @property
    def unit(self) -> str:
        """What a cell counts."""
        return f"{power_text(self.exponent)}{NO_BREAK}FLOP" if self.exponent else "FLOP"

    def text(self, flop: float | None) -> str:
        """Return a count in this unit, four digits."""
        if flop is None or isnan(flop):
            return NOT_KNOWN
        if not isfinite(flop):
            return UNBOUNDED
        return f"{flop / 10.0**self.exponent:#.4g}".rstrip(".").replace("-", MINUS)


def scale_of(counts_flop: list[float]) -> Scale:
    """Return the largest multiple of three below the largest finite count; 0 where there is none."""
    finite = [flop for flop in counts_flop if isfinite(flop) and flop > 0]
    return Scale(3 * floor(log10(max(finite)) / 3)) if finite else Scale(0)


def power_text(exponent: int) -> str:
    """Return a power of ten.

    Examples
    --------
    >>> power_text(15), power_text(-3)
    ('10¹⁵', '10⁻³')
    """
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def percent_text(ratio: float | None, *, is_signed: bool = False) -> str:
    r"""Return a share or a relative error as a percentage with one decimal.

    Examples
    --------
    >>> percent_text(0.1042), percent_text(-0.05, is_signed=True), percent_text(float("inf"))
    ('10.4\xa0%', '−5.0\xa0%', 'unbounded')
    """
    if ratio is None or isnan(ratio):
        return NOT_KNOWN
    if not isfinite(ratio):
        return UNBOUNDED
    rounded = round(100 * ratio, 1) or 0.0  # a minus zero is none
    number = f"{rounded:+,.1f}" if is_signed and rounded else f"{rounded:,.1f}"
    return number.replace("-", MINUS) + f"{NO_BREAK}%"


def number_text(number: float) -> str:
    """Return a number with four digits; very large and very small ones as a power of ten.

    Examples
    --------
    >>> number_text(0.0348), number_text(-3.9412e12), number_text(0)
    ('0.0348', '−3.941 × 10¹²', '0')
    """
    mantissa, _, exponent = f"{number:.4g}".replace("-", MINUS).partition("e")
    return f"{mantissa} × {power_text(int(exponent.replace(MINUS, '-')))}" if exponent else mantissa


def range_text(low: str, high: str) -> str:
    """Return two ends as a range; one word where both say the same."""
    return low if low == high else f"{low} to {high}"


def instant_text(instant_ns: int) -> str:
    """Return an instant to the millisecond, UTC.

    Examples
    --------
    >>> instant_text(1_795_999_050_002_696_800)
    '2026-11-30 00:37:30.002'
    """
    whole, rest = divmod(instant_ns, NANOSECONDS_PER_SECOND)
    moment = datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"{moment}.{rest // NANOSECONDS_PER_MILLISECOND:03d}"


def stretch_texts(start_ns: int, stop_ns: int) -> tuple[str, str]:
    """Return both ends of a stretch; the date stands once where they share it.

    Examples
    --------
    >>> stretch_texts(1_795_999_050_002_696_800, 1_795_999_054_063_412_200)
    ('2026-11-30 00:37:30.002', '00:37:34.063')
    """
    start, stop = instant_text(start_ns), instant_text(stop_ns)
    return start, stop[DATE:] if stop[:DATE] == start[:DATE] else stop


def stretch_text(start_ns: int, stop_ns: int) -> str:
    """Return a stretch as one range."""
    return range_text(*stretch_texts(start_ns, stop_ns))


def counted_text(n: int, thing: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted_text(1, "split"), counted_text(1200, "trace")
    ('1 split', '1,200 traces')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def device_key(number: int) -> str:
    """Return the short name of a device on the page: A to Z, then A2 and so on.

    Examples
    --------
    >>> device_key(0), device_key(25), device_key(26)
    ('A', 'Z', 'A2')
    """
    turn, letter = divmod(number, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")
