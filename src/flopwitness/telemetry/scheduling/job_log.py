"""The journal that a scheduler's prolog and epilog write: one JSON object a line, a job's start or its end.

``{"event": "start", "job_id": "17", "at": "2026-02-03T04:05:06Z", "host": "n1", "gpus": ["GPU-..."]}``, and
``"end"`` likewise, without GPUs. In place of ``gpus`` a start may hold ``visible_devices`` and
``device_order``: CUDA_VISIBLE_DEVICES as it counts all GPUs of the host, and CUDA_DEVICE_ORDER. With ``tres``
beside them, what Slurm allocated, the number of GPUs is checked. Users and commands are not kept.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from flopwitness.core.errors import BadInputError, FlopWitnessError
from flopwitness.core.finding import Finding
from flopwitness.core.strict_json import object_of, refuse_constant
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.telemetry.scheduling.names import DeviceOrder, gpus_allocated
from flopwitness.telemetry.scheduling.windows import JobWindow

LOG_NAME = "jobs.jsonl"
"""The journal's name in a folder of jobs; dcgm-exporter passes over what is no number."""

MAX_LINE_BYTES = 65_536
MAX_FINDINGS = 20
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Resolve = Callable[[str, DeviceOrder], tuple[str, ...]]
"""Gives the UUIDs of a CUDA_VISIBLE_DEVICES; ``BadInputError`` where it could mean others."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A line: a job starts on these GPUs, or has ended (and names none)."""

    job_id: str
    host: str
    at_ns: int
    uuids: tuple[str, ...] = ()


class JobLog:
    """Follows a journal: each look reads the lines that have come since.

    A line that is none of ours costs itself and is counted: a job's record is never what stops a daemon.

    Parameters
    ----------
    path : Path
        The journal; it may not be there yet.
    resolve : callable
        Resolves ``visible_devices``.

    Attributes
    ----------
    windows : list of JobWindow
        By start, as far as it was read.
    n_refused : int
        Lines that could not be used.
    """

    def __init__(self, path: Path, resolve: Resolve) -> None:
        self._path = path
        self._resolve = resolve
        self._offset = self._n_lines = self.n_refused = 0
        self._refusals: list[str] = []
        self._open: dict[tuple[str, str], int] = {}
        self.windows: list[JobWindow] = []

    def look(self) -> None:
        """Read what has come; a last line without its end waits. A journal that shrank is read again."""
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._offset:
                    self._forget()
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            self._n_lines += 1
            if line.strip():
                self._take(line)

    def findings(self) -> tuple[Finding, ...]:
        """Return which lines could not be used, and why: the first few and how many."""
        if not self.n_refused:
            return ()
        said = "; ".join(self._refusals)
        message = f"{self.n_refused} lines of {self._path} could not be used: {said}"
        return (Finding("job-log", message, subject=str(self._path)),)

    def _forget(self) -> None:
        self._offset = self._n_lines = self.n_refused = 0
        self._refusals, self._open, self.windows = [], {}, []

    def _take(self, line: bytes) -> None:
        try:
            event = job_event(line, self._resolve)
            known = self._open.pop((event.job_id, event.host), None)
            if known is not None:  # its end, or a start after a crash: it held its GPUs until then at most
                self.windows[known] = replace(self.windows[known], stop_ns=event.at_ns)
            if event.uuids:
                self._open[event.job_id, event.host] = len(self.windows)
                self.windows.append(JobWindow(event.job_id, event.uuids, event.at_ns, host=event.host))
        except FlopWitnessError as error:
            self.n_refused += 1
            if len(self._refusals) < MAX_FINDINGS:
                self._refusals.append(f"line {self._n_lines}: {error}")


def job_event(line: bytes, resolve: Resolve) -> JobEvent:
    """Read one line.

    Raises
    ------
    BadInputError
        When it is no such object, its instant has no zone, or its GPUs are ambiguous or too few.
    """
    content = _object(line)
    job_id, host = _text(content, "job_id"), content.get("host", "")
    if not isinstance(host, str):
        raise _unfit("host", "a text", host)
    at_ns = _instant_ns(content)
    if content.get("event") == "end":
        return JobEvent(job_id, host, at_ns)
    if content.get("event") != "start":
        raise _unfit("event", "'start' or 'end'", content.get("event"))
    uuids = _uuids(content, resolve)
    if "tres" in content and (n_gpus := gpus_allocated(_text(content, "tres"))) != len(uuids):
        raise _unfit("gpus", f"the {n_gpus} GPUs that were allocated", list(uuids))
    return JobEvent(job_id, host, at_ns, uuids)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"a line of {len(line)} bytes")  # noqa: TRY301  one refusal for all
        content = json.loads(line, parse_constant=refuse_constant, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        raise BadInputError("job", "", expected="a JSON object", got=str(error)) from None
    if not isinstance(content, dict):
        raise BadInputError("job", "", expected="a JSON object", got=type(content).__name__)
    return content


def _uuids(content: Mapping[str, Any], resolve: Resolve) -> tuple[str, ...]:
    if "gpus" not in content and "visible_devices" in content:
        named = content.get("device_order", "")
        order = DeviceOrder(named) if named in set(DeviceOrder) else DeviceOrder.UNKNOWN
        uuids: object = list(resolve(_text(content, "visible_devices"), order))
    else:
        uuids = content.get("gpus")
    if not isinstance(uuids, list) or not all(isinstance(uuid, str) and uuid for uuid in uuids) or not uuids:
        raise _unfit("gpus", "a list of UUIDs", uuids)
    return tuple(sorted(set(uuids)))


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _unfit(name, "a text that is not empty", value)
    return value


def _instant_ns(content: Mapping[str, Any]) -> int:
    """Return the instant; one without a zone could be anywhere within a day."""
    expected = "an instant with a zone, such as 2026-02-03T04:05:06Z"
    try:
        at = datetime.fromisoformat(_text(content, "at"))
    except ValueError:
        raise _unfit("at", expected, content["at"]) from None
    if at.tzinfo is None:
        raise _unfit("at", expected, content["at"])
    return (at - EPOCH) // timedelta(microseconds=1) * (NANOSECONDS_PER_SECOND // 1_000_000)


def _unfit(name: str, expected: str, got: object) -> BadInputError:
    return BadInputError("job", f"field {name!r}", expected=expected, got=repr(got)[:60])
