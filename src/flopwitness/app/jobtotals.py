"""FLOP of jobs: sums over sessions, which lose nothing however sessions were linked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Placed
from flopwitness.detect.jobs.mark import Mark


@dataclass(frozen=True, slots=True)
class JobTotal:
    """FLOP of a job so far: sums over its sessions.

    Sessions share a calibration, so their errors do not average out: ends are added, not narrowed.

    Attributes
    ----------
    n_sessions : int
        Sessions that were added up.
    flop : mapping of Target to mapping of str to tuple of float
        Point, low and high by target and method; a method that did not answer for every session is absent.
    """

    n_sessions: int
    flop: Mapping[Target, Mapping[str, tuple[float, float, float]]]

    def plus(self, estimates: Mapping[Target, Mapping[str, Estimate]]) -> "JobTotal":
        """Return the total with one more session."""
        flop = {
            target: {
                name: _added(self.flop.get(target, {}).get(name), one)
                for name, one in by_name.items()
                if not self.n_sessions or name in self.flop.get(target, {})
            }
            for target, by_name in estimates.items()
        }
        return JobTotal(self.n_sessions + 1, flop)


NOTHING = JobTotal(0, {})


def _added(total: tuple[float, float, float] | None, one: Estimate) -> tuple[float, float, float]:
    point, low, high = total or (0.0, 0.0, 0.0)
    return point + one.point_flop, low + one.low_flop, high + one.high_flop


def job_totals(
    placed: Iterable[Placed], estimates: Iterable[Mapping[Target, Mapping[str, Estimate]]]
) -> dict[str, JobTotal]:
    """Return the total of each job by its identity, in order of first appearance.

    Parameters
    ----------
    placed : iterable of Placed
        Where each session stands.
    estimates : iterable of mapping
        Of each session, by target and method.
    """
    totals: dict[str, JobTotal] = {}
    for one, answer in zip(placed, estimates, strict=True):
        totals[one.job_id] = totals.get(one.job_id, NOTHING).plus(answer)
    return totals


@dataclass(frozen=True, slots=True)
class JobSoFar:
    """Where a session came to stand, what its job has spent with it, and the mark that it left, if kept."""

    placed: Placed
    total: JobTotal
    mark: Mark | None = None
