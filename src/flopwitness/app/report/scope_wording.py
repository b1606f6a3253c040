"""Amounts, durations, energies and probabilities of a scope, with units; never surer than they are."""

import re
from math import floor, isfinite, isnan, log10

from flopwitness.app.report.canvas import literal
from flopwitness.app.report.wording import NO_BREAK, NOT_KNOWN, number_text, power_text, range_text
from flopwitness.core.account import Amount
from flopwitness.core.finding import Severity
from flopwitness.core.verdict import Claim, Threshold
from flopwitness.core.workclass import ClassOpinion, WorkClass

NO_BOUND = "no upper bound"
SECONDS_PER_HOUR = 3_600.0
SECONDS_PER_DAY = 86_400.0
JOULES_PER_KILOWATT_HOUR = 3.6e6
JOULES_PER_MEGAWATT_HOUR = 3.6e9
CERTAIN = 0.999
"""Nearer to one, and nearer to zero than its rest, no probability is written out: nothing is that sure."""

WHOLE_FROM = 0.01
"""Nearer to none or to sure, a probability needs a decimal."""

DURATIONS = ((2 * SECONDS_PER_DAY, SECONDS_PER_DAY, "days"), (SECONDS_PER_HOUR, SECONDS_PER_HOUR, "h"))
"""From how many seconds on a duration is told in which unit; shorter ones are told in seconds."""

LETTERS = {
    WorkClass.TRAINING: "T",
    WorkClass.INFERENCE: "I",
    WorkClass.OTHER: "O",
    WorkClass.UNKNOWN: "?",
}
"""One a class, so that figures need no colour."""

UNASKED = "–"
"""Letter of a session whose class nobody asked."""

EXPONENT = re.compile(r"\b\d(?:\.\d+)?e\+?\d{2}\b")
"""A count as programs write it, of at least 1e10."""

GRAVEST_FIRST = tuple(reversed(Severity))


def figures_text(number: float, n_figures: int) -> str:
    """Return a number to so many significant figures, without an exponent below a million.

    Examples
    --------
    >>> figures_text(41.72, 2), figures_text(1234.5, 2), figures_text(0.05049, 3), figures_text(2.41e25, 2)
    ('42', '1,200', '0.0505', '2.4 × 10²⁵')
    """
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    exponent = floor(log10(abs(number)))
    rounded = round(number, n_figures - 1 - exponent)
    if exponent >= len("100000"):
        return number_text(rounded)
    return f"{rounded:,.{max(n_figures - 1 - floor(log10(abs(rounded))), 0)}f}"


def flop_number(flop: float) -> str:
    r"""Return a count of FLOP to three figures, without its unit; a round power of ten stands alone.

    Examples
    --------
    >>> flop_number(1e25), flop_number(3.333e24), flop_number(0), flop_number(float("inf"))
    ('10²⁵', '3.33\xa0×\xa010²⁴', '0', 'no upper bound')
    """
    if isnan(flop):
        return NOT_KNOWN
    if not isfinite(flop):
        return NO_BOUND
    mantissa, _, exponent = f"{flop:.2e}".partition("e")
    if flop < 1e6:
        return f"{flop:,.0f}"
    power = power_text(int(exponent))
    number = f"{float(mantissa):g}"
    return power if number == "1" else f"{number}{NO_BREAK}×{NO_BREAK}{power}"


def flop_text(flop: float) -> str:
    r"""Return a count of FLOP with its unit.

    Examples
    --------
    >>> flop_text(1e25), flop_text(float("inf"))
    ('10²⁵\xa0FLOP', 'no upper bound')
    """
    number = flop_number(flop)
    return f"{number}{NO_BREAK}FLOP" if isfinite(flop) else number


def bounds_text(amount: Amount) -> str:
    """Return the low and high of an amount with their unit."""
    if not isfinite(amount.high_flop):
        return f"at least {flop_text(amount.low_flop)}, {NO_BOUND}"
    return f"{range_text(flop_number(amount.low_flop), flop_number(amount.high_flop))}{NO_BREAK}FLOP"


def amount_text(amount: Amount) -> str:
    """Return an amount as its point and its bounds."""
    return f"{flop_text(amount.point_flop)} ({bounds_text(amount)})"


def duration_text(seconds: float, n_figures: int = 3) -> str:
    r"""Return a duration in the unit that fits it.

    Examples
    --------
    >>> duration_text(12.34), duration_text(5_400), duration_text(864_000, 2)
    ('12.3\xa0s', '1.50\xa0h', '10\xa0days')
    """
    if isnan(seconds):
        return NOT_KNOWN
    for least, unit_seconds, unit in DURATIONS:
        if seconds >= least:
            return f"{figures_text(seconds / unit_seconds, n_figures)}{NO_BREAK}{unit}"
    return f"{figures_text(seconds, n_figures)}{NO_BREAK}s"


def energy_text(joules: float, n_figures: int = 3) -> str:
    r"""Return an energy in kWh, in MWh from a thousand kWh on, in joules below a thousandth of one.

    Examples
    --------
    >>> energy_text(7.2e6), energy_text(9e9), energy_text(120.0), energy_text(float("nan"))
    ('2.00\xa0kWh', '2.50\xa0MWh', '120\xa0J', 'not known')
    """
    if isnan(joules):
        return NOT_KNOWN
    if joules >= JOULES_PER_MEGAWATT_HOUR:
        return f"{figures_text(joules / JOULES_PER_MEGAWATT_HOUR, n_figures)}{NO_BREAK}MWh"
    if joules >= JOULES_PER_KILOWATT_HOUR / 1e3:
        return f"{figures_text(joules / JOULES_PER_KILOWATT_HOUR, n_figures)}{NO_BREAK}kWh"
    return f"{figures_text(joules, n_figures)}{NO_BREAK}J"


def probability_text(probability: float) -> str:
    r"""Return a probability in per cent; next to none and next to sure are not written as 0 and 100.

    Examples
    --------
    >>> probability_text(0.953), probability_text(1.0), probability_text(0.0)
    ('95\xa0%', 'more than 99.9\xa0%', 'less than 0.1\xa0%')
    """
    if probability > CERTAIN:
        return f"more than {100 * CERTAIN:.1f}{NO_BREAK}%"
    if probability < 1 - CERTAIN:
        return f"less than {100 * (1 - CERTAIN):.1f}{NO_BREAK}%"
    n_decimals = 0 if WHOLE_FROM <= probability <= 1 - WHOLE_FROM else 1
    return f"{100 * probability:.{n_decimals}f}{NO_BREAK}%"


def opinion_text(opinion: ClassOpinion | None) -> str:
    r"""Return a class with its probability, and its letter first.

    Examples
    --------
    >>> opinion_text(None)
    '– not asked'
    """
    if opinion is None:
        return f"{UNASKED} not asked"
    probability = opinion.probabilities.get(opinion.answer)
    said = f" ({probability_text(probability)})" if probability is not None else ""
    return f"{LETTERS[opinion.answer]} {opinion.answer}{said}"


def limit_text(threshold: Threshold) -> str:
    """Return a limit as the rule draws it: more than, or from there on."""
    return f"{'>' if threshold.is_strict else '≥'}{NO_BREAK}{flop_text(threshold.flop)}"


def claim_text(claim: Claim) -> str:
    """Return a claimed count with its margin."""
    margin = f" ±{NO_BREAK}{100 * claim.margin_ratio:g}{NO_BREAK}%" if claim.margin_ratio else ""
    return flop_text(claim.flop) + margin


def powers(text: str) -> str:
    r"""Return text with the powers of ten that programs write as people write them.

    Examples
    --------
    >>> powers("from 3.1e+22 to 1e23 FLOP")
    'from 3.1\xa0×\xa010²² to 10²³ FLOP'
    """
    return EXPONENT.sub(lambda found: flop_number(float(found[0])), text)


def drawn(text: str) -> str:
    """Return text for a figure: as it is, without a formula, and with spaces that every font has."""
    return literal(text.replace(NO_BREAK, " "))
