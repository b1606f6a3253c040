"""From what was estimated to what a law counts, step by step, and the same without anybody's word."""

from dataclasses import dataclass
from math import isfinite

from flopwitness.app.report.scope_content import Counted, ScopeContent
from flopwitness.app.report.scope_tables import AMOUNT_COLUMNS, amount_cells
from flopwitness.app.report.scope_wording import flop_number, flop_text
from flopwitness.app.report.table import NOTHING, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import number_text, range_text
from flopwitness.verify.conversions import DECLARABLE
from flopwitness.verify.converting import Step

N_TEXT_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Chain:
    """A convention as the page shows it.

    Attributes
    ----------
    ident : str
        What links name.
    title, summary, source : str
        The convention.
    table : Table
        Its steps.
    about : tuple of tuple of str
        Each step of the table: its name, and what it is about with its source.
    remarks : tuple of str
        What widens the range most, and which steps changed nothing.
    """

    ident: str
    title: str
    summary: str
    source: str
    table: Table
    about: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


def chains(content: ScopeContent) -> tuple[Chain, ...]:
    """Return the chain of each convention, in the order of the first figure."""
    return tuple(
        Chain(
            f"convention-{place}",
            counted.convention.title,
            counted.convention.summary,
            counted.convention.source,
            chain_table(counted),
            tuple(_about(step) for step in counted.observed.steps if _changes(step)),
            _remarks(counted),
        )
        for place, counted in enumerate(content.counted, start=1)
    )


def chain_table(counted: Counted) -> Table:
    """Return what a convention did to the FLOP of the sessions, what nobody declared, and to the total."""
    made = counted.observed
    convention = made.convention
    rows = [_step_row(step) for step in made.steps if _changes(step)]
    texts = NOTHING, NOTHING
    weighed = counted.weighed
    ends = [
        row_of("Observed, by this convention", *texts, *amount_cells(made.amount)),
        row_of("Observed, nothing declared believed", *texts, *amount_cells(made.without_declared)),
        row_of("Total, with what nobody saw", *texts, *amount_cells(counted.total.amount)),
        row_of("Total, nothing declared believed", *texts, *amount_cells(counted.total.without_declared)),
    ]
    if weighed is not None:
        ends.append(row_of("Total, as verdicts weigh it", *texts, *amount_cells(weighed.total)))
    caption = f"{convention.title}: from estimated {convention.target} FLOP to FLOP as counted here."
    columns = ("Step", "Factor", "How known", *AMOUNT_COLUMNS)
    return plain_table(caption, columns, [*rows, *ends], n_text_columns=N_TEXT_COLUMNS)


def _step_row(step: Step) -> Row:
    known = "declared, not measured" if step.is_declared else "not known: both ends carried"
    return row_of(step.conversion.name, factor_text(step), known, *amount_cells(step.amount))


def _about(step: Step) -> tuple[str, str]:
    one = step.conversion
    return one.name, f"{one.summary} {one.reading.value.capitalize()}. Source: {one.source}."


def factor_text(step: Step) -> str:
    """Return what a step did to both ends: a factor, FLOP on top, or both."""
    ends = step.ends
    added = range_text(flop_number(ends.low_added), flop_text(ends.high_added))
    factor = f"× {range_text(number_text(ends.low_factor), number_text(ends.high_factor))}"
    if not ends.high_added:
        return factor
    plus = f"+ {added}"
    return plus if ends.low_factor == ends.high_factor == 1 else f"{factor}, {plus}"


def _changes(step: Step) -> bool:
    ends = step.ends
    return (ends.low_factor, ends.high_factor, ends.high_added) != (1, 1, 0) or step.is_declared


def _remarks(counted: Counted) -> tuple[str, ...]:
    made, said = counted.observed, []
    if counted.weighed is not None:
        said.append(
            "As verdicts weigh it, work that may not count is left out at the low end, and what was declared "
            "is both believed and not."
        )
    if not made.steps:
        said.append("It counts as the estimate does: there is no step.")
    if (widest := made.widest_step) is not None:
        by = f" ({number_text(widest.spread_ratio)} times)" if isfinite(widest.spread_ratio) else ""
        said.append(f"The step that widens the range most is {widest.conversion.name}{by}.")
    if idle := [step.conversion.name for step in made.steps if not _changes(step)]:
        said.append(f"Without effect here: {', '.join(idle)}.")
    return tuple(said)


def declared_table(content: ScopeContent) -> Table:
    """Return what was declared, not measured."""
    rows = [
        row_of(name, DECLARABLE[name].meaning if name in DECLARABLE else "", number_text(value))
        for name, value in content.account.declared.items()
    ]
    caption = "Declared, not measured: ratios are shares from 0 to 1, factors have no unit, FLOP are counts."
    return plain_table(caption, ("Name", "Meaning", "Declared value"), rows, n_text_columns=2)
