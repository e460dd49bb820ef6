"""Faults that a reviewer thought of, around a peer: its store, runner, link, watcher, commands."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from channelsim.channel.chain import interface
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.network.link import Link
from channelsim.channel.peer_text.peer_lines import PeerLines
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.session import peer_runner
from channelsim.channel.session.agreed_hands import BegunHands
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.session_events import Pushed
from channelsim.channel.session.threads import in_thread
from channelsim.channel.store import durable_peer, sealed_store, snapshots, watched_peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sealed_store import Seal
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.system.line_log import LineLog
from channelsim.channel.watch.watch_data import NEWEST
from channelsim.channel.watch.watcher import Watcher
from scripts.tools.attack_faults.planting import (
    Fault,
    Reach,
    changing,
    compared,
    function,
    own_probe,
)

# ruff: noqa: SLF001


# --- the store -----------------------------------------------------------------------------------


def _erasure_forgotten(reach: Reach, right: Any, durable: Any, *given: Any) -> None:
    right(durable, *given)
    if durable._erased and type(durable._store._store).__name__ != "TrialStore":
        reach.mark()
        if not reach.probes:
            durable._erased = False


def _new_reveals(reach: Reach, right: Any, durable: Any) -> None:
    right(durable)
    if durable._reveals:
        reach.mark()
        if not reach.probes:
            durable._reveals = []


def _newest_kept(reach: Reach, right: Any, watched: Any, peak: int) -> Any:
    play, path = watched.durable.peer.state.play, watched._folder / NEWEST
    if play is not None:
        if not path.exists() or not path.stat().st_size:
            reach.mark()
        if not reach.probes:
            watched._newest = play.newest.state.number
    return right(watched, peak)


def _torn_stays(
    reach: Reach, right: Any, log: Any, lines: Iterable[bytes], sync: bool = True
) -> None:
    size = os.fstat(log._file).st_size
    if size != log._size:
        reach.mark()
        if not reach.probes:
            log._size = size
    right(log, lines, sync)


def _any_snapshot(reach: Reach, right: Any, snapshot: bytes, first: int = 0) -> Any:
    if snapshot:
        reach.mark()
    return right(snapshot if reach.probes else b"", first)


def _newest_proposals(reach: Reach, right: Any, history: Any, proposals: Any) -> Any:
    older = history.older
    if older is not None and proposals.get(older.state.number):
        reach.mark()
        if not reach.probes:
            return snapshots._proposing(history, proposals)
    return right(history, proposals)


MOST_STATES = 12


def _newest_states(reach: Reach, right: Any, rows: Any) -> Any:
    found = right(rows)
    known = list(found)
    if len(known) <= MOST_STATES:
        return found
    reach.mark()
    if reach.probes:
        return found
    history = None
    for link in reversed(known[:MOST_STATES]):
        history = StateHistory(link.state, link.signed, history)
    return history


def _finished_alone(right: Any, before: Any, after: Any) -> Any:
    return [one for one in right(before, after) if one.added or one.removed]


def _in_silence(reach: Reach, right: Any, durable: Any) -> Any:
    due = right(durable)
    if due:
        reach.mark()
    return due if reach.probes else []


def _without_marks(right: Any, before: Any, after: Any, due: Any) -> Any:
    return right(replace(before, marks=after.marks), after, due)


def _without_dispute(right: Any, before: Any, after: Any, due: Any) -> Any:
    return right(replace(before, dispute=after.dispute), after, due)


def _without_solutions(right: Any, event: Any, before: Any) -> Any:
    if isinstance(event, Block):
        known = {seen.coin: seen for seen in before.coins}

        def same(seen: CoinSeen) -> CoinSeen:
            was = known.get(seen.coin)
            is_same = was is not None and (was.born, was.spent) == (seen.born, seen.spent)
            return was if was is not None and is_same else seen

        event = replace(event, coins=tuple(map(same, event.coins)))
    return right(event, before)


STORE = (
    Fault(
        "erasure-forgotten-by-restart",
        "store",
        "a process killed before the snapshot that erases does not take it when it comes back",
        own_probe(DurablePeer, "_restore", _erasure_forgotten),
    ),
    Fault(
        "reveals-since-the-last-snapshot",
        "store",
        "a snapshot has the early reveals since the one before it only",
        own_probe(DurablePeer, "_save_snapshot", _new_reveals),
    ),
    Fault(
        "reveals-before-their-move",
        "store",
        "an early reveal is stored for the state before the one in which it came",
        function(
            durable_peer, "Reveal", lambda right, game, number, data: right(game, number - 1, data)
        ),
    ),
    Fault(
        "store-behind-its-watch-data",
        "store",
        "a store that lacks the newest state of its watcher's data is used",
        compared(watched_peer, "_has", lambda right, *given: True),
    ),
    Fault(
        "newest-stays-torn",
        "watcher",
        "a restart does not write a torn newest.json again",
        own_probe(WatchedPeer, "start", _newest_kept),
    ),
    Fault(
        "torn-line-stays",
        "watcher",
        "an incomplete last line is not removed before the next one is added",
        own_probe(LineLog, "append", _torn_stays),
    ),
    Fault(
        "events-of-any-snapshot",
        "store",
        "events are sealed for their number alone: those after an older snapshot are taken",
        own_probe(sealed_store, "_of_events", _any_snapshot),
    ),
    Fault(
        "seals-with-a-known-key",
        "store",
        "the key of the seal does not depend on the channel's secret",
        function(Seal, "of", lambda right, name, secret: right(name, b"channelsim")),
    ),
    Fault(
        "snapshot-without-older-proposals",
        "store",
        "a restart has the proposals of the newest state, and not those of the one before",
        own_probe(snapshots, "_with_proposals", _newest_proposals),
    ),
    Fault(
        "restart-knows-newest-states",
        "store",
        "a restart knows the newest 12 states only",
        own_probe(snapshots, "decode_history", _newest_states),
    ),
    Fault(
        "burnt-numbers-forgotten",
        "decks",
        "the journal lacks the numbers of decks that were never finished",
        compared(durable_peer, "decks_changed", _finished_alone),
    ),
    Fault(
        "gives-up-in-silence",
        "decks",
        "what follows from the decks that a restart gives up is not carried out",
        own_probe(DurablePeer, "_give_up_decks", _in_silence),
    ),
    Fault(
        "marks-change-nothing",
        "store",
        "a block from which an answer is due is taken for one that changed nothing",
        compared(durable_peer, "_changed_nothing", _without_marks),
    ),
    Fault(
        "disputes-change-nothing",
        "store",
        "a block that changed only the dispute is taken for one that changed nothing",
        compared(durable_peer, "_changed_nothing", _without_dispute),
    ),
    Fault(
        "codec-ignores-solutions",
        "store",
        "the journal has a spent coin without the solution that its node gave later",
        compared(durable_peer, "encode_event", _without_solutions),
    ),
)

# --- the runner ----------------------------------------------------------------------------------


class _Staying(dict[str, str]):
    def __init__(self, reach: Reach) -> None:
        super().__init__()
        self.reach = reach

    def __delitem__(self, key: str) -> None:
        self.reach.mark()
        if self.reach.probes:
            super().__delitem__(key)


def _trouble_stays(reach: Reach, right: Any, runner: Any, *given: Any, **more: Any) -> None:
    right(runner, *given, **more)
    runner._unanswered = _Staying(reach)


def _any_disconnected(reach: Reach, right: Any, runner: Any, link: Any) -> None:
    if runner._link is not link and runner._link is not None:
        reach.mark()
        if not reach.probes:
            runner._link = None
    right(runner, link)


async def _only_higher(reach: Reach, right: Any, runner: Any) -> None:
    known = runner._block
    if known is not None:
        tip = await in_thread(runner._threads, runner._chain.peak)
        if tip < known.peak:
            reach.mark()
            if not reach.probes:
                runner._looked.set()
                return
    await right(runner)


def _told_again(reach: Reach, right: Any, runner: Any, reason: str) -> None:
    if reason and reason == runner._trouble.reason:
        reach.mark()
        if not reach.probes:
            runner._on_trouble(runner._trouble)
    right(runner, reason)


RUNNER = (
    Fault(
        "ignores-lower-tips",
        "runner",
        "a peer hears of a lower tip once the chain is as high as before",
        own_probe(PeerRunner, "_report_tip", _only_higher),
    ),
    Fault(
        "trouble-of-a-past-push",
        "runner",
        "a push that got no answer, and is no longer due, stays the trouble of its user",
        own_probe(PeerRunner, "__init__", _trouble_stays),
    ),
    Fault(
        "older-connection-drops-the-newer",
        "runner",
        "the end of an older connection takes the newer one away",
        own_probe(PeerRunner, "disconnected", _any_disconnected),
    ),
    Fault(
        "trouble-told-with-each-look",
        "runner",
        "a user hears of the same trouble with each look at the chain",
        own_probe(PeerRunner, "_report_trouble", _told_again),
    ),
)

# --- the chain -----------------------------------------------------------------------------------


class _Noting:
    """A chain whose answers are noted."""

    def __init__(self, chain: Any) -> None:
        self._chain = chain
        self.named: list[CoinSeen] = []
        self.born: list[CoinSeen] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chain, name)

    def coin(self, coin_id: bytes) -> Any:
        seen = self._chain.coin(coin_id)
        if seen is not None:
            self.named.append(seen)
        return seen

    def children(self, coin_id: bytes) -> Any:
        found = self._chain.children(coin_id)
        self.born += found
        return found


def _future_children(reach: Reach, right: Any, chain: Any, peak: int, coins: Any) -> Any:
    noting, known = _Noting(chain), {seen.coin for seen in coins}
    found = right(noting, peak if reach.probes else 1 << 40, coins)
    named = {seen.coin for seen in found} - known
    if any((one.spent or 0) > peak and one.coin in named for one in noting.born):
        reach.mark()
    return found


def _children_win(reach: Reach, right: Any, chain: Any, peak: int, coins: Any) -> Any:
    noting = _Noting(chain)
    found = right(noting, peak, coins)
    children = {one.coin: interface._as_of(peak, one) for one in noting.born}
    wrong = tuple(children.get(seen.coin, seen) for seen in found)
    if wrong != found:
        reach.mark()
    return found if reach.probes else wrong


def _future_coins(reach: Reach, right: Any, chain: Any, watched: Any) -> Any:
    noting = _Noting(chain)
    block = right(noting, watched)
    late = [one for one in noting.named if one.born > block.peak]
    if not late:
        return block
    reach.mark()
    more = tuple(interface._as_of(block.peak, one) for one in late)
    return block if reach.probes else replace(block, coins=(*block.coins, *more))


CHAIN = (
    Fault(
        "children-of-the-future",
        "runner",
        "children of a coin are shown as they are after the tip that is reported",
        own_probe(interface, "with_children", _future_children),
    ),
    Fault(
        "children-hide-solutions",
        "runner",
        "a coin that was found as a child of another loses the solution that its node gave",
        own_probe(interface, "with_children", _children_win),
    ),
    Fault(
        "coins-of-the-future",
        "runner",
        "coins are reported that were made after the tip that is reported",
        own_probe(peer_runner, "observe", _future_coins),
    ),
)

# --- the link ------------------------------------------------------------------------------------


def _each_line(reach: Reach, right: Any, link: Any, line: str) -> None:
    if line == link._last_line:
        reach.mark()
        if not reach.probes:
            link._listener(line)
    right(link, line)


LINK = (
    Fault(
        "lines-of-each-attempt",
        "link",
        "a user hears of each attempt to connect",
        own_probe(Link, "tell", _each_line),
    ),
)

# --- the watcher ---------------------------------------------------------------------------------


class _Blind(_Noting):
    def __init__(self, chain: Any, reach: Reach) -> None:
        super().__init__(chain)
        self._reach = reach

    def children(self, coin_id: bytes) -> Any:
        self._reach.mark()
        return self._chain.children(coin_id) if self._reach.probes else []


WATCHER = (
    Fault(
        "watcher-needs-solutions",
        "watcher",
        "a watcher does nothing about a state whose solution its node does not give",
        own_probe(
            Watcher, "look", lambda reach, right, one, chain: right(one, _Blind(chain, reach))
        ),
    ),
    Fault(
        "watcher-knows-no-payout",
        "watcher",
        "a watcher does not know which state was paid out",
        compared(Watcher, "_paid_by", lambda right, *given: None),
    ),
    Fault(
        "watcher-names-an-older-payout",
        "watcher",
        "a watcher says of the state before it that it was paid out",
        changing(Watcher, "_paid_by", lambda number: number - 1 if number else number),
    ),
)

# --- the commands --------------------------------------------------------------------------------


def _first_answer(reach: Reach, right: Any, lines: Any, event: Any) -> None:
    if isinstance(event, Pushed):
        known = {name for name, _ in lines._pushed}
        if event.name in known and (event.name, event.result.text) not in lines._pushed:
            reach.mark()
            if not reach.probes:
                return
    right(lines, event)


def _four_times(right: Any, begun: Any, state: Any, side: Any) -> int:
    number = int(right(begun, state, side))
    return number + 3 if number and not state.groups else number


COMMANDS = (
    Fault(
        "proposes-a-hand-once",
        "commands",
        "a hand whose deck was lost is not proposed again",
        compared(BegunHands, "proposals", _four_times),
    ),
    Fault(
        "prints-the-first-answer",
        "commands",
        "of the answers to a spend a user sees the first one only",
        own_probe(PeerLines, "__call__", _first_answer),
    ),
)

AROUND_PEERS = (*STORE, *RUNNER, *CHAIN, *LINK, *WATCHER, *COMMANDS)
