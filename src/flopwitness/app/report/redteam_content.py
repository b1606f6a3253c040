"""What the page on the red team is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flopwitness.redteam.frontier import Cheapest
from flopwitness.redteam.summary import Scoring, Summary

SHOWN_METHODS = ("linear-power", "linear-power-dram-nvlink", "mlp", "pipe-cycles-calibrated", "fused")
"""The experiment's three frozen estimators, and ours."""


class Span(NamedTuple):
    """A stretch in seconds after the start of the run."""

    start_seconds: float
    stop_seconds: float


@dataclass(frozen=True, slots=True)
class Lane:
    """One run and the jobs that detectors found around it.

    Attributes
    ----------
    name : str
        Its configuration.
    is_benign : bool
        Whether it is a twin.
    run_seconds : float
        How long it ran.
    found : mapping of str to tuple of Span
        Jobs by detector.
    """

    name: str
    is_benign: bool
    run_seconds: float
    found: Mapping[str, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class RedteamContent:
    """What the page shows.

    Attributes
    ----------
    title : str
        Heading of the page.
    scoring : Scoring
        Attacks with their effects.
    summaries : tuple of Summary
        By attack and method.
    cheapest : tuple of Cheapest
        By method and figure.
    lanes : tuple of Lane
        Jobs that detectors found.
    generated_from : mapping of str to str
        Name of each dataset and the SHA-256 of its samples.
    calibrated_on : tuple of str
        Datasets that the frozen calibration was fitted on.
    left_out_in_turn : tuple of str
        Attacks that were judged by a calibration fitted without them; the others by the frozen one.
    """

    title: str
    scoring: Scoring
    summaries: tuple[Summary, ...]
    cheapest: tuple[Cheapest, ...]
    lanes: tuple[Lane, ...]
    generated_from: Mapping[str, str]
    calibrated_on: tuple[str, ...]
    left_out_in_turn: tuple[str, ...] = ()
