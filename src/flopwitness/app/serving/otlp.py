"""Export to an OpenTelemetry collector by OTLP over HTTP: metrics, and a span a finished workload.

The SDK's own threads send; queues are bounded and what does not fit is dropped. A collector that is slow or
gone costs the daemon nothing: neither its loop nor its end waits for it. Headers, certificates and further
resource attributes come from the SDK's environment variables (``OTEL_EXPORTER_OTLP_HEADERS`` and so on).
"""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from math import isfinite

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.util.types import AttributeValue

from flopwitness.app.daemon import Daemon, Finished
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.lines import finished_line
from flopwitness.app.serving.otlp_metrics import Metric, metrics
from flopwitness.core.session import Session

SCOPE = "flopwitness"
COMPLAINT_SECONDS = 3600.0
"""A collector that is gone is told of once an hour."""

SHOWN_CHARACTERS = 120
"""How much of a complaint is told: the SDK repeats the whole chain of errors."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often things are sent, and how long a collector is waited for, in seconds."""

    interval_seconds: float = 10.0
    timeout_seconds: float = 5.0
    close_seconds: float = 5.0


DEFAULT_PACE = Pace()


class OtlpExporter:
    """Sends what a book holds; implements ``flopwitness.app.observing.Observer``.

    Parameters
    ----------
    url : str
        Of the collector, without ``/v1/...``.
    book : LiveBook
        Holds the snapshot; it looks on beside this.
    job_ids : callable
        Gives what a scheduler calls the jobs of a session.
    say : callable
        Takes a line for people.
    pace : Pace
        How often, how long.
    """

    def __init__(
        self,
        url: str,
        book: LiveBook,
        *,
        job_ids: Callable[[Session], tuple[str, ...]] = lambda _: (),
        say: Callable[[str], object] = lambda _: None,
        pace: Pace = DEFAULT_PACE,
    ) -> None:
        self._book, self._job_ids, self._pace = book, job_ids, pace
        self._complaints = _Complaints(url, say)
        self._complaints.attach()
        base, timeout = url.rstrip("/"), pace.timeout_seconds
        resource = Resource.create({"service.name": SCOPE, "service.version": version("flopwitness")})
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(f"{base}/v1/metrics", timeout=timeout),
            export_interval_millis=pace.interval_seconds * 1e3,
            export_timeout_millis=timeout * 1e3,
        )
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{base}/v1/traces", timeout=timeout)
        self._spans.add_span_processor(
            BatchSpanProcessor(exporter, schedule_delay_millis=pace.interval_seconds * 1e3)
        )
        self._tracer = self._spans.get_tracer(SCOPE)
        for metric in metrics():
            self._declare(metric)

    def take(self, daemon: Daemon) -> None:
        """Do nothing: the reader's own thread looks at the book."""

    def count(self, finished: Finished) -> None:
        """Queue a finished workload as a span with its own start and stop."""
        session = finished.witnessed.session
        span = self._tracer.start_span(
            session.name or "workload",
            start_time=session.start_ns,
            attributes=span_attributes(finished, self._job_ids(session)),
        )
        span.end(end_time=session.stop_ns)

    def close(self) -> None:
        """Send what is left, for a few seconds at most; may be called twice."""
        thread = threading.Thread(target=self._shut_down, daemon=True)
        thread.start()
        thread.join(self._pace.close_seconds)
        self._complaints.detach()

    def _shut_down(self) -> None:
        self._spans.shutdown()
        self._meters.shutdown(timeout_millis=self._pace.close_seconds * 1e3)

    def _declare(self, metric: Metric) -> None:
        meter = self._meters.get_meter(SCOPE)
        make = meter.create_observable_counter if metric.is_counter else meter.create_observable_gauge
        make(
            metric.name,
            callbacks=[partial(self._observe, metric)],
            unit=metric.unit,
            description=metric.meaning,
        )

    def _observe(self, metric: Metric, _: CallbackOptions) -> Iterable[Observation]:
        return [
            Observation(value, dict(attributes)) for value, attributes in metric.values(self._book.snapshot)
        ]


def span_attributes(finished: Finished, job_ids: tuple[str, ...]) -> dict[str, AttributeValue]:
    """Return what a span says of a finished workload; what is not known is not there."""
    line = finished_line(finished)
    found: dict[str, AttributeValue] = {
        "flopwitness.session_id": line.session_id,
        "flopwitness.gpus": line.uuids,
        "flopwitness.work_class": line.work_class,
        "flopwitness.findings": line.findings,
        "flopwitness.scheduler_job_ids": job_ids,
    }
    if isfinite(line.energy_joules):
        found["flopwitness.energy_joules"] = line.energy_joules
    for target, one in line.flop.items():
        prefix = f"flopwitness.flop.{target.value}"
        found |= {
            f"{prefix}.low": one.low_flop,
            f"{prefix}.point": one.point_flop,
            f"{prefix}.high": one.high_flop,
            f"{prefix}.method": one.method,
        }
    return found


class _Complaints(logging.Handler):
    """Passes on what the SDK complains of, once in a while: it would print each failure."""

    def __init__(self, url: str, say: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._url, self._say = url, say
        self._last_seconds = -COMPLAINT_SECONDS
        self._logger = logging.getLogger("opentelemetry")
        self._propagated = self._logger.propagate

    def attach(self) -> None:
        """Listen."""
        self._logger.addHandler(self)
        self._logger.propagate = False

    def detach(self) -> None:
        """Leave the logger as it was."""
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagated

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, unless something was said within the hour."""
        if record.created - self._last_seconds >= COMPLAINT_SECONDS:
            self._last_seconds = record.created
            self._say(f"collector {self._url}: {record.getMessage()[:SHOWN_CHARACTERS]} (watching goes on)")
