"""The book: a frozen snapshot a batch, as the daemon knows it; nothing unknown becomes a number."""

import threading
from dataclasses import FrozenInstanceError
from math import isnan

import pytest

from app.serving_book import CALIBRATION, piece, replayed_batches, watched
from flopwitness.app.serving.book import Facts, LiveBook
from flopwitness.app.serving.snapshot import LedgerNow
from flopwitness.app.sofar import CALIBRATED, shown_estimate
from flopwitness.app.ticking import Round
from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target

BATCHES = replayed_batches("h200x2-b")
N_UNTIL_BUSY = 60


def without(batches: list[Round], *names: str) -> list[Round]:
    """Return batches as of a source that lacks channels."""
    return [
        tuple(
            Trace(one.device, one.time_ns, {name: one[name] for name in one.channels if name not in names})
            for one in batch
        )
        for batch in batches
    ]


def test_before_the_first_sample_nothing_is_claimed():
    """An empty snapshot, no instant."""
    book = LiveBook()

    assert (book.snapshot.at_ns, book.snapshot.devices, book.snapshot.totals, book.first_ns()) == (
        0,
        (),
        {},
        0,
    )


def test_gpus_are_as_their_last_batch_showed_them():
    """A gauge is its mean, a counter its last value."""
    columns = {
        "power_watts": [80.0, 90.0],
        "energy_joules_total": [5.0, 7.0],
        "dram_active_ratio": [float("nan")] * 2,
    }
    book, _ = watched([(piece(0, **columns),)])

    [device] = book.snapshot.devices

    assert device.gauges["power_watts"] == 85.0
    assert device.gauges["energy_joules_total"] == 7.0
    assert isnan(device.gauges["dram_active_ratio"])
    assert book.snapshot.n_samples == 2


def test_a_channel_that_fell_silent_is_nan_and_one_never_offered_is_absent():
    """Unknown is neither zero nor the value of before."""
    book, _ = watched(
        [(piece(0, power_watts=[80.0], sm_clock_hertz=[1e9]),), (piece(10, power_watts=[80.0]),)]
    )

    [device] = book.snapshot.devices

    assert isnan(device.gauges["sm_clock_hertz"])
    assert "dram_active_ratio" not in device.gauges


def test_a_gpu_that_falls_silent_while_others_answer_is_lost():
    """Its last state stays, marked."""
    both = (piece(0, uuid="GPU-a"), piece(0, uuid="GPU-b"))
    book, _ = watched([both, (piece(200, uuid="GPU-b"),)])

    assert [(one.uuid, one.is_lost) for one in book.snapshot.devices] == [("GPU-a", True), ("GPU-b", False)]


def test_running_work_has_flop_with_bounds():
    """The calibrated pipe sum of both GPUs, inside its interval, for every target."""
    book, daemon = watched(BATCHES[:N_UNTIL_BUSY])

    [running] = book.snapshot.running

    assert len(running.uuids) == 2
    assert set(running.flop) == set(CALIBRATION.fitted)
    for flop in running.flop.values():
        assert flop.method == CALIBRATED
        assert 0 < flop.low_flop <= flop.point_flop <= flop.high_flop
    assert all(one.running_since_ns for one in book.snapshot.devices)
    assert daemon.finder.open_since_ns(running.uuids[0])


def test_running_work_without_the_signals_has_no_number():
    """Not zero: there is no entry."""
    book, _ = watched(without(BATCHES[:N_UNTIL_BUSY], *PIPE_CHANNELS))

    [running] = book.snapshot.running

    assert running.flop == {}


def test_running_work_of_a_chip_without_a_calibration_has_no_number():
    """It is shown all the same."""

    def refuse(_: tuple[str, ...]) -> None:
        raise BadInputError("chip", "", expected="a calibration", got="none")

    book, daemon = watched(BATCHES[: N_UNTIL_BUSY - 1])
    daemon.calibration_for = refuse
    daemon._take(BATCHES[N_UNTIL_BUSY - 1])
    book.take(daemon)

    assert [running.flop for running in book.snapshot.running] == [{}]


def test_finished_work_counts_with_its_shown_estimate():
    """Lines and totals are those of the daemon's own estimates, and nothing is left running at the end."""
    told = []
    book, daemon = watched([])
    keep = daemon._outputs.tell
    object.__setattr__(daemon._outputs, "tell", lambda finished: (told.append(finished), keep(finished)))

    daemon.run(BATCHES)

    points = [shown_estimate(one.witnessed.estimates[Target.ALGORITHMIC]).point_flop for one in told]
    assert [line.flop[Target.ALGORITHMIC].point_flop for line in book.snapshot.finished] == points
    assert book.snapshot.totals[Target.ALGORITHMIC].point_flop == pytest.approx(sum(points))
    assert book.snapshot.n_finished == len(told) == daemon.n_finished
    assert book.snapshot.running == ()
    assert {line.work_class for line in book.snapshot.finished} - {"unknown"}


def test_totals_never_fall():
    """Low, point and high only grow."""
    book, daemon = watched([])
    before = 0.0
    for batch in BATCHES:
        daemon._take(batch)
        book.take(daemon)
        total = book.snapshot.totals.get(Target.EXECUTED)
        assert (total.point_flop if total else 0.0) >= before
        before = total.point_flop if total else before


def test_the_last_batch_shown_again_changes_no_count():
    """The daemon does so when it ends."""
    book, daemon = watched(BATCHES[:5])
    n_samples = book.snapshot.n_samples

    book.take(daemon)

    assert book.snapshot.n_samples == n_samples


def test_what_the_daemon_does_not_know_comes_from_the_facts():
    """Ledger, missed rounds, findings of the source, names of jobs."""

    class Source:
        n_missed = 3

        def findings(self) -> tuple[Finding, ...]:
            """Return one."""
            return (Finding("missed-ticks", "3 ticks were missed"),)

    ledger = LedgerNow("work.ledger", 7, "00ff")
    facts = Facts("node-a", Source(), lambda: ledger, lambda _: "slurm-17")
    book, _ = watched(BATCHES, book=LiveBook(facts=facts))

    assert book.snapshot.ledger == ledger
    assert book.snapshot.n_missed == 3
    assert book.snapshot.findings[0].code == "missed-ticks"
    assert {line.job_id for line in book.snapshot.finished} == {"slurm-17"}


def test_a_snapshot_is_frozen():
    """Readers in other threads see one state or the next, never half of one."""
    book, _ = watched(BATCHES[:2])
    before = book.snapshot

    with pytest.raises(FrozenInstanceError):
        before.n_samples = 0
    with pytest.raises(TypeError):
        before.devices[0].gauges["power_watts"] = 0.0


def test_history_can_be_read_while_the_daemon_writes():
    """Two threads; the reader never fails and always gets what was asked for."""
    book, daemon = watched(BATCHES[:1])
    uuids = [one.uuid for one in book.snapshot.devices]
    faults: list[Exception] = []

    def read() -> None:
        try:
            for _ in range(300):
                now = book.snapshot
                assert set(book.history(uuids, now.at_ns - 60_000_000_000, now.at_ns, 60)) == set(uuids)
        except Exception as error:  # noqa: BLE001  any fault is told to the test
            faults.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for batch in BATCHES[1:60]:
        daemon._take(batch)
        book.take(daemon)
    reader.join()

    assert faults == []


def test_closing_says_that_nothing_more_comes():
    """What was found stays, and it may be called twice."""
    book, _ = watched(BATCHES[:2])

    book.close()
    book.close()

    assert book.is_over
    assert book.snapshot.devices
