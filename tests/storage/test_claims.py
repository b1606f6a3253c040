"""Files of scopes: a period with a zone, devices, perhaps a claim; anything else is refused by its place."""

from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Claim
from flopwitness.storage.claims import read_scope

HEAD = 'format = "flopwitness-scope"\nversion = 1\n'
BODY = 'name = "project x"\ndevices = ["GPU-b", "GPU-a"]\n'
PERIOD = "start = 1970-01-01T01:00:00.5+01:00\nstop = 1970-01-01T00:00:02Z\n"
CLAIM = '[claim]\ndeclarant = "Example"\nflop = 3.1e22\nconvention = "executed"\nmargin = 0.3\n'


def written(tmp_path: Path, text: str) -> Path:
    """Write a file of a scope."""
    path = tmp_path / "scope.toml"
    path.write_text(text)
    return path


def test_a_scope_is_read_with_its_claim_and_what_was_declared(tmp_path: Path) -> None:
    """Instants become UTC, devices are sorted, a whole number is a number."""
    text = HEAD + BODY + 'chip = "H200-SXM"\n' + PERIOD + CLAIM + "[declared]\nevaluation_ratio = 0\n"

    found = read_scope(written(tmp_path, text))

    assert (found.scope.devices, found.scope.name) == (("GPU-a", "GPU-b"), "project x")
    assert (found.scope.start_ns, found.scope.stop_ns) == (500_000_000, 2_000_000_000)
    assert found.claim == Claim("Example", 3.1e22, "executed", 0.3)
    assert (found.chip, dict(found.declared)) == ("H200-SXM", {"evaluation_ratio": 0.0})


def test_a_claim_is_optional_and_so_is_its_margin(tmp_path: Path) -> None:
    """A scope may be asked about without a claim."""
    assert read_scope(written(tmp_path, HEAD + BODY + PERIOD)).claim is None
    without = CLAIM.replace("margin = 0.3\n", "")
    assert read_scope(written(tmp_path, HEAD + BODY + PERIOD + without)).claim.margin_ratio == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml [", "expected TOML"),
        (BODY + PERIOD, "field 'format'"),
        (HEAD.replace("1", "2") + BODY + PERIOD, "field 'version'"),
        (HEAD.replace("1", "true") + BODY + PERIOD, "field 'version'"),
        (HEAD + PERIOD, "field 'devices'"),
        (HEAD + BODY.replace('"GPU-b"', "3") + PERIOD, "field 'devices'"),
        (HEAD + BODY.replace('"GPU-b", "GPU-a"', "") + PERIOD, "names no device"),
        (HEAD + BODY.replace("GPU-b", "GPU-a") + PERIOD, "sorted and different"),
        (HEAD + BODY.replace("project x", " ") + PERIOD, "field 'name'"),
        (HEAD + BODY, "field 'start'"),
        (HEAD + BODY + PERIOD.replace("Z", ""), "with a zone"),
        (HEAD + BODY + "start = 1970-01-01\nstop = 1970-01-02\n", "with a zone"),
        (HEAD + BODY + PERIOD.replace("02Z", "00Z"), "stops at"),
        (HEAD + BODY + PERIOD + "clami = 1\n", "field 'clami'"),
        (HEAD + BODY + PERIOD + "claim = 3\n", r"table \[claim\]"),
        (HEAD + BODY + PERIOD + CLAIM + "flops = 1\n", "field 'flops'"),
        (HEAD + BODY + PERIOD + CLAIM.replace("3.1e22", '"much"'), "field 'flop'"),
        (HEAD + BODY + PERIOD + CLAIM.replace("3.1e22", "-1"), "positive"),
        (HEAD + BODY + PERIOD + CLAIM.replace("0.3", "1.3"), "margin"),
        (HEAD + BODY + PERIOD + "[declared]\nevaluation_ratio = true\n", "field 'evaluation_ratio'"),
    ],
)
def test_what_is_no_scope_is_refused_by_its_place(tmp_path: Path, text: str, words: str) -> None:
    """One line, with the field, what was expected and what came."""
    with pytest.raises(BadInputError, match=words):
        read_scope(written(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Nobody is to believe that a scope was asked about."""
    with pytest.raises(BadInputError):
        read_scope(tmp_path / "none.toml")


def test_the_scope_of_the_guide_can_be_read(tmp_path: Path):
    """Who copies it from the page has a scope, a claim with its margin, and a declaration."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "auditing.md").read_text(encoding="utf-8")
    (tmp_path / "scope.toml").write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")

    found = read_scope(tmp_path / "scope.toml")

    assert found.claim is not None
    assert found.claim.margin_ratio == 0.3
    assert dict(found.declared) == {"evaluation_ratio": 0.07}
