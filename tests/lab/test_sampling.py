"""Sampling beside a computation: nothing is lost, one bad answer ends nothing."""

import threading

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.lab.sampling import SamplingThread

GPU = Device("GPU-a")


class ScriptedSampler:
    """Answers what is written, then nothing; says when the script is over."""

    def __init__(self, *script: int | Exception) -> None:
        self.script = list(script)
        self.is_over = threading.Event()

    def sample(self) -> tuple[Trace, ...]:
        """Return a sample at the next instant of the script, or fail."""
        if not self.script:
            self.is_over.set()
            return ()
        instant = self.script.pop(0)
        if isinstance(instant, Exception):
            raise instant
        return (Trace(GPU, [instant], {"power_watts": [float(instant)]}),)

    def close(self) -> None:
        """Do nothing."""


def sampled(sampler: ScriptedSampler) -> SamplingThread:
    """Sample until the script is over."""
    sampling = SamplingThread(sampler, interval_seconds=0.001)
    sampling.start()
    assert sampler.is_over.wait(timeout=30)
    sampling.stop()
    return sampling


def test_everything_that_was_sampled_is_there():
    """One trace a device, however often it is asked for."""
    sampling = sampled(ScriptedSampler(1, 2, 3))

    once, again = sampling.traces(), sampling.traces()

    assert [trace.time_ns.tolist() for trace in once] == [[1, 2, 3]]
    assert once == again


def test_a_failed_answer_is_counted_and_sampling_goes_on():
    """The recording is worth more than one sample."""
    sampling = sampled(ScriptedSampler(1, RuntimeError("driver"), 2))

    assert sampling.traces()[0].time_ns.tolist() == [1, 2]
    assert sampling.problems["RuntimeError: driver"] == 1


def test_a_sample_that_is_not_newer_is_left_out():
    """A trace's time strictly increases."""
    sampling = sampled(ScriptedSampler(1, 1, 2))

    assert sampling.traces()[0].time_ns.tolist() == [1, 2]
    assert sampling.problems["a sample that is not newer than the last"] == 1


def test_nobody_answered_is_no_trace():
    """Unknown is not zero."""
    assert sampled(ScriptedSampler()).traces() == ()
