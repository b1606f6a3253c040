"""The ten kinds of tampering by name, each with its reason and its strengths."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.redteam.tampering import places, rows, values
from flopwitness.redteam.tampering.aim import Aim

MATRIX = ("tensor_active_ratio", "hmma_active_ratio", "imma_active_ratio", "dfma_active_ratio")
"""What the matrix pipes report: the summary and its parts, which must go together."""

ACTIVITY = (
    *PIPE_CHANNELS,
    "gr_engine_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "dram_active_ratio",
)
"""Every share that the profiling source reports."""

CLOCK = ("sm_clock_hertz",)
POWER = ("power_watts", "power_instant_watts", "energy_joules_total")
"""Board power as gauges and as a counter, which must go together."""

SENSORS = ("power_watts", "power_instant_watts")
ENERGY = ("energy_joules_total",)
LINKS = (
    "nvlink_tx_bytes_total",
    "nvlink_rx_bytes_total",
    "nvlink_tx_bytes_per_second",
    "nvlink_rx_bytes_per_second",
)
EVERYTHING: tuple[str, ...] = ()


class Change(Protocol):
    """A pure change of a recording; chance is an argument."""

    def __call__(
        self, recording: Recording, aim: Aim, strength: float, rng: np.random.Generator, /
    ) -> Recording:
        """Return the recording as it reads afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to carry out a kind of tampering.

    Attributes
    ----------
    name : str
        Tells variants of one kind apart.
    change : Change
        What it does.
    channels : tuple of str
        What it acts on; empty for everything. Channels that depend on each other go together.
    measure : str
        Which estimate it moves: ``"activity"`` (FLOP by pipe cycles), ``"logged"`` (the same, of the runs of
        a log), ``"energy"`` (board energy, behind every power-based estimate), ``"power"`` (mean power),
        ``"links"`` (NVLink bytes), each of the recording; ``"device"`` and ``"device-energy"`` for FLOP and
        energy of its first device.
    largest : float
        The greatest strength that makes sense.
    begins_inside : bool
        Whether it begins after some clean samples; False for one that was there from the start.
    """

    name: str
    change: Change
    channels: tuple[str, ...]
    measure: str
    largest: float = 1.0
    begins_inside: bool = True


@dataclass(frozen=True, slots=True)
class Tampering:
    """One kind of tampering.

    Attributes
    ----------
    name, rationale : str
        What it is called, and why somebody would do it.
    unit : str
        What a strength counts.
    strengths : tuple of float
        Fixed strengths for tables, weakest first.
    variants : tuple of Variant
        How it can be done.
    n_devices_required : int
        How many devices the recording must have.

    Raises
    ------
    InvalidNounError
        When there is nothing to try.
    """

    name: str
    rationale: str
    unit: str
    strengths: tuple[float, ...]
    variants: tuple[Variant, ...]
    n_devices_required: int = 1

    def __post_init__(self) -> None:
        """Refuse a kind that has no way to be done, or whose strengths are not in order."""
        if not self.variants or not self.strengths or sorted(self.strengths) != list(self.strengths):
            raise InvalidNounError(f"tampering {self.name!r} needs variants, and strengths in order")


_KINDS = (
    Tampering(
        "drop",
        "samples that are not there cannot be counted; a monitor that stalls under load looks the same",
        "share of the samples",
        (0.01, 0.1, 0.5),
        (
            Variant("scattered", rows.drop_scattered, EVERYTHING, "activity", 0.98, begins_inside=False),
            Variant("block", rows.drop_block, EVERYTHING, "activity"),
            Variant("loaded", rows.drop_loaded, EVERYTHING, "activity", 0.98, begins_inside=False),
        ),
    ),
    Tampering(
        "freeze",
        "a source that hangs repeats its last answer; taken while idle, that hides the work after it",
        "share of the stretch",
        (0.05, 0.2, 1.0),
        (
            Variant("everything", rows.freeze, EVERYTHING, "activity"),
            Variant("activity", rows.freeze, ACTIVITY, "activity"),
            Variant("matrix", rows.freeze, MATRIX, "activity"),
            Variant("clock", rows.freeze, CLOCK, "activity"),
            Variant("power", rows.freeze, POWER, "energy"),
        ),
    ),
    Tampering(
        "bias",
        "a sensor with an offset, or one set to read low",
        "share of the mean",
        (0.05, 0.1, 0.2),
        (
            Variant("activity", values.bias, ACTIVITY, "activity", begins_inside=False),
            Variant("matrix", values.bias, MATRIX, "activity", begins_inside=False),
            Variant("power", values.bias, POWER, "energy", begins_inside=False),
        ),
    ),
    Tampering(
        "scale",
        "wrong units by 1,000/1,024, or a counter made to run slow",
        "share taken off",
        (0.0234375, 0.1, 0.5),
        (
            Variant("activity", values.scale, ACTIVITY, "activity", begins_inside=False),
            Variant("matrix", values.scale, MATRIX, "activity", begins_inside=False),
            Variant("clock", values.scale, CLOCK, "activity", begins_inside=False),
            Variant("power", values.scale, POWER, "energy", begins_inside=False),
            Variant("energy", values.scale, ENERGY, "energy", 0.9, begins_inside=False),
        ),
    ),
    Tampering(
        "shift",
        "clocks that disagree move work out of the window that a log names",
        "seconds",
        (0.5, 2.0, 60.0),
        (
            Variant("activity", places.shift, ACTIVITY, "logged", 3.0, begins_inside=False),
            Variant("matrix", places.shift, MATRIX, "logged", 3.0, begins_inside=False),
            Variant("device", places.shift, EVERYTHING, "logged", 3.0, begins_inside=False),
        ),
        n_devices_required=2,
    ),
    Tampering(
        "replay",
        "an idle stretch, copied over a loaded one, is made of true samples",
        "share of the stretch",
        (0.05, 0.2, 1.0),
        (
            Variant("everything", rows.replay, EVERYTHING, "activity"),
            Variant("activity", rows.replay, ACTIVITY, "activity"),
        ),
    ),
    Tampering(
        "swap",
        "work is shown under a device that nobody asks about",
        "share of the stretch",
        (0.1, 0.5, 1.0),
        (
            Variant("middle", places.swap, EVERYTHING, "device"),
            Variant("whole", places.swap, EVERYTHING, "device", begins_inside=False),
            Variant("gauges", places.wrong_index, EVERYTHING, "device"),
        ),
        n_devices_required=2,
    ),
    Tampering(
        "wrong-index",
        "CUDA, NVML and exporters count in different orders: one source's signals stand under the wrong GPU",
        "share of the stretch",
        (0.1, 0.5, 1.0),
        (
            Variant("activity", places.wrong_index, ACTIVITY, "device"),
            Variant("power", places.wrong_index, POWER, "device-energy"),
        ),
        n_devices_required=2,
    ),
    Tampering(
        "reset",
        "a driver loaded again starts its counters at 0, and so does somebody who wants them forgotten",
        "share of the count so far",
        (0.1, 0.5, 1.0),
        (
            Variant("energy", values.reset_counters, ENERGY, "energy"),
            Variant("links", values.reset_counters, LINKS, "links"),
        ),
    ),
    Tampering(
        "clip",
        "a sensor that saturates, or peaks cut off to pass a limit",
        "share of the values",
        (0.1, 0.3, 0.6),
        (
            Variant("activity", values.clip_peaks, ACTIVITY, "activity", 0.99, begins_inside=False),
            Variant("matrix", values.clip_peaks, MATRIX, "activity", 0.99, begins_inside=False),
            Variant("power", values.clip_peaks, SENSORS, "power", 0.99, begins_inside=False),
        ),
    ),
)

TAMPERINGS: Mapping[str, Tampering] = MappingProxyType({kind.name: kind for kind in _KINDS})
"""Every kind by name."""
