"""A private key is its owner's alone, on disk and in words."""

import copy
import os
import pickle
import stat
import subprocess
import traceback
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from contracts.signer import SignerContract
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import (
    FileSigner,
    new_key,
    public_path,
    read_public_key,
    read_signer,
    verify_signature,
    write_public_key,
)

RFC_8032_SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
RFC_8032_PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
RFC_8032_SIGNATURE = (
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
    "d25bf5f0595bbe24655141438e7a100b"
)
"""RFC 8032, section 7.1, test 1: the empty message."""


class TestFileSigner(SignerContract):
    """Keys of files sign as every signer does."""

    verify = verify_signature

    def make(self) -> tuple[FileSigner, bytes]:
        """Return a signer with a new key."""
        signer = FileSigner(Ed25519PrivateKey.generate())
        return signer, bytes.fromhex(signer.public_key)


def secret_of(path: Path) -> str:
    """Return the line of a key file that nobody else should see."""
    return path.read_text().splitlines()[1]


def test_signatures_are_those_of_the_standard():
    """Any other Ed25519 can check them."""
    signer = FileSigner(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(RFC_8032_SEED)))

    assert signer.public_key == RFC_8032_PUBLIC
    assert signer.sign(b"").hex() == RFC_8032_SIGNATURE


def test_a_new_key_is_its_owners_alone(tmp_path: Path):
    """Mode 0600 under every umask; the public half beside it."""
    before = os.umask(0)
    try:
        signer = new_key(tmp_path / "key")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert read_signer(tmp_path / "key").public_key == signer.public_key
    assert read_public_key(tmp_path / "key.pub") == signer.public_key


@pytest.mark.parametrize("name", ["key", "key.pub"])
def test_no_key_is_overwritten(tmp_path: Path, name: str):
    """A lost key ends a ledger."""
    (tmp_path / name).write_text("something")

    with pytest.raises(BadInputError, match="free name"):
        new_key(tmp_path / "key")
    assert (tmp_path / name).read_text() == "something"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644])
def test_a_key_that_others_may_touch_is_refused(tmp_path: Path, mode: int):
    """Somebody may have it already: the message says what to do."""
    new_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)

    with pytest.raises(BadInputError, match=f"mode {mode:04o}.*rotate"):
        read_signer(tmp_path / "key")


def test_a_key_behind_a_link_is_refused(tmp_path: Path):
    """A link could lead anywhere tomorrow."""
    new_key(tmp_path / "key")
    (tmp_path / "link").symlink_to(tmp_path / "key")

    with pytest.raises(BadInputError):
        read_signer(tmp_path / "link")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, make: object):
    """A pipe would be waited for."""
    make(tmp_path / "key")  # type: ignore[operator]

    with pytest.raises(BadInputError, match="key file"):
        read_signer(tmp_path / "key")


@pytest.mark.parametrize("content", [b"", b"secret words", b"\xff" * 5000])
def test_what_is_no_key_is_refused_without_a_word_of_it(tmp_path: Path, content: bytes):
    """It may be a secret of another kind."""
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)

    with pytest.raises(BadInputError, match="private Ed25519 key") as caught:
        read_signer(path)
    assert "secret" not in "".join(traceback.format_exception(caught.value)).replace("a secret", "")


def test_a_damaged_key_is_not_repeated(tmp_path: Path):
    """Neither in the message nor in what led to it."""
    path = tmp_path / "key"
    new_key(path)
    secret = secret_of(path)
    path.write_text(path.read_text().replace("-----END", "-----ENT"))

    with pytest.raises(BadInputError) as caught:
        read_signer(path)
    assert caught.value.__cause__ is None
    assert secret not in str(caught.value)


def test_a_signer_shows_and_gives_away_nothing(tmp_path: Path):
    """In logs, tracebacks, copies and pickles."""
    signer = new_key(tmp_path / "key")

    assert secret_of(tmp_path / "key") not in repr(signer)
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            leave(signer)


def test_a_key_of_another_kind_is_refused(tmp_path: Path):
    """As other tools write them."""
    path = tmp_path / "key"
    made = ["openssl", "genpkey", "-algorithm", "X25519", "-out", str(path)]
    if subprocess.run(made, capture_output=True, check=False).returncode:
        pytest.skip("needs openssl")
    path.chmod(0o600)

    with pytest.raises(BadInputError, match="private Ed25519 key"):
        read_signer(path)


def test_a_private_key_is_not_taken_for_a_public_one(tmp_path: Path):
    """Who checks a ledger should not have it; nor does a public key sign."""
    new_key(tmp_path / "key")
    public_path(tmp_path / "key").chmod(0o600)

    with pytest.raises(BadInputError, match="public Ed25519 key"):
        read_public_key(tmp_path / "key")
    with pytest.raises(BadInputError, match="private Ed25519 key"):
        read_signer(public_path(tmp_path / "key"))


def test_a_public_key_can_be_written_alone(tmp_path: Path):
    """As it stands in a ledger."""
    write_public_key(tmp_path / "found.pub", RFC_8032_PUBLIC)

    assert read_public_key(tmp_path / "found.pub") == RFC_8032_PUBLIC


def test_a_folder_that_is_not_there_is_said(tmp_path: Path):
    """One line."""
    with pytest.raises(BadInputError, match="no such file"):
        new_key(tmp_path / "nowhere" / "key")
    with pytest.raises(BadInputError, match="no such file"):
        read_signer(tmp_path / "key")
