"""The benign runs that attacks are compared with: few, so that each is measured beside many attacks."""

from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.core.workload import WorkloadConfig
from flopwitness.redteam.attack import Strength, Value

TWIN = "twin"
"""Family of the benign runs beside attacks."""

_DECODER: dict[str, Value] = {
    "kind": "train",
    "d_model": 2048,
    "n_layers": 12,
    "n_heads": 16,
    "d_ff": 8192,
    "seq_len": 1024,
    "batch": 8,
    "optimizer": "adamw",
    "precision": "bf16",
}
_NARROW: dict[str, Value] = _DECODER | {"d_model": 1024, "n_heads": 8, "d_ff": 4096}

LARGE = WorkloadConfig("twin-2048-12-b8", TWIN, _DECODER)
"""The middle of the benign sweep; a step takes 87 ms on an H200."""

HEADS = WorkloadConfig("twin-1024-12-s512-b16", TWIN, _NARROW | {"seq_len": 512, "batch": 16})
"""The parent of the experiment's odd heads."""

BATCH = WorkloadConfig("twin-1024-6-s256-b8", TWIN, _NARROW | {"n_layers": 6, "seq_len": 256})
"""The parent of the experiment's inflated batches."""

QUICK = WorkloadConfig("twin-1024-4-s512-b16", TWIN, _NARROW | {"n_layers": 4, "seq_len": 512, "batch": 16})
"""Steps of about 10 ms, so that bursts can be shorter than the time between two samples."""

SECOND: Mapping[str, WorkloadConfig] = MappingProxyType(
    {
        LARGE.name: WorkloadConfig(
            "twin-1536-12-s2048-b8",
            TWIN,
            _DECODER | {"d_model": 1536, "n_heads": 12, "d_ff": 6144, "seq_len": 2048},
        ),
        HEADS.name: WorkloadConfig(
            "twin-2048-6-s512-b16", TWIN, _DECODER | {"n_layers": 6, "seq_len": 512, "batch": 16}
        ),
        BATCH.name: WorkloadConfig(
            "twin-1536-6-s256-b8",
            TWIN,
            _DECODER | {"d_model": 1536, "n_heads": 12, "d_ff": 6144, "n_layers": 6, "seq_len": 256},
        ),
        QUICK.name: WorkloadConfig("twin-1024-4-s1024-b8", TWIN, _NARROW | {"n_layers": 4}),
    }
)
"""Other twins for the same attacks, by the name of the first: to test defences on what did not shape them."""

THIRD, TWO_THIRDS, ALL = 4, 8, 0
"""Blocks of twelve; 0 stands for all of them, and for what lies around them."""


def by_share(name: str, **changes: Value) -> tuple[Strength, ...]:
    """Return a third, two thirds and all of the blocks of a twin of twelve, counted by ``name``."""
    shares = {"third": THIRD, "two-thirds": TWO_THIRDS, "all": ALL}
    return tuple(Strength(label, {**changes, name: n_blocks}) for label, n_blocks in shares.items())


def by_value(name: str, *values: Value) -> tuple[Strength, ...]:
    """Return one strength a value of one hyper-parameter, named by it."""
    return tuple(Strength(str(value), {name: value}) for value in values)
