"""How ``flopwitness evaluate --protocol learning-curve`` is said as a table."""

from typing import Any

from flopwitness.app.cli.output import percent_fine, print_table


def print_curve(answer: dict[str, Any]) -> None:
    """Print what ``curve_object`` gave: a row an estimator, a column a size of the calibration."""
    low, high = (f"{100 * ratio:g}" for ratio in answer["band_ratios"])
    title = (
        f"learning curve, {answer['target']} FLOP: {answer['draws']} draws, "
        f"{answer['n_held_out_workloads']} of {answer['n_workloads']} workloads held out; "
        f"median absolute error, {low}th to {high}th percentile over the draws"
    )
    sizes = [point["n_calibration_workloads"] for point in next(iter(answer["estimators"].values()))]
    columns = ("estimator", *(f"{size} workloads" for size in sizes))
    rows = [(name, *map(_cell, points)) for name, points in answer["estimators"].items()]
    print_table(title, columns, rows)


def _cell(point: dict[str, Any]) -> str:
    band = f"{percent_fine(point['low_ratio'])} to {percent_fine(point['high_ratio'])}"
    return f"{percent_fine(point['median_abs_error_ratio'])} ({band})"
