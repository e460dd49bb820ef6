"""Faults in what a user hears: fields of news, lines, and how the node, link and watcher are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed
from typing import Any, TypeVar

from msgspec.structs import replace

from channelsim.channel.network.link import Link
from channelsim.channel.peer.chain_news import (
    GamePaid,
    LeftForChain,
    MovedOnChain,
    UnilateralClose,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Cancelled,
    Effect,
    Event,
    GameSettled,
    GameStarted,
    OldCopy,
    Push,
    ShutdownStarted,
    Tell,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain import reading, scan, scan_games
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.peer_text import channel_overview, peer_lines
from channelsim.channel.peer_text.peer_lines import PeerLines
from channelsim.channel.session import agreed_hands
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.session_events import BlockMade
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.watch.watcher import Step, Watcher
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    changing,
    compared,
    function,
    marking,
    reactions,
)

N = TypeVar("N")

# --- fields of news ------------------------------------------------------------------------------


def _reporting(kind: type[N], change: Callable[[Peer, N], Any]) -> Planting:
    """Tell other news of a kind."""

    def wrong(reach: Reach, peer: Peer, event: Event, due: list[Effect]) -> list[Effect]:
        return [
            Tell(change(peer, effect.news))
            if isinstance(effect, Tell) and isinstance(effect.news, kind)
            else effect
            for effect in due
        ]

    return reactions(wrong)


def _swapped(news: Any) -> Any:
    return replace(news, ours=news.theirs, theirs=news.ours)


def _one_later(fact: Any) -> Any:
    return replace(fact, height=fact.height + 1)


def _by_other(peer: Peer, news: Any) -> Any:
    return replace(news, by_us=not news.by_us)


def _newest_number(peer: Peer, news: Any) -> Any:
    play = peer.state.play
    return news if play is None else replace(news, published=play.state.number)


FIELDS = (
    Fault(
        "tells-the-other-asker",
        "engine",
        "news of a shutdown says that the other side asked for it",
        _reporting(ShutdownStarted, _by_other),
    ),
    Fault(
        "tells-swapped-balances",
        "engine",
        "news of a shutdown has the balances of the other order",
        _reporting(ShutdownStarted, lambda peer, news: replace(news, balances=news.balances[::-1])),
    ),
    Fault(
        "tells-swapped-numbers",
        "engine",
        "news of an old copy takes the known state for the signed one",
        _reporting(
            OldCopy,
            lambda peer, news: replace(news, signed=news.known, known=news.signed),
        ),
    ),
    Fault(
        "tells-the-newest-state-left",
        "engine",
        "a side that leaves says that it publishes its newest state, which it cannot complete",
        _reporting(LeftForChain, _newest_number),
    ),
    Fault(
        "tells-the-newest-state-broken",
        "engine",
        "a side that breaks off says that it publishes its newest state",
        _reporting(BrokenOff, _newest_number),
    ),
    Fault(
        "blames-itself",
        "engine",
        "a side that breaks off blames itself",
        _reporting(
            BrokenOff,
            lambda peer, news: replace(news, blame=changed(news.blame, party=peer.config.name)),
        ),
    ),
    Fault(
        "tells-the-height-of-today",
        "chain",
        "news of the other side's close has the height of the newest block",
        _reporting(UnilateralClose, lambda peer, news: replace(news, height=peer.state.block.peak)),
    ),
    Fault(
        "tells-a-later-unroll",
        "chain",
        "news of a published state has the height after it",
        changing(reading, "UnrollSeen", _one_later),
    ),
    Fault(
        "tells-no-preemption",
        "chain",
        "news of the state that counts takes a preemption for a timeout",
        changing(reading, "StateCounts", lambda fact: replace(fact, preempted=False)),
    ),
    Fault(
        "tells-no-staleness",
        "chain",
        "news of the state that counts does not say that it is stale",
        changing(reading, "StateCounts", lambda fact: replace(fact, stale=not fact.stale)),
    ),
    Fault(
        "tells-the-other-mover",
        "chain",
        "news of a move on chain says that the other side made it",
        changing(reading, "MovedOnChain", lambda fact: replace(fact, by_us=not fact.by_us)),
    ),
    Fault(
        "tells-a-later-payout",
        "chain",
        "news of a paid game has the height after it",
        changing(scan_games, "GamePaid", _one_later),
    ),
    Fault(
        "tells-swapped-ends",
        "chain",
        "news of a game that ended on chain gives each side the other's share",
        changing(scan_games, "GameEnded", _swapped),
    ),
    Fault(
        "tells-the-others-share-less",
        "chain",
        "news of a settled channel leaves a mojo of the other side out",
        changing(
            scan_games, "ChannelSettled", lambda fact: replace(fact, theirs=max(0, fact.theirs - 1))
        ),
    ),
    Fault(
        "tells-swapped-shares",
        "engine",
        "news of a settled game gives each side the other's share",
        _reporting(GameSettled, lambda peer, news: _swapped(news)),
    ),
    Fault(
        "tells-the-other-settler",
        "engine",
        "news of a settled game says that the other side settled it",
        _reporting(GameSettled, _by_other),
    ),
    Fault(
        "tells-another-reason",
        "engine",
        "news of a cancelled proposal has no reason",
        _reporting(Cancelled, lambda peer, news: replace(news, reason="")),
    ),
    Fault(
        "tells-the-other-proposer",
        "engine",
        "news of a cancelled proposal takes it for one of the other side",
        _reporting(Cancelled, lambda peer, news: replace(news, mine=not news.mine)),
    ),
    Fault(
        "tells-the-other-terms",
        "engine",
        "news of a game that began says that the other side moves first in it",
        _reporting(
            GameStarted,
            lambda peer, news: replace(news, game=changed(news.game, alice=news.game.alice.other)),
        ),
    ),
)

# --- lines ---------------------------------------------------------------------------------------


def _printed_for(kind: type) -> Planting:
    """Print this news as if it were the other side's."""
    return compared(
        peer_lines,
        "news_text",
        lambda right, news, us: right(news, 1 - us if isinstance(news, kind) else us),
    )


def _every_second(reach: Reach, right: Any, lines: Any, event: Any) -> None:
    is_lost = isinstance(event, BlockMade) and event.height % 2 == 1
    if is_lost:
        reach.mark()
    if reach.probes or not is_lost:
        right(lines, event)


LINES = (
    Fault(
        "prints-the-others-share",
        "commands",
        "the line of a game that was settled gives each side the other's share",
        _printed_for(GameSettled),
    ),
    Fault(
        "prints-the-others-payout",
        "commands",
        "the line of a game paid on chain gives each side the other's share",
        _printed_for(GamePaid),
    ),
    Fault(
        "prints-the-other-mover",
        "commands",
        "the line of a move on chain names the other side",
        _printed_for(MovedOnChain),
    ),
    Fault(
        "prints-the-other-closer",
        "commands",
        "the line of a unilateral close says that this side made it",
        _printed_for(UnilateralClose),
    ),
    Fault(
        "prints-an-old-height",
        "commands",
        "lines have the height of an earlier block",
        marking(PeerLines, "__call__", _every_second, _every_second),
    ),
)

# --- the node, the link and the watcher ----------------------------------------------------------


def _only(is_hidden: Callable[[str], bool]) -> Planting:
    """Do not report what a user hears of the node, where it is hidden."""

    def report(reach: Reach, right: Any, runner: Any, reason: str) -> None:
        hides = is_hidden(reason) and reason != runner._trouble.reason  # noqa: SLF001
        if hides:
            reach.mark()
        if reach.probes or not hides:
            right(runner, reason)

    return marking(PeerRunner, "_report_trouble", report, report)


def _lost_again(reach: Reach, right: Any, link: Any, line: str) -> None:
    right(link, line)
    if line == "connected" and link._last_line == line:  # noqa: SLF001
        reach.mark()
        if not reach.probes:
            right(link, "the connection is lost: the other side closed it")


def _at_its_end(**fields: Any) -> Planting:
    """See the end of a channel with other fields."""
    ends = (Step.PAID, Step.SHUT)
    return changing(
        Watcher,
        "look",
        lambda sight: changed(sight, **fields) if sight.step in ends else sight,
    )


AROUND = (
    Fault(
        "hides-trouble",
        "runner",
        "a user does not hear that the node cannot be asked",
        _only(bool),
    ),
    Fault(
        "stays-in-trouble",
        "runner",
        "a user does not hear that the node answers again",
        _only(lambda reason: not reason),
    ),
    Fault(
        "calls-a-connection-lost",
        "link",
        "a user hears that the connection is lost, which a newer one has replaced",
        marking(Link, "tell", _lost_again, _lost_again),
    ),
    Fault(
        "connections-without-pauses",
        "link",
        "connections that follow each other closely begin without a pause",
        function(Link, "_count", lambda right, link, connection: None),
    ),
    Fault(
        "watcher-ends-early",
        "watcher",
        "a watcher takes the end of a channel for final at once",
        _at_its_end(final=True),
    ),
    Fault(
        "watcher-never-ends",
        "watcher",
        "a watcher never takes the end of a channel for final",
        _at_its_end(final=False),
    ),
    Fault(
        "watcher-names-no-stake",
        "watcher",
        "a watcher takes the stake of its owner for nothing",
        changing(Watcher, "_owners", lambda stake: 0),
    ),
    Fault(
        "watcher-is-never-late",
        "watcher",
        "a watcher does not warn of a preemption that is late",
        changing(Watcher, "look", lambda sight: changed(sight, late=False)),
    ),
)


def _later(push: Push) -> Push:
    return replace(push, before=push.before and push.before + 1)


def _half(push: Push) -> Push:
    return replace(push, stake=push.stake // 2)


STAKES = (
    Fault(
        "ends-given-up-games-at-once",
        "chain",
        "a game that pays nothing is final before a reorganisation can no longer reopen it",
        changing(
            scan_games,
            "payout",
            lambda paid: replace(paid, final=True) if paid is not None and not paid.ours else paid,
        ),
    ),
    Fault(
        "moves-before-a-later-height",
        "fees",
        "a move on chain has a block more for its fee to rise than it has to be confirmed",
        changing(
            scan_games, "_urgent", lambda found: replace(found, due=tuple(map(_later, found.due)))
        ),
    ),
    Fault(
        "halves-the-stake-of-a-shutdown",
        "fees",
        "a shutdown is about half of the balance",
        changing(CleanShutdown, "pushes", lambda pushes: [_half(push) for push in pushes]),
    ),
    Fault(
        "leaves-games-out-of-a-stake",
        "fees",
        "the payout of a published state is about the balance alone",
        changing(
            scan,
            "_unspent_unroll",
            lambda found: replace(
                found,
                due=tuple(_half(one) if one.before is None else one for one in found.due),
            ),
        ),
    ),
)

HANDS = (
    Fault(
        "accepts-any-hand",
        "commands",
        "a player accepts hands that it did not agree on",
        changing(SidePlayer, "_refusal", lambda reason: ""),
    ),
    Fault(
        "excuses-all-hands",
        "commands",
        "hands that a player was kept from count as declined",
        changing(agreed_hands, "HandAccount", lambda account: changed(account, excused=True)),
    ),
    Fault(
        "shows-later-dues",
        "commands",
        "what is due is shown with the height after it",
        changing(
            channel_overview,
            "_duty",
            lambda duty: {**duty, "height": duty["height"] and duty["height"] + 1},
        ),
    ),
)

REPORTING = (*FIELDS, *LINES, *AROUND, *STAKES, *HANDS)
