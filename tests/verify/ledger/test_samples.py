"""Digests of samples: the same however a stream was cut, another for any other sample."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace, joined
from flopwitness.verify.ledger.samples import Gap, SampleHash, SampleSpan, SampleSpans, span_digest

GPU = Device("GPU-a", "H200-SXM", "node")
SECOND = 1_000_000_000
VALUES = st.lists(st.floats(0, 700) | st.just(float("nan")), min_size=1, max_size=30)


def trace_of(values: list[float], *, start: int = 0, step: int = SECOND) -> Trace:
    """Return a trace of two channels, the second without an answer now and then."""
    instants = start + step * np.arange(len(values))
    other = [value if number % 3 else float("nan") for number, value in enumerate(values)]
    return Trace(GPU, instants, {"power_watts": values, "dram_active_ratio": other})


def digest(*pieces: Trace) -> str:
    """Return the digest of pieces."""
    state = SampleHash()
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()


@given(values=VALUES, data=st.data())
def test_a_digest_does_not_depend_on_the_cuts(values: list[float], data: st.DataObject):
    """Nor on the order of channels, nor on channels that never answered."""
    whole = trace_of(values)
    cuts = sorted({0, len(whole), *data.draw(st.sets(st.integers(0, len(whole))))})
    pieces = [whole.between(start, stop) for start, stop in pairwise(cuts)]
    nothing = {"gpu_util_ratio": np.full(len(whole), np.nan)}
    other = Trace(GPU, whole.time_ns, nothing | dict(reversed(whole.channels.items())))

    assert digest(*pieces) == digest(whole) == digest(other)


@given(values=VALUES, data=st.data())
def test_another_sample_gives_another_digest(values: list[float], data: st.DataObject):
    """A value, an instant, a channel's name or a sample more."""
    whole = trace_of(values)
    at = data.draw(st.integers(0, len(whole) - 1))
    power = whole["power_watts"].copy()
    power[at] = 1.0 if np.isnan(power[at]) else np.nextafter(power[at], 1e9)
    changed = Trace(GPU, whole.time_ns, dict(whole.channels) | {"power_watts": power})
    names = {"power_watts": "power_instant_watts", "dram_active_ratio": "tensor_active_ratio"}
    renamed = Trace(GPU, whole.time_ns, {names[name]: column for name, column in whole.channels.items()})

    assert digest(changed) != digest(whole)
    assert digest(trace_of(values, start=1)) != digest(whole)
    assert digest(renamed) != digest(whole) or np.isnan(whole["power_watts"]).all()
    assert digest(trace_of([*values, 1.0])) != digest(whole)


@settings(max_examples=50)
@given(values=VALUES, data=st.data())
def test_spans_cover_every_sample_once(values: list[float], data: st.DataObject):
    """However often they are cut off: they continue each other, and a recording gives their digests again."""
    whole = trace_of(values)
    spans = SampleSpans(max_step_seconds=2.5)
    found: list[SampleSpan] = []
    for at in range(len(whole)):
        assert spans.observe(whole.between(at, at + 1)) == ()
        if data.draw(st.booleans()):
            found += spans.cut()
    found += spans.cut()

    assert sum(span.n_samples for span in found) == len(whole)
    assert [span.is_continued for span in found] == [False] + [True] * (len(found) - 1)
    assert all(one.stop_ns == other.start_ns for one, other in pairwise(found))
    assert [span_digest(whole, span) for span in found] == [(span.n_samples, span.sha256) for span in found]


def test_a_gap_ends_a_span():
    """What was seen until then comes with it; the next span begins after it."""
    spans = SampleSpans(max_step_seconds=2.5)
    before, after = trace_of([1.0, 2.0]), trace_of([3.0, 4.0], start=10 * SECOND)
    (gap,) = spans.observe(joined([before, after]))
    (rest,) = spans.cut()

    expected = SampleSpan(GPU, 0, SECOND, is_continued=False, n_samples=2, sha256=digest(before))
    assert gap == Gap(GPU, SECOND, 10 * SECOND, expected)
    assert (rest.start_ns, rest.is_continued, rest.sha256) == (10 * SECOND, False, digest(after))


def test_samples_that_a_ledger_has_already_are_passed_over():
    """After a restart a recording is read again from its beginning."""
    whole = trace_of([1.0, 2.0, 3.0, 4.0])
    spans = SampleSpans(max_step_seconds=2.5, last_ns={GPU.uuid: SECOND})
    spans.observe(whole)

    (span,) = spans.cut()

    assert (span.start_ns, span.n_samples, span.is_continued) == (SECOND, 2, True)
    assert span.sha256 == digest(whole.between(2, 4))


def test_a_gap_over_a_restart_is_one():
    """From the last sample that a ledger knew to the first one after."""
    spans = SampleSpans(max_step_seconds=2.5, last_ns={GPU.uuid: 0})

    (gap,) = spans.observe(trace_of([1.0], start=9 * SECOND))

    assert gap == Gap(GPU, 0, 9 * SECOND, None)


def test_the_digest_is_frozen():
    """Its bytes are part of the ledger's format."""
    values = [1.5, float("nan"), 2.0, 3.0]

    assert digest(trace_of(values)) == "b38e898aed45d03c711234540f6153b86994e9b6480ed5058d0a97137a4e8297"


def test_a_span_comes_back_from_its_values():
    """Instants as texts."""
    span = SampleSpan(
        GPU,
        1_800_000_000_000_000_001,
        1_800_000_000_000_000_002,
        is_continued=True,
        n_samples=3,
        sha256="ab" * 32,
    )

    assert SampleSpan.from_payload(span.to_payload()) == span
