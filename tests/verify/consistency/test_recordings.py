"""Consistency on real recordings: constants of some nodes, asked about one that they never saw."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from flopwitness.core.finding import Severity
from flopwitness.core.recording import Recording
from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.catalogue import TAMPERINGS
from flopwitness.storage.recordings import read_recording
from flopwitness.verify.consistency.checks import consistency_findings
from flopwitness.verify.consistency.fitting import fitted_state
from flopwitness.verify.consistency.state import ConsistencyState

DATASETS = Path(__file__).parents[3] / "datasets"
SECOND_NS = 10**9


@cache
def recorded(name: str) -> Recording:
    """Return a recording as it was made."""
    return read_recording(DATASETS / name / "samples.parquet")


@cache
def learned() -> ConsistencyState:
    """Return what two nodes teach; one alone does not say how boards differ."""
    return fitted_state([recorded(f"h200x2-{part}") for part in ("a", "b", "d1", "d2")])


def excerpt(name: str, start_seconds: int = 0) -> Recording:
    """Return ninety seconds of a recording."""
    first_ns = int(recorded(name).traces[0].time_ns[0]) + start_seconds * SECOND_NS
    return recorded(name).within(first_ns, first_ns + 90 * SECOND_NS)


@pytest.mark.parametrize("start_seconds", [0, 40, 80])
def test_another_node_is_consistent(start_seconds: int):
    """Its boards draw a little more or less, its sampler is as punctual."""
    assert consistency_findings(excerpt("h200x2-c3", start_seconds), learned()) == ()


@pytest.mark.parametrize("name", ["h200x2-hang", "h200x1-e-inference", "h200x2-c-other"])
def test_other_work_and_a_hang_are_no_tampering(name: str):
    """Power is not judged where no fitted work was like it: a note says so at most."""
    found = consistency_findings(excerpt(name), learned())

    assert {finding.code for finding in found} <= {"unfamiliar-work"}
    assert {finding.severity for finding in found} <= {Severity.NOTE}


def test_another_program_draws_hints_at_most():
    """What predicts one program's matrix pipes reads another's 10 % high: that is no warning."""
    state = fitted_state([recorded(f"h200x2-{part}") for part in ("c1", "c2", "c3", "d1", "d2")])
    found = consistency_findings(excerpt("h200x2-a", 100), state)

    assert {finding.severity for finding in found} <= {Severity.NOTE}
    assert {finding.code for finding in found} <= {"matrix-against-signals", "unfamiliar-work"}


CASES = [
    ("drop", "loaded", 0.3, "missing-samples"),
    ("freeze", "everything", 0.2, "frozen"),
    ("scale", "activity", 0.1, "activity-against-utilisation"),
    ("scale", "clock", 0.1, "clock"),
    ("scale", "energy", 0.15, "energy-against-power"),
    ("shift", "activity", 0.5, "shifted"),
    ("replay", "everything", 0.2, "replayed"),
    ("swap", "middle", 0.5, "counter"),
    ("reset", "energy", 0.2, "counter"),
    ("clip", "matrix", 0.4, "clipped"),
]


@pytest.mark.parametrize(("kind", "name", "strength", "code"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_tampering_is_called_by_its_name(kind: str, name: str, strength: float, code: str):
    """The check that was made for it is among those that speak."""
    recording = excerpt("h200x2-c3", 60)
    variant = next(each for each in TAMPERINGS[kind].variants if each.name == name)
    first_ns, last_ns = (int(recording.traces[0].time_ns[at]) for at in (0, -1))
    start_ns = first_ns + 30 * SECOND_NS if variant.begins_inside else first_ns
    aim = Aim(start_ns, last_ns, (), variant.channels)

    tampered = variant.change(recording, aim, strength, np.random.default_rng(0))

    assert code in {finding.code for finding in consistency_findings(tampered, learned())}


def test_operands_of_zeros_are_named():
    """Real training on zeros draws 44 % less than its activity says."""
    recording = recorded("h200x2-f2")
    last_ns = int(recording.traces[0].time_ns[-1])
    found = consistency_findings(recording.within(last_ns - 28 * SECOND_NS, last_ns), learned())

    assert {(finding.code, finding.severity) for finding in found} == {
        ("low-entropy-operands", Severity.WARNING)
    }


@pytest.mark.parametrize("variant", ["scale", "bias"])
def test_matrix_pipes_of_a_known_program_lowered_by_a_tenth_are_found(variant: str):
    """Summary and pipes alike, on both devices, from the first sample on."""
    clean = excerpt("h200x2-c3", 40)
    times = clean.traces[0].time_ns
    channels = ("tensor_active_ratio", "hmma_active_ratio", "imma_active_ratio", "dfma_active_ratio")
    aim = Aim(int(times[0]), int(times[-1]), (), channels)
    change = next(one.change for one in TAMPERINGS[variant].variants if one.name == "matrix")
    found = consistency_findings(change(clean, aim, 0.1, np.random.default_rng(0)), learned())

    assert {finding.code for finding in found if finding.severity is not Severity.NOTE} & {
        "matrix-against-signals",
        "cut-off-at-zero",
    }
