"""Whatever is done to a ledger without its key is found, and the first bad place is named."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flopwitness.verify.ledger.audit import Auditor
from flopwitness.verify.ledger.chain import Chain
from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash
from small_ledgers import HashSigner, SmallLedger, audited, three_groups, verify

LINES = three_groups().lines
WHOLE = b"".join(LINES)
ENDS = [2, 5, 7, 9, 11]
"""Lines after which a group ends."""


def split(data: bytes) -> list[bytes]:
    """Return the lines of a file as reading it would."""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + [rest] * bool(rest)


def test_a_sound_ledger_has_no_fault():
    """Every byte is signed for; keys and kinds are told."""
    ledger = three_groups()
    audit = audited(LINES, sizes=[3])

    assert audit.fault is None
    assert (audit.n_entries, audit.n_bytes) == (11, len(WHOLE))
    assert audit.last == ledger.checkpoints[-1]
    assert audit.ledger == entry_hash(LINES[0][:-1])
    assert [span.since for span in audit.keys] == [1, 9]
    assert audit.kinds["session"] == 3
    assert audit.roots == {3: audited(LINES[:3], sizes=[3]).roots[3]}


@pytest.mark.parametrize("thorough", [False, True])
@given(at=st.integers(0, len(WHOLE) - 1), change=st.integers(1, 255))
def test_every_changed_byte_is_found(thorough: bool, at: int, change: int):
    """Anywhere: in entries, links, salts, signatures and newlines."""
    data = bytearray(WHOLE)
    data[at] ^= change

    assert audited(split(bytes(data)), thorough=thorough).fault is not None


def test_every_single_byte_is_covered():
    """All of them, one by one."""
    missed = []
    for at in range(len(WHOLE)):
        data = bytearray(WHOLE)
        data[at] ^= 1
        if audited(split(bytes(data))).fault is None:
            missed.append(at)

    assert missed == []


@given(at=st.integers(0, 10), other=st.integers(0, 10))
def test_swapped_lines_are_found(at: int, other: int):
    """Order is part of what is signed."""
    assume(at != other)
    lines = list(LINES)
    lines[at], lines[other] = lines[other], lines[at]

    assert audited(lines).fault is not None


@given(at=st.integers(0, 10), n_lines=st.integers(1, 11))
def test_lines_that_are_gone_are_found(at: int, n_lines: int):
    """Unless the rest is an older state of the ledger: that is for the head and for checkpoints."""
    lines = LINES[:at] + LINES[at + n_lines :]

    assert (audited(lines).fault is None) == (lines == LINES[: len(lines)] and len(lines) in ENDS)


@given(at=st.integers(0, 11), which=st.integers(0, 10))
def test_a_line_twice_is_found(at: int, which: int):
    """Also at the very end."""
    assert audited([*LINES[:at], LINES[which], *LINES[at:]]).fault is not None


@given(at=st.integers(0, len(WHOLE)), data=st.binary(min_size=1, max_size=50))
def test_inserted_bytes_are_found(at: int, data: bytes):
    """Nobody signed for them."""
    assert audited(split(WHOLE[:at] + data + WHOLE[at:])).fault is not None


@given(size=st.integers(0, len(WHOLE) - 1))
def test_a_cut_is_found_unless_it_is_after_a_group(size: int):
    """What is left then is an older state."""
    ends = {len(b"".join(LINES[:n_lines])) for n_lines in ENDS}

    assert (audited(split(WHOLE[:size])).fault is None) == (size in ends)


def test_an_entry_that_is_linked_as_it_should_be_is_not_signed_for():
    """A hash is no secret: whoever can write the file can link an entry, but not sign for it."""
    forged = Entry(11, 1, EntryKind.STOP, {}, entry_hash(LINES[-1][:-1]), "0" * 32).line() + b"\n"

    fault = audited([*LINES, forged]).fault

    assert fault is not None
    assert fault.code == "unfinished"


def test_another_key_cannot_sign_for_more():
    """A whole group, linked and signed, but with a key that the ledger did not name."""
    ledger = three_groups()
    thief = HashSigner("thief")
    ledger.signer = thief
    ledger.chain.public_key = thief.public_key
    ledger.group({"number": 5})

    fault = audited(ledger.lines).fault

    assert fault is not None
    assert (fault.code, fault.sequence) == ("key", 12)


def test_a_key_that_was_handed_over_signs_no_more():
    """The old key cannot go on after it named the new one."""
    ledger = SmallLedger()
    first = ledger.signer
    ledger.rotate("second")
    ledger.signer, ledger.chain.public_key = first, first.public_key
    ledger.group({"number": 1})

    fault = audited(ledger.lines).fault

    assert fault is not None
    assert fault.code == "key"


def test_a_key_is_handed_over_only_to_who_has_it():
    """An entry that names a key without its signature is refused; so is an entry behind it."""
    ledger = SmallLedger()
    other = HashSigner("other").public_key
    ledger.group({"public_key": other, "possession": "00" * 64}, kind=EntryKind.KEY)

    fault = audited(ledger.lines).fault

    assert fault is not None
    assert (fault.code, fault.sequence) == ("key", 2)


def test_only_a_checkpoint_follows_a_change_of_the_key():
    """Or the new key could sign for its own appointment."""
    ledger = SmallLedger()
    successor = HashSigner("second")
    ledger.lines.append(
        ledger.chain.rotation(successor.public_key, successor, at_ns=1, salt="0" * 32) + b"\n"
    )
    ledger.group({"number": 1})

    fault = audited(ledger.lines).fault

    assert fault is not None
    assert (fault.code, fault.sequence) == ("key", 3)


def signed_lines(*drafts: tuple[int, EntryKind, dict[str, object]]) -> list[bytes]:
    """Return lines that a keeper linked and signed, whatever places and kinds they have."""
    chain, signer = Chain(), HashSigner()
    chain.public_key = signer.public_key
    lines = []
    for sequence, kind, body in drafts:
        lines.append(Entry(sequence, 1, kind, body, chain.head, "0" * 32).line())
        chain.take(lines[-1])
    lines.append(chain.checkpoint(signer, at_ns=1, salt="0" * 32)[0])
    return [line + b"\n" for line in lines]


GENESIS = {"format": "flopwitness-ledger", "version": 1, "public_key": HashSigner().public_key}


@pytest.mark.parametrize(
    ("drafts", "code", "sequence"),
    [
        ([(0, EntryKind.GENESIS, GENESIS), (2, EntryKind.STOP, {})], "order", 1),
        ([(0, EntryKind.GENESIS, GENESIS), (1, EntryKind.GENESIS, GENESIS)], "damaged", 1),
        ([(0, EntryKind.STOP, {}), (1, EntryKind.GENESIS, GENESIS)], "damaged", 0),
        ([(1, EntryKind.GENESIS, GENESIS)], "order", 0),
    ],
)
def test_a_keeper_can_leave_out_no_place_and_begin_but_once(
    drafts: list[tuple[int, EntryKind, dict[str, object]]], code: str, sequence: int
):
    """Linked and signed as it should be, and no ledger all the same."""
    assert audited(signed_lines((0, EntryKind.GENESIS, GENESIS))).fault is None

    fault = audited(signed_lines(*drafts)).fault

    assert fault is not None
    assert (fault.code, fault.sequence) == (code, sequence)


@pytest.mark.parametrize("field", ["root", "ledger"])
def test_a_checkpoint_signs_for_the_entries_before_it(field: str):
    """One that names another root or ledger is refused, though its signature holds."""
    ledger = SmallLedger()
    wrong = replace(ledger.checkpoints[0], **{field: "ab" * 32}).signed(ledger.signer)

    fault = audited([ledger.lines[0], wrong.entry().line() + b"\n"]).fault

    assert fault is not None
    assert (fault.code, fault.sequence) == ("damaged", 1)


@pytest.mark.parametrize("body", [{}, {"format": "flopwitness-ledger", "version": 2, "public_key": "00"}])
def test_another_format_or_version_is_refused(body: dict[str, object]):
    """What a later version means is not guessed."""
    ledger = SmallLedger()
    line = Entry(0, 1, EntryKind.GENESIS, body, "0" * 64, "0" * 32).line()

    fault = audited([line + b"\n", *ledger.lines[1:]]).fault

    assert fault is not None
    assert fault.sequence == 0


def test_the_first_bad_place_is_named():
    """Entry and byte at which a reader should look."""
    lines = list(LINES)
    lines[3] = lines[3].replace(b'"number":2', b'"number":7')

    audit = audited(lines)

    assert audit.fault is not None
    assert (audit.fault.code, audit.fault.sequence) == ("link", 4)
    assert audit.fault.offset_bytes == len(b"".join(LINES[:4]))
    assert audit.last == three_groups().checkpoints[0]


def test_only_a_thorough_check_finds_what_the_keeper_alone_can_do():
    """A line that is signed for but not canonical, and a checkpoint in the middle that does not hold."""
    ledger = SmallLedger()
    honest = ledger.signer
    ledger.signer = HashSigner("other")
    ledger.group({"number": 1})
    ledger.signer = honest
    ledger.group({"number": 2})

    assert audited(ledger.lines).fault is None
    fault = audited(ledger.lines, thorough=True).fault
    assert fault is not None
    assert (fault.code, fault.sequence) == ("signature", 3)


def test_nothing_is_no_ledger():
    """An empty file holds nothing that could be trusted."""
    fault = audited([]).fault

    assert fault is not None
    assert fault.code == "empty"


def test_a_copy_of_an_auditor_goes_its_own_way():
    """So that an unfinished end can be tried, and dropped."""
    auditor = Auditor(verify)
    for line in LINES:
        auditor.feed(line)
    auditor.copy().feed(b"half a li")

    assert auditor.finish().fault is None
