"""A pretended Prometheus or VictoriaMetrics: samples in memory, asked in process or over HTTP."""

import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import numpy as np

from emulators.loopback import LoopbackServer
from flopwitness.core.finding import Finding
from flopwitness.telemetry.prometheus.series import Series

RANGE = re.compile(r"^(?P<selector>\{.*\})\[(?P<length_ms>\d+)ms\]$")

Labels = tuple[tuple[str, str], ...]


@dataclass
class Samples:
    """What was scraped: by series, milliseconds and values in the source's units, in time order."""

    series: dict[Labels, list[tuple[int, float]]] = field(default_factory=dict)

    def add(self, time_ms: int, value: float, **labels: str) -> None:
        """Keep one sample; ``name`` is the metric's."""
        named = {"__name__": labels.pop("name"), **labels}
        self.series.setdefault(tuple(named.items()), []).append((time_ms, value))

    def between(self, first_ms: int, last_ms: int) -> dict[Labels, list[tuple[int, float]]]:
        """Return the samples of a closed stretch; series without any are not there."""
        found = {
            labels: [sample for sample in samples if first_ms <= sample[0] <= last_ms]
            for labels, samples in self.series.items()
        }
        return {labels: samples for labels, samples in found.items() if samples}

    def samples(self, start_ns: int, stop_ns: int) -> tuple[list[Series], list[Finding]]:
        """Answer as a client does: after one instant, up to and with another."""
        found = self.between(start_ns // 10**6 + 1, stop_ns // 10**6)
        return [
            Series(
                dict(labels),
                np.array([time_ms for time_ms, _ in samples], dtype=np.int64) * 10**6,
                np.array([value for _, value in samples], dtype=np.float64),
            )
            for labels, samples in found.items()
        ], []


def text(value: float) -> str:
    """Return a number as Go writes it."""
    if np.isnan(value):
        return "NaN"
    return repr(float(value)) if np.isfinite(value) else ("+Inf" if value > 0 else "-Inf")


def matrix(found: Mapping[Labels, list[tuple[int, float]]]) -> bytes:
    """Return samples as ``/api/v1/query`` gives them."""
    result = [
        {"metric": dict(labels), "values": [[ms / 1000, text(value)] for ms, value in samples]}
        for labels, samples in found.items()
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()


def export(found: Mapping[Labels, list[tuple[int, float]]]) -> bytes:
    """Return samples as ``/api/v1/export`` gives them."""
    lines = [
        json.dumps(
            {
                "metric": dict(labels),
                "values": [None if np.isnan(value) else value for _, value in samples],
                "timestamps": [ms for ms, _ in samples],
            }
        )
        for labels, samples in found.items()
    ]
    return "".join(f"{line}\n" for line in lines).encode()


class PretendedApi(LoopbackServer):
    """Serves samples on loopback while its block runs.

    Parameters
    ----------
    samples : Samples
        What it holds.
    answer : callable or None
        Gives status and body in place of the samples, from the path and the form; None where not.

    Attributes
    ----------
    url : str
        Where it answers.
    asked : list of (str, dict)
        Each request: its path, and its form.
    tokens : list of str or None
        The authorisation of each request.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        answer: Callable[[str, dict[str, str]], tuple[int, bytes] | None] = lambda *_: None,
    ) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.tokens: list[str | None] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            """Answers queries."""

            def do_POST(self) -> None:
                """Answer one."""
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(body))
                api.asked.append((self.path, form))
                api.tokens.append(self.headers.get("Authorization"))
                status, content = answer(self.path, form) or (200, answered(samples, self.path, form))
                self.send_response(status)
                if status // 100 == 3:
                    self.send_header("Location", content.decode())
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Keep the tests' output clean."""

        self.start(Handler)


def answered(samples: Samples, path: str, form: Mapping[str, str]) -> bytes:
    """Return what an API answers: a range before Prometheus 3 holds its first instant, too."""
    if path.endswith("/api/v1/export"):
        first_ms, last_ms = (round(float(form[name]) * 1000) for name in ("start", "end"))
        return export(samples.between(first_ms, last_ms))
    found = RANGE.match(form["query"])
    assert found is not None, form["query"]
    stop_ms = round(float(form["time"]) * 1000)
    return matrix(samples.between(stop_ms - int(found["length_ms"]), stop_ms))
