"""The journal of jobs: windows out of starts and ends; a bad line costs itself and is counted."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.scheduling.job_log import JobLog, job_event
from flopwitness.telemetry.scheduling.names import DeviceOrder
from flopwitness.telemetry.scheduling.windows import JobWindow

AT = 1_770_091_506_000_000_000
SECOND = 10**9


def asked(value: str, order: DeviceOrder) -> tuple[str, ...]:
    """Resolve to what was asked, so that a test can see it."""
    return (f"{value} by {order.value}",)


def line(event: str, job_id: str, second: int, **more: object) -> str:
    """Return a line of the journal."""
    content = {"event": event, "job_id": job_id, "at": f"2026-02-03T04:05:{second:02}Z"} | more
    return json.dumps(content) + "\n"


def read(path: Path, text: str) -> JobLog:
    """Return a journal that was read once."""
    path.write_text(text, encoding="utf-8")
    log = JobLog(path, asked)
    log.look()
    return log


def test_a_start_and_its_end_are_a_window(tmp_path: Path):
    """With its GPUs, sorted; what has not ended is open."""
    text = (
        line("start", "1", 6, gpus=["GPU-b", "GPU-a"])
        + line("end", "1", 9)
        + line("start", "2", 9, gpus=["a"])
    )

    assert read(tmp_path / "j", text).windows == [
        JobWindow("1", ("GPU-a", "GPU-b"), AT, AT + 3 * SECOND),
        JobWindow("2", ("a",), AT + 3 * SECOND),
    ]


def test_a_job_that_starts_again_held_its_gpus_until_then(tmp_path: Path):
    """A node that crashed ran no epilog."""
    text = line("start", "1", 6, gpus=["a"]) + line("start", "1", 8, gpus=["b"])

    assert [(one.uuids, one.stop_ns) for one in read(tmp_path / "j", text).windows] == [
        (("a",), AT + 2 * SECOND),
        (("b",), None),
    ]


def test_the_end_on_one_host_is_not_that_of_another(tmp_path: Path):
    """A job of two nodes has a window on each."""
    text = line("start", "1", 6, gpus=["a"], host="n1") + line("start", "1", 6, gpus=["b"], host="n2")

    windows = read(tmp_path / "j", text + line("end", "1", 9, host="n2")).windows

    assert [(one.host, one.stop_ns) for one in windows] == [("n1", None), ("n2", AT + 3 * SECOND)]


def test_each_look_reads_what_has_come_since(tmp_path: Path):
    """A line without its end waits for it; a journal that was rotated is read from the start."""
    log = read(tmp_path / "j", line("start", "1", 6, gpus=["a"]) + '{"event": "en')
    assert log.windows[0].stop_ns is None

    with (tmp_path / "j").open("a", encoding="utf-8") as file:
        file.write('d", "job_id": "1", "at": "2026-02-03T04:05:07Z"}\n')
    log.look()
    assert log.windows[0].stop_ns == AT + SECOND

    (tmp_path / "j").write_text(line("start", "7", 6, gpus=["a"]), encoding="utf-8")
    log.look()
    assert [one.job_id for one in log.windows] == ["7"]


def test_a_journal_that_is_not_there_yet_says_nothing(tmp_path: Path):
    """The first job makes it."""
    log = JobLog(tmp_path / "none", asked)

    log.look()

    assert (log.windows, log.findings()) == ([], ())


def test_visible_devices_are_resolved_by_the_order_that_is_named(tmp_path: Path):
    """One that nobody knows, such as a misspelt one, is an unknown order."""
    text = "".join(
        line("start", str(number), 6, visible_devices="0,1", **more)
        for number, more in enumerate([{"device_order": "PCI_BUS_ID"}, {"device_order": "x"}, {}])
    )

    assert [one.uuids[0] for one in read(tmp_path / "j", text).windows] == [
        "0,1 by PCI_BUS_ID",
        "0,1 by ",
        "0,1 by ",
    ]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("nonsense\n", "a JSON object"),
        ("[]\n", "a JSON object"),
        ('{"event":"start","event":"end"}\n', "stands twice"),
        (line("pause", "1", 6), "field 'event': expected 'start' or 'end'"),
        (line("start", "", 6, gpus=["a"]), "field 'job_id'"),
        (line("start", "1", 6), "field 'gpus': expected a list of UUIDs, got None"),
        (line("start", "1", 6, gpus=[0]), "field 'gpus'"),
        (line("start", "1", 6, gpus=["a"], host=3), "field 'host'"),
        (line("start", "1", 6, gpus=["a"]).replace("Z", ""), "an instant with a zone"),
        (line("start", "1", 6, gpus=["a"], tres="cpu=8,gres/gpu=4"), "the 4 GPUs that were allocated"),
    ],
)
def test_a_line_that_does_not_fit_costs_itself(tmp_path: Path, bad: str, words: str):
    """The next is read; the finding names the line, and why."""
    log = read(tmp_path / "j", "\n" + bad + line("start", "2", 6, gpus=["a"]))

    assert [one.job_id for one in log.windows] == ["2"]
    (finding,) = log.findings()
    assert "line 2: " in finding.message
    assert words in finding.message


def test_the_gpus_are_as_many_as_were_allocated():
    """As ``tres`` counts them, where it is given."""
    text = line("start", "1", 6, gpus=["a", "b", "c", "d"], tres="cpu=8,gres/gpu=4")

    assert len(job_event(text.encode(), asked).uuids) == 4


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_an_event_or_refused(data: bytes):
    """A prolog that breaks does not stop a daemon."""
    try:
        event = job_event(data, asked)
    except BadInputError:
        return

    assert event.job_id


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from("123"), st.integers(0, 59)), max_size=12))
def test_no_window_ends_before_it_starts_and_no_start_is_lost(events: list[tuple[bool, str, int]]):
    """Whatever the order in which lines came."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    text = "".join(
        line("start", job_id, second, gpus=["a"]) if is_start else line("end", job_id, second)
        for is_start, job_id, second in events
    )
    with TemporaryDirectory() as folder:
        log = read(Path(folder) / "j", text)

    assert len(log.windows) + log.n_refused >= sum(is_start for is_start, *_ in events)
    assert all(one.stop_ns is None or one.stop_ns >= one.start_ns for one in log.windows)
