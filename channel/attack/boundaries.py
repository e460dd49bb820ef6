"""Times at which one block or second more or less decides: where the actions of scripts are drawn.

Nothing is hidden in the middle of a wait; mistakes are where it ends.
"""

from __future__ import annotations

from itertools import chain

from channelsim.channel.network.connection import DEFAULT as LINK
from channelsim.channel.network.link import LONGEST_PAUSE
from channelsim.channel.peer.agreement import Times
from channelsim.channel.session.defaults import DEFAULT_TIMEOUT
from channelsim.games.chance import Chance

CONFIRMATIONS = 3
"""The confirmation depth of attacked sessions, in blocks."""

DEADLINES = {
    "the confirmation depth": CONFIRMATIONS,
    "the response time": Times().response,
    "the response time and the margin": Times().response + Times().margin,
    "the unroll and the game timeout": DEFAULT_TIMEOUT,
    "the last move that can wait for the confirmation depth": DEFAULT_TIMEOUT - CONFIRMATIONS,
}
"""The waits of an attacked session, in blocks, by what ends with them."""

EDGES = tuple(sorted(set(chain.from_iterable((n - 1, n, n + 1) for n in DEADLINES.values()))))
"""Each of these numbers of blocks, one less, and one more."""

LONGEST = EDGES[-1]
"""The most blocks that one action keeps a side away."""

SECONDS = tuple(
    round(seconds) + more
    for seconds in (LINK.keep_alive, LINK.idle, LONGEST_PAUSE)
    for more in (-1, 0, 1)
)
"""The times of a connection in seconds, likewise."""


def blocks(chance: Chance, most: int) -> int:
    """Draw a number of blocks up to a bound, at a boundary more often than not.

    >>> all(blocks(Chance(bytes([n])), 9) <= 9 for n in range(50))
    True
    """
    edges = [edge for edge in EDGES if edge <= most]
    if not edges or chance.chance(30):
        return chance.below(most + 1)
    # The later ones more often: less of a script is left for them.
    return chance.pick(edges[len(edges) // 2 :] if chance.chance(50) else edges)


def seconds(chance: Chance, most: int) -> int:
    """Draw a number of seconds up to a bound, at a boundary now and then."""
    if chance.chance(30):
        return min(most, chance.pick(SECONDS))
    return min(most, chance.below(chance.pick((5, 20, 80))))
