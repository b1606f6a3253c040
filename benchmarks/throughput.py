"""Whether ``watch`` slows a workload down: interleaved pairs of traces with the daemon running and stopped.

Starts the daemon and, beside it, ``lab run`` with one configuration. Between traces, while ranks rest, the
daemon's process group is stopped or continued (SIGSTOP, SIGCONT), so that pairs of traces run with, without;
without, with; and so on: a steady drift cancels. The first traces are warm-up. A switch must fall between
the end of one trace and the start of the next on every rank; pairs with one that did not are dropped and
named. Prints one JSON object, and a line for people on standard error.
"""

import argparse
import json
import math
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from processes import FLOPWITNESS, cpu_seconds, end, family, signal_group, started

if TYPE_CHECKING:
    import subprocess

T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % points of Student's t, 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.2)."""

SETTLE_SECONDS = 4.0
POLL_SECONDS = 0.005
WRITE_SECONDS = 15.0
"""What the lab keeps of its time for ending."""

Words = Mapping[int, Mapping[str, Any]]
"""What each rank said of one trace, by rank."""


class Switch:
    """Stops and continues the daemon, and knows what it spent while it ran."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process, self.is_on = process, True
        self.running_seconds = self.spent_seconds = 0.0
        self._mark = self._now()

    def turn(self, *, on: bool) -> int:
        """Let the daemon run or stand still; return the instant by which it does."""
        if on != self.is_on:
            if self.is_on:
                self.count()
            signal_group(self.process, signal.SIGCONT if on else signal.SIGSTOP)
            self.is_on, self._mark = on, self._now()
        return time.time_ns()

    def count(self) -> None:
        """Add what was spent since the daemon was let run."""
        now = self._now()
        self.running_seconds += now[0] - self._mark[0]
        self.spent_seconds += now[1] - self._mark[1]
        self._mark = now

    def forget(self) -> None:
        """Start counting anew."""
        self.running_seconds = self.spent_seconds = 0.0
        self._mark = self._now()

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), cpu_seconds(family(self.process.pid))


def main() -> int:
    """Run; 0 where at least two pairs are left, 1 where not."""
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    deadline = time.monotonic() + options.limit_seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "watch.log").open("wb") as out, started(*watch(folder, options), out=out) as daemon:
            time.sleep(SETTLE_SECONDS)
            if daemon.poll() is not None:
                raise SystemExit("watch ended: " + (folder / "watch.log").read_text()[-500:])
            found = measured(folder, Switch(daemon), options, deadline=deadline)
            if daemon.poll() is not None:
                raise SystemExit("watch ended meanwhile: " + (folder / "watch.log").read_text()[-500:])
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stderr.write(sentence(found) + "\n")
    return 0 if found["pairs"] >= 2 else 1


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", default="benign")
    parser.add_argument("--name", default="gpt3-large")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--warm", type=int, default=2, help="traces that are thrown away")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3.0, help="of one trace")
    parser.add_argument(
        "--gap", type=float, default=0.5, help="seconds of rest, in which the daemon is switched"
    )
    parser.add_argument("--interval", type=float, default=0.1, help="seconds between the daemon's samples")
    parser.add_argument("--replay", help="a recording for the daemon, in place of this machine's GPUs")
    parser.add_argument("--limit-seconds", type=float, default=180.0, help="when everything is ended")
    return parser.parse_args()


def watch(folder: Path, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the daemon's command."""
    source = ("--replay", options.replay, "--speed", "1") if options.replay else ()
    journal = str(folder / "journal.jsonl")
    return (
        *FLOPWITNESS,
        "watch",
        "--json",
        "--journal",
        journal,
        "--interval",
        str(options.interval),
        *source,
    )


def lab(folder: Path, options: argparse.Namespace, *, left_seconds: float) -> tuple[str, ...]:
    """Return the lab's command."""
    values = {
        "--output": folder / "lab",
        "--plan": options.plan,
        "--name": options.name,
        "--traces": options.warm + 2 * options.pairs,
        "--seconds": options.seconds,
        "--gap": options.gap,
        "--gpus": options.gpus,
        "--device": options.device,
        "--budget-seconds": max(left_seconds, 20.0),
    }
    words = (word for pair in values.items() for word in map(str, pair))
    return (*FLOPWITNESS, "lab", "run", "--no-sample", *words)


def states(options: argparse.Namespace) -> list[bool]:
    """Return whether the daemon runs, for each trace: ABBA."""
    pairs = [(True, False) if number % 2 == 0 else (False, True) for number in range(options.pairs)]
    return [True] * options.warm + [state for pair in pairs for state in pair]


def measured(folder: Path, switch: Switch, options: argparse.Namespace, *, deadline: float) -> dict[str, Any]:
    """Run the lab, switch between its traces, and compare."""
    wanted, turned = states(options), {}
    traces: dict[int, dict[int, Mapping[str, Any]]] = defaultdict(dict)
    command = lab(folder, options, left_seconds=deadline - time.monotonic() - 2)
    with (folder / "lab.log").open("wb") as out, started(*command, out=out) as process:
        for event in events(folder / "lab" / "events" / "events.jsonl", process, deadline=deadline):
            if event["event"] != "trace":
                continue
            index = event["index"]
            traces[index][event["rank"]] = event
            if len(traces[index]) == options.gpus and index + 1 < len(wanted):
                turned[index + 1] = (switch.is_on != wanted[index + 1], switch.turn(on=wanted[index + 1]))
                if index + 1 == options.warm:
                    switch.forget()
        if switch.is_on:
            switch.count()
        end(process)
    whole = {index: words for index, words in traces.items() if len(words) == options.gpus}
    found = compared(whole, wanted, late_switches(whole, turned), warm=options.warm)
    if not whole:
        found["lab_said"] = (folder / "lab.log").read_text(errors="replace")[-1500:]
    cost = switch.spent_seconds / switch.running_seconds if switch.running_seconds else math.nan
    return found | {
        "configuration": options.name,
        "n_gpus": options.gpus,
        "trace_seconds": options.seconds,
        "daemon_interval_seconds": options.interval,
        "daemon_running_seconds": round(switch.running_seconds, 2),
        "daemon_cpu_ratio": round(cost, 5) if math.isfinite(cost) else None,
    }


def events(path: Path, process: "subprocess.Popen[bytes]", *, deadline: float) -> Iterator[Mapping[str, Any]]:
    """Follow what the lab writes, until it ends or time is up."""
    offset, is_last = 0, False
    while time.monotonic() < deadline and not is_last:
        is_last = process.poll() is not None  # asked before reading: what came before the end is read
        if path.exists():
            with path.open("rb") as lines:
                lines.seek(offset)
                new = lines.read()
            whole = new[: new.rfind(b"\n") + 1]
            offset += len(whole)
            yield from map(json.loads, whole.splitlines())
        time.sleep(POLL_SECONDS)


def late_switches(traces: Mapping[int, Words], turned: Mapping[int, tuple[bool, int]]) -> list[int]:
    """Return the traces before which the daemon was switched, but not while all ranks rested."""
    late = []
    for index, (is_switch, at_ns) in turned.items():
        if is_switch and index in traces and index - 1 in traces:
            ended_ns = max(words["stop_ns"] for words in traces[index - 1].values())
            began_ns = min(words["start_ns"] for words in traces[index].values())
            late += [] if ended_ns < at_ns < began_ns else [index]
    return late


def compared(
    traces: Mapping[int, Words], wanted: Sequence[bool], late: list[int], *, warm: int
) -> dict[str, Any]:
    """Return each pair's ratio of step times, with over without, minus one; their mean and its interval."""
    seconds = {index: step_seconds(words) for index, words in traces.items()}
    # A switch that came late touched the trace it was for, and the one before where it came too soon.
    touched = {number for index in late for number in (index - 1, index)}
    differences, dropped = [], []
    for first in range(warm, len(wanted), 2):
        pair = (first, first + 1)
        if touched & set(pair) or not seconds.keys() >= set(pair):
            dropped.append(first)
            continue
        with_it, without = pair if wanted[first] else pair[::-1]
        differences.append(seconds[with_it] / seconds[without] - 1)
    return {
        "pairs": len(differences),
        **interval(differences),
        "difference_ratios": [round(one, 7) for one in differences],
        "dropped_pairs_from_trace": dropped,
        "switched_outside_the_gap": late,
        "step_seconds": {str(index): round(one, 7) for index, one in sorted(seconds.items())},
    }


def interval(values: Sequence[float]) -> dict[str, float | None]:
    """Return mean and 95 % interval of Student's t; nothing from fewer than two values."""
    if len(values) < 2:
        return {"mean_ratio": None, "low_ratio": None, "high_ratio": None}
    mean = statistics.fmean(values)
    half = T_975[min(len(values) - 1, len(T_975)) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return {
        "mean_ratio": round(mean, 7),
        "low_ratio": round(mean - half, 7),
        "high_ratio": round(mean + half, 7),
    }


def step_seconds(words: Words) -> float:
    """Return the length of a step, the mean of all ranks."""
    return statistics.fmean((one["stop_ns"] - one["start_ns"]) / one["steps"] / 1e9 for one in words.values())


def sentence(found: Mapping[str, Any]) -> str:
    """Return the result for people."""
    if found["mean_ratio"] is None:
        return f"nothing to compare: {found['pairs']} pairs left; {found.get('lab_said', '')}"
    mean, low, high = (100 * found[f"{name}_ratio"] for name in ("mean", "low", "high"))
    return (
        f"steps of {found['configuration']} take {mean:+.3f} % with the daemon, 95 % interval {low:+.3f} to "
        f"{high:+.3f} %, {found['pairs']} pairs; the daemon takes {100 * found['daemon_cpu_ratio']:.2f} % of "
        "a core"
    )


if __name__ == "__main__":
    sys.exit(main())
