"""What the published experiment reported, to stand beside ours: another data set, other boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SOURCE = (
    "University of Chicago Existential Risk Laboratory, stress test of FLOP estimation on a dual-V100 node, "
    "August 2026: two V100-SXM2-16GB, 88 workloads of 10 traces each"
)
"""Where the figures below come from. Truth there is counted by PyTorch's FlopCounterMode."""


@dataclass(frozen=True, slots=True)
class Published:
    """Median absolute errors of one estimator; None where none was reported.

    Attributes
    ----------
    random_ratio : float or None
        Over 200 random splits, a score a trace.
    folds_ratio : float or None
        Over 5 repeats of 5 folds, a score a workload (companion of the report).
    """

    random_ratio: float | None
    folds_ratio: float | None


PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        "linear-power": Published(0.129, 0.131),
        "linear-power-dram": Published(0.151, 0.149),
        "linear-power-dram-nvlink": Published(0.151, 0.149),
        "mlp": Published(None, 0.104),
        "mlp-residual": Published(None, 0.104),
    }
)
"""By the name that the estimator has here."""

OURS = ("pipe-cycles", "pipe-cycles-calibrated", "fused")
"""Estimators that the experiment did not have, the strongest last."""
