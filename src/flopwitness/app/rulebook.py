"""The thresholds that are known: those that are shipped, and the user's own from files of the same form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Threshold
from flopwitness.storage.rules import RuleWithoutFigure, read_rules
from flopwitness.verify.conventions import CONVENTIONS

SHIPPED_RULES = Path(__file__).parent / "rules"


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Rules by name.

    Attributes
    ----------
    thresholds : mapping of str to Threshold
        In the order of the files.
    without_figure : mapping of str to RuleWithoutFigure
        Rules that are known of, but not their figure.
    """

    thresholds: Mapping[str, Threshold]
    without_figure: Mapping[str, RuleWithoutFigure]

    def threshold(self, name: str) -> Threshold:
        """Return one threshold.

        Raises
        ------
        BadInputError
            When there is none of this name, or its figure is not recorded.
        """
        if name in self.without_figure:
            raise BadInputError(
                "rule", repr(name), expected="a rule with a figure", got="one whose figure is not recorded"
            )
        if name not in self.thresholds:
            raise BadInputError("rule", "", expected=f"one of {', '.join(self.thresholds)}", got=repr(name))
        return self.thresholds[name]


def open_rulebook(own: Sequence[Path] = ()) -> Rulebook:
    """Read the shipped rules, then the user's own.

    Raises
    ------
    BadInputError
        When a file cannot be used, takes a name that is taken, or counts by a convention that nobody knows.
    """
    thresholds: dict[str, Threshold] = {}
    without: dict[str, RuleWithoutFigure] = {}
    for path in (*sorted(SHIPPED_RULES.glob("*.toml")), *own):
        found = read_rules(path)
        for name in [rule.name for rule in found.thresholds] + [rule.name for rule in found.without_figure]:
            if name in thresholds or name in without:
                raise BadInputError(
                    str(path), f"rule {name!r}", expected="a name of its own", got="one that is taken"
                )
        for threshold in found.thresholds:
            _require_convention(threshold, path)
        thresholds |= {threshold.name: threshold for threshold in found.thresholds}
        without |= {rule.name: rule for rule in found.without_figure}
    return Rulebook(MappingProxyType(thresholds), MappingProxyType(without))


def _require_convention(threshold: Threshold, path: Path) -> None:
    if threshold.convention not in CONVENTIONS:
        raise BadInputError(
            str(path),
            f"rule {threshold.name!r}, field 'convention'",
            expected=f"one of {', '.join(CONVENTIONS)}",
            got=repr(threshold.convention),
        )
