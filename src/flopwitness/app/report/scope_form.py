"""The fields of the EU's form of model documentation that telemetry can fill; the others stay open."""

from collections.abc import Sequence
from math import fsum, isfinite, isnan

from flopwitness.app.report.scope_content import Counted, ScopeContent
from flopwitness.app.report.scope_wording import (
    SECONDS_PER_DAY,
    bounds_text,
    duration_text,
    energy_text,
    figures_text,
    flop_text,
)
from flopwitness.app.report.table import Cell, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import counted_text, percent_text
from flopwitness.core.account import Account, SessionEvidence
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.spans import joined, length

CONVENTION = "eu-cumulative"
N_FIGURES = 2
"""Significant figures of what is filled in; our notes ask for one or more, the form itself was not read."""

MEASURED = Cell("● measured", "known")
DECLARED = Cell("◐ declared", "known")
MIXED = Cell("◐ measured, with declared inputs", "known")
OPEN = Cell("○ not known", "known")
STATED = Cell("described here", "known")

METHOD = (
    "Hardware-based, from outside the training code: counters, clocks and power of the boards, calibrated on "
    "workloads of known FLOP; method {method}, {target} FLOP of each session, added up without averaging "
    "shared errors out, then converted as the chain of the convention shows."
)
ASSUMPTIONS = (
    "That the host told the truth; that workloads resemble those calibrated on; that the scope names every "
    "device that took part. Recomputation, masked attention and sparsity cannot be seen: they are ranges."
)
UNFILLED = (
    ("Benchmarked energy of inference", "telemetry of a training scope does not hold it"),
    ("Architecture, parameters, input and output", "cannot be seen from outside"),
    ("Data: type, provenance, curation, tokens", "cannot be seen from outside"),
)


def form_table(content: ScopeContent) -> Table:
    """Return the fields with their values, how each is known, and how sure it is."""
    account = content.account
    training = _of_class(account, WorkClass.TRAINING)
    possible = [one for one in account.sessions if _may_be_training(one)]
    rows = [
        _wall_row(training, possible),
        _hardware_row(training, possible),
        *_compute_rows(content),
        row_of("Method", METHOD.format(method=account.method, target=account.target), STATED, ""),
        _energy_row(training, possible),
        row_of("Assumptions", ASSUMPTIONS, STATED, ""),
        *_declared_rows(account),
        *(row_of(field, "", OPEN, why) for field, why in UNFILLED),
    ]
    caption = (
        "Fields of the model documentation (EU AI Act, Annex XI) that this evidence can fill, "
        f"to {counted_text(N_FIGURES, 'significant figure')}. The wording of the form was not verified."
    )
    columns = ("Field", "Value", "How known", "How sure, and what is left out")
    return plain_table(caption, columns, rows, n_text_columns=len(columns))


def _declared_rows(account: Account) -> list[Row]:
    return [
        row_of(f"Declared: {name}", f"{value:g}", DECLARED, "nothing here checks it")
        for name, value in account.declared.items()
    ]


def _of_class(account: Account, wanted: WorkClass) -> list[SessionEvidence]:
    return [one for one in account.sessions if one.opinion is not None and one.opinion.answer is wanted]


def _may_be_training(session: SessionEvidence) -> bool:
    opinion = session.opinion
    return opinion is None or opinion.answer in (WorkClass.TRAINING, WorkClass.UNKNOWN)


def _wall_row(training: Sequence[SessionEvidence], possible: Sequence[SessionEvidence]) -> Row:
    value = duration_text(_wall_seconds(training), N_FIGURES) if training else ""
    most = duration_text(_wall_seconds(possible), N_FIGURES)
    sure = f"{most} with sessions of unknown class; unwatched time is left out"
    return row_of("Training time: time during which it ran", value, MEASURED if training else OPEN, sure)


def _hardware_row(training: Sequence[SessionEvidence], possible: Sequence[SessionEvidence]) -> Row:
    sure = f"{_days_text(possible)} with sessions of unknown class; a device that waits in a session counts"
    value = _days_text(training) if training else ""
    return row_of("Training time: hardware days", value, MEASURED if training else OPEN, sure)


def _days_text(sessions: Sequence[SessionEvidence]) -> str:
    seconds = (
        fsum((one.stop_ns - one.start_ns) * len(one.devices) for one in sessions) / NANOSECONDS_PER_SECOND
    )
    return f"{figures_text(seconds / SECONDS_PER_DAY, N_FIGURES)} GPU days"


def _wall_seconds(sessions: Sequence[SessionEvidence]) -> float:
    return length(joined((one.start_ns, one.stop_ns) for one in sessions)) / NANOSECONDS_PER_SECOND


def _compute_rows(content: ScopeContent) -> list[Row]:
    """Return compute and its uncertainty: by the EU's convention, else as it was measured."""
    counted = content.counted_by(CONVENTION)
    account = content.account
    observed = counted.observed.amount if counted else account.observed
    total = counted.total.amount if counted else account.total
    unconverted = f"{account.target} FLOP: nobody converted them to what the EU counts"
    how = counted.convention.title if counted else unconverted
    known = MIXED if counted and _has_declared(counted) else MEASURED
    if not account.sessions:
        known = OPEN
    most = flop_text(total.high_flop) if isfinite(total.high_flop) else "there is no upper bound"
    value = flop_text(_rounded(observed.point_flop)) if account.sessions else ""
    sure = (
        f"{bounds_text(observed)}, the truth in {percent_text(account.coverage_ratio)} of like cases; with "
        f"what nobody saw: up to {most}"
    )
    return [
        row_of("Amount of computation used for training", value, known, f"{how}; all sessions of the scope"),
        row_of("Uncertainty of the amount", bounds_text(total), known, sure),
    ]


def _has_declared(counted: Counted) -> bool:
    return any(step.is_declared for step in counted.observed.steps)


def _rounded(flop: float) -> float:
    return float(f"{flop:.{N_FIGURES - 1}e}")


def _energy_row(training: Sequence[SessionEvidence], possible: Sequence[SessionEvidence]) -> Row:
    joules, n_unknown = _energy(training)
    missing = f"; of {counted_text(n_unknown, 'session')} it is not known" if n_unknown else ""
    with_unknown = energy_text(_energy(possible)[0], N_FIGURES)
    sure = (
        "Boards alone: processors, network, cooling and losses of the data centre are not seen; "
        f"{with_unknown} with sessions of unknown class{missing}"
    )
    is_known = bool(training) and n_unknown < len(training)
    value = energy_text(joules, N_FIGURES) if is_known else ""
    return row_of("Energy used for training", value, MEASURED if is_known else OPEN, sure)


def _energy(sessions: Sequence[SessionEvidence]) -> tuple[float, int]:
    """Return the joules that are known, and of how many sessions they are not."""
    known = [one.energy_joules for one in sessions if not isnan(one.energy_joules)]
    return fsum(known), len(sessions) - len(known)
