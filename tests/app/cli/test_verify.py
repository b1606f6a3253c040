"""``flopwitness verify``: what others script against."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flopwitness.app.cli.main import status_of
from flopwitness.app.cli.verify import declarations
from flopwitness.app.opening import open_recording
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import write_recording

DATASETS = Path(__file__).resolve().parents[3] / "datasets"
START_NS = 1_796_010_795_549_298_680
"""First sample of h200x2-c1."""

SCOPE = """format = "flopwitness-scope"
version = 1
name = "a project"
devices = ["GPU-3fa02cba-865b-353a-8ece-6f1edc8c1c35", "GPU-ab131fb9-2c92-fe07-5a2a-e15f18431e4d"]
start = {start}
stop = {stop}
[claim]
declarant = "Example Ltd"
flop = {flop}
convention = "executed"
margin = 0.3
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the first minute of a real recording."""
    whole = open_recording(DATASETS / "h200x2-c1")
    path = tmp_path_factory.mktemp("recordings") / "node.parquet"
    write_recording(path, whole.within(START_NS, START_NS + 60 * 10**9))
    return str(path)


def verified(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    """Run the command; return its status and the one object that it prints."""
    capsys.readouterr()
    status = status_of(["verify", *arguments, "--json"])
    (line,) = capsys.readouterr().out.splitlines()
    return status, json.loads(line)


def point(node: str, capsys: pytest.CaptureFixture[str]) -> float:
    """Return what the recording most likely took."""
    _, found = verified([node], capsys)
    return found["accounts"][0]["total"]["point_flop"]


def test_without_a_claim_there_is_an_account(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All devices, all kinds of evidence, no verdict, status 0."""
    status, found = verified([node], capsys)

    assert (status, found["verdicts"]) == (0, [])
    assert len(found["scope"]["devices"]) == 2
    assert {one["name"] for one in found["layers"]} >= {"activity", "energy", "completeness"}
    assert found["accounts"][0]["unobserved_device_seconds"] < 0.01


def test_a_claim_alone_is_weighed(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of what was seen is inconsistent: status 1."""
    claimed = point(node, capsys) / 2

    status, found = verified([node, "--claim", f"{claimed}"], capsys)

    assert status == 1
    assert found["verdicts"][0]["answer"] == "inconsistent"
    assert found["verdicts"][0]["claim"]["convention"] == "executed"
    assert found["verdicts"][0]["reasons"]


def test_the_gravest_verdict_is_the_status(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that is far away does not excuse a claim that is false."""
    claimed = point(node, capsys) / 2

    status, found = verified([node, "--claim", f"{claimed}", "--rule", "eu-systemic-risk"], capsys)

    assert status == 1
    assert [one["answer"] for one in found["verdicts"]] == ["inconsistent", "below"]


def test_a_rule_alone_is_weighed(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Below is status 0, and the rule stands by name."""
    status, found = verified([node, "--rule", "eu-systemic-risk"], capsys)

    assert (status, found["verdicts"][0]["rule"]) == (0, "eu-systemic-risk")


def test_a_scope_file_says_of_what_and_who_claims(
    node: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Period, devices and claim come from it; time before the recording is unobserved."""
    start, stop = (
        datetime.fromtimestamp(START_NS // 10**9 + seconds, UTC).isoformat() for seconds in (-100, 50)
    )
    path = tmp_path / "scope.toml"
    path.write_text(SCOPE.format(start=start, stop=stop, flop=3.1e22))

    status, found = verified([node, "--scope", str(path)], capsys)

    assert status == 1  # two GPUs cannot have done that in two and a half minutes
    assert found["scope"]["name"] == "a project"
    assert found["accounts"][0]["unobserved_device_seconds"] == pytest.approx(200.0, abs=3)
    assert found["verdicts"][0]["claim"]["declarant"] == "Example Ltd"


def test_the_words_name_convention_reasons_and_what_would_settle(
    node: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """People read the same as programs."""
    claimed = point(node, capsys)
    capsys.readouterr()

    status_of(["verify", node, "--claim", f"{claimed}"])

    said = capsys.readouterr()
    assert "counted as 'executed'" in said.out
    assert "seen outside sessions" in said.out
    assert "no --scope" in said.err


@pytest.mark.parametrize(
    "more",
    [
        ["--rule", "none-of-these"],
        ["--claim", "1", "--convention", "none-of-these"],
        ["--claim", "-1"],
        ["--declare", "evaluation_ratio"],
        ["--declare", "nobody_knows=1"],
        ["--scope", "none.toml"],
        ["--confidence", "1.5", "--claim", "1"],
    ],
)
def test_misuse_is_one_line_and_status_2(
    node: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is weighed by halves."""
    status = status_of(["verify", node, *more])

    said = capsys.readouterr()
    assert (status, said.out) == (2, "")


def test_a_source_named_twice_is_misuse(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing counts twice."""
    assert status_of(["verify", node, node]) == 2
    assert "given twice" in capsys.readouterr().err


def test_the_page_is_written_and_not_over_another(
    node: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--html`` refuses a name that is taken."""
    page = tmp_path / "scope.html"

    assert status_of(["verify", node, "--rule", "eu-systemic-risk", "--html", str(page)]) == 0
    assert page.read_text().lstrip().lower().startswith("<!doctype html")
    assert status_of(["verify", node, "--html", str(page)]) == 2
    capsys.readouterr()


def test_declarations_are_names_and_numbers() -> None:
    """The last of a name counts."""
    assert declarations(["a=1", "b=0.5", "a=2"]) == {"a": 2.0, "b": 0.5}
    with pytest.raises(BadInputError, match="NAME=VALUE"):
        declarations(["a"])
