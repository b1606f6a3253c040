"""Tables of a scope: the account, its devices, its sessions, findings, and each kind of evidence."""

from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_timeline import watched
from flopwitness.app.report.scope_wording import (
    GRAVEST_FIRST,
    duration_text,
    energy_text,
    flop_number,
    opinion_text,
    powers,
)
from flopwitness.app.report.table import NOTHING, Cell, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import (
    NOT_KNOWN,
    counted_text,
    device_key,
    instant_text,
    percent_text,
    range_text,
    stretch_text,
)
from flopwitness.core.account import Amount, SessionEvidence
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target
from flopwitness.verify.layers import LayerAnswer
from flopwitness.verify.spans import length

AMOUNT_COLUMNS = ("Low (FLOP)", "Point (FLOP)", "High (FLOP)", "At most, if hostile (FLOP)")
MOST_KEYS = 8
"""Devices of a session that are named; the number is always told."""

LAYER_MARKS = {LayerAnswer.SUPPORTS: "✓", LayerAnswer.CONTRADICTS: "✕", LayerAnswer.SILENT: "–"}


def amount_cells(amount: Amount) -> tuple[str, ...]:
    """Return the four figures of an amount."""
    ends = amount.low_flop, amount.point_flop, amount.high_flop, amount.most_flop
    return tuple(flop_number(one) for one in ends)


def account_table(content: ScopeContent) -> Table:
    """Return what a scope took: seen in sessions, seen outside, not seen, and the total."""
    account = content.account
    n_told = len(account.sessions) - len(account.not_estimated)
    unseen = duration_text(account.unobserved_device_seconds)
    silent = ", ".join(account.not_estimated)
    in_unseen = (NOTHING, NOTHING, "in unobserved", "in unobserved") if silent else ("0",) * 4
    rows = [
        row_of("Observed in sessions", f"{counted_text(n_told, 'session')}", *amount_cells(account.observed)),
        row_of("Seen outside sessions", "too little to be one", *_at_most(account.outside_flop)),
        row_of("Unobserved", f"{unseen} of GPU time", *_at_most(account.unobserved_flop)),
        row_of("Not estimated", silent or "none", *in_unseen),
        Row(tuple(Cell(text, "best") for text in ("Total", "", *amount_cells(account.total)))),
    ]
    caption = (
        f"{account.target.capitalize()} FLOP by the method {account.method}. Bounds hold the truth in "
        f"{percent_text(account.coverage_ratio)} of cases like those calibrated on; what nobody saw adds to "
        "the upper ends alone. Bounds of a sum are as wide as errors that sessions share make them."
    )
    return plain_table(caption, ("Part", "What", *AMOUNT_COLUMNS), rows, n_text_columns=2)


def _at_most(flop: float) -> tuple[str, ...]:
    return "0", NOTHING, flop_number(flop), flop_number(flop)


def device_table(content: ScopeContent) -> Table:
    """Return the devices of the scope with their short names, and how much of the period each was watched."""
    scope = content.account.scope
    rows = []
    for place, device in enumerate(scope.devices):
        seconds = length(watched(content, device)) / NANOSECONDS_PER_SECOND
        share = percent_text(seconds * len(scope.devices) / scope.device_seconds)
        own = [watch for watch in content.watches if watch.device == device]
        chip = ", ".join(dict.fromkeys(watch.chip for watch in own if watch.chip)) or NOT_KNOWN
        rows.append(row_of(device_key(place), device, chip, duration_text(seconds), share))
    columns = ("Device", "UUID", "Chip", "Watched (time)", "Watched (share)")
    return plain_table("Devices of the scope.", columns, rows, n_text_columns=3)


def session_table(content: ScopeContent) -> Table:
    """Return the sessions in order of their start, with both kinds of FLOP by the account's method."""
    account = content.account
    keys = {device: device_key(place) for place, device in enumerate(account.scope.devices)}
    rows = [_session_row(one, account.method, keys) for one in account.sessions]
    columns = (
        "Session",
        "Start (UTC)",
        "Duration",
        "GPUs",
        "Class (probability)",
        "Executed (FLOP)",
        "Algorithmic (FLOP)",
        "Energy",
        "Findings",
    )
    caption = (
        f"Sessions of the scope, by the method {account.method}: point, below it low to high. "
        "T training, I inference, O other work, ? unknown, – not asked. Energy is of the boards alone."
    )
    return plain_table(caption, columns, rows, n_text_columns=len(columns))


def _session_row(session: SessionEvidence, method: str, keys: dict[str, str]) -> Row:
    seconds = (session.stop_ns - session.start_ns) / NANOSECONDS_PER_SECOND
    keyed = [keys.get(device, device) for device in session.devices]
    gpus = " ".join(keyed[:MOST_KEYS]) + (" …" if len(keyed) > MOST_KEYS else "")
    codes = ", ".join(dict.fromkeys(finding.code for finding in session.findings))
    return row_of(
        session.session_id,
        instant_text(session.start_ns),
        duration_text(seconds),
        f"{len(session.devices)} ({gpus})",
        opinion_text(session.opinion),
        *(_estimate_text(session.estimates.get(target, {}).get(method)) for target in EXECUTED_FIRST),
        energy_text(session.energy_joules),
        codes or "none",
    )


EXECUTED_FIRST = (Target.EXECUTED, Target.ALGORITHMIC)


def _estimate_text(estimate: Estimate | None) -> str:
    if estimate is None:
        return "no answer"
    ends = range_text(flop_number(estimate.low_flop), flop_number(estimate.high_flop))
    return f"{flop_number(estimate.point_flop)} ({ends})"


def finding_table(content: ScopeContent) -> Table:
    """Return all findings, the gravest first."""
    found = sorted(content.all_findings(), key=lambda pair: GRAVEST_FIRST.index(pair[1].severity))
    columns = ("Severity", "Code", "About", "When (UTC)", "What")
    caption = "Findings, alarms first. A finding changes no number by itself."
    return plain_table(caption, columns, [_finding_row(*one) for one in found], n_text_columns=len(columns))


def _finding_row(session_id: str, finding: Finding) -> Row:
    about = f"session {session_id}" if session_id else "the scope"
    severity = Cell(finding.severity.value, f"severity {finding.severity.value}")
    subject = f"{about}: {finding.subject}" if finding.subject else about
    return row_of(severity, finding.code, subject, _when(finding), finding.message)


def _when(finding: Finding) -> str:
    ends = [end for end in (finding.start_ns, finding.stop_ns) if end is not None]
    if not ends:
        return "throughout"
    return instant_text(ends[0]) if ends[0] == ends[-1] else stretch_text(ends[0], ends[-1])


def layer_table(content: ScopeContent) -> Table:
    """Return what each kind of evidence says by itself."""
    rows = [
        row_of(one.name, _layer_cell(one.answer), powers(one.summary), powers("; ".join(one.details)))
        for one in content.layers
    ]
    caption = "Kinds of evidence side by side. None decides alone; one that is silent supports nothing."
    return plain_table(
        caption, ("Evidence", "Answer", "What it says", "Figures behind it"), rows, n_text_columns=4
    )


def _layer_cell(answer: LayerAnswer) -> Cell:
    return Cell(f"{LAYER_MARKS[answer]} {answer}", f"layer {answer}")
