"""Against Debian's Prometheus: what an exporter served comes back sample for sample."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from emulators.dcgm_exporter import NEW, OLD, EmulatedExporter
from emulators.real_prometheus import NOT_INSTALLED, PROMETHEUS, RealPrometheus
from emulators.text_server import TextServer
from flopwitness.app.fetching import fetch_into
from flopwitness.core.trace import Trace, joined
from flopwitness.storage.recordings import read_recording
from flopwitness.telemetry.prometheus.client import PrometheusClient
from flopwitness.telemetry.prometheus.fetching import Access
from flopwitness.telemetry.prometheus.following import PrometheusSampler
from flopwitness.telemetry.prometheus.names import signal_named
from flopwitness.telemetry.prometheus.reading import PrometheusReader
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, number

pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason=NOT_INSTALLED)

N_SCRAPES = 30
SECOND = 10**9
CONFIG = """
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs:
  - job_name: dcgm
    static_configs: [{targets: ["OLD", "NEW"]}]
"""


@dataclass(frozen=True)
class Scraped:
    """Two exporters, one of each generation of names, and the Prometheus that scraped them.

    Attributes
    ----------
    exporters : dict of str to EmulatedExporter
        By host.
    served : dict of str to list of (int, bytes)
        When, and what each of them served.
    client : PrometheusClient
        Asks the Prometheus, which still runs.
    start_ns, stop_ns : int
        A stretch that holds at least so many scrapes of each.
    """

    exporters: dict[str, EmulatedExporter]
    served: dict[str, list[tuple[int, bytes]]]
    client: PrometheusClient
    start_ns: int
    stop_ns: int


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    """Have eight GPUs scraped for a few seconds."""
    folder, start_ns = tmp_path_factory.mktemp("prometheus"), time.time_ns()
    exporters = {
        host: EmulatedExporter(tuple(f"GPU-{host}-{gpu}" for gpu in range(4)), host, names)
        for host, names in (("n0", OLD), ("n1", NEW))
    }
    with TextServer(exporters["n0"].render) as old, TextServer(exporters["n1"].render) as new:
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.replace("OLD", old.address).replace("NEW", new.address))
        with RealPrometheus(config, folder) as server:
            server.wait_for(lambda: min(len(old.served), len(new.served)) > N_SCRAPES, "scrapes")
            client = PrometheusClient(Access(server.url))
            yield Scraped(exporters, {"n0": old.served, "n1": new.served}, client, start_ns, time.time_ns())


def read(
    scraped: Scraped, start_ns: int, stop_ns: int, known: dict[str, int] | None = None
) -> dict[str, Trace]:
    """Read a stretch; one trace a GPU, by UUID."""
    pieces: dict[str, list[Trace]] = {}
    for piece in PrometheusReader(scraped.client, start_ns, stop_ns, after_ns=known).read():
        pieces.setdefault(piece.device.uuid, []).append(piece)
    return {uuid: joined(parts) for uuid, parts in pieces.items()}


def test_what_was_served_comes_back_sample_for_sample(scraped: Scraped):
    """Every value of every channel of every scrape, in base units, whatever the fields are called."""
    traces = read(scraped, scraped.start_ns, scraped.stop_ns)

    assert sorted(traces) == sorted(uuid for each in scraped.exporters.values() for uuid in each.uuids)
    for exporter in scraped.exporters.values():
        for gpu, uuid in enumerate(exporter.uuids):
            trace = traces[uuid]
            shown = [exporter.values(gpu, scrape) for scrape in range(1, len(trace) + 1)]
            for short, name in exporter.names.items():
                signal = signal_named(name)
                if signal is not None and signal.channel in trace.channels:
                    expected = [number(values[short]) * signal.factor for values in shown]
                    np.testing.assert_array_equal(trace[signal.channel], expected)
            assert len(trace) >= N_SCRAPES - 1
            assert {"power_watts", "energy_joules_total", "tensor_active_ratio"} <= set(trace.channels)
            assert "mem_temperature_celsius" not in trace.channels  # blank throughout


def test_times_are_those_of_the_scrapes(scraped: Scraped):
    """An exporter prints no time: a sample is of when it was asked for."""
    traces = read(scraped, scraped.start_ns, scraped.stop_ns)

    for host, exporter in scraped.exporters.items():
        stamps = traces[exporter.uuids[0]].time_ns
        asked_ns = np.array([instant for instant, _ in scraped.served[host][: len(stamps)]])
        late_seconds = (asked_ns - stamps) / SECOND
        assert late_seconds.min() > -0.01
        assert late_seconds.max() < 1.0


def test_reading_on_gives_no_sample_twice_and_loses_none(scraped: Scraped):
    """Two stretches that overlap are the whole."""
    whole = read(scraped, scraped.start_ns, scraped.stop_ns)
    uuid = next(iter(whole))
    for cut_ns in (
        int(whole[uuid].time_ns[7]),
        int(whole[uuid].time_ns[7]) + 1,
        int(whole[uuid].time_ns[9]) - 1,
    ):
        first = read(scraped, scraped.start_ns, cut_ns)
        known = {each: int(trace.time_ns[-1]) for each, trace in first.items()}

        rest = read(scraped, cut_ns - SECOND, scraped.stop_ns, known)

        assert {each: joined([first[each], rest[each]]).digest() for each in whole} == {
            each: trace.digest() for each, trace in whole.items()
        }


def test_a_file_and_a_follower_hold_what_was_read(scraped: Scraped, tmp_path: Path):
    """Fetched in two goes, or followed from the start: the same samples."""
    whole = read(scraped, scraped.start_ns, scraped.stop_ns)
    middle_ns = (scraped.start_ns + scraped.stop_ns) // 2
    path = tmp_path / "gpus.parquet"

    for stop_ns in (middle_ns, scraped.stop_ns):
        fetch_into(path, scraped.client, scraped.start_ns, stop_ns)
    instants = iter([scraped.stop_ns, middle_ns, scraped.stop_ns])
    follower = PrometheusSampler(
        scraped.client, now=lambda: next(instants), since_ns=scraped.start_ns, lag_seconds=0
    )
    followed = [*follower.fetch(), *follower.fetch()]

    powers = {uuid: trace["power_watts"].tolist() for uuid, trace in whole.items()}
    held = read_recording(path).traces
    assert {trace.device.uuid: trace["power_watts"].tolist() for trace in held} == powers
    assert {
        uuid: joined(piece for piece in followed if piece.device.uuid == uuid)["power_watts"].tolist()
        for uuid in whole
    } == powers


def test_more_matchers_narrow_what_is_read(scraped: Scraped):
    """Such as the GPUs of one host."""
    client = PrometheusClient(scraped.client.access, match='hostname="n1"')

    pieces = list(PrometheusReader(client, scraped.start_ns, scraped.stop_ns).read())

    assert sorted({piece.device.uuid for piece in pieces}) == sorted(scraped.exporters["n1"].uuids)


def test_a_matcher_that_is_none_is_refused_in_the_servers_words(scraped: Scraped):
    """One line says what Prometheus said."""
    client = PrometheusClient(scraped.client.access, match="hostname=")

    with pytest.raises(SourceUnavailableError, match=r"400.*parse error"):
        list(PrometheusReader(client, scraped.start_ns, scraped.stop_ns).read())
