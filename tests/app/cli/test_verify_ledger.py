"""From a watched recording to a verdict in the ledger and a proof on the page, all by the command line."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from flopwitness.app.cli.main import status_of
from flopwitness.app.ledgering import sound_entries
from flopwitness.verify.ledger.entries import EntryKind

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"

WITHOUT = """
import sys
sys.modules["cryptography"] = sys.modules["rfc8785"] = None
from flopwitness.app.cli.main import run
run(["verify", *sys.argv[1:]])
"""


@dataclass(frozen=True)
class Node:
    """A folder with a ledger, its key, and what an auditor took away."""

    folder: Path

    @property
    def ledger(self) -> str:
        """The ledger."""
        return str(self.folder / "ledger")

    @property
    def key(self) -> str:
        """Its private key."""
        return str(self.folder / "key")

    @property
    def checkpoint(self) -> str:
        """Its checkpoint, from when the daemon had stopped."""
        return str(self.folder / "checkpoint.json")

    @property
    def writing(self) -> list[str]:
        """Options that keep verdicts in it."""
        return ["--ledger", self.ledger, "--ledger-key", self.key]

    @property
    def pinned(self) -> list[str]:
        """Options that name what came another way."""
        return ["--checkpoint", self.checkpoint, "--public-key", f"{self.key}.pub"]

    def verdicts(self) -> list[str]:
        """Return the answers that the ledger holds; it must be sound."""
        entries = sound_entries(Path(self.ledger))
        return [entry.body["answer"] for entry in entries if entry.kind is EntryKind.VERDICT]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a key, watch a short recording, and take a checkpoint away."""
    node = Node(tmp_path_factory.mktemp("watched"))
    assert status_of(["ledger", "key", "new", node.key]) == 0
    watch = ["watch", "--replay", str(HANG), "--json"]
    assert status_of([*watch, "--ledger", node.ledger, "--ledger-key", node.key]) == 0
    assert status_of(["ledger", "checkpoint", node.ledger, "--output", node.checkpoint]) == 0
    return node.folder


@pytest.fixture
def node(watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Node:
    """Return a copy of the node that a test may spoil."""
    shutil.copytree(watched, tmp_path / "node")
    capsys.readouterr()
    return Node(tmp_path / "node")


def test_a_verdict_is_in_the_ledger_and_its_evidence_proved_on_the_page(
    node: Node, capsys: pytest.CaptureFixture[str]
):
    """The whole way of an auditor; the ledger that is read is the one that is written."""
    page = node.folder / "scope.html"
    asked = ["--claim", "1e18", "--rule", "eu-systemic-risk", "--html", str(page)]

    status = status_of(["verify", node.ledger, *asked, *node.pinned, *node.writing])

    said = capsys.readouterr()
    assert status == 1
    assert "written: entries " in said.err
    assert node.verdicts() == ["inconsistent", "below"]
    assert status_of(["ledger", "verify", node.ledger, *node.pinned]) == 0
    text = page.read_text()
    assert f"verified: it holds, vouched for by {node.key}.pub and {node.checkpoint}" in text
    assert "nothing that this page could be given" in text
    assert len(text) < 500_000


def test_without_anything_from_elsewhere_the_page_says_what_is_missing(
    node: Node, capsys: pytest.CaptureFixture[str]
):
    """It holds by its own word; the words say so too."""
    page = node.folder / "scope.html"

    status_of(["verify", node.ledger, "--claim", "1e18", "--html", str(page)])

    said, text = capsys.readouterr().out, page.read_text()
    assert "verified: it holds" not in text
    assert "it holds by the ledger&#39;s own word" in text
    for words in ("a public key that came another way", "a checkpoint that somebody else keeps"):
        assert words in said
        assert words in text


def test_programs_read_the_same(node: Node, capsys: pytest.CaptureFixture[str]):
    """Proofs, who vouches for them, and where the verdict was written."""
    status_of(["verify", node.ledger, "--claim", "1e18", "--json", *node.pinned, *node.writing])
    pinned = json.loads(capsys.readouterr().out)
    status_of(["verify", node.ledger, "--claim", "1e18", "--json"])
    alone = json.loads(capsys.readouterr().out)

    proofs, bare = (one["ledgers"][0]["proofs"] for one in (pinned, alone))
    assert len(proofs) == pinned["ledgers"][0]["n_sessions"] > 0
    assert {(one["is_verified"], one["holds"]) for one in proofs} == {(True, True)}
    assert all(one["vouchers"] == [f"{node.key}.pub", node.checkpoint] for one in proofs)
    assert {one["hash"] for one in proofs} == set(pinned["verdicts"][0]["evidence_digests"])
    assert {(one["is_verified"], one["holds"]) for one in bare} == {(False, True)}
    assert (pinned["ledgers"][0]["missing"], len(alone["ledgers"][0]["missing"])) == ([], 2)
    (sequence,) = pinned["written"]["entries"]
    entry = sound_entries(Path(node.ledger))[sequence]
    assert entry.body["subject"]["sources"][0]["read"]["root"] == pinned["ledgers"][0]["checkpoint"]["root"]
    assert alone["written"] is None


def test_a_recording_is_judged_into_a_new_ledger_of_its_own(node: Node, capsys: pytest.CaptureFixture[str]):
    """The calibration is named by the digest that the daemon would write."""
    verdicts = str(node.folder / "verdicts")

    status_of(["verify", str(HANG), "--claim", "1e18", "--ledger", verdicts, "--ledger-key", node.key])

    capsys.readouterr()
    entries = {one.kind: one for one in sound_entries(Path(verdicts))}
    session = next(one for one in sound_entries(Path(node.ledger)) if one.kind is EntryKind.SESSION)
    (found,) = entries[EntryKind.VERDICT].body["subject"]["calibration_sha256"]
    assert found == session.body["calibration_sha256"]


def test_a_changed_byte_anywhere_is_refused(node: Node, capsys: pytest.CaptureFixture[str]):
    """One line, status 2, no verdict told or kept."""
    path = Path(node.ledger)
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 25):
        spoilt = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        path.write_bytes(spoilt)

        status = status_of(["verify", node.ledger, "--claim", "1e18", *node.pinned, *node.writing])

        said = capsys.readouterr()
        assert (status, said.out, len(said.err.splitlines())) == (2, "", 1), place
        assert path.read_bytes() == spoilt


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--ledger", "x"], "--ledger alone"),
        (["--ledger-key", "x"], "--ledger-key alone"),
        (["--ledger", "x", "--ledger-key", "none"], "none"),
        (["--checkpoint", "none"], "none"),
        (["--public-key", str(HANG / "runs.json")], "a public Ed25519 key"),
    ],
)
def test_misuse_is_said_before_anything_is_judged(
    node: Node, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
):
    """In one line, with status 2."""
    status = status_of(["verify", node.ledger, "--claim", "1e18", *more])

    said = capsys.readouterr()
    assert (status, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert words in said.err


def test_a_ledger_takes_no_answer_to_nothing(node: Node, capsys: pytest.CaptureFixture[str]):
    """Without a claim and without a rule there is no verdict to keep."""
    assert status_of(["verify", node.ledger, *node.writing]) == 2
    assert "a claim or a --rule with --ledger" in capsys.readouterr().err
    assert node.verdicts() == []


def test_what_is_pinned_must_be_of_a_source(node: Node, capsys: pytest.CaptureFixture[str]):
    """A recording has neither key nor checkpoint: whoever gives one expects a ledger."""
    assert status_of(["verify", str(HANG), *node.pinned]) == 2
    assert "of a ledger among the sources" in capsys.readouterr().err


def test_a_ledger_and_the_recording_that_it_is_of_do_not_count_twice(
    node: Node, capsys: pytest.CaptureFixture[str]
):
    """One line that names both sources, the device and the time."""
    status = status_of(["verify", node.ledger, str(HANG), "--claim", "1e18", *node.writing])

    said = capsys.readouterr()
    refusal = said.err.splitlines()[-1]
    assert (status, said.out) == (2, "")
    assert f"({node.ledger} and {HANG})" in refusal
    assert "h200x2-hang:0" in refusal
    assert node.verdicts() == []


def test_without_its_packages_it_says_what_to_install(node: Node):
    """A recording is judged all the same."""
    without = [sys.executable, "-c", WITHOUT, str(HANG), "--claim", "1e18"]
    plain, *asked = (
        subprocess.run([*without, *more], capture_output=True, text=True, check=False)
        for more in ([], node.writing, node.pinned)
    )

    assert plain.returncode == 1
    assert all(one.returncode == 2 and "flopwitness[ledger]" in one.stderr for one in asked)
