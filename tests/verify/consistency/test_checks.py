"""Every consistency check at once, on made recordings whose signals agree until they are made not to."""

from functools import cache

import numpy as np
import pytest

from flopwitness.core.finding import Severity
from flopwitness.core.recording import Recording
from flopwitness.core.session import cut_session
from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.catalogue import TAMPERINGS, Tampering, Variant
from flopwitness.verify.consistency.checks import consistency_findings, deviations
from flopwitness.verify.consistency.deviation import Deviation, worst
from flopwitness.verify.consistency.fitting import fitted_state
from flopwitness.verify.consistency.state import ConsistencyState
from verify.consistency.made import START_NS, UUIDS, clean_recording

STRENGTHS = {"shift": 1.0, "reset": 0.5, "clip": 0.5, "scale": 0.2, "bias": 0.2}


@cache
def made_state() -> ConsistencyState:
    """Return constants fitted on made recordings that no test judges."""
    return fitted_state([clean_recording(seed=seed) for seed in range(100, 106)])


def codes(recording: Recording) -> set[str]:
    """Return the codes of what is found."""
    return {finding.code for finding in consistency_findings(recording, made_state())}


@pytest.mark.parametrize("seed", range(8))
def test_a_clean_recording_gives_no_finding(seed: int):
    """False findings cost an honest operator as much as missed ones cost an auditor."""
    assert codes(clean_recording(seed=seed)) == set()


VARIANTS = [
    (kind, variant)
    for kind in TAMPERINGS.values()
    for variant in kind.variants
    if (kind.name, variant.name) not in {("swap", "whole"), ("swap", "gauges")}
]


@pytest.mark.parametrize(
    ("kind", "variant"), VARIANTS, ids=[f"{kind.name}-{variant.name}" for kind, variant in VARIANTS]
)
def test_every_kind_of_tampering_is_found(kind: Tampering, variant: Variant):
    """Ten kinds, each done in several ways; devices that work on their own can be taken for each other."""
    recording = clean_recording(seed=3, together=kind.name not in {"swap", "wrong-index"})
    start_ns = START_NS + 30 * 10**9 if variant.begins_inside else START_NS
    devices = UUIDS[:1] if variant.name == "device" else ()
    aim = Aim(start_ns, START_NS + 90 * 10**9, devices, variant.channels)

    tampered = variant.change(recording, aim, STRENGTHS.get(kind.name, 0.5), np.random.default_rng(0))

    assert codes(tampered) != set()


def test_exchanged_devices_show_in_their_earlier_samples():
    """Taken for each other from start to end, devices are consistent in themselves; their counters jump."""
    recording = clean_recording(seed=3)
    middle_ns = START_NS + 30 * 10**9
    earlier = {trace.device.uuid: trace.within(START_NS, middle_ns) for trace in recording.traces}
    later = recording.within(middle_ns + 1, START_NS + 90 * 10**9)
    whole = next(variant for variant in TAMPERINGS["swap"].variants if variant.name == "whole")
    swapped = whole.change(later, Aim(middle_ns, START_NS + 90 * 10**9), 1.0, np.random.default_rng(0))

    assert consistency_findings(later, made_state(), before=earlier) == ()
    assert {each.code for each in consistency_findings(swapped, made_state(), before=earlier)} == {"counter"}


def test_without_constants_the_other_checks_are_made():
    """No state for this chip: what needs none is still looked at."""
    recording = clean_recording()
    frozen = (
        TAMPERINGS["freeze"]
        .variants[0]
        .change(recording, Aim(START_NS + 10**10, START_NS + 5 * 10**10), 1.0, np.random.default_rng(0))
    )

    assert "frozen" in {finding.code for finding in consistency_findings(frozen)}
    assert "power-against-activity" not in {each.code for each in deviations(recording)}


def test_a_session_and_traces_can_be_asked_as_well():
    """A daemon has sessions, a reader has traces."""
    recording = clean_recording()
    session = cut_session(recording.traces, START_NS + 10**9, START_NS + 80 * 10**9)

    assert consistency_findings(session, made_state()) == ()
    assert consistency_findings(recording.traces, made_state()) == ()


def test_a_finding_says_what_when_and_how_bad():
    """From twice the limit on it is an alarm."""
    deviation = Deviation("clock", "GPU-a", 5, 9, amount=0.6, limit=0.25, sentence="GPU GPU-a: odd clocks")

    finding = deviation.finding()

    assert (finding.code, finding.subject, finding.message) == ("clock", "GPU-a", "GPU GPU-a: odd clocks")
    assert (finding.start_ns, finding.stop_ns, finding.severity) == (5, 9, Severity.ALARM)


def test_the_worst_of_a_check_and_device_speaks_for_the_rest():
    """One sentence a check and device."""
    small, large, other = (
        Deviation("clock", uuid, 0, 1, amount, 1.0, "") for uuid, amount in (("a", 1), ("a", 3), ("b", 2))
    )

    assert worst([small, large, other]) == (large, other)


def test_a_hint_is_a_note_however_far_off():
    """Clean work that nobody fitted can look so too."""
    hint = Deviation("matrix-against-signals", "GPU-a", 5, 9, 0.6, 0.05, "GPU GPU-a: odd pipes", is_hint=True)

    assert hint.finding().severity is Severity.NOTE
