"""``flopwitness rules``: the thresholds that verdicts can be given against, and the ways to count."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.options import AsJson
from flopwitness.app.cli.output import data, print_json, print_table
from flopwitness.app.rulebook import Rulebook, open_rulebook
from flopwitness.app.rulelines import (
    Table,
    convention_object,
    convention_table,
    conversion_table_rows,
    declaration_table,
    factors,
    limit,
    manual_tables,
    markdown,
    reading_table,
    threshold_object,
    threshold_table,
    unrecorded_object,
)
from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Threshold
from flopwitness.storage.rules import RuleWithoutFigure
from flopwitness.verify.conventions import CONVENTIONS, Convention

Name = Annotated[
    str | None, typer.Option("--name", help="One threshold or convention in full, with its sources.")
]
Conventions = Annotated[
    bool, typer.Option("--conventions", help="The ways to count and what they convert, not the thresholds.")
]
OwnRules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="A TOML file of your own thresholds; may be given again.", readable=False),
]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print all tables as Markdown, as in docs/conventions.md.")
]


def run(
    name: Name = None,
    conventions: Conventions = False,
    rules: OwnRules = None,
    json: AsJson = False,
    markdown_tables: AsMarkdown = False,
) -> None:
    """List thresholds with their sources, and the conventions that they count by."""
    book = open_rulebook(rules or ())
    if markdown_tables:
        sys.stdout.write(markdown(manual_tables(book)))
    elif name is not None:
        _print_one(_named(book, name), as_json=json)
    elif json:
        for one in _listed(book, conventions=conventions):
            print_json(_object(one))
    else:
        for table in _tables(book, conventions=conventions):
            print_table(*table)


Listed = Threshold | RuleWithoutFigure | Convention


def _listed(book: Rulebook, *, conventions: bool) -> list[Listed]:
    if conventions:
        return list(CONVENTIONS.values())
    return [*book.thresholds.values(), *book.without_figure.values()]


def _tables(book: Rulebook, *, conventions: bool) -> tuple[Table, ...]:
    if conventions:
        return convention_table(), reading_table(), conversion_table_rows(), declaration_table()
    return (threshold_table(book),)


def _named(book: Rulebook, name: str) -> Listed:
    for one in (*_listed(book, conventions=False), *_listed(book, conventions=True)):
        if one.name == name:
            return one
    raise BadInputError(
        "rules", "", expected=f"one of {', '.join([*book.thresholds, *CONVENTIONS])}", got=repr(name)
    )


def _object(one: Listed) -> dict[str, object]:
    if isinstance(one, Convention):
        return convention_object(one)
    return threshold_object(one) if isinstance(one, Threshold) else unrecorded_object(one)


def _print_one(one: Listed, *, as_json: bool) -> None:
    if as_json:
        print_json(_object(one))
        return
    lines = _convention_lines(one) if isinstance(one, Convention) else _rule_lines(one)
    for line in (one.title, *lines):
        data().print(line, markup=False, soft_wrap=True)


def _rule_lines(rule: Threshold | RuleWithoutFigure) -> list[str]:
    if isinstance(rule, RuleWithoutFigure):
        figure = ["figure: not recorded, so nothing can be weighed against it"]
        return [*figure, f"measured: {rule.measured}", f"status: {rule.status}", f"source: {rule.citation}"]
    dated = rule.text_date.isoformat() if rule.text_date else "not recorded"
    return [
        f"threshold: {limit(rule)} FLOP, {rule.jurisdiction}, {rule.status}",
        f"measured: {rule.measured}",
        f"counted by: {rule.convention}",
        *(f"condition, not seen in telemetry: {condition}" for condition in rule.conditions),
        f"source: {rule.citation}" + (f", {rule.url}" if rule.url else ""),
        f"text of: {dated}; text read: {'yes' if rule.is_verified else 'no'}",
    ]


def _convention_lines(convention: Convention) -> list[str]:
    lines = [
        convention.summary,
        f"starts from: {convention.target.value} FLOP",
        f"source: {convention.source}",
    ]
    for one in convention.conversions:
        change = "added" if one.is_addition else factors(one.low_factor, one.high_factor)
        basis = f"by {', '.join(one.declarations)}" if one.applies else "nothing to declare"
        lines.append(f"{one.name} {one.reading.value}: {change}, {basis}. {one.summary} Source: {one.source}")
    return lines
