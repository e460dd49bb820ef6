"""The hash chains that both players' cards come from, and the toss for the opening.

Each player has a 16-byte preimage p0 and the chain p(k+1) = sha256(pk). Alice commits to
a5, Bob to b4; the streets reveal the values below, one by one, the preimages last.
"""

from __future__ import annotations

from hashlib import sha256

TOP = 5
"""The highest value of a chain that is ever used: Alice's commitment."""


def chain(preimage: bytes) -> tuple[bytes, ...]:
    """The values p0 to p5 of a player's chain.

    >>> values = chain(bytes(16))
    >>> len(values), values[3] == sha256(values[2]).digest()
    (6, True)
    """
    values = [preimage]
    for _ in range(TOP):
        values.append(sha256(values[-1]).digest())
    return tuple(values)


def above(value: bytes, steps: int) -> bytes:
    """The value so many steps up the chain from this one.

    >>> above(chain(bytes(16))[1], 3) == chain(bytes(16))[4]
    True
    """
    for _ in range(steps):
        value = sha256(value).digest()
    return value


def wins_toss(own: bytes, others: bytes) -> bool:
    """Whether the player with the first of these two values 4 opens the betting.

    The order of the two signed numbers, crossed with the low bit of their xor: swapping the
    players flips the first and leaves the second, so exactly one of them opens.

    >>> wins_toss(bytes(31) + b"\\x02", bytes(31) + b"\\x01")
    True
    >>> wins_toss(bytes(31) + b"\\x01", bytes(31) + b"\\x02")
    False
    """
    mine = int.from_bytes(own, "big", signed=True)
    yours = int.from_bytes(others, "big", signed=True)
    return (mine > yours) == (mine ^ yours) & 1
