"""The estimators by name: which columns each one reads, and which constants it predicts with."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from flopwitness.estimate.predictors.fused import FUSED_COLUMNS, FusedState
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.network import NetworkState
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, PipeSumState

NETWORK_COLUMNS = ("net_energy_joules", "duration_seconds", "dram_bytes", "nvlink_bytes")
PIPE_COLUMNS = ("matrix_flop", "vector_flop")
OWN_PIPES = ("integer_matrix_flop", "double_matrix_flop")
PIPES_APART = (*PIPE_COLUMNS, *OWN_PIPES)

PredictorState = LinearState | NetworkState | PipeSumState | CalibratedPipeState | FusedState


class Witness(StrEnum):
    """What an estimate rests on; where this was not observed, it must be bounded."""

    POWER = "power"
    ACTIVITY = "activity"


@dataclass(frozen=True, slots=True)
class Method:
    """One estimator.

    Attributes
    ----------
    name : str
        As users write it.
    columns : tuple of str
        Features that it reads, in its order.
    state : type
        The class of its fitted constants.
    witness : Witness
        What it rests on.
    summary : str
        One line for people.
    n_required : int or None
        How many of the columns it cannot do without; None for all of them.
    """

    name: str
    columns: tuple[str, ...]
    state: type[PredictorState]
    witness: Witness
    summary: str
    n_required: int | None = None

    @property
    def required(self) -> tuple[str, ...]:
        """Columns without which there is no estimate: the first ``n_required``, or all."""
        return self.columns[: self.n_required]


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                "linear-power",
                ("net_energy_joules", "duration_seconds"),
                LinearState,
                Witness.POWER,
                "equation (1) on power alone",
            ),
            Method(
                "linear-power-dram",
                ("net_energy_joules", "duration_seconds", "dram_bytes"),
                LinearState,
                Witness.POWER,
                "equation (1) without NVLink",
            ),
            Method(
                "linear-power-dram-nvlink",
                ("net_energy_joules", "duration_seconds", "dram_bytes", "nvlink_bytes"),
                LinearState,
                Witness.POWER,
                "equation (1): power, memory and links",
            ),
            Method("mlp", NETWORK_COLUMNS, NetworkState, Witness.POWER, "the experiment's network"),
            Method(
                "mlp-residual",
                NETWORK_COLUMNS,
                NetworkState,
                Witness.POWER,
                "the experiment's network that corrects power alone",
            ),
            Method(
                "pipe-cycles",
                PIPE_COLUMNS,
                PipeSumState,
                Witness.ACTIVITY,
                "active pipe cycles at full rate, nothing fitted",
            ),
            Method(
                "pipe-cycles-calibrated",
                PIPES_APART,
                CalibratedPipeState,
                Witness.ACTIVITY,
                "active pipe cycles, one constant a matrix pipe",
                n_required=1,
            ),
            Method(
                "fused", FUSED_COLUMNS, FusedState, Witness.ACTIVITY, "all signals together", n_required=1
            ),
        )
    }
)
"""Every estimator, the experiment's first."""
