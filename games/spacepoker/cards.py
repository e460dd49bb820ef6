"""Cards drawn from two players' chain values: ranks only, with repeats.

    cards(x, y, n): v = sha256(logxor(x, y)), signed; n times (v, r) = divmod(v, 13), 2 + r
    boost(x, y)   : 1 when the same v mod 3 = 0, else 0

A player's hole cards and boost come from its own value 0 with the other's value 4, the flop from
both values 3, the turn from both values 2, the river from both values 1. Alice and Bob are alike.
"""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.integers import atom_to_int, logxor
from channelsim.games.spacepoker.entropy import above


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


def boost(number: int) -> int:
    """1 (+) for one number in three, else 0 (−).

    >>> [boost(n) for n in (-3, -2, -1, 0)]
    [1, 0, 0, 1]
    """
    return int(number % 3 == 0)


def hole(own: bytes, others: bytes) -> tuple[tuple[int, ...], int]:
    """The hole cards and the boost of a player, by its own value 0 and the other's value 4."""
    number = draw_number(own, others)
    return cards(number, 2), boost(number)


def board(mine: bytes, yours: bytes, level: int) -> tuple[int, ...]:
    """The community cards that follow from both players' values `level`.

    Level 3 gives the flop, 2 also the turn, 1 all five cards; 4 and above none.
    """
    known: tuple[int, ...] = ()
    for street, count in ((3, 3), (2, 1), (1, 1)):
        if street < level:
            break
        number = draw_number(above(mine, street - level), above(yours, street - level))
        known += cards(number, count)
    return known
