"""The Merkle tree of RFC 9162, section 2.1: roots, proofs of a leaf, and proofs of growth.

Leaves and inner nodes are hashed with different first bytes, so that neither can pass for the other.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Self

LEAF_PREFIX = b"\x00"
NODE_PREFIX = b"\x01"
HASH_BYTES = 32


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 || data)."""
    return sha256(LEAF_PREFIX + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right)."""
    return sha256(NODE_PREFIX + left + right).digest()


class Frontier:
    """What has to be remembered of a tree to append to it: one hash a full subtree, at most 64.

    Parameters
    ----------
    size : int
        Leaves so far.
    stack : sequence of bytes
        As ``copy`` hands it on; a new tree has none.

    Examples
    --------
    >>> frontier = Frontier()
    >>> frontier.root().hex()[:16]
    'e3b0c44298fc1c14'
    """

    __slots__ = ("_stack", "size")

    def __init__(self, size: int = 0, stack: Sequence[bytes] = ()) -> None:
        self.size = size
        self._stack = list(stack)

    def append(self, leaf: bytes) -> None:
        """Take the hash of the next leaf."""
        stack, size = self._stack, self.size
        while size & 1:
            leaf = sha256(NODE_PREFIX + stack.pop() + leaf).digest()
            size >>= 1
        stack.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Return the root; SHA-256 of nothing where there is no leaf."""
        if not self._stack:
            return sha256(b"").digest()
        root = self._stack[-1]
        for left in reversed(self._stack[:-1]):
            root = node_hash(left, root)
        return root

    def copy(self) -> Self:
        """Return an independent frontier of the same tree."""
        return type(self)(self.size, self._stack)


def root_of(leaves: Sequence[bytes], start: int = 0, stop: int | None = None) -> bytes:
    """Return the root over the leaf hashes from index ``start`` up to, not including, ``stop``."""
    frontier = Frontier()
    for number in range(start, len(leaves) if stop is None else stop):
        frontier.append(leaves[number])
    return frontier.root()


def inclusion_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the hashes that lead from a leaf to the root (RFC 9162, 2.1.3.1).

    Raises
    ------
    IndexError
        When there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(index)
    path: list[bytes] = []
    start, stop = 0, len(leaves)
    while stop - start > 1:
        middle = start + _split(stop - start)
        if index < middle:
            path.append(root_of(leaves, middle, stop))
            stop = middle
        else:
            path.append(root_of(leaves, start, middle))
            start = middle
    return tuple(reversed(path))


def root_by_inclusion(leaf: bytes, index: int, *, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that a path leads to (RFC 9162, 2.1.3.2); None where it has the wrong length."""
    if not 0 <= index < size:
        return None
    node, last, found = index, size - 1, leaf
    for step in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            found = node_hash(step, found)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, step)
        node, last = node >> 1, last >> 1
    return found if last == 0 else None


def consistency_path(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """Return the hashes that show that a tree grew from its first ``old_size`` leaves (RFC 9162, 2.1.4.1).

    Raises
    ------
    IndexError
        When the old tree is empty or larger than this one.
    """
    if not 0 < old_size <= len(leaves):
        raise IndexError(old_size)
    path: list[bytes] = []
    start, stop, is_known = 0, len(leaves), True
    while old_size != stop:
        middle = start + _split(stop - start)
        if old_size <= middle:
            path.append(root_of(leaves, middle, stop))
            stop = middle
        else:
            path.append(root_of(leaves, start, middle))
            start, is_known = middle, False
    if not is_known:
        path.append(root_of(leaves, start, stop))
    return tuple(reversed(path))


def roots_by_consistency(
    old_root: bytes, old_size: int, *, size: int, path: Sequence[bytes]
) -> tuple[bytes, bytes] | None:
    """Return the old and the new root that a path leads to (RFC 9162, 2.1.4.2); None where it cannot.

    Both have to be compared with the roots that were signed.
    """
    if old_size == size:
        return None if path else (old_root, old_root)
    if not 0 < old_size < size or not path:
        return None
    hashes = [old_root, *path] if old_size & (old_size - 1) == 0 else list(path)
    node, last = old_size - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = hashes[0]
    for step in hashes[1:]:
        if last == 0:
            return None
        if node & 1 or node == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, step)
        node, last = node >> 1, last >> 1
    return (old, new) if last == 0 else None


def _split(size: int) -> int:
    """Return the largest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)
