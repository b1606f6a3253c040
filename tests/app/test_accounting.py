"""Recordings become one scope's evidence: cut before they are estimated, counted once."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.recordings import N_TICKS, START_SECONDS, write_folder
from flopwitness.app.accounting import Evidence, answering, evidence_of_sources, file_digest, is_ledger
from flopwitness.app.cli.watch import run as run_watch
from flopwitness.core.account import Scope
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.storage.keys import new_key
from verify.made_accounts import session

SECOND = 10**9
HANG = Path(__file__).parents[2] / "datasets" / "h200x2-hang"


def gathered(*sources: Path, scope: Scope | None = None, unseen_chip: str = "") -> Evidence:
    """Return the evidence of some sources."""
    return evidence_of_sources(
        list(sources), scope, calibration=None, chip="H200-SXM", unseen_chip=unseen_chip
    )


def scope_of(folder: str, start: float, stop: float, *more: str) -> Scope:
    """Return a scope of both devices of a made folder, seconds after its start."""
    devices = (f"{folder}:0", f"{folder}:1", *more)
    first = START_SECONDS * SECOND
    return Scope("made", tuple(sorted(devices)), first + round(start * SECOND), first + round(stop * SECOND))


def test_without_a_scope_all_that_was_recorded_is_one(tmp_path: Path) -> None:
    """All devices, from the first sample to the last, all of it watched."""
    evidence = gathered(write_folder(tmp_path / "node"))
    account = evidence.account(Target.EXECUTED)

    assert evidence.scope.devices == ("node:0", "node:1")
    assert evidence.scope.device_seconds == pytest.approx(2 * (N_TICKS - 1) / 10)
    assert account.unobserved_device_seconds == 0
    assert len(account.sessions) == 1
    assert account.sessions[0].energy_joules == pytest.approx(2 * 4 * 650, rel=0.1)
    assert set(evidence.digests.values()) == {file_digest(tmp_path / "node")}


def test_two_nodes_add_up(tmp_path: Path) -> None:
    """Sources of several nodes are one scope."""
    nodes = [write_folder(tmp_path / name) for name in ("one", "two")]

    whole, part = (gathered(*some).account(Target.EXECUTED) for some in (nodes, nodes[:1]))

    assert whole.observed.point_flop == pytest.approx(2 * part.observed.point_flop)


def test_a_scope_that_cuts_through_work_is_estimated_on_what_lies_inside(tmp_path: Path) -> None:
    """The samples are at hand, so the session is cut, not scaled."""
    folder = write_folder(tmp_path / "node")

    half = gathered(folder, scope=scope_of("node", 0, 6)).account(Target.EXECUTED)
    whole = gathered(folder, scope=scope_of("node", 0, 11)).account(Target.EXECUTED)

    assert half.observed.point_flop == pytest.approx(whole.observed.point_flop / 2, rel=0.05)
    assert half.observed.low_flop > 0
    assert not any(one.code == "partly-outside" for one in half.sessions[0].findings)


def test_a_device_outside_the_scope_is_cut_off(tmp_path: Path) -> None:
    """Only what was asked for is estimated and watched."""
    folder = write_folder(tmp_path / "node")
    alone = replace(scope_of("node", 0, 11), devices=("node:0",))

    evidence = gathered(folder, scope=alone)

    assert [one.devices for one in evidence.sessions] == [("node:0",)]
    assert [one.device for one in evidence.watches] == ["node:0"]


def test_time_before_the_first_sample_was_not_observed(tmp_path: Path) -> None:
    """A scope may ask for more than was recorded."""
    folder = write_folder(tmp_path / "node")

    account = gathered(folder, scope=scope_of("node", -10, 11)).account(Target.EXECUTED)

    assert account.unobserved_device_seconds == pytest.approx(20.0)
    assert account.total.high_flop > 20 * 2e15


def test_a_device_that_no_source_speaks_of_is_bounded_by_its_chip_where_somebody_names_it(
    tmp_path: Path,
) -> None:
    """Else by nothing."""
    folder = write_folder(tmp_path / "node")
    scope = scope_of("node", 0, 11, "node:2")

    named, unnamed = (
        gathered(folder, scope=scope, unseen_chip=chip).account(Target.EXECUTED) for chip in ("H200-SXM", "")
    )

    assert named.unobserved_device_seconds == unnamed.unobserved_device_seconds == pytest.approx(11.0)
    assert (named.total.high_flop < float("inf"), unnamed.total.high_flop) == (True, float("inf"))


def test_a_source_named_twice_is_refused(tmp_path: Path) -> None:
    """Nothing counts twice, not even by mistake."""
    folder = write_folder(tmp_path / "node")

    with pytest.raises(InvalidNounError, match="given twice"):
        gathered(folder, folder).account(Target.EXECUTED)


def test_no_source_is_refused() -> None:
    """An account of nothing would look like one of idle devices."""
    with pytest.raises(BadInputError, match="at least one"):
        gathered()


def test_a_real_stall_beside_work_counts_once() -> None:
    """One GPU of a hung job waits while its partner's samples are lost: no time counts twice."""
    account = gathered(HANG).account(Target.EXECUTED)

    assert account.observed.point_flop > 0
    assert account.unobserved_device_seconds < 1


def test_the_method_is_the_best_that_answered_throughout() -> None:
    """One session without an estimate of it is enough to ask another."""
    fused = session(10, 20)
    power = replace(
        session(30, 40),
        estimates={
            Target.EXECUTED: {
                "linear-power": replace(fused.estimates[Target.EXECUTED]["fused"], method="linear-power")
            }
        },
    )
    both = replace(
        fused,
        estimates={Target.EXECUTED: fused.estimates[Target.EXECUTED] | power.estimates[Target.EXECUTED]},
    )

    assert answering([fused], Target.EXECUTED) == "fused"
    assert answering([both, power], Target.EXECUTED) == "linear-power"
    assert answering([fused, power], Target.EXECUTED) == answering([], Target.EXECUTED) == "fused"


def test_a_ledger_says_what_its_recording_says_and_both_do_not_count(tmp_path: Path) -> None:
    """The same sessions, and time that both speak of is refused."""
    new_key(tmp_path / "key")
    ledger = tmp_path / "ledger"
    assert run_watch(replay=HANG, speed=0, json=True, ledger=ledger, ledger_key=tmp_path / "key") == 0

    kept, read = (gathered(one).account(Target.EXECUTED) for one in (ledger, HANG))

    assert [one.session_id for one in kept.sessions] == [one.session_id for one in read.sessions]
    assert kept.observed.point_flop == pytest.approx(read.observed.point_flop, rel=1e-6)
    assert kept.outside_flop > 0
    with pytest.raises(InvalidNounError, match="may not count twice"):
        gathered(ledger, HANG).account(Target.EXECUTED)


def test_a_ledger_that_was_altered_is_no_evidence(tmp_path: Path) -> None:
    """One byte is enough."""
    new_key(tmp_path / "key")
    ledger = tmp_path / "ledger"
    run_watch(replay=HANG, speed=0, json=True, ledger=ledger, ledger_key=tmp_path / "key")
    ledger.write_bytes(ledger.read_bytes().replace(b"stalled", b"stolled", 1))

    with pytest.raises(BadInputError, match="nobody altered"):
        gathered(ledger)


def test_a_ledger_is_told_by_its_first_byte(tmp_path: Path) -> None:
    """Never by its name."""
    ledger, other = tmp_path / "a.csv", tmp_path / "b.ledger"
    ledger.write_text('{"at_ns":"0"}\n')
    other.write_text("t,gpu\n")

    assert [is_ledger(one) for one in (ledger, other, tmp_path, tmp_path / "none")] == [
        True,
        False,
        False,
        False,
    ]
