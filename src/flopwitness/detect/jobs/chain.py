"""Sessions chained into jobs, one after the other as they end."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.detect.jobs.evidence import Evidence, link_evidence, probability
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.memory import MemoryRuns

MAX_PAUSE_SECONDS = 600.0
"""A job stays open this long, and longer where it has worked longer.

Ten minutes hold a checkpoint written, a queue and a restart. Beyond, a pause as long as all work before it
already doubles the device time, the most that the rules of the game allow an attacker. Totals over sessions
count what is split by longer pauses all the same.
"""

MAX_OVERLAP_SECONDS = 2.0
"""The next GPU of a hand-over may begin this much before the last one ends."""

LINK_PROBABILITY = 0.5
"""From this probability on a session continues a job."""

NEAR_CERTAINTY = 0.99
"""From here on a probability is not told in digits: chosen constants do not bear more."""

N_MARKS = 4
"""Latest sessions of a job that a new one may continue: a job that alternates between GPUs leaves several."""

MAX_OPEN_JOBS = 256
"""Open jobs that are remembered, the latest."""


@dataclass(frozen=True, slots=True)
class Link:
    """Why a session continues a job.

    Attributes
    ----------
    session_id : str
        The session that it continues.
    probability : float
        That both are one run, 0 to 1.
    evidence : tuple of Evidence
        What the probability was made from.
    """

    session_id: str
    probability: float
    evidence: tuple[Evidence, ...]

    @property
    def odds(self) -> str:
        """The probability in words: ``p = 0.62``; never a certainty."""
        return f"p = {self.probability:.2f}" if self.probability < NEAR_CERTAINTY else "p > 0.99"

    @property
    def reason(self) -> str:
        """What speaks for it, in words: ``same GPUs, memory held, same signature of a step``."""
        return ", ".join(one.reason for one in self.evidence if one.log_ratio >= 0 or one.kind == "pause")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a session came to stand.

    Attributes
    ----------
    job_id : str
        Identity of the first session of its job: the same however often the daemon was started.
    number : int
        Place among the jobs of this chain, from 1.
    n_sessions : int
        Sessions of the job so far, with this one.
    link : Link or None
        Why it continues the job; None of the first.
    """

    job_id: str
    number: int
    n_sessions: int
    link: Link | None


@dataclass(slots=True)
class _Open:
    job_id: str
    number: int
    marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=N_MARKS))
    n_sessions: int = 0
    worked_seconds: float = 0.0

    def add(self, mark: Mark, link: Link | None) -> Placed:
        self.marks.append(mark)
        self.n_sessions += 1
        self.worked_seconds += mark.seconds
        return Placed(self.job_id, self.number, self.n_sessions, link)

    def is_open_at(self, instant_ns: int) -> bool:
        limit_seconds = max(MAX_PAUSE_SECONDS, self.worked_seconds)
        last_ns = max(mark.stop_ns for mark in self.marks)
        return instant_ns - last_ns <= limit_seconds * NANOSECONDS_PER_SECOND

    def last_beside(self, mark: Mark) -> Mark:
        """Return the latest mark that shares a GPU with one: what that held is what the job held last."""
        return next(later for later in reversed(self.marks) if later.uuids & mark.uuids)

    def ran_on(self, uuids: frozenset[str], since_ns: int) -> bool:
        return any(mark.uuids & uuids and mark.stop_ns > since_ns for mark in self.marks)


class JobChain:
    """Places each session in the best earlier job that it may continue, or in a new one.

    Greedy in time: what was told is never taken back. Memory stays bounded: a few marks of each open job.
    """

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._n_jobs = 0

    @property
    def open_ids(self) -> frozenset[str]:
        """Jobs that a session to come may still continue."""
        return frozenset(job.job_id for job in self._open)

    def place(self, mark: Mark, memory: Mapping[str, MemoryRuns]) -> Placed:
        """Place the next session.

        Parameters
        ----------
        mark : Mark
            Sessions come in order of their ends.
        memory : mapping of str to MemoryRuns
            By UUID, as far back as is known.
        """
        self._open = [job for job in self._open if job.is_open_at(mark.start_ns)][-MAX_OPEN_JOBS:]
        links = [
            (link, job) for job in self._open if (link := self._best_link(job, mark, memory)) is not None
        ]
        link, job = max(links, key=lambda pair: pair[0].probability, default=(None, None))
        if job is None:
            self._n_jobs += 1
            job = _Open(mark.session_id, self._n_jobs)
        else:
            self._open.remove(job)
        self._open.append(job)
        return job.add(mark, link)

    def resume(self, mark: Mark, placed: Placed) -> None:
        """Remember a session that another chain placed, before a restart; in order of ends."""
        self._n_jobs = max(self._n_jobs, placed.number)
        job = next((job for job in self._open if job.job_id == placed.job_id), None)
        if job is None:
            job = _Open(placed.job_id, placed.number)
        else:
            self._open.remove(job)
        self._open = [*self._open, job][-MAX_OPEN_JOBS:]
        job.add(mark, None)
        job.n_sessions = placed.n_sessions

    def _best_link(self, job: _Open, mark: Mark, memory: Mapping[str, MemoryRuns]) -> Link | None:
        links = [self._link(before, job, mark, memory) for before in job.marks if _may_follow(before, mark)]
        best = max(links, key=lambda link: link.probability, default=None)
        return best if best is not None and best.probability >= LINK_PROBABILITY else None

    def _link(self, before: Mark, job: _Open, after: Mark, memory: Mapping[str, MemoryRuns]) -> Link:
        uuids = before.uuids | after.uuids
        n_between = sum(other is not job and other.ran_on(uuids, before.stop_ns) for other in self._open)
        last = job.last_beside(before)
        evidence = link_evidence(before, after, memory, last=last, n_between=n_between)
        return Link(before.session_id, probability(evidence), evidence)


def _may_follow(before: Mark, after: Mark) -> bool:
    """Say whether time and place allow it: a GPU does one session at a time, a run does not change hosts."""
    overlap_ns = before.stop_ns - after.start_ns
    if before.uuids & after.uuids:
        return overlap_ns <= 0
    same_host = set(before.hosts.values()) == set(after.hosts.values())
    return same_host and overlap_ns <= MAX_OVERLAP_SECONDS * NANOSECONDS_PER_SECOND
