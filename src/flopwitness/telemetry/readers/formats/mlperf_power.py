"""Node power of an MLPerf submission: ``power_reading`` lines of an MLPerf log, watts at the node's supply.

Whether a reading is alternating current at the wall or direct current behind the supply is said by
``measurement_type``, alone or beside ``conversion_eff``, the supply's efficiency; readings stay as they
are. One line of ``interconnect_power_est`` gives an estimate for a switch, which is no reading of a node.
Samples come every one to two seconds, with gaps of 11 to 20 s and repeated stamps. MLPerf asks for one
sample a second (github.com/mlcommons/training_results_v4.0, issue 4). Nodes that share a meter have equal
files.

Source: logs in github.com/mlcommons/training_results_v4.0, v4.1 and v5.0.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.columns import numeric_channels
from flopwitness.telemetry.readers.fields import plain
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.mllog import Entry, Intervals, entries, noted
from flopwitness.telemetry.readers.reading import NODE_POWER, Context, Format, Head, Readings

POWER = "power_reading"
POWER_KEY = re.compile(r'(?:\d{1,9}:\s*)?:::MLLOG\s*\{.*"key"\s*:\s*"power_(?:reading|measurement_start)"')
FIELDS = {POWER: plain("node_power_watts")}
MOST_STEP_SECONDS = 1.0
"""One sample a second at least (MLPerf power rules, as discussed in training_results_v4.0 issue 4)."""

STEP_SLACK = 1.05


def claims(head: Head) -> bool:
    """Say whether a head has a power reading of an MLPerf log."""
    return any(POWER_KEY.match(line) for line in head.lines)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each node, block by block."""
    context.notes.say(NODE_POWER)
    log = _Log(context)
    for block in context.input.blocks():
        yield from log.readings(list(entries(context, block)))
    noted(context, log.intervals.all())
    log.note_steps()


@dataclass
class _Log:
    """What a log says beside its readings, gathered while it passes."""

    context: Context
    _nodes: dict[str, Device] = field(default_factory=dict)
    _steps_ns: list[int] = field(default_factory=list)
    _last_ns: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.intervals = Intervals(self.context)

    def readings(self, found: list[Entry]) -> Iterator[Readings]:
        """Yield the power of each node; keep what else is said."""
        by_node: dict[str, list[Entry]] = {}
        for entry in found:
            if entry.key == POWER:
                by_node.setdefault(str(entry.metadata.get("host") or ""), []).append(entry)
            elif not self.intervals.take(entry):
                self._note_fact(entry)
        for host, readings in by_node.items():
            yield self._of_node(host, readings)

    def note_steps(self) -> None:
        """Say where samples come more seldom than the rules ask."""
        if not self._steps_ns:
            return
        seconds = float(np.median(self._steps_ns)) / 1e9
        if seconds > MOST_STEP_SECONDS * STEP_SLACK:
            message = f"samples come every {seconds:.3f} s in the middle; MLPerf asks for one a second"
            self.context.notes.say(Finding("slow-sampling", message))

    def _of_node(self, host: str, found: list[Entry]) -> Readings:
        if host not in self._nodes:
            self._nodes[host] = self.context.device(host or "node", host=host)
        for entry in found:
            self._note_fact(entry)
            step_ns = entry.time_ns - self._last_ns.get(host, entry.time_ns)
            self._last_ns[host] = entry.time_ns
            self._steps_ns += [step_ns] if step_ns > 0 else []
        watts = [number_of(entry.value) for entry in found]
        column = np.array([np.nan if each is None else each for each in watts], dtype=np.float64)
        lines = np.array([entry.line for entry in found], dtype=np.int64)
        channels = numeric_channels(self.context, {POWER: column}, FIELDS, lines)
        time_ns = np.array([entry.time_ns for entry in found], dtype=np.int64)
        return Readings({0: self._nodes[host]}, np.zeros(len(found), dtype=np.int64), time_ns, channels)

    def _note_fact(self, entry: Entry) -> None:
        say, number = self.context.notes.say, number_of(entry.value)
        kind = entry.value if entry.key == "measurement_type" else entry.metadata.get("measurement_type")
        if isinstance(kind, str) and (kind := kind.strip().upper()) in ("AC", "DC"):
            where = "at the wall" if kind == "AC" else "behind the supply: the wall gives more"
            say(Finding("power-kind", f"node power is {kind}, {where}", Severity.NOTE, "node_power_watts"))
        if entry.key == "conversion_eff" and number is not None:
            message = (
                f"the log says that the supply's efficiency is {number:g}; readings were left as they are"
            )
            say(Finding("conversion-efficiency", message, Severity.NOTE, "node_power_watts"))
        if entry.key == "interconnect_power_est" and number is not None:
            message = f"the log estimates {number:g} W for a switch; no node's power holds it"
            say(Finding("interconnect-power", message, Severity.NOTE, "node_power_watts"))


FORMAT = Format(name="mlperf-power", title="MLPerf power log", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
