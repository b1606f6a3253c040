"""Rules and conventions as rows, objects and Markdown: one set of words for the command and the manual."""

from collections.abc import Iterable, Sequence

from flopwitness.app.rulebook import Rulebook
from flopwitness.core.verdict import Threshold
from flopwitness.storage.rules import RuleWithoutFigure
from flopwitness.verify import conversion_table
from flopwitness.verify.conventions import CONVENTIONS, Convention
from flopwitness.verify.conversions import DECLARABLE, Conversion, Declarable

Row = tuple[str, ...]
Table = tuple[str, Row, list[Row]]
"""Title, columns, rows."""


def threshold_table(book: Rulebook) -> Table:
    """Return one row a rule, those without a figure last."""
    rows: list[Row] = [
        (
            rule.name,
            limit(rule),
            rule.convention,
            rule.status,
            rule.text_date.isoformat() if rule.text_date else "not recorded",
            "yes" if rule.is_verified else "no",
            rule.citation,
        )
        for rule in book.thresholds.values()
    ]
    rows += [
        (rule.name, "not recorded", "-", rule.status, "not recorded", "no", rule.citation)
        for rule in book.without_figure.values()
    ]
    columns = ("rule", "FLOP", "convention", "status", "text of", "text read", "source")
    return "Thresholds", columns, rows


def convention_table() -> Table:
    """Return one row a convention, with the range that it makes of 1 where nothing is declared."""
    rows: list[Row] = [
        (one.name, one.target.value, factors(*undeclared_factors(one)), one.summary, one.source)
        for one in CONVENTIONS.values()
    ]
    return "Conventions", ("convention", "starts from", "range", "counts", "source"), rows


def reading_table() -> Table:
    """Return one row a conversion, one column a convention: whether the work counts there."""
    columns = ("conversion", *CONVENTIONS)
    rows: list[Row] = [
        (name, *(_reading(one, name) for one in CONVENTIONS.values())) for name in conversions()
    ]
    return "What counts", columns, rows


def conversion_table_rows() -> Table:
    """Return one row a conversion, its factors those where the work does not count or may not."""
    rows: list[Row] = [
        (
            name,
            one.summary,
            "added" if one.is_addition else factors(one.low_factor, one.high_factor),
            "-" if one.widest_low_factor is None else f"{one.widest_low_factor:.3g}",
            ", ".join(one.declarations) or "-",
            one.source,
        )
        for name, one in conversions().items()
    ]
    columns = ("conversion", "about", "factor, nothing declared", "lowest known", "declared as", "source")
    return "Conversions", columns, rows


def declaration_table() -> Table:
    """Return one row a value that can be declared."""
    rows: list[Row] = [(one.name, one.meaning, f"{one.least:g}", _most(one)) for one in DECLARABLE.values()]
    return "Declared, never measured", ("name", "meaning", "least", "most"), rows


def conversions() -> dict[str, Conversion]:
    """Return the single conversions by name, in the order in which they are made."""
    known = {one.name: one for one in vars(conversion_table).values() if isinstance(one, Conversion)}
    longest = max(CONVENTIONS.values(), key=lambda one: len(one.conversions))
    return {one.name: known[one.name] for one in longest.conversions}


def undeclared_factors(convention: Convention) -> tuple[float, float]:
    """Return what a convention multiplies the low and the high end with where nothing is declared."""
    low = high = 1.0
    for conversion in convention.conversions:
        low, high = low * conversion.low_factor, high * conversion.high_factor
    return low, high


def factors(low: float, high: float) -> str:
    """Return a range of factors in three digits.

    Examples
    --------
    >>> factors(0.6531, 1.0), factors(1.0, 1.0)
    ('x 0.653 to 1', 'x 1')
    """
    return f"x {low:.3g}" if low == high else f"x {low:.3g} to {high:.3g}"


def limit(rule: Threshold) -> str:
    """Return a threshold's figure with its sign.

    Examples
    --------
    >>> from flopwitness.app.rulebook import open_rulebook
    >>> limit(open_rulebook().threshold("korea-ai-basic-act"))
    '>= 1e+26'
    """
    return f"{'>' if rule.is_strict else '>='} {rule.flop:.3g}"


def threshold_object(rule: Threshold) -> dict[str, object]:
    """Return a threshold as JSON values."""
    return {
        "name": rule.name,
        "title": rule.title,
        "jurisdiction": rule.jurisdiction,
        "flop": rule.flop,
        "is_strict": rule.is_strict,
        "convention": rule.convention,
        "measured": rule.measured,
        "conditions": list(rule.conditions),
        "status": rule.status,
        "citation": rule.citation,
        "url": rule.url or None,
        "text_date": rule.text_date.isoformat() if rule.text_date else None,
        "is_verified": rule.is_verified,
    }


def unrecorded_object(rule: RuleWithoutFigure) -> dict[str, object]:
    """Return a rule without a figure as JSON values; its ``flop`` is null."""
    return {
        "name": rule.name,
        "title": rule.title,
        "jurisdiction": rule.jurisdiction,
        "flop": None,
        "measured": rule.measured,
        "status": rule.status,
        "citation": rule.citation,
        "is_verified": False,
    }


def convention_object(convention: Convention) -> dict[str, object]:
    """Return a convention as JSON values, its conversions in order."""
    return {
        "name": convention.name,
        "title": convention.title,
        "summary": convention.summary,
        "target": convention.target.value,
        "source": convention.source,
        "conversions": [
            {
                "name": one.name,
                "summary": one.summary,
                "reading": one.reading.value,
                "effect": one.effect.value,
                "low_factor": one.low_factor,
                "high_factor": one.high_factor,
                "widest_low_factor": one.widest_low_factor,
                "is_declared": one.is_declared,
                "declarations": list(one.declarations) if one.applies else [],
                "source": one.source,
            }
            for one in convention.conversions
        ],
    }


def markdown(tables: Iterable[Table]) -> str:
    """Return tables as Markdown, as the manual shows them."""
    parts = [
        "\n".join([f"### {title}", "", _line(columns), _line(["---"] * len(columns)), *map(_line, rows)])
        for title, columns, rows in tables
    ]
    return "\n\n".join(parts) + "\n"


def manual_tables(book: Rulebook) -> tuple[Table, ...]:
    """Return the tables of the manual's page, in its order."""
    return (
        convention_table(),
        reading_table(),
        conversion_table_rows(),
        declaration_table(),
        threshold_table(book),
    )


def _most(declarable: Declarable) -> str:
    if declarable.most == float("inf"):
        return "none"
    return f"{declarable.most:g}" if declarable.is_closed else f"below {declarable.most:g}"


def _reading(convention: Convention, name: str) -> str:
    found = [one for one in convention.conversions if one.name == name]
    return found[0].reading.value if found else "-"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
