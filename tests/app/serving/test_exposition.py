"""What Prometheus scrapes: names by its conventions, nothing that is not known, and no sample twice."""

import math
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from app.serving.snapshots import GAUGES, START_NS, bounded, finished, full_snapshot, gpu, uuid_of
from flopwitness.app.serving.exposition import exposition
from flopwitness.app.serving.exposition_workloads import N_SHOWN
from flopwitness.app.serving.snapshot import Snapshot
from flopwitness.core.channels import CANONICAL
from flopwitness.core.workload import Target

PROMTOOL = shutil.which("promtool")

Key = tuple[str, frozenset[tuple[str, str]]]


def samples(snapshot: Snapshot, *, openmetrics: bool = False) -> dict[Key, float]:
    """Return every sample of an exposition, as somebody else's parser reads it."""
    text = exposition(snapshot, openmetrics=openmetrics).decode()
    families = openmetrics_families if openmetrics else text_string_to_metric_families
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families(text)
        for sample in family.samples
    }


def value(snapshot: Snapshot, name: str, **labels: str) -> float | None:
    """Return one sample, None where it is not there."""
    return samples(snapshot).get((name, frozenset(labels.items())))


def names(snapshot: Snapshot) -> set[str]:
    """Return the names of all samples."""
    return {name for name, _ in samples(snapshot)}


@pytest.mark.parametrize("channel", sorted(GAUGES))
def test_each_channel_of_a_gpu_is_a_metric_of_its_name(channel: str):
    """Base units stand in the name, and the UUID is spelled as dcgm-exporter spells it."""
    assert value(full_snapshot(), f"flopwitness_gpu_{channel}", UUID=uuid_of(3)) == GAUGES[channel]


def test_who_a_gpu_is_stands_apart():
    """Chip and host are labels of one series, so that others need no more than the UUID to join."""
    labels = {"UUID": uuid_of(0), "chip": "H200-SXM", "hostname": "n0"}

    assert value(full_snapshot(), "flopwitness_gpu_info", **labels) == 1.0


def test_what_is_not_known_is_not_there():
    """NaN is neither 0 nor an old value."""
    snapshot = Snapshot(devices=(gpu(gauges={"power_watts": math.nan, "sm_clock_hertz": 345e6}),))

    assert value(snapshot, "flopwitness_gpu_power_watts", UUID=uuid_of(0)) is None
    assert value(snapshot, "flopwitness_gpu_sm_clock_hertz", UUID=uuid_of(0)) == 345e6
    assert b"nan" not in exposition(snapshot).lower()


def test_a_lost_gpu_is_down_and_says_nothing_else():
    """Its last values, repeated at each scrape, would pass for measurements."""
    snapshot = Snapshot(devices=(gpu(0), gpu(1, is_lost=True)))

    assert value(snapshot, "flopwitness_gpu_up", UUID=uuid_of(1)) == 0.0
    assert value(snapshot, "flopwitness_gpu_power_watts", UUID=uuid_of(1)) is None
    assert value(snapshot, "flopwitness_gpu_power_watts", UUID=uuid_of(0)) == GAUGES["power_watts"]


def test_an_unknown_bound_is_infinite():
    """The most that a workload may have done is stated, not left out."""
    totals = MappingProxyType({Target.EXECUTED: replace(bounded(1e20), high_flop=math.inf)})

    found = value(Snapshot(totals=totals), "flopwitness_flop_total", target="executed", bound="high")

    assert found == math.inf


def test_totals_are_counters_with_bounds():
    """Low, point and high of each target."""
    snapshot = full_snapshot(n_finished=2)

    found = [
        value(snapshot, "flopwitness_flop_total", target="algorithmic", bound=bound)
        for bound in ("low", "point", "high")
    ]

    assert found == [3e20, 6e20, 12e20]
    assert b"# TYPE flopwitness_flop_total counter" in exposition(snapshot)


def test_a_running_workload_is_called_by_its_first_gpu():
    """Each of its GPUs says which that is."""
    snapshot = full_snapshot()

    flop = value(snapshot, "flopwitness_running_flop", UUID=uuid_of(0), target="algorithmic", bound="point")
    start = value(snapshot, "flopwitness_running_start_timestamp_seconds", UUID=uuid_of(0))
    member = value(snapshot, "flopwitness_running_member_info", UUID=uuid_of(7), lead_UUID=uuid_of(0))

    assert (flop, start, member) == (6e19, START_NS / 1e9, 1.0)


def test_the_number_of_finished_workloads_that_are_shown_is_bounded():
    """Each is a set of new series; all are counted."""
    snapshot = full_snapshot(n_finished=500)

    shown = [labels for name, labels in samples(snapshot) if name == "flopwitness_finished_info"]

    assert len(shown) == N_SHOWN
    assert value(snapshot, "flopwitness_workloads_finished_total") == 500.0
    assert value(snapshot, "flopwitness_finished_gpus", session_id="session-499") == 2.0


def test_an_estimate_that_is_not_there_is_no_zero():
    """A finished workload without energy or estimate keeps its times."""
    workload = finished(0, flop=MappingProxyType({}), energy_joules=math.nan)

    found = names(Snapshot(finished=(workload,)))

    assert "flopwitness_finished_stop_timestamp_seconds" in found
    assert not found & {"flopwitness_finished_energy_joules", "flopwitness_finished_flop"}


def test_findings_are_counted_by_code():
    """How many of the latest, and when the last of them was."""
    snapshot = full_snapshot()

    assert value(snapshot, "flopwitness_findings", code="frozen", severity="alarm") == 1.0
    when = value(snapshot, "flopwitness_finding_last_timestamp_seconds", code="frozen", severity="alarm")
    assert when == START_NS / 1e9 + 1


def test_the_ledger_is_pinned_by_what_others_scrape():
    """First bits of its head are kept where the watcher cannot change them; no label changes with them."""
    snapshot = full_snapshot()

    assert value(snapshot, "flopwitness_ledger_entries_total") == 12.0
    assert value(snapshot, "flopwitness_ledger_head_prefix") == float(0xABABABABABAB)
    assert "flopwitness_ledger_entries_total" not in names(replace(snapshot, ledger=None))


@pytest.mark.parametrize("openmetrics", [False, True])
def test_nothing_known_is_an_exposition_too(openmetrics: bool):
    """Before the first sample a scrape finds counters at 0 and no instant."""
    found = samples(Snapshot(), openmetrics=openmetrics)

    assert found["flopwitness_samples_total", frozenset()] == 0.0
    assert ("flopwitness_last_sample_timestamp_seconds", frozenset()) not in found


def test_both_formats_say_the_same():
    """Text 0.0.4 and OpenMetrics differ in type lines alone."""
    assert samples(full_snapshot()) == samples(full_snapshot(), openmetrics=True)


@given(text=st.text())
def test_any_text_is_a_label(text: str):
    """Quotes, line ends and backslashes in a job's name break nothing."""
    text = text.encode(errors="replace").decode()
    snapshot = Snapshot(finished=(finished(0, name=text),))

    shown = [dict(labels) for name, labels in samples(snapshot) if name == "flopwitness_finished_info"]

    assert [labels["name"] for labels in shown] == [text]


def test_no_sample_comes_twice_and_families_stay_together():
    """A scrape with a repeated sample is refused by Prometheus."""
    snapshot = replace(full_snapshot(), finished=(finished(1), finished(1)))
    lines = exposition(snapshot).decode().splitlines()
    keys = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    order = [key.partition("{")[0] for key in keys]

    assert [key for key, n in Counter(keys).items() if n > 1] == []
    assert len(dict.fromkeys(order)) == sum(a != b for a, b in zip(order, ["", *order], strict=False))


def test_every_channel_has_a_metric_with_help_and_unit():
    """A new channel is scraped without a change here."""
    text = exposition(Snapshot(devices=(gpu(gauges=dict.fromkeys(CANONICAL, 1.0)),))).decode()

    missing = [name for name in CANONICAL if f"# HELP flopwitness_gpu_{name} " not in text]
    assert missing == []


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_promtool_finds_nothing_to_say():
    """Names, help and types keep Prometheus' own rules."""
    done = subprocess.run(
        [str(PROMTOOL), "check", "metrics"],
        input=exposition(full_snapshot()),
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
