"""An API that is followed: each sample once, in order, also after it was away."""

from itertools import pairwise
from pathlib import Path

import pytest

from app.live import FakeClock
from contracts.sampler import SamplerContract
from emulators.prometheus_api import Samples
from flopwitness.app.sources import LiveSource
from flopwitness.app.ticking import PacedSampler
from flopwitness.core.trace import joined
from flopwitness.telemetry.prometheus.client import Answer
from flopwitness.telemetry.prometheus.following import PrometheusSampler
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

SECOND = 10**9
START_NS = 1_770_091_506 * SECOND
POWER, CLOCK = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK"


class Scraped:
    """An API over time: whoever asks for the time lets a second pass, and a scrape with it.

    Attributes
    ----------
    watts : dict of str to float
        What each GPU draws; one that is not there is not scraped.
    is_away : bool
        Whether it does not answer.
    """

    def __init__(self) -> None:
        self.watts = {"GPU-a": 300.0, "GPU-b": 300.0}
        self.is_away = False
        self.now_ns = START_NS
        self._samples = Samples()
        self.now()

    def now(self) -> int:
        """Return the time, a second later than before."""
        self.now_ns += SECOND
        for uuid, watts in self.watts.items():
            self._samples.add(self.now_ns // 10**6, watts, name=POWER, UUID=uuid, modelName="NVIDIA H200")
            self._samples.add(self.now_ns // 10**6, 1755.0, name=CLOCK, UUID=uuid, modelName="NVIDIA H200")
        return self.now_ns

    def samples(self, start_ns: int, stop_ns: int) -> Answer:
        """Answer a client's question."""
        if self.is_away:
            raise SourceUnavailableError("prometheus", "connection refused")
        return self._samples.samples(start_ns, stop_ns)


class FollowedRig:
    """Two GPUs behind an API."""

    power_channel = "power_watts"
    uuids = ("GPU-a", "GPU-b")

    def __init__(self) -> None:
        self.api = Scraped()
        self.sampler = PrometheusSampler(self.api, now=self.api.now)

    def show(self, uuid: str, watts: float | None) -> None:
        """Have it scraped from now on."""
        self.api.watts[uuid] = float("nan") if watts is None else watts

    def lose(self, uuid: str) -> None:
        """Scrape it no more."""
        del self.api.watts[uuid]

    def stop(self) -> None:
        """Do nothing: no server runs."""


class TestFollowing(SamplerContract):
    """It keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> FollowedRig:  # noqa: ARG002
        """Set up an API."""
        return FollowedRig()


def test_it_keeps_its_own_beat():
    """A ticker fetches what was scraped meanwhile instead of asking sample by sample."""
    assert isinstance(FollowedRig().sampler, PacedSampler)


def test_nothing_is_lost_while_the_api_is_away():
    """The next answer begins where the last ended."""
    rig = FollowedRig()
    pieces = [*rig.sampler.fetch()]
    rig.api.is_away = True
    assert [rig.sampler.fetch() for _ in range(3)] == [()] * 3
    rig.api.is_away = False

    pieces += [*rig.sampler.fetch(), *rig.sampler.fetch()]

    whole = joined(piece for piece in pieces if piece.device.uuid == "GPU-a")
    assert set((whole.time_ns[1:] - whole.time_ns[:-1]).tolist()) == {SECOND}


def test_a_gpu_that_is_scraped_no_more_is_lost_after_five_minutes():
    """A scrape that is a little late is no loss."""
    rig = FollowedRig()
    rig.lose("GPU-a")
    for _ in range(200):
        rig.sampler.fetch()
    assert rig.sampler.lost == {}

    for _ in range(200):
        rig.sampler.fetch()

    assert rig.sampler.lost == {"GPU-a": "it was not scraped for five minutes"}


def test_it_can_begin_in_the_past():
    """A daemon that was down goes on after its last sample."""
    api = Scraped()
    for _ in range(100):
        api.now()
    sampler = PrometheusSampler(api, now=api.now, since_ns=START_NS + 10 * SECOND)

    piece = sampler.fetch()[0]

    assert piece.time_ns[0] == START_NS + 11 * SECOND


def test_a_daemon_can_follow_it():
    """It fits where a sampler of this machine's GPUs does, and its own instants stay."""
    rig = FollowedRig()
    source = LiveSource(rig.sampler, FakeClock(n_waits=12), interval_seconds=1.0, say=list)  # type: ignore[arg-type]

    pieces = [piece for batch in source.rounds({}) for piece in batch if piece.device.uuid == "GPU-a"]

    stamps = [int(instant) for piece in pieces for instant in piece.time_ns]
    assert len(stamps) >= 5
    assert {later - earlier for earlier, later in pairwise(stamps)} == {SECOND}
    assert source.provenance.source == "prometheus"


def test_without_a_gpu_there_is_no_source():
    """It is said at once."""
    with pytest.raises(SourceUnavailableError, match="no GPU"):
        PrometheusSampler(Samples(), now=lambda: START_NS)
