"""The Merkle tree of RFC 9162: proofs hold for what is there, and for nothing else."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.verify.ledger.merkle import (
    Frontier,
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_by_inclusion,
    root_of,
    roots_by_consistency,
)

DATA = [bytes.fromhex(text) for text in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
"""Leaves of the test vectors of Certificate Transparency (RFC 6962 reference implementation)."""

ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def leaves(size: int) -> list[bytes]:
    """Return so many different leaf hashes."""
    return [leaf_hash(b"%d" % number) for number in range(size)]


def slow_root(hashes: list[bytes]) -> bytes:
    """Return the root by the definition of RFC 9162, 2.1.1."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256(b"").digest()
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return node_hash(slow_root(hashes[:split]), slow_root(hashes[split:]))


@pytest.mark.parametrize("size", ROOTS)
def test_roots_are_those_of_certificate_transparency(size: int):
    """Known answers: another implementation finds the same root."""
    assert root_of([leaf_hash(data) for data in DATA[:size]]).hex() == ROOTS[size]


@given(size=st.integers(0, 70))
def test_a_frontier_gives_the_root_of_the_definition(size: int):
    """However many leaves, also none."""
    frontier = Frontier()
    for leaf in leaves(size):
        frontier.append(leaf)

    assert frontier.root() == slow_root(leaves(size))
    assert frontier.size == size


def test_a_copy_of_a_frontier_goes_its_own_way():
    """A group that cannot be written leaves no trace."""
    frontier = Frontier()
    frontier.append(leaf_hash(b"a"))
    before = frontier.root()

    frontier.copy().append(leaf_hash(b"b"))

    assert frontier.root() == before


@given(size=st.integers(1, 70), data=st.data())
def test_a_leaf_is_proved_to_be_in_the_tree(size: int, data: st.DataObject):
    """Its path leads to the root; from another place, leaf or size, or changed, it does not."""
    index = data.draw(st.integers(0, size - 1))
    hashes = leaves(size)
    path = inclusion_path(hashes, index)
    root = root_of(hashes)

    assert root_by_inclusion(hashes[index], index, size=size, path=path) == root
    assert root_by_inclusion(leaf_hash(b"other"), index, size=size, path=path) != root
    assert root_by_inclusion(hashes[index], index, size=size, path=[*path, root]) != root
    for other in set(range(size)) - {index}:
        assert root_by_inclusion(hashes[index], other, size=size, path=path) != root
    for at in range(len(path)):
        changed = [*path[:at], leaf_hash(path[at]), *path[at + 1 :]]
        assert root_by_inclusion(hashes[index], index, size=size, path=changed) != root
    if path:
        assert root_by_inclusion(hashes[index], index, size=size, path=path[:-1]) != root


@given(size=st.integers(1, 70), data=st.data())
def test_a_tree_is_proved_to_have_grown(size: int, data: st.DataObject):
    """The path leads to both roots; it does not for another old root, nor when changed."""
    old_size = data.draw(st.integers(1, size))
    hashes = leaves(size)
    path = consistency_path(hashes, old_size)
    roots = (root_of(hashes[:old_size]), root_of(hashes))

    assert roots_by_consistency(roots[0], old_size, size=size, path=path) == roots
    for at in range(len(path)):
        changed = [*path[:at], leaf_hash(path[at]), *path[at + 1 :]]
        assert roots_by_consistency(roots[0], old_size, size=size, path=changed) != roots
    if old_size < size:
        forged = roots_by_consistency(leaf_hash(b"other"), old_size, size=size, path=path)
        assert forged is None or forged != (leaf_hash(b"other"), roots[1])


@given(size=st.integers(2, 40), data=st.data())
def test_a_tree_that_was_rewritten_cannot_be_proved_to_have_grown(size: int, data: st.DataObject):
    """Whatever path the true tree gives, an old root over other leaves does not fit."""
    old_size = data.draw(st.integers(1, size - 1))
    at = data.draw(st.integers(0, old_size - 1))
    hashes = leaves(size)
    old = [*hashes[:at], leaf_hash(b"rewritten"), *hashes[at + 1 : old_size]]

    found = roots_by_consistency(root_of(old), old_size, size=size, path=consistency_path(hashes, old_size))

    assert found != (root_of(old), root_of(hashes))


@pytest.mark.parametrize("index", [-1, 3])
def test_there_is_no_proof_of_a_leaf_that_is_not_there(index: int):
    """Counting back from the end is no place in a tree."""
    with pytest.raises(IndexError):
        inclusion_path(leaves(3), index)
    assert root_by_inclusion(leaf_hash(b""), index, size=3, path=[]) is None


@pytest.mark.parametrize("old_size", [0, 4])
def test_there_is_no_growth_from_nothing_or_from_more(old_size: int):
    """An empty tree says nothing, a larger one was cut."""
    with pytest.raises(IndexError):
        consistency_path(leaves(3), old_size)
    assert roots_by_consistency(leaf_hash(b""), old_size, size=3, path=[leaf_hash(b"")]) is None


def test_leaves_and_nodes_cannot_pass_for_each_other():
    """Two hashes side by side as a leaf are not the node over them (second preimage)."""
    one, other = leaves(2)

    assert leaf_hash(one + other) != node_hash(one, other)
