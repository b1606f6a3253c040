"""The bytes of an entry are frozen: what was written can be checked for good."""

import hashlib

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.entries import DECIMAL, NO_HASH, Entry, EntryKind, entry_hash, instant

GOLDEN = (
    b'{"at_ns":"1800000000000000007","body":{"a":[1,0.5,null],"\xc3\xa9":"x\\n"},"kind":"session",'
    b'"previous":"' + b"0" * 64 + b'","salt":"00112233445566778899aabbccddeeff","sequence":12}'
)


def golden() -> Entry:
    """Return the entry whose bytes are frozen."""
    body = {"é": "x\n", "a": [1.0, 0.5, None]}
    salt = "00112233445566778899aabbccddeeff"
    return Entry(12, 1_800_000_000_000_000_007, EntryKind.SESSION, body, NO_HASH, salt)


def test_the_bytes_are_frozen():
    """Keys sorted, no blanks, instants as texts; another writer of the format gives the same."""
    assert golden().line() == GOLDEN


def test_the_hash_is_that_of_a_leaf():
    """SHA-256 of a zero byte and the line, without its newline."""
    assert entry_hash(GOLDEN) == hashlib.sha256(b"\0" + GOLDEN).hexdigest()


def test_an_entry_comes_back_from_its_bytes():
    """Nothing is lost."""
    assert Entry.from_line(GOLDEN) == golden()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"at_ns":"18', b'"at_ns": "18'),
        (b"0.5", b"0.50"),
        (b'"sequence":12', b'"sequence":12.0'),
        (b'"sequence":12', b'"sequence":-1'),
        (b'"1800000000000000007"', b"1800000000000000007"),
        (b'"1800000000000000007"', b'"0x12"'),
        (b'"kind":"session"', b'"kind":"cession"'),
        (b'"previous":"0', b'"previous":"A'),
        (b'"salt":"00', b'"salt":"0'),
        (b'"salt"', b'"salz"'),
        (b',"sequence"', b',"sequel":1,"sequence"'),
        (b"\xc3\xa9", b"\\u00e9"),
    ],
)
def test_another_spelling_is_refused(old: bytes, new: bytes):
    """One entry has one line, or two files could be told from one ledger."""
    assert old in GOLDEN
    with pytest.raises(InvalidNounError):
        Entry.from_line(GOLDEN.replace(old, new))


@pytest.mark.parametrize("text", ["0", "-5", "1800000000000000001"])
def test_instants_are_decimal_texts(text: str):
    """Exact to the nanosecond."""
    assert instant(text) == int(text)


@pytest.mark.parametrize("text", ["", "01", "-0", "1.5", " 1", "1_0", 5, None])
def test_what_is_no_decimal_text_is_no_instant(text: object):
    """One instant has one spelling."""
    with pytest.raises(ValueError, match="instant"):
        instant(text)


def test_decimals_fit_into_64_bits():
    """Nineteen digits and no more."""
    assert DECIMAL.fullmatch(str(2**63 - 1))
    assert not DECIMAL.fullmatch("1" * 20)
