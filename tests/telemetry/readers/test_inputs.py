"""Files in blocks of whole lines."""

import gzip
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.inputs import Input

LINES = st.lists(st.text(alphabet='ab,"é \r', max_size=12), min_size=1, max_size=30)


@given(lines=LINES, block_bytes=st.integers(1, 80), is_packed=st.booleans())
def test_blocks_are_the_file(lines: list[str], block_bytes: int, is_packed: bool):
    """Blocks joined are the file, each of whole lines, numbered as in the file."""
    data = ("\n".join(lines) + "\n").encode()
    raw = gzip.compress(data) if is_packed else data
    given_file = Input("memory", Input.of_bytes(raw).opener, block_bytes)

    blocks = list(given_file.blocks())

    assert b"".join(block.data for block in blocks) == data
    assert all(block.data.endswith(b"\n") for block in blocks)
    counts = [block.data.count(b"\n") for block in blocks]
    assert [block.first_line for block in blocks] == [1 + sum(counts[:k]) for k in range(len(blocks))]
    assert given_file.sha256 == hashlib.sha256(raw).hexdigest()


def test_a_file_without_a_last_line_end_is_cut():
    """Nobody can say whether its last cell is whole."""
    (block,) = Input.of_bytes(b"a,b\n1,2").blocks()

    assert (block.data, block.is_cut) == (b"a,b\n1,2\n", True)


def test_a_gzip_stream_without_its_end_gives_what_came_before():
    """A killed recorder leaves no trailer."""
    whole = gzip.compress(os.urandom(20_000).hex().encode())
    given_file = Input.of_bytes(whole[:-200])

    read = given_file.raw()

    assert gzip.decompress(whole).startswith(read)
    assert len(read) > 30_000
    assert given_file.is_gzip_cut


def test_members_of_gzip_follow_each_other():
    """Logs that were rotated and joined are one file."""
    data = gzip.compress(b"a\n") + b"\0" * 16 + gzip.compress(b"b\n")

    assert Input.of_bytes(data).raw() == b"a\nb\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_text_of_other_encodings_is_read_by_its_mark(encoding: str):
    """PowerShell's redirection writes UTF-16."""
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    data = (mark + "timestamp, power.draw [W]\n").encode(encoding)

    assert Input.of_bytes(data).head() == b"timestamp, power.draw [W]\n"
    assert Input.of_bytes(data).whole().text == "timestamp, power.draw [W]\n"


def test_what_is_no_file_is_refused(tmp_path: Path):
    """Folders, devices and pipes; one line says which."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    for path, what in ((tmp_path, "a folder"), (Path("/dev/zero"), "a device"), (pipe, "pipe")):
        with pytest.raises(BadInputError, match=what):
            Input.of(path)
