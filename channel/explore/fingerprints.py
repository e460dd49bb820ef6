"""Digests of states, so that none is visited twice: equal digests mean equal futures.

Three symmetries make more states equal. Heights are relative to the tip. The ages of unspent coins
with a timeout are all the same beyond the longest one. And so are those of other coins and of
facts, once they are too deep for a block that is replaced.

Left out is what cannot change or follows from the rest: keys, older states (known by the newest,
as players decide by their positions), seats, what only raises fees, and coins of replaced blocks,
which a side reads anew when they come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.explore.explored_side import ExploredSide
from channelsim.channel.explore.small_chain import SmallChain
from channelsim.channel.peer.interface import Push
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState

SIZE = 16
"""Bytes of a digest: of ten million states, two are mistaken for one with a chance of 1e-24."""

MOST_KNOWN = 1 << 16
"""Values whose digests are not worked out again."""

LEFT_OUT_OF_STATE = ("endpoint", "block", "fees")
"""Parts of a peer's state that are no part of its digest: what it watches is known by the chain."""

LEFT_OUT_OF_DISPUTE = (
    *("endpoint", "signed_games", "slashable", "players", "deadline", "funding", "began"),
    *("shutdown", "block", "lineage"),
)
"""Parts of a dispute that are no part of its digest: they are fixed when it begins, or follow from
the chain; `began` and `deadline` matter to fees and before the channel coin is deep."""


@dataclass(frozen=True, slots=True)
class Ages:
    """Heights relative to a tip: unspent coins of `most` blocks and more are the same, and what
    happened `deep` blocks ago or earlier. So many last blocks may be `replaced`, which makes coins
    unspent again. Coins at `rewards` have no timeout."""

    peak: int
    most: int
    deep: int
    replaced: int = 0
    rewards: tuple[bytes, ...] = ()

    def of_coin(self, seen: CoinSeen) -> tuple[int, int | None]:
        """The ages of a coin and of its spend (None: it is unspent)."""
        spent = None if seen.spent is None else self.of_fact(seen.spent)
        is_over = spent is not None and spent >= self.replaced
        if is_over or seen.coin.puzzle_hash in self.rewards:
            return self.of_fact(seen.born), spent
        return min(self.peak - seen.born, self.most), spent

    def of_fact(self, height: int) -> int:
        """The age of what happened at this height."""
        return min(self.peak - height, self.deep)


def digest(parts: object) -> bytes:
    """The digest of nested tuples of plain values."""
    return blake2b(msgspec.msgpack.encode(parts), digest_size=SIZE).digest()


def chain_key(chain: SmallChain, ages: Ages) -> object:
    """The part of a digest that is about the chain."""
    return sorted(
        (coin_id, *ages.of_coin(seen), seen.solution) for coin_id, seen in chain.coins.items()
    )


def side_key(side: ExploredSide, ages: Ages, chain: SmallChain | None = None) -> object:
    """The part of a digest that is about a side, with what it has pushed.

    With a chain, it watches and tracks the coins that this has, and no others.
    """
    return (
        tuple(_state(side.state, ages, chain)),
        _ids(side.watched, chain),
        pushes_key(side.pending),
        pushes_key(side.pushed),
    )


def _ids(coins: Iterable[Coin], chain: SmallChain | None) -> list[bytes]:
    ids = sorted(coin.id for coin in coins)
    return ids if chain is None else [coin_id for coin_id in ids if coin_id in chain.coins]


def pushes_key(pushes: tuple[Push, ...]) -> object:
    """The part of a digest that is about pushes; they are the same without their deadlines."""
    return sorted(
        (push.name, *(spend.coin.id + spend.solution for spend in push.bundle.spends))
        for push in pushes
    )


def _state(state: PeerState, ages: Ages, chain: SmallChain | None) -> Iterator[object]:
    for name in PeerState.__struct_fields__:
        value = getattr(state, name)
        if name in LEFT_OUT_OF_STATE:
            continue
        match name:
            case "marks":
                # On chain no answer is awaited any more.
                waits = value.items() if state.dispute is None else ()
                yield sorted((repr(awaited), ages.peak - since) for awaited, since in waits)
            case "play":
                yield None if value is None else _play(value)
            case "dispute":
                yield None if value is None else tuple(_dispute(value, ages, chain))
            case "opening":
                yield value.step.name
            case "early":
                yield [seen for seen, _ in value]
            case "shutdown":
                yield value is not None
            case _:
                yield plain(value, ages)


def _play(play: Any) -> object:
    asked, state = (play.we_asked, play.they_asked, play.ask_later), play.state
    return (
        *(state.number, play.newest.state.number, play.potato, play.closing, asked),
        *(state.balances, [(game.id, _coin(game.coin)) for game in state.games]),
        [group.id for group in state.groups],
        *(repr(play.queue), repr(play.refusal), sorted(play.players)),
    )


def _dispute(dispute: Dispute, ages: Ages, chain: SmallChain | None) -> Iterator[object]:
    for name in Dispute.__struct_fields__:
        value = getattr(dispute, name)
        if name in LEFT_OUT_OF_DISPUTE:
            continue
        match name:
            case "newest":
                yield value.state.number
            case "reported":
                yield [plain(fact, ages) for fact in value]
            case "watched" | "tracked":
                yield _ids(value, chain)
            case "decided":
                yield sorted(
                    (_coin(coin), None if after is None else _coin(after.coin))
                    for coin, after in value.items()
                )
            case "warned":
                yield sorted(value)
            case "undecided":
                yield sorted((game_id, one.coin.id) for game_id, one in value.items())
            case _:
                yield plain(value, ages)


def _coin(coin: object) -> bytes:
    return msgspec.msgpack.encode(coin)


def plain(value: object, ages: Ages) -> object:
    """A value with its heights relative to the tip."""
    rest, heights = _with_heights(value)
    return (rest, *map(ages.of_fact, heights))


@lru_cache(maxsize=MOST_KNOWN)
def _with_heights(value: object) -> tuple[bytes, tuple[int, ...]]:
    """The digest of a value without its heights, and these."""
    heights: list[int] = []

    def parts(value: object) -> object:
        if not isinstance(value, msgspec.Struct):
            return repr(value)
        named = [(name, getattr(value, name)) for name in value.__struct_fields__]
        heights.extend(part for name, part in named if name == "height")
        return (type(value).__name__, *(parts(part) for name, part in named if name != "height"))

    return digest(parts(value)), tuple(heights)
