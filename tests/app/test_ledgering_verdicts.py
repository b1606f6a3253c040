"""Verdicts as entries: everything that a later reader needs to ask the same again."""

import json
from pathlib import Path

import pytest

from flopwitness.app.accounting import Evidence
from flopwitness.app.ledgering import sound_entries
from flopwitness.app.ledgering_verdicts import calibration_digest, verdict_bodies, write_verdicts
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.verdicts import Question, answered
from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Claim
from flopwitness.storage.keys import new_key
from flopwitness.verify.ledger.canonical import canonical
from flopwitness.verify.ledger.entries import EntryKind
from verify.made_accounts import SCOPE, WATCHED, session

CALIBRATION = shipped_calibration(["H200-SXM"])
EVIDENCE = Evidence(
    SCOPE,
    tuple(session(20 * k, 20 * k + 10) for k in range(10)),
    WATCHED,
    {"made": "0" * 64},
    calibrations={"made": CALIBRATION},
)
RULE = open_rulebook().thresholds["eu-systemic-risk"]
QUESTION = Question(Claim("Example", 1000.0, "executed", 0.1), (RULE,), {"evaluation_ratio": 0.07})


def bodies(evidence: Evidence = EVIDENCE, question: Question = QUESTION) -> list[dict]:
    """Return the bodies as a reader of the ledger gets them."""
    made = verdict_bodies(evidence, question, answered(evidence, question))
    return [json.loads(canonical(body)) for body in made]


def test_an_entry_holds_question_answer_and_what_it_rests_on() -> None:
    """The claim's first, then each rule's."""
    answer = answered(EVIDENCE, QUESTION)

    claimed, ruled = bodies()

    assert claimed["subject"]["claim"] == {
        "declarant": "Example",
        "flop": 1000,
        "convention": "executed",
        "margin_ratio": 0.1,
    }
    assert claimed["answer"] == answer.claim.answer
    assert claimed["reasons"] == list(answer.claim.reasons)
    assert claimed["probability_over"] == pytest.approx(list(answer.claim.probability_over))
    assert (ruled["subject"]["rule"]["name"], ruled["answer"]) == ("eu-systemic-risk", "below")
    assert [one["convention"] for one in (claimed, ruled)] == ["executed", "eu-cumulative"]
    for body in (claimed, ruled):
        subject = body["subject"]
        assert subject["scope"]["devices"] == list(SCOPE.devices)
        assert subject["settings"]["declared"] == {"evaluation_ratio": 0.07}
        assert subject["account"]["total"]["point_flop"] == answer.first.total.point_flop
        assert subject["sources"] == [{"path": "made", "sha256": "0" * 64, "read": None}]
        assert subject["version"]


def test_calibrations_are_named_by_the_digest_that_watch_writes() -> None:
    """And how many sessions each of them estimated; unknown is not left out."""
    unnamed = Evidence(SCOPE, EVIDENCE.sessions, WATCHED)

    named, unknown = (bodies(one)[0]["subject"]["calibration_sha256"] for one in (EVIDENCE, unnamed))

    assert named == {calibration_digest(CALIBRATION): 10}
    assert unknown == {"unknown": 10}


def test_a_bound_without_end_is_null() -> None:
    """JSON knows no infinity, and a figure in its place would be made up."""
    unseen = Evidence(SCOPE, EVIDENCE.sessions, (), {})

    (body, _) = bodies(unseen)

    assert body["subject"]["account"]["total"]["high_flop"] is None
    assert body["subject"]["account"]["total"]["low_flop"] > 0


def test_verdicts_are_one_group_and_the_places_are_theirs(tmp_path: Path) -> None:
    """On disk and signed when it returns, in a ledger that was not there."""
    made = verdict_bodies(EVIDENCE, QUESTION, answered(EVIDENCE, QUESTION))

    written = write_verdicts(tmp_path / "verdicts", new_key(tmp_path / "key"), made)

    entries = sound_entries(tmp_path / "verdicts")
    found = [entry.sequence for entry in entries if entry.kind is EntryKind.VERDICT]
    assert list(written.sequences) == found == [2, 3]
    assert written.checkpoint.size == 4
    assert entries[2].body["n_dropped_bytes"] == 0


def test_a_ledger_of_another_key_takes_no_verdict(tmp_path: Path) -> None:
    """It stays as it was."""
    made = verdict_bodies(EVIDENCE, QUESTION, answered(EVIDENCE, QUESTION))
    write_verdicts(tmp_path / "verdicts", new_key(tmp_path / "key"), made)
    before = (tmp_path / "verdicts").read_bytes()

    with pytest.raises(BadInputError, match="the ledger's key"):
        write_verdicts(tmp_path / "verdicts", new_key(tmp_path / "other"), made)
    assert (tmp_path / "verdicts").read_bytes() == before
