"""Which evaluations the results rest on: each a command of ``flopwitness evaluate``, on which recordings."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

OWN = ("c1", "c2", "c3", "d1", "d2")
"""Sweeps by this repository's own lab, node and part. Another node comes in by adding its parts here."""

NODE_A, NODE_B = ("datasets/h200x2-a",), ("datasets/h200x2-b",)
HANG = "datasets/h200x2-hang"

OWN_NODES = {
    node: tuple(f"datasets/h200x2-{part}" for part in OWN if part[0] == node)
    for node in sorted({part[0] for part in OWN})
}
"""Recordings of each node of the own sweeps."""

OWN_PATHS = tuple(path for paths in OWN_NODES.values() for path in paths)
FIRST_OWN = next(iter(OWN_NODES))
NODES = {"a": NODE_A, "b": NODE_B, **OWN_NODES}
"""Recordings by node."""

TARGETS = ("algorithmic", "executed")
INTERVALS = (0.1, 0.5, 1.0)
"""Seconds between samples: as recorded, as the published experiment sampled, and slower still."""

N_SPLITS = 200
N_DRAWS = 60
SLOW_SPLITS = 60
COMPARED = ("linear-power", "linear-power-dram-nvlink", "mlp", "pipe-cycles-calibrated", "fused")
"""Estimators of the curves: one of each kind."""


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluation.

    Attributes
    ----------
    name : str
        Of its file under ``benchmarks/results``, before the target.
    says : str
        What is held out, in one sentence.
    datasets : tuple of str
        What is evaluated.
    protocol : str
        As ``--protocol`` takes it.
    options : tuple of str
        What else the command is told.
    targets : tuple of str
        Which FLOP are counted.
    """

    name: str
    says: str
    datasets: tuple[str, ...]
    protocol: str
    options: tuple[str, ...] = ()
    targets: tuple[str, ...] = TARGETS

    def arguments(self, target: str) -> tuple[str, ...]:
        """Return the command line after ``flopwitness``."""
        asked = ("--protocol", self.protocol, *self.options, "--target", target, "--json")
        return ("evaluate", *self.datasets, *asked)

    def file_name(self, target: str) -> str:
        """Return the name of its answer."""
        return f"{self.name}-{target}.json"


def _fit_on(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for path in paths for word in ("--fit-on", path))


def _only(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("--estimator", name))


def _splits(number: int) -> tuple[str, ...]:
    return ("--splits", str(number), "--seed", "0")


MAIN = (
    Case(
        "random",
        "A random third of the workloads held out, 200 times (the published protocol)",
        NODE_A,
        "random",
        _splits(N_SPLITS),
    ),
    Case("leave-family", "Each family of workloads held out once", NODE_A, "leave-family"),
    Case(
        "frozen",
        "Calibrated on node a, tested on the GPUs of node b, the same program",
        NODE_B,
        "frozen",
        _fit_on(NODE_A),
    ),
    Case(
        "untouched",
        f"Calibrated on node a, tested on node {FIRST_OWN}: another program, runs of 1.6 s, looked at once",
        OWN_NODES[FIRST_OWN],
        "frozen",
        _fit_on(NODE_A),
    ),
    Case(
        "own-sweep",
        f"The published protocol on our own sweep, of node {' and node '.join(OWN_NODES)}",
        OWN_PATHS,
        "random",
        _splits(N_SPLITS),
    ),
)
"""Each a table of all estimators."""

NODE_TO_NODE = tuple(
    Case(
        f"node-{fit}-to-{test}",
        f"Calibrated on the GPUs of node {fit}, tested on those of node {test}, the same program and plan",
        OWN_NODES[test],
        "frozen",
        _fit_on(OWN_NODES[fit]),
    )
    for fit, test in permutations(OWN_NODES, 2)
)
"""Each a table too; none until a second node has run the own sweep."""

FOLDS = Case(
    "own-folds",
    "Five folds, five times, on our own sweep: the experiment's comparison of its five estimators",
    OWN_PATHS,
    "folds",
    ("--seed", "0"),
    ("algorithmic",),
)

LEARNING = Case(
    "learning-curve",
    f"Calibrated on a growing number of workloads of node {FIRST_OWN}, {N_DRAWS} draws",
    OWN_NODES[FIRST_OWN],
    "learning-curve",
    (*_splits(N_DRAWS), *_only(COMPARED)),
)

CADENCE = {
    interval: Case(
        f"cadence-{interval:g}",
        f"Sampled every {interval:g} s, calibrated and tested alike",
        NODE_A,
        "random",
        (*_splits(SLOW_SPLITS), "--interval", f"{interval:g}", *_only(COMPARED)),
    )
    for interval in INTERVALS
}
"""By the interval that calibration and test share."""

CALIBRATION_A = "calibration-a.json"
"""Made for a while by ``flopwitness calibrate`` from node a as recorded, in the folder of the results."""

CROSS_CADENCE = {
    interval: Case(
        f"cross-cadence-{interval:g}",
        f"Calibrated on node a at 10 Hz, asked about node b sampled every {interval:g} s",
        NODE_B,
        "frozen",
        ("--calibration", CALIBRATION_A, "--interval", f"{interval:g}", *_only(COMPARED)),
        ("executed",),
    )
    for interval in INTERVALS
}
"""By the interval that the tested node was sampled at."""

SHIPPED = "src/flopwitness/app/calibrations/h200-sxm.json"
"""Made by ``make calibration`` from the own sweep and the recordings of formats."""

FORMATS = ("datasets/h200x2-f-formats", "datasets/h200x2-g-formats")
"""Runs of known number format, for the calibration alone."""

OTHER_WORK = tuple(f"datasets/{name}" for name in ("h200x1-e-extra", "h200x1-e-inference", "h200x2-c-other"))

BEYOND = Case(
    "beyond-benign",
    "Calibrated on the own benign sweep and on products and trainings of known number format, asked about "
    "other training, inference and FP64",
    OTHER_WORK,
    "frozen",
    ("--calibration", SHIPPED, *_only(("pipe-cycles-calibrated", "fused"))),
    ("executed",),
)

DETECTION = Case(
    "detection",
    "Every recording replayed through the daemon",
    (*NODE_A, *NODE_B, HANG, *OWN_PATHS, *OTHER_WORK, *FORMATS),
    "detection",
    targets=("executed",),
)

ALL = (
    *MAIN,
    *NODE_TO_NODE,
    FOLDS,
    LEARNING,
    *CADENCE.values(),
    *CROSS_CADENCE.values(),
    BEYOND,
    DETECTION,
)
