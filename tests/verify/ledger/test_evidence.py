"""A session comes back from a ledger as it went in; devices were watched where samples say so."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import SessionEvidence
from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.verdict import Outcome, Verdict
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target
from flopwitness.verify.ledger.canonical import canonical
from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash
from flopwitness.verify.ledger.evidence import (
    SAMPLES,
    session_body,
    session_from,
    sessions_of,
    verdict_body,
    watches_of,
)
from flopwitness.verify.ledger.samples import SampleSpan
from flopwitness.verify.watching import ceiling_flop_per_second

FLOP = st.floats(0, 1e30)
GOLDEN = (
    '{"devices":["GPU-a","GPU-b"],"energy_joules":null,"estimates":{"algorithmic":{"fused":{'
    '"coverage_ratio":0.9,"high_flop":null,"low_flop":100000000000000000,"most_flop":null,"point_flop":123456789012345680,'
    '"signals":["tensor_cycles"]}}},"findings":[{"code":"stalled","message":"GPU-a did nothing","severity":'
    '"alarm","start_ns":"1800000000000000001","stop_ns":null,"subject":"GPU-a"}],"opinion":{"answer":"training",'
    '"n_windows":3,"probabilities":{"inference":0.25,"training":0.75},"reasons":["steps"],"unfamiliar_ratio":0},'
    '"session_id":"abc","start_ns":"1800000000000000001","stop_ns":"1800000000000000003"}'
)


def evidence(**changes: object) -> SessionEvidence:
    """Return a session with something in every field."""
    flop = (1.2345678901234568e17, 1e17, float("inf"))
    one = Estimate(*flop, 0.9, "fused", Target.ALGORITHMIC, ("tensor_cycles",))
    opinion = ClassOpinion(
        WorkClass.TRAINING, {WorkClass.TRAINING: 0.75, WorkClass.INFERENCE: 0.25}, ("steps",), 3
    )
    start_ns = 1_800_000_000_000_000_001
    finding = Finding("stalled", "GPU-a did nothing", Severity.ALARM, "GPU-a", start_ns)
    made = SessionEvidence(
        "abc",
        start_ns,
        start_ns + 2,
        ("GPU-a", "GPU-b"),
        {Target.ALGORITHMIC: {"fused": one}},
        (finding,),
        opinion,
    )
    return replace(made, **changes)


def entry_of(body: dict[str, object], kind: EntryKind = EntryKind.SESSION, sequence: int = 5) -> Entry:
    """Return an entry as it comes from its bytes."""
    return Entry.from_line(Entry(sequence, 7, kind, body, "0" * 64, "0" * 32).line())


def test_the_bytes_of_a_session_are_frozen():
    """Infinite bounds and unknown energy are null, instants are texts, numbers are as ECMAScript has them."""
    assert canonical(session_body(evidence())).decode() == GOLDEN


@given(
    flop=st.tuples(FLOP, FLOP, FLOP, FLOP).map(sorted), coverage=st.floats(0.01, 0.99), bounded=st.booleans()
)
def test_a_session_comes_back_exactly(flop: list[float], coverage: float, bounded: bool):
    """Every double of it, infinite ends, opinion and findings; source and digest name the entry."""
    low, point, high, most = flop if bounded else (*flop[:2], float("inf"), float("inf"))
    estimates = {
        target: {"m": Estimate(point, low, high, coverage, "m", target, ("a", "b"), most)}
        for target in Target
    }
    sent = evidence(estimates=estimates, energy_joules=point)
    entry = entry_of(session_body(sent))

    found = session_from(entry, source="ledger")

    assert found == replace(sent, source="ledger", digest=entry_hash(entry.line()))


def test_unknown_energy_and_no_opinion_come_back():
    """Unknown is not zero."""
    found = session_from(entry_of(session_body(evidence(opinion=None))))

    assert found.energy_joules != found.energy_joules
    assert found.opinion is None


def test_what_else_an_entry_holds_is_passed_over():
    """The daemon adds name, job and samples to a session."""
    entry = entry_of(session_body(evidence()) | {"name": "x", "job": None, SAMPLES: []})

    assert sessions_of([entry])[0].session_id == "abc"


@pytest.mark.parametrize("field", ["session_id", "start_ns", "devices", "estimates", "findings", "opinion"])
def test_an_entry_without_a_field_is_no_session(field: str):
    """Nothing is filled in."""
    body = session_body(evidence())
    del body[field]

    with pytest.raises(InvalidNounError, match="entry 5 holds no session"):
        session_from(entry_of(body))


def span(start: int, stop: int, uuid: str = "GPU-a", chip: str = "H200-SXM") -> dict[str, object]:
    """Return the values of a span of samples."""
    return SampleSpan(
        Device(uuid, chip), start, stop, is_continued=False, n_samples=2, sha256="ab" * 32
    ).to_payload()


def test_devices_were_watched_where_there_are_samples():
    """Spans that follow each other are one stretch; what lies between others was not watched."""
    entries = (
        entry_of({SAMPLES: [span(0, 10), span(0, 5, "GPU-b", "odd")]}, EntryKind.WATCHED),
        entry_of({SAMPLES: [span(10, 30)]}, EntryKind.SESSION),
        entry_of({SAMPLES: [span(50, 60)]}, EntryKind.STOP),
        entry_of({}, EntryKind.START),
    )

    one, other = watches_of(entries)

    assert (one.device, one.chip, one.stretches) == ("GPU-a", "H200-SXM", ((0, 30), (50, 60)))
    assert one.ceiling_flop_per_second == ceiling_flop_per_second("H200-SXM") > 1e15
    assert (other.device, other.stretches) == ("GPU-b", ((0, 5),))
    assert other.ceiling_flop_per_second == float("inf")


def test_malformed_samples_are_refused():
    """A watch is not guessed."""
    with pytest.raises(InvalidNounError, match="malformed samples"):
        watches_of([entry_of({SAMPLES: [{"device": "GPU-a"}]}, EntryKind.STOP)])


def test_a_verdict_is_written_with_its_reasons():
    """And with what it was about."""
    verdict = Verdict(Outcome.INCONSISTENT, ("too much",), "executed", (0.5, 1.0), (), ("ab",))

    body = json.loads(canonical(verdict_body(verdict, subject={"scope": "x"})))

    assert body["answer"] == "inconsistent"
    assert body["subject"] == {"scope": "x"}
    assert body["probability_over"] == [0.5, 1]
