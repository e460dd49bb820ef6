"""Faults in times: each deadline, and each depth, one block early and one block late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.deadlines import Awaited
from channelsim.channel.peer.decks import pool
from channelsim.channel.peer.fees import paying
from channelsim.channel.peer.onchain import decisions, scan, scan_games
from channelsim.channel.peer.onchain.dispute import ChainView
from channelsim.channel.peer.opening import failed_opening, handshake, introduction
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.phases import blocks, fees
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol import proposals
from channelsim.channel.protocol.state import Side
from channelsim.channel.session import side_player
from channelsim.channel.watch.watcher import Watcher
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    all_of,
    compared,
    function,
    handler,
    value,
)


class Deadline(NamedTuple):
    """A deadline; `shifted` plants it that many blocks later (or earlier, below 0)."""

    name: str
    part: str
    what: str
    shifted: Callable[[int], Planting]


def deadlines() -> Iterator[Fault]:
    """Each deadline, early and late by one block."""
    for deadline in DEADLINES:
        for word, by in (("early", -1), ("late", 1)):
            yield Fault(
                f"{deadline.name}-{word}",
                deadline.part,
                f"{deadline.what} one block {word}",
                deadline.shifted(by),
            )
    yield Fault(
        "gives-up-early",
        "engine",
        "the other side has three blocks for everything",
        value(Awaited, "limit", lambda awaited, times: 3),
    )
    yield Fault(
        "waits-without-end",
        "engine",
        "a deadline of the other side never passes",
        value(Awaited, "limit", lambda awaited, times: 1 << 30),
    )
    yield Fault(
        "waits-for-no-owed-potato",
        "engine",
        "the potato has no deadline that a side gave away while it owes a move, until it has asked"
        " for it",
        compared(blocks, "in_play", _when_asked),
    )
    yield Fault(
        "waits-for-no-wanted-potato",
        "engine",
        "the potato has no deadline that a side wants and cannot ask for on a new connection",
        compared(blocks, "in_play", lambda right, play, side, *, wanted: right(play, side)),
    )


def _when_asked(right: Any, play: PlayState, side: Side, *, wanted: bool) -> Any:
    return right(play, side, wanted=wanted and not play.ask_later)


def _answers(rule: str) -> Callable[[int], Planting]:
    def limit(by: int) -> Callable[..., int]:
        def shifted(right: Any, awaited: Awaited, times: Any) -> int:
            blocks: int = right(awaited, times)
            return blocks + by * (awaited.rule == rule)

        return shifted

    return lambda by: function(Awaited, "limit", limit(by))


def blocks_off(by: int) -> Callable[..., Any]:
    """Take the block for one so many blocks before it."""

    def taken(right: Any, *given: Any) -> Any:
        at = next(at for at, value in enumerate(given) if isinstance(value, PeerState))
        state = given[at]
        block = replace(state.block, peak=state.block.peak - by)
        after, effects = right(*given[:at], replace(state, block=block), *given[at + 1 :])
        return replace(after, block=state.block), effects

    return taken


def _funding_depth(by: int) -> Planting:
    return all_of(
        handler((Phase.FUNDING,), Block, blocks_off(by)),
        function(blocks, "on_funding_block", blocks_off(by)),
    )


def _of_funding(by: int) -> Planting:
    return function(blocks, "_fund_again", blocks_off(by))


def _unroll(by: int) -> Planting:
    return function(
        scan,
        "_unspent_unroll",
        lambda right, view, state, seen: right(view, state, replace(seen, born=seen.born + by)),
    )


def _game(by: int) -> Planting:
    return function(
        scan_games, "decide", lambda right, view, tracked, born: right(view, tracked, born + by)
    )


def _seen_by_watcher(by: int) -> Planting:
    return function(
        Watcher,
        "_unrolled",
        lambda right, watcher, peak, *given: right(watcher, peak - by, *given),
    )


DEADLINES = (
    Deadline("answers-due", "engine", "gives up an answer", _answers("CH-TIME-1")),
    Deadline("moves-due", "engine", "gives up a move", _answers("CH-TIME-2")),
    Deadline("takes-funding-for-deep", "engine", "begins to play", _funding_depth),
    Deadline("funding-expires", "engine", "takes its opening for failed", _of_funding),
    Deadline(
        "failed-opening-ends",
        "engine",
        "stops watching a failed opening",
        lambda by: function(
            failed_opening, "watched_until", lambda right, *given: right(*given) + by
        ),
    ),
    Deadline(
        "shutdown-final",
        "engine",
        "takes a shutdown for final",
        lambda by: function(
            blocks,
            "_on_spent",
            lambda right, config, state, height, solution: right(
                config, state, height + by, solution
            ),
        ),
    ),
    Deadline("unroll-times-out", "chain", "spends a published state by its timeout", _unroll),
    Deadline("game-times-out", "chain", "moves and claims as if a game timed out", _game),
    Deadline(
        "final-on-chain",
        "chain",
        "takes a spend on chain for final",
        lambda by: function(
            ChainView, "deep", lambda right, view, height: right(view, height + by)
        ),
    ),
    Deadline(
        "last-chance-to-reveal",
        "chain",
        "begins its last chance to move on chain",
        lambda by: value(decisions, "LAST_CHANCE", decisions.LAST_CHANCE - by),
    ),
    Deadline("watcher-acts", "watcher", "the watcher acts", _seen_by_watcher),
    Deadline(
        "decks-expire",
        "decks",
        "gives up a deck",
        lambda by: function(
            pool,
            "expire",
            lambda right, decks, height, patience: right(decks, height, patience + by),
        ),
    ),
    Deadline(
        "fees-rise",
        "fees",
        "raises the fee of a spend",
        lambda by: function(
            paying,
            "wanted_fee",
            lambda right, offer, start, most, peak, depth: right(
                offer, start, most, peak - by, depth
            ),
        ),
    ),
    Deadline(
        "past-offers-forgotten",
        "fees",
        "forgets what a fee coin was offered for",
        lambda by: function(
            fees, "_finally_spent", lambda right, block, depth: right(block, depth + by)
        ),
    ),
    Deadline(
        "least-unroll-timeout",
        "engine",
        "agrees to an unroll timeout that is too short, or refuses the least one,",
        lambda by: function(
            introduction, "least_unroll_timeout", lambda right, *given: right(*given) + by
        ),
    ),
    Deadline(
        "least-game-timeout",
        "engine",
        "agrees to a game timeout that is too short, or refuses the least one,",
        lambda by: function(proposals, "least_timeout", lambda right, *given: right(*given) + by),
    ),
    Deadline(
        "least-funding-time",
        "engine",
        "agrees to a deadline of the funding that is too near, or refuses the nearest one,",
        lambda by: function(
            handshake, "least_funding_blocks", lambda right, *given: right(*given) + by
        ),
    ),
    Deadline(
        "idle-player-closes",
        "commands",
        "an idle player closes",
        lambda by: value(side_player, "PATIENCE", side_player.PATIENCE + by),
    ),
)
"""All deadlines."""
