"""Live GPUs and recordings look the same to the daemon; a restart goes on from what is known."""

from pathlib import Path

import numpy as np

from app.live import FakeClock, ListedSampler, rounds_of, two_gpus
from contracts.detector import GPU_A, GPU_B, START_NS, lasting
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.core.trace import joined

HANG = Path(__file__).parents[2] / "datasets" / "h200x2-hang"
TRACES = two_gpus(lasting("working", 5))


class FoundSampler(ListedSampler):
    """A listed sampler that says what it found."""

    devices = (GPU_A, GPU_B)


def live(n_waits: int = 50) -> tuple[LiveSource, FoundSampler, list[str]]:
    """Return a live source over two GPUs, its sampler and what it says."""
    said: list[str] = []
    sampler = FoundSampler(rounds_of(*TRACES))
    clock = FakeClock(n_waits=n_waits)
    return LiveSource(sampler, clock, interval_seconds=0.1, say=said.append), sampler, said


def test_every_live_round_comes_through_and_the_sampler_is_closed():
    """On a first run nothing is changed and nothing said."""
    source, sampler, said = live()
    with source:
        source.join(None, floor_ns=None)
        rounds = list(source.rounds({}))

    assert tuple(joined(pieces[at] for pieces in rounds) for at in range(2)) == TRACES
    assert (source.devices, said, source.findings(), source.notes()) == ((GPU_A, GPU_B), [], (), ())
    assert sampler.n_closed == 1


def test_after_a_restart_the_first_sample_tells_nothing_of_the_time_between():
    """Its gauges are blank: what nobody saw is unseen, not idle."""
    source, _, _ = live()
    source.join(None, floor_ns=None)

    rounds = list(source.rounds({GPU_A.uuid: START_NS - 1}))

    first, second = rounds[0]
    assert np.isnan(list(first.channels.values())).all()
    assert second == TRACES[1].between(0, 1)
    assert rounds[1][0] == TRACES[0].between(1, 2)


def test_a_replay_is_what_was_recorded():
    """Its instants are its own, wherever the clock of this machine stands."""
    with ReplaySource(HANG, FakeClock(), chip="H200-SXM", speed=0.0) as source:
        source.join(None, floor_ns=2**62)
        last_ns = max(int(piece.time_ns[-1]) for pieces in source.rounds({}) for piece in pieces)

        assert (source.notes(), source.provenance.source) == ((), "nvml+gpm")
        assert list(source.rounds({device.uuid: last_ns for device in source.devices})) == []


def test_gpus_are_numbered_by_nvml_alone_and_only_where_none_is_missing():
    """A GPU that was never heard would move the others up."""
    source, sampler, _ = live()
    by_source = {}
    for sampler.source in ("nvml+gpm", "nvml", "dcgm-exporter"):
        by_source[sampler.source] = source.pci_uuids
    sampler.source, sampler.lost = "nvml", {GPU_A.uuid: "late"}
    with_a_late_one = source.pci_uuids
    sampler.lost = {"nvml:1": "never answered"}

    assert by_source == {
        "nvml+gpm": (GPU_A.uuid, GPU_B.uuid),
        "nvml": (GPU_A.uuid, GPU_B.uuid),
        "dcgm-exporter": (),
    }
    assert with_a_late_one == (GPU_A.uuid, GPU_B.uuid)
    assert source.pci_uuids == ()
