"""The hash chains of the players, which determine the cards, and the toss for the opening.

Each player has a 16-byte preimage p0 and the chain p(k+1) = sha256(pk). Alice commits to her value
5, Bob to his value 4; the streets reveal the values below one by one, the preimages last.
"""

from __future__ import annotations

from hashlib import sha256

TOP = 5
"""The highest value of a chain that is used: Alice's commitment."""


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
    """The value `steps` above this one in its chain.

    >>> above(chain(bytes(16))[1], 3) == chain(bytes(16))[4]
    True
    """
    for _ in range(steps):
        value = sha256(value).digest()
    return value


def wins_toss(own: bytes, others: bytes) -> bool:
    """True if the player with the first of these two values 4 opens the betting.

    It compares two signed numbers, and inverts the result by the low bit of their xor. Swapping the
    players flips the comparison and not that bit, so exactly one of them opens.

    >>> wins_toss(bytes(31) + b"\\x02", bytes(31) + b"\\x01")
    True
    >>> wins_toss(bytes(31) + b"\\x01", bytes(31) + b"\\x02")
    False
    """
    mine = int.from_bytes(own, "big", signed=True)
    yours = int.from_bytes(others, "big", signed=True)
    return (mine > yours) == (mine ^ yours) & 1
