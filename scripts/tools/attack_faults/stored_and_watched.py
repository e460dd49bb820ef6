"""Faults around a peer: in what its store and its watcher have, and in what its runner asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.attack import process
from channelsim.channel.chain import interface
from channelsim.channel.network.link import Link
from channelsim.channel.peer.interface import (
    Proposed,
)
from channelsim.channel.peer.peer_state import endpoint_of
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.session import peer_runner
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.store import durable_peer, snapshots, store_copy, watched_peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.overview import decode_overview
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.pusher import Pusher
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    changing,
    compared,
    own_probe,
    value,
)

# ruff: noqa: SLF001


# --- the store -----------------------------------------------------------------------------------

SIGNED_STATES = 2


def _one_question(right: Any, durable: Any) -> Any:
    asked = right(durable)
    return asked[:1] if durable.peer.state.dispute is not None else asked


def _with_old_reveals(reach: Reach, right: Any, state: Any, watched: Any, reveals: Any) -> Any:
    """A snapshot with all early reveals that snapshots of this side and channel ever had."""
    known = reach.memory.setdefault((endpoint_of(state).side, *watched[:1]), [])
    known += [reveal for reveal in reveals if reveal not in known]
    if len(known) > len(reveals):
        reach.mark()
    return right(state, watched, reveals if reach.probes else known)


def _older_unsigned(reach: Reach, right: Any, rows: Any) -> Any:
    found = right(rows)
    links = list(found)
    if not any(link.signed is not None for link in links[SIGNED_STATES:]):
        return found
    reach.mark()
    if reach.probes:
        return found
    history: StateHistory | None = None
    for age, link in reversed([*enumerate(links)]):
        history = StateHistory(link.state, link.signed if age < SIGNED_STATES else None, history)
    return history


def _overview(change: Callable[[Any, Any], Any]) -> Planting:
    def wrong(right: Any, play: Any) -> bytes:
        return msgspec.msgpack.encode(change(decode_overview(right(play)), play))

    return compared(durable_peer, "encode_overview", wrong)


def _overview_first(
    reach: Reach, right: Any, store: Any, events: Sequence[bytes], overview: bytes = b""
) -> None:
    if overview and events:
        reach.mark()
    if reach.probes:
        right(store, events, overview)
        return
    right(store, (), overview)
    right(store, events)


STORE = (
    Fault(
        "restart-asks-about-no-proposal",
        "store",
        "a restart does not ask its player about open proposals again",
        compared(
            DurablePeer,
            "_questions",
            lambda right, durable: [
                asked for asked in right(durable) if not isinstance(asked.news, Proposed)
            ],
        ),
    ),
    Fault(
        "asks-one-question-on-chain",
        "store",
        "a restart in a dispute asks its player about one game only",
        compared(DurablePeer, "_questions", _one_question),
    ),
    Fault(
        "keeps-old-reveals",
        "store",
        "snapshots have the early reveals of games that have ended",
        own_probe(durable_peer, "encode_snapshot", _with_old_reveals),
    ),
    Fault(
        "restart-knows-newest-signatures",
        "store",
        "a restart from a snapshot has signatures of the newest two states only",
        own_probe(snapshots, "decode_history", _older_unsigned),
    ),
    Fault(
        "overview-says-that-all-is-completed",
        "store",
        "the overview without keys says that the newest state can be published",
        _overview(lambda shown, play: replace(shown, completed=shown.newest)),
    ),
    Fault(
        "overview-has-older-balances",
        "store",
        "the overview without keys has the balances of the state that can be published",
        _overview(lambda shown, play: replace(shown, balances=play.newest.state.balances)),
    ),
    Fault(
        "overview-ahead-of-its-events",
        "store",
        "the overview is written in a transaction of its own, before the events",
        own_probe(SqliteStore, "append", _overview_first),
    ),
    Fault(
        "copies-no-log",
        "store",
        "a look into the store of a process that runs lacks what is in its log",
        value(store_copy, "FILES", store_copy.FILES[:1]),
    ),
)

# --- the watcher and its data --------------------------------------------------------------------


def _follows_events_only(reach: Reach, right: Any, watched: Any, peak: int) -> Any:
    if watched.durable.peer.state.play is not None:
        reach.mark()
    return right(watched, peak) if reach.probes else watched.durable.start(peak)


def _final_at_once(right: Any, watcher: Any, chain: Any) -> Any:
    sight = right(watcher, chain)
    return dataclasses.replace(sight, final=True) if sight.step is Step.UNKNOWN else sight


def _dropped_for_good(reach: Reach, right: Any, pusher: Any, *given: Any) -> Any:
    had = pusher._book.dropped or given[2].dropped
    offered = right(pusher, *given)
    if had and not pusher._book.dropped:
        reach.mark()
        if not reach.probes:
            pusher._book = replace(pusher._book, dropped=had)
    return offered


def _never_dropped(reach: Reach, right: Any, pusher: Any, *given: Any) -> Any:
    offered = right(pusher, *given)
    if pusher._book.dropped:
        reach.mark()
        if not reach.probes:
            pusher._book = replace(pusher._book, dropped=())
    return offered


def _newer_only(right: Any, sight: Sight, newest: int) -> bool:
    return bool(right(sight, newest + 1))


def _first_key(reach: Reach, right: Any, pusher: Any, chain: Any, *, due: bool) -> Any:
    found = right(pusher, chain, due=due)
    if found[0] is not pusher._keys[0]:
        reach.mark()
    return found if reach.probes else (pusher._keys[0], ())


WATCHER = (
    Fault(
        "watch-data-swap-the-rewards",
        "watcher",
        "the watcher's data have the reward addresses in the other order",
        changing(
            watched_peer,
            "watched_channel",
            lambda channel: replace(channel, rewards=channel.rewards[::-1]),
        ),
    ),
    Fault(
        "watch-data-of-a-shallow-depth",
        "watcher",
        "the watcher's data say that one block makes a spend final",
        changing(
            watched_peer, "watched_channel", lambda channel: replace(channel, confirmations=1)
        ),
    ),
    Fault(
        "watch-data-wait-for-a-new-state",
        "watcher",
        "what the watcher's data lack is not added by a restart, but with the next new state",
        own_probe(WatchedPeer, "start", _follows_events_only),
    ),
    Fault(
        "watcher-ends-at-what-it-does-not-know",
        "watcher",
        "a watcher takes a spend that it does not know for final at once",
        compared(Watcher, "look", _final_at_once),
    ),
    Fault(
        "watcher-says-dropped-for-good",
        "watcher",
        "a watcher says that its spend was dropped, though the node has taken it again",
        own_probe(Pusher, "_carry_out", _dropped_for_good),
    ),
    Fault(
        "watcher-is-silent-about-drops",
        "watcher",
        "a watcher does not say that its spend was dropped",
        own_probe(Pusher, "_carry_out", _never_dropped),
    ),
    Fault(
        "watcher-has-one-key",
        "watcher",
        "a watcher with several keys looks for coins of the first one only",
        own_probe(Pusher, "_fee_coins", _first_key),
    ),
    Fault(
        "watcher-calls-the-newest-bad",
        "watcher",
        "a watcher calls it bad for its owner that the newest state was paid out",
        compared(Sight, "ended_well", _newer_only),
    ),
)

# --- the runner and the link ---------------------------------------------------------------------


class _ChildrenOf:
    """The children of one coin alone."""

    def __init__(self, chain: Any, coin_id: bytes) -> None:
        self._chain, self._coin_id = chain, coin_id

    def children(self, coin_id: bytes) -> Any:
        return self._chain.children(coin_id) if coin_id == self._coin_id else []


def _first_hidden(reach: Reach, right: Any, chain: Any, peak: int, coins: Any) -> Any:
    coins = list(coins)
    hidden = [seen for seen in coins if seen.spent is not None and seen.solution is None]
    if len(hidden) > 1:
        reach.mark()
        if not reach.probes:
            chain = _ChildrenOf(chain, hidden[0].coin.id)
    return right(chain, peak, coins)


def _anywhere(reach: Reach, right: Any, runner: Any, question: Any) -> Any:
    position = right(runner, question)
    asked = reach.memory.setdefault(id(question), (question, position))
    if asked[1] != position:
        reach.mark()
    return position if reach.probes else None


def _side_by_side(reach: Reach, right: Any, link: Any, connection: Any) -> Any:
    if link._current is not None:
        reach.mark()
        if not reach.probes:
            link._current = None
    return right(link, connection)


AROUND = (
    Fault(
        "waits-for-the-link-again",
        "runner",
        "an initiator that starts again does not look at the chain before it is connected",
        compared(
            process, "begins_with_link", lambda right, peer: peer.config.side is Side.INITIATOR
        ),
    ),
    Fault(
        "children-of-one-coin",
        "runner",
        "of coins whose spends the node hides, the children of the first one are asked for",
        own_probe(interface, "with_children", _first_hidden),
    ),
    Fault(
        "reports-a-pin-twice",
        "runner",
        "a bundle that is in the way of a push is reported twice",
        compared(peer_runner, "pending_with", lambda right, *given: 2 * right(*given)),
    ),
    Fault(
        "reports-one-of-several-pins",
        "runner",
        "of several bundles in the way of a push, one is reported",
        compared(peer_runner, "pending_with", lambda right, *given: right(*given)[:1]),
    ),
    Fault(
        "answers-in-any-position",
        "runner",
        "an answer counts though a reorganisation has replaced the move that it answers",
        own_probe(PeerRunner, "_position", _anywhere),
    ),
    Fault(
        "older-connection-stays-open",
        "link",
        "a connection does not close the older one whose place it takes",
        own_probe(Link, "_use", _side_by_side),
    ),
)

STORED_AND_WATCHED = (*STORE, *WATCHER, *AROUND)
"""The table of these."""
