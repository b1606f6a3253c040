"""The page that ``report`` and ``demo`` write, from real recordings with few splits."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from flopwitness.app.cli.main import status_of
from flopwitness.app.opening import open_dataset
from flopwitness.app.reporting import ReportPlan, gathered
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
NODE_B, HANG = DATASETS / "h200x2-b", DATASETS / "h200x2-hang"


class Addresses(HTMLParser):
    """Collects everything that a browser would fetch or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of a tag."""
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]


def test_sessions_that_the_calibration_has_seen_get_no_estimate():
    """Its own runs would flatter it; the sessions of the other recording, a hang among them, get one."""
    datasets = [open_dataset(NODE_B), open_dataset(HANG)]

    content = gathered(datasets, ReportPlan("made", n_splits=1), watch=lambda _: lambda items, _: items)

    assert set(content.evaluations) == {
        (protocol, target) for protocol in (Protocol.RANDOM, Protocol.FAMILY) for target in Target
    }
    assert all(not result.estimates for result in content.sessions["h200x2-b"])
    hang = content.sessions["h200x2-hang"]
    assert all(result.estimates for result in hang)
    assert [result.session.name for result in hang].count("stalled") == 1
    assert sum(result.truth_flop is not None for result in hang) == 5


def test_the_page_opens_offline(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Whatever a browser would fetch is inside the page."""
    page = tmp_path / "report.html"

    status = status_of(["report", str(NODE_B), "--output", str(page), "--splits", "1"])

    assert status == 0, capsys.readouterr().err
    addresses = Addresses()
    addresses.feed(page.read_text())
    assert addresses.found
    assert all(address.startswith("#") for address in addresses.found)


def test_a_report_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Nothing overwrites without --force."""
    page = tmp_path / "report.html"
    page.write_text("mine")

    status = status_of(["report", str(NODE_B), "--output", str(page), "--splits", "1"])

    assert status == 2
    assert str(page) in capsys.readouterr().err
    assert page.read_text() == "mine"
