"""A Merkle tree, whose root commits to many leaves and tells nothing about any of them.

The leaves lie one after the other in bytes, `LEAF` each. A leaf is hashed after the byte 1, and two
hashes are joined after the byte 2, so that nobody can pass off the one as the other.
"""

from __future__ import annotations

from hashlib import sha256

LEAF = 17
"""The bytes of a leaf: a cell, and a salt of 16 bytes, without which one could try both cells."""

HASH = 32
"""The bytes of a hash."""


def leaf(cell: bytes) -> bytes:
    """The hash of a cell with its salt."""
    return sha256(b"\x01" + cell).digest()


def node(left: bytes, right: bytes) -> bytes:
    """The hash of two hashes."""
    return sha256(b"\x02" + left + right).digest()


def root(leaves: bytes) -> bytes:
    """The root of a tree of 1, 2, 4, 8 … leaves."""
    if len(leaves) == LEAF:
        return leaf(leaves)
    half = len(leaves) // 2
    return node(root(leaves[:half]), root(leaves[half:]))


def branch(leaves: bytes, index: int) -> bytes:
    """The other hash of each level, from the leaf at this index up to the root.

    >>> leaves = bytes(range(4 * LEAF))
    >>> third = leaves[2 * LEAF : 3 * LEAF]
    >>> climb(leaf(third), 2, branch(leaves, 2)) == root(leaves)
    True
    """
    if len(leaves) == LEAF:
        return b""
    half = len(leaves) // 2
    left, right = leaves[:half], leaves[half:]
    if index * LEAF < half:
        return branch(left, index) + root(right)
    return branch(right, index - half // LEAF) + root(left)


def climb(digest: bytes, index: int, branch: bytes) -> bytes:
    """The root that a branch leads to from the hash of the leaf at this index."""
    for at in range(0, len(branch), HASH):
        other = branch[at : at + HASH]
        digest = node(other, digest) if index & 1 else node(digest, other)
        index >>= 1
    return digest
