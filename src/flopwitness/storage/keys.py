"""Ed25519 keys in files: the private one for its owner alone, the public one beside it.

PEM, as ``openssl pkey`` reads it: PKCS #8 without a pass phrase, and SubjectPublicKeyInfo. What protects a
private key is the file's mode. No message of this module repeats what such a file holds.
"""

import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import read_bytes, reason, refuse_taken, sync_folder, write_atomically

PUBLIC_SUFFIX = ".pub"
OWNER_ONLY = 0o600
MAX_KEY_BYTES = 4096


class FileSigner:
    """Signs with a private key; shows nothing of it.

    Attributes
    ----------
    public_key : str
        64 hex digits.
    """

    __slots__ = ("_key", "public_key")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"FileSigner(public_key={self.public_key!r})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a private key is not pickled")

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._key.sign(message)


def verify_signature(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether a signature is one of a message; what is no key or no signature is none."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def new_key(path: Path) -> FileSigner:
    """Make a key pair in two new files: ``path``, mode 0600, and ``path`` with ``.pub`` after it.

    Raises
    ------
    BadInputError
        When a name is taken or the folder cannot be written to.
    """
    path, public = Path(path), public_path(path)
    refuse_taken(public)
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, OWNER_ONLY)
        with os.fdopen(handle, "wb") as out:
            os.fchmod(out.fileno(), OWNER_ONLY)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        sync_folder(path.parent)
    except OSError as error:
        expected = "a free name in a folder that can be written to"
        raise BadInputError(str(path), "", expected=expected, got=reason(error)) from None
    signer = FileSigner(key)
    write_public_key(public, signer.public_key)
    return signer


def read_signer(path: Path) -> FileSigner:
    """Read a private key.

    Raises
    ------
    BadInputError
        When it is no Ed25519 key, is not a plain file of ours, or others may read or change it.
    """
    data = _read_private(Path(path))
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "a private Ed25519 key, PEM, without a pass phrase") from None
    return FileSigner(key)


def read_public_key(path: Path) -> str:
    """Read a public key, 64 hex digits; ``BadInputError`` where the file holds none.

    A private key is refused: who checks a ledger should not have it.
    """
    try:
        key = load_pem_public_key(read_bytes(Path(path)))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "a public Ed25519 key, PEM") from None
    return key.public_bytes_raw().hex()


def write_public_key(path: Path, public_key: str) -> None:
    """Write a public key to a new file; ``BadInputError`` where its name is taken."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    data = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    write_atomically(path, lambda out: out.write(data))


def public_path(path: Path) -> Path:
    """Return where the public key of a private one lies."""
    return Path(path).with_name(Path(path).name + PUBLIC_SUFFIX)


def _read_private(path: Path) -> bytes:
    """Read a file that nobody else can; the file that was checked is the one that is read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise BadInputError(str(path), "", expected="a key file", got="something else")
            _require_private(path, found)
            return file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise BadInputError(
            str(path), "", expected="a key file that can be read", got=reason(error)
        ) from None


def _require_private(path: Path, found: os.stat_result) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        got = f"mode {mode:04o}; take it back with 'chmod 600', and rotate the key if others may have it"
        raise BadInputError(str(path), "", expected="a key that its owner alone can read", got=got)
    if found.st_uid not in {0, os.geteuid()}:
        raise BadInputError(str(path), "", expected="a key of our own", got=f"one of user {found.st_uid}")


def _no_key(path: Path, expected: str) -> BadInputError:
    """Return the refusal of a file; not a word of its content, which may be a secret after all."""
    return BadInputError(str(path), "", expected=expected, got="something else")
