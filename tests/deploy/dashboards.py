"""The shipped dashboard, rules and configuration as tests read them."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
RULES = tuple(sorted((PROMETHEUS / "rules").glob("*.yml")))

VARIABLES = {
    "$UUID": ".*",
    "$hostname": ".*",
    "$target": "executed",
    "$__rate_interval": "1m",
}
"""What Grafana puts in place of its variables, for all GPUs."""

COMPARISON = re.compile(r"\s*(==|!=|>=|<=|>|<)\s*[\d.]+\s*$")
"""What makes an expression an alert: the comparison at its end."""


def dashboard() -> dict[str, Any]:
    """Return the dashboard."""
    found: dict[str, Any] = json.loads((DEPLOY / "grafana" / "flopwitness.json").read_text())
    return found


def panels() -> list[dict[str, Any]]:
    """Return its panels without the rows."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> dict[str, str]:
    """Return every expression of the dashboard, by panel and query, with its variables put in."""
    found = {}
    for panel in panels():
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            found[f"{panel['id']} {panel['title']} {target['refId']}"] = expression
    return found


def rules(kind: str) -> list[dict[str, Any]]:
    """Return the rules of a kind: ``"record"`` or ``"alert"``."""
    return [
        rule
        for path in RULES
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
        if kind in rule
    ]


def without_comparison(expression: str) -> str:
    """Return what an alert compares.

    Examples
    --------
    >>> without_comparison("time() - last > 60")
    'time() - last'
    """
    found = COMPARISON.sub("", expression)
    assert found != expression, f"no comparison at the end of {expression}"
    return found
