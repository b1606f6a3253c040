"""Missing samples."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.gaps import CODE, gap_deviations
from verify.consistency.made import clean_trace, highest_score


def kept(trace: Trace, which: np.ndarray) -> Trace:
    """Return a trace with some of its samples."""
    return Trace(
        trace.device, trace.time_ns[which], {name: column[which] for name, column in trace.channels.items()}
    )


def score(trace: Trace) -> float:
    """Return the highest score of this check."""
    return highest_score(gap_deviations(trace), CODE)


def test_a_steady_sampler_passes_at_any_pace():
    """Ten times a second or once in two seconds."""
    trace = clean_trace()

    assert score(trace) < 1
    assert score(kept(trace, np.arange(len(trace)) % 20 == 0)) < 1


def test_half_a_second_without_samples_is_found():
    """At ten a second."""
    trace = clean_trace()

    assert score(kept(trace, (np.arange(len(trace)) < 400) | (np.arange(len(trace)) >= 405))) > 1


def test_samples_dropped_by_chance_are_found():
    """One in ten, which leaves no long gap."""
    rng = np.random.default_rng(0)
    trace = clean_trace()

    assert score(kept(trace, rng.random(len(trace)) > 0.1)) > 1


def test_a_gap_under_load_is_told_as_one():
    """Whoever drops samples drops those that count."""
    trace = clean_trace()
    loaded = trace["sm_active_ratio"] > 0.3
    found = list(gap_deviations(kept(trace, ~(loaded & (np.arange(len(trace)) % 3 == 0)))))

    assert "under load" in max(found, key=lambda each: each.score).sentence
