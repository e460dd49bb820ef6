"""The hash chains of the players, which determine the cards, and the toss for the opening.

Each player has a 16-byte preimage p0 and the chain p(k+1) = sha256(pk). Alice commits to her value
5, Bob to his value 4; the streets reveal the values below one by one, the preimages last.

Cards are drawn from two players' chain values: ranks only, with repeats.

    cards(x, y, n): v = sha256(logxor(x, y)), signed; n times (v, r) = divmod(v, 13), 2 + r
    boost(x, y)   : 1 when the same v mod 3 = 0, else 0

A player's hole cards and boost come from its own value 0 with the other's value 4, the flop from
both values 3, the turn from both values 2, the river from both values 1. Alice and Bob are alike.
"""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.values import atom_to_int, logxor

# --- chains -------------------------------------------------------------------------------------


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


# --- cards --------------------------------------------------------------------------------------


def draw_number(x: bytes, y: bytes) -> int:
    """The signed number that cards are drawn from: the hash of x xor y.

    The xor is CLVM's: a 16-byte preimage is sign-extended against a 32-byte image, and what
    is hashed is the result in the fewest bytes (nothing at all when x = y).
    """
    return atom_to_int(sha256(logxor(x, y)).digest())


def cards(number: int, count: int) -> tuple[int, ...]:
    """Draw this many ranks from a number; divisions floor, as in CLVM.

    >>> cards(13 * 4 + 1, 2), cards(-1, 2)
    ((3, 6), (14, 14))
    """
    ranks = []
    for _ in range(count):
        number, rest = divmod(number, 13)
        ranks.append(2 + rest)
    return tuple(ranks)


def hole(own: bytes, others: bytes) -> tuple[tuple[int, ...], int]:
    """The hole cards and the boost of a player, by its own value 0 and the other's value 4.

    The boost is 1 (+) for one number in three, else 0 (−).

    >>> [hole(bytes(16), bytes([n]) * 32) for n in (1, 2, 7)]
    [((6, 14), 1), ((5, 7), 0), ((10, 6), 1)]
    """
    number = draw_number(own, others)
    return cards(number, 2), int(number % 3 == 0)


def board(mine: bytes, yours: bytes, level: int) -> tuple[int, ...]:
    """The community cards that follow from both players' values `level`.

    Level 3 gives the flop, 2 also the turn, 1 and 0 all five cards; 4 and above none.
    """
    known: tuple[int, ...] = ()
    for street, count in ((3, 3), (2, 1), (1, 1)):
        if street < level:
            break
        number = draw_number(above(mine, street - level), above(yours, street - level))
        known += cards(number, count)
    return known
