"""Time: every stamp is an instant; order, period and clock error are measured and reported, never invented.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from contracts.format import START_NS, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import Trace
from flopwitness.estimate.energy import energy_joules
from flopwitness.telemetry.readers.asked import NOTHING_ASKED
from flopwitness.telemetry.readers.rules.periods import period_findings, periods_of
from flopwitness.verify.consistency.lags import clock_offset
from plain_traces import plain_trace
from scrapes_made import IN_UTC, START_MS, findings, only, scraped

NAIVE = b"timestamp, uuid, power.draw [W]\n2026-02-03 04:05:06, GPU-a, 300.00 W\n"


def test_t1_one_instant_in_two_zones_is_one_instant():
    """Summer time moved one machine by an hour: mlcommons/power-dev#205."""
    first, second = (
        only(recording_of_bytes(f"timestamp,power_draw_W\n2026-07-03T{stamp},300.0\n".encode()))
        for stamp in ("12:00:00+01:00", "11:00:00Z")
    )

    assert (first.time_ns - second.time_ns).tolist() == [0]


def test_t1_a_stamp_without_a_zone_is_refused():
    """Unless the user says which one: mlcommons/power-dev#205."""
    with pytest.raises(BadInputError, match="--tz"):
        recording_of_bytes(NAIVE, NOTHING_ASKED)

    assert only(recording_of_bytes(NAIVE, IN_UTC)).time_ns.tolist() == [START_NS]


@pytest.mark.parametrize("period", [0.1, 0.25])
def test_t2_the_offset_of_a_meter_is_found_from_the_edges_that_both_saw(period: float):
    """200 to 850 ms lay between meter and system: mlcommons/power-dev#262, mlcommons/inference#1338."""
    gpu = load(edge_seconds=10.0, period=0.1, idle_watts=80)
    meter = load(edge_seconds=10.5, period=period, idle_watts=400)

    offset = clock_offset(gpu, gpu["power_watts"], (meter, meter["power_watts"]))

    assert offset.error_seconds == pytest.approx(period)
    assert abs(offset.seconds - 0.5) <= offset.error_seconds


def test_t2_sources_that_saw_different_loads_have_no_offset():
    """No number where nothing agrees: mlcommons/power-dev#262."""
    noise = np.random.default_rng(7).normal(80, 1, 300)
    gpu = plain_trace(np.arange(300) / 10, power_watts=noise)
    meter = load(edge_seconds=10.5, period=0.1, idle_watts=400)

    assert np.isnan(clock_offset(gpu, gpu["power_watts"], (meter, meter["power_watts"])).seconds)


def test_t3_the_true_period_is_reported_and_the_check_fails():
    """Every 2 s where 1 Hz is required: mlcommons/training_results_v4.0#4."""
    reading = (
        ':::MLLOG {{"time_ms": {}, "event_type": "POINT_IN_TIME", "key": "power_reading", "value": 5120.0}}'
    )
    log = "\n".join(reading.format(START_MS + ms) for ms in (0, 2000, 4000)) + "\n"
    trace = only(recording_of_bytes(log.encode()))

    (finding,) = period_findings(trace, required_seconds=1.0)

    assert periods_of(trace).median_seconds == 2.0
    assert finding.code == "period-too-long"


def test_t4_a_negative_duration_is_a_finding_and_counts_as_nothing():
    """It aborted the run: nextflow-io/nf-co2footprint#393."""
    events = b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":-1},{"ph":"X","name":"b","ts":2,"dur":5}]}'

    summary = reader_of(events).summary

    (row,) = summary.rows
    assert (row["n_events"], row["duration_seconds"]) == (2, pytest.approx(5e-6))
    assert [found.code for found in summary.findings if found.code == "negative-duration"] == [
        "negative-duration"
    ]


@pytest.fixture(params=["Asia/Tokyo", "UTC", "America/New_York"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put this process into a zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("machine_zone")
def test_t5_the_zone_of_the_machine_changes_nothing():
    """The same file gave other results elsewhere: abrignoni/ALEAPP#1213, NVlabs/FPSci#215."""
    assert only(recording_of_bytes(NAIVE, IN_UTC)).time_ns.tolist() == [START_NS]
    with pytest.raises(BadInputError, match="--tz"):
        recording_of_bytes(NAIVE, NOTHING_ASKED)


def test_t6_samples_out_of_order_make_no_spike_and_no_reset():
    """Sorted, repeats dropped, own differences: prometheus/prometheus#12237, #3886, #1161."""
    samples = ((0, 100), (20, 120), (10, 110), (10, 110))
    name = 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-a"}'
    recording = scraped(*(f"{name} {millijoules} {START_MS + 1000 * s}" for s, millijoules in samples))

    energy = energy_joules(only(recording))

    assert energy.joules == pytest.approx(0.02)
    assert energy.n_resets == 0
    assert len(only(recording)) == 3
    assert len(findings(recording, "unsorted")) == 1


def load(*, edge_seconds: float, period: float, idle_watts: float) -> Trace:
    """Return 30 s of a load of 8 s, as a source with its own clock stamps it."""
    seconds = np.arange(0, 30, period)
    is_loaded = (seconds >= edge_seconds) & (seconds < edge_seconds + 8)
    return plain_trace(seconds, power_watts=idle_watts + 500 * is_loaded)
