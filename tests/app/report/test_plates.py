"""Which figures a page has: the experiment's for our data, then ours, each once."""

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.plates import evaluation_plates
from flopwitness.core.workload import Target
from flopwitness.estimate.methods import METHODS
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.protocols import Protocol

EVERYBODY = {name: [1.0, 1.1, 0.9] for name in METHODS}


def idents(*results: Evaluation) -> list[str]:
    """Return the names of the figures."""
    return [plate.ident for plate in evaluation_plates(tuple(map(scored_of, results)))]


def test_the_experiments_figures_are_made_for_the_count_that_it_used():
    """Bars, three inputs, fewer inputs, networks, ours."""
    assert idents(evaluation_of(EVERYBODY)) == [
        "bars-algorithmic",
        "three-input",
        "fewer-inputs",
        "networks",
        "ours-algorithmic",
    ]


def test_another_count_has_bars_and_ours():
    """The experiment says nothing of executed FLOP."""
    assert idents(evaluation_of(EVERYBODY, target=Target.EXECUTED)) == ["bars-executed", "ours-executed"]


def test_several_protocols_make_no_figure_twice():
    """Bars take the folds, dots the random splits."""
    results = tuple(
        scored_of(evaluation_of(EVERYBODY, protocol=one)) for one in (Protocol.RANDOM, Protocol.FOLDS)
    )

    plates = evaluation_plates(results)

    assert len({plate.ident for plate in plates}) == len(plates) == 5
    assert "protocol folds" in plates[0].caption
    assert "protocol random" in plates[1].caption


def test_nothing_evaluated_is_no_figure():
    """Neither bars nor dots."""
    assert evaluation_plates(()) == ()
