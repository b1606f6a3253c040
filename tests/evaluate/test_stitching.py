"""Jobs found against runs logged: split, merged, missed or right, and what counts as a false merge."""

from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.evaluate.stitching import LoggedJob, PlacedSession, logged_jobs, stitching

A, B, C = LoggedJob("a", 0, 100), LoggedJob("b", 110, 200), LoggedJob("c", 210, 300)


def words(*placed: tuple[int, int, str], logged: tuple[LoggedJob, ...] = (A, B, C)) -> list[str]:
    """Return what became of each logged job."""
    found = stitching(logged, [PlacedSession(*one) for one in placed])
    names = ("is_right", "is_split", "is_merged", "is_missed")
    return [" ".join(name[3:] for name in names if getattr(job, name)) for job in found.jobs]


def test_a_job_of_several_sessions_is_right():
    """As long as they are one job and nothing else is in it."""
    assert words((0, 40, "1"), (60, 100, "1"), (110, 200, "2"), (210, 300, "3")) == ["right"] * 3


def test_split_merged_and_missed_are_told_apart():
    """A session beside the log is left out."""
    assert words((0, 40, "1"), (60, 100, "2"), (110, 200, "3"), (205, 208, "9")) == [
        "split",
        "right",
        "missed",
    ]
    assert words((0, 100, "1"), (110, 200, "1"), (210, 300, "2")) == ["merged", "merged", "right"]


def test_neighbours_count_as_pairs():
    """One of two shares a job."""
    sessions = [PlacedSession(0, 100, "1"), PlacedSession(110, 200, "1"), PlacedSession(210, 300, "2")]

    found = stitching((A, B, C), sessions)

    assert (found.n_pairs, found.n_false_merges, found.false_merge_ratio) == (2, 1, 0.5)
    assert stitching((A,), sessions).false_merge_ratio is None


def test_the_same_program_run_twice_is_no_false_merge():
    """Nothing but the log tells it from a restart; pauses do not make another program."""
    twin = LoggedJob("twin", 0, 100, shape={"d_model": 512})
    split = LoggedJob("split", 110, 200, shape={"d_model": 512})

    found = stitching((twin, split), [PlacedSession(0, 100, "1"), PlacedSession(110, 200, "1")])

    assert (found.n_pairs, found.n_false_merges) == (0, 0)
    assert [job.alike for job in found.jobs] == [("split",), ("twin",)]
    assert all(job.is_right for job in found.jobs)


def test_runs_of_one_name_in_a_row_are_one_program():
    """From the first start to the last stop; rhythm is no part of its shape."""

    def run(name: str, start_ns: int, **parameters: float) -> Run:
        return Run(WorkloadConfig(name, "dense", parameters), start_ns, start_ns + 10, GroundTruth())

    found = logged_jobs([run("b", 40, pauses=3, d_model=8), run("a", 20, steps=1), run("a", 0)])

    assert [(job.name, job.start_ns, job.stop_ns) for job in found] == [("a", 0, 30), ("b", 40, 50)]
    assert [dict(job.shape) for job in found] == [{}, {"d_model": 8}]
