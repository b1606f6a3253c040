"""Export to a collector: what a real HTTP server gets and decodes; one that is dead costs nothing."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry's SDK is an extra")

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.live import FakeClock
from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import open_recording, shipped_calibration
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.otlp import OtlpExporter, Pace
from flopwitness.app.ticking import batched
from flopwitness.detect.activity import ActivityWatch

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"
CALIBRATION = shipped_calibration(["H200-SXM"])
PACE = Pace(interval_seconds=0.2, timeout_seconds=1.0, close_seconds=3.0)


@dataclass
class Collected:
    """What a collector was sent."""

    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)

    def last(self, name: str) -> list[object]:
        """Return the data points of a metric in the last request that has it."""
        found: list[object] = []
        for request in self.metrics:
            for resource in request.resource_metrics:
                for scope in resource.scope_metrics:
                    for metric in scope.metrics:
                        if metric.name == name:
                            found = list((metric.sum or metric.gauge).data_points) or list(
                                metric.gauge.data_points
                            )
        return found


@contextmanager
def collector(*, status: int = 200) -> Iterator[tuple[str, Collected]]:
    """Run a collector on a free port of this machine."""
    collected = Collected()

    class Handler(BaseHTTPRequestHandler):
        """Decodes what comes."""

        def do_POST(self) -> None:
            """Take a request."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/metrics":
                collected.metrics.append(ExportMetricsServiceRequest.FromString(body))
            if self.path == "/v1/traces":
                collected.traces.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", collected
    finally:
        server.shutdown()
        server.server_close()


def watched(url: str, said: list[str]) -> list[Finished]:
    """Replay the deadlock with an exporter looking on; return what finished."""
    recording = open_recording(HANG)
    told: list[Finished] = []
    book = LiveBook()
    exporter = OtlpExporter(url, book, job_ids=lambda _: ("17",), say=said.append, pace=PACE)

    def tell(finished: Finished) -> None:
        told.append(finished)
        book.count(finished)
        exporter.count(finished)

    def show(daemon: Daemon) -> None:
        book.take(daemon)
        exporter.take(daemon)

    outputs = Outputs(lambda _: False, lambda _: None, tell, None, show)
    finder = WorkloadFinder(ActivityWatch)
    daemon = Daemon(finder, lambda _: CALIBRATION, outputs=outputs, baselines=IdleBaselines())
    daemon.run(batched(replayed(ReplaySampler(recording), FakeClock(), speed=0)))
    exporter.close()
    exporter.close()
    return told


def attributes_of(one: object) -> dict[str, object]:
    """Return the attributes of a span or a point as Python values."""
    found: dict[str, object] = {}
    for pair in one.attributes:  # type: ignore[attr-defined]
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [item.string_value for item in value.values] if kind == "array_value" else value
    return found


def test_a_finished_workload_is_a_span_with_its_own_start_and_stop():
    """To the nanosecond, with FLOP, bounds, GPUs and the scheduler's job."""
    said: list[str] = []
    with collector() as (url, collected):
        told = watched(url, said)

    spans = [
        span
        for request in collected.traces
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    sessions = [one.witnessed.session for one in told]
    assert [(one.start_time_unix_nano, one.end_time_unix_nano) for one in spans] == [
        (one.start_ns, one.stop_ns) for one in sessions
    ]
    for span, session in zip(spans, sessions, strict=True):
        found = attributes_of(span)
        assert found["flopwitness.session_id"] == session.session_id
        assert found["flopwitness.gpus"] == [trace.device.uuid for trace in session.traces]
        assert found["flopwitness.scheduler_job_ids"] == ["17"]
        low, point, high = (found[f"flopwitness.flop.executed.{end}"] for end in ("low", "point", "high"))
        assert 0 <= low <= point <= high
    assert said == []


def test_metrics_are_those_of_the_snapshot():
    """Each GPU by its UUID; totals with bounds; the resource says who sends."""
    with collector() as (url, collected):
        told = watched(url, [])

    energies = collected.last("hw.energy")
    assert {attributes_of(one)["hw.id"] for one in energies} == {
        trace.device.uuid for trace in open_recording(HANG).traces
    }
    assert all(one.as_double > 0 for one in energies)  # type: ignore[attr-defined]
    (finished,) = collected.last("flopwitness.workloads.finished")
    assert finished.as_double == len(told)  # type: ignore[attr-defined]
    bounds = {attributes_of(one)["bound"] for one in collected.last("flopwitness.flop")}
    assert bounds == {"low", "point", "high"}
    resource = collected.metrics[0].resource_metrics[0].resource
    assert attributes_of(resource)["service.name"] == "flopwitness"


@pytest.mark.parametrize("status", [500, 404])
def test_a_collector_that_refuses_does_not_stop_the_daemon(status: int):
    """It is told of once, everything is found all the same."""
    said: list[str] = []
    with collector(status=status) as (url, _):
        told = watched(url, said)

    assert len(told) > 0
    assert len(said) == 1
    assert "watching goes on" in said[0]


def test_a_collector_that_is_gone_does_not_stop_the_daemon():
    """Neither its loop nor its end waits for one: nothing listens there."""
    said: list[str] = []
    with collector() as (url, _):
        pass

    assert len(watched(url, said)) > 0
    assert len(said) == 1


def test_a_collector_that_never_answers_does_not_keep_the_daemon_from_ending():
    """It takes the connection and is silent: what is left is given up after a while."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        exporter = OtlpExporter(f"http://127.0.0.1:{silent.getsockname()[1]}", LiveBook(), pace=PACE)

        exporter.close()

    assert not exporter._complaints._logger.handlers
