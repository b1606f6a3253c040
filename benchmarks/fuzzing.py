"""Read damaged files, 200,000 for each format, and hold every answer against what must always hold.

``python benchmarks/fuzzing.py --inputs 200000 [--format NAME] [--seed N] [--workers N] [--resume]`` prints
a table and writes ``benchmarks/results/fuzzing/fuzzing.json``, after each format anew. Input K of a seed is
the same on any machine: ``--show FORMAT:CLASS:K`` prints it. The laws are those of ``tests/fuzz/laws.py``:
nothing but a refusal of one line comes out, no value is infinite or impossible, time increases, a blank
never becomes 0, reading twice or in other blocks gives the same, and no input takes a second of processor
time.
"""

import argparse
import faulthandler
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # samples have one home, the tests of each format

from fuzz.laws import input_of, tried  # noqa: E402
from fuzz.samples import samples, samples_of  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "fuzzing" / "fuzzing.json"
CHUNK = 500
STUCK_SECONDS = 60
"""A worker that hangs where no exception comes through is ended; where it hung goes to standard error."""

WATCHED_INPUTS = 25
"""So many may take that long, in processor time: a busy machine, or one put to sleep, raises no alarm."""

MOST_MEMORY_BYTES = 4 * 1024**3
KEPT_CASES = 20


@dataclass
class Tally:
    """What became of the inputs of one format."""

    format: str
    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest_seconds: float = 0.0
    slowest_case: str = ""
    broken: int = 0
    laws: dict[str, int] = field(default_factory=dict)
    cases: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Take in what another worker counted."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.refused += other.refused
        self.broken += other.broken
        self.laws = dict(Counter(self.laws) + Counter(other.laws))
        self.cases = sorted([*self.cases, *other.cases])[:KEPT_CASES]
        if other.slowest_seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest_case = other.slowest_seconds, other.slowest_case


def main() -> int:
    """Run; 0 where no law broke."""
    options = parsed()
    if options.show:
        return shown(options.show, options.seed)
    names = sorted({sample.form.name for sample in samples()})
    wanted = [name for name in names if options.format in {None, name}]
    if not wanted:
        raise SystemExit(f"no format {options.format!r}; known are {', '.join(names)}")
    tallies = kept(options) if options.resume else []
    started = time.monotonic()
    sys.stdout.write(f"{'format':<28}{'inputs':>9}{'read':>9}{'refused':>9}{'slowest':>10}{'broken':>8}\n")
    for name in wanted:
        if name in {tally.format for tally in tallies}:
            continue
        tally = fuzzed(name, options.inputs, options.seed, workers=options.workers)
        tallies.append(tally)
        sys.stdout.write(line_of(tally) + "\n")
        sys.stdout.flush()
        write(options.output, tallies, options, seconds=time.monotonic() - started)
    return int(any(tally.broken for tally in tallies))


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, help="for each format")
    parser.add_argument("--format", help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--resume", action="store_true", help="keep the formats that --output holds already")
    parser.add_argument("--show", metavar="FORMAT:CLASS:K", help="print one input and what became of it")
    return parser.parse_args()


def kept(options: argparse.Namespace) -> list[Tally]:
    """Return what an earlier run of the same seed found with as many inputs."""
    if not options.output.exists():
        return []
    found = json.loads(options.output.read_text(encoding="utf-8"))
    tallies = [Tally(**each) for each in found["formats"]] if found["seed"] == options.seed else []
    return [tally for tally in tallies if tally.inputs >= options.inputs and not tally.broken]


def fuzzed(name: str, n_inputs: int, seed: int, *, workers: int) -> Tally:
    """Try the inputs of one format, over several processes."""
    total = Tally(name)
    context = multiprocessing.get_context("spawn")  # Arrow's threads do not live through a fork
    with ProcessPoolExecutor(workers, mp_context=context, initializer=guarded) as pool:
        futures = [pool.submit(chunk, name, seed, *span) for span in spans(n_inputs)]
        for future, (first, _) in zip(futures, spans(n_inputs), strict=True):
            try:
                total.add(future.result())
            except BrokenProcessPool:
                total.broken += 1
                total.laws[f"a worker was ended near input {first}: see standard error"] = 1
                break
    return total


def spans(n_inputs: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last input, exclusive, of each chunk."""
    for first in range(0, n_inputs, CHUNK):
        yield first, min(first + CHUNK, n_inputs)


def guarded() -> None:
    """Bound memory and time of a worker; a warning is a finding."""
    faulthandler.register(signal.SIGPROF, chain=True)  # then the signal's own way: the process ends
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    warnings.simplefilter("error")


def chunk(name: str, seed: int, first: int, last: int) -> Tally:
    """Try some inputs of a format; its samples take turns."""
    own = samples_of(name)
    others = tuple(sample.data for sample in samples())
    tally = Tally(name)
    laws: Counter[str] = Counter()
    for number in range(first, last):
        if number % WATCHED_INPUTS == 0:
            signal.setitimer(signal.ITIMER_PROF, STUCK_SECONDS)
        sample = own[number % len(own)]
        change, rng = input_of(sample, seed, number, others)
        verdict = tried(sample, change, rng)
        case = f"{name}:{sample.name}:{number}"
        tally.inputs += 1
        tally.accepted += verdict.outcome == "accepted"
        tally.refused += verdict.outcome == "refused"
        if verdict.seconds > tally.slowest_seconds:
            tally.slowest_seconds, tally.slowest_case = verdict.seconds, case
        if verdict.broken:
            laws[verdict.broken] += 1
            tally.cases = [*tally.cases, f"{case} {verdict.broken}"][:KEPT_CASES]
    signal.setitimer(signal.ITIMER_PROF, 0)
    tally.laws, tally.broken = dict(laws), laws.total()
    return tally


def line_of(tally: Tally) -> str:
    """Return a format's line of the table."""
    return (
        f"{tally.format:<28}{tally.inputs:>9,}{tally.accepted:>9,}{tally.refused:>9,}"
        f"{tally.slowest_seconds:>8.3f} s{tally.broken:>8,}"
    )


def write(path: Path, tallies: list[Tally], options: argparse.Namespace, *, seconds: float) -> None:
    """Keep what was found so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "what": "damaged files read, by format; a broken law would be listed with its case",
        "seed": options.seed,
        "seconds": round(seconds, 1),
        "formats": [asdict(tally) for tally in tallies],
    }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def shown(case: str, seed: int) -> int:
    """Print one input and what became of it."""
    name, class_name, number = case.split(":")
    sample = next(sample for sample in samples_of(name) if sample.name == class_name)
    change, rng = input_of(sample, seed, int(number), tuple(each.data for each in samples()))
    sys.stdout.write(f"{change.steps}\n{change.data[:4000]!r}\n{tried(sample, change, rng)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
