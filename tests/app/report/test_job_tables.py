"""Jobs on the page: FLOP and ends summed over sessions, and why these are one."""

from dataclasses import replace

from app.report.made import estimate_of, recording_of, result_of
from detect.jobs.made import mark_at
from flopwitness.app.report.job_tables import job_table
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import JobChain

RECORDING = recording_of()


def test_a_job_sums_its_sessions():
    """Points and both ends; a job of one session is among the sessions already."""
    chain = JobChain()
    placed = [
        chain.place(mark, {})
        for mark in (mark_at(0, 100), mark_at(106, 200), mark_at(210, 300, shift=0.5, gib=9))
    ]
    results = [replace(result_of(RECORDING, estimates=[estimate_of(2e15)]), job=one) for one in placed]

    table = job_table(RECORDING, results, Target.ALGORITHMIC)

    assert table is not None
    (first,) = [[cell.text for cell in row.cells] for row in table.groups[0].rows]
    assert first[:3] == ["1", "2", "fused"]
    assert "same memory footprint" in first[3]
    assert first[6:] == ["4.000", "3.600 to 4.400"]


def test_nothing_is_shown_where_no_job_has_several_sessions():
    """Nor where nobody looked for jobs."""
    placed = JobChain().place(mark_at(0, 100), {})
    result = result_of(RECORDING, estimates=[estimate_of(2e15)])

    assert job_table(RECORDING, [replace(result, job=placed)], Target.ALGORITHMIC) is None
    assert job_table(RECORDING, [result], Target.ALGORITHMIC) is None
