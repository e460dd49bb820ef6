"""The course of an attacked session: its situations, its landmarks, and its events in order.

A search keeps the scripts that reached a situation which no script before did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from channelsim.channel.attack.actions import Action, Place
from channelsim.channel.peer.chain_news import (
    GamePaid,
    LeftForChain,
    MovedOnChain,
    StateCounts,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    Acted,
    ChannelOpen,
    Connected,
    Effect,
    GameSettled,
    Push,
)
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.session_events import (
    Decided,
    Handled,
    NewsFor,
    Pushed,
    Sent,
    SessionEvent,
)
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.kills import Kill

MANY = 2
"""More than so many are not told apart."""

NO_FAULT = "-"

UNPIN = "unpin"
"""The name of a push that replaces a pin."""

FOLD = "fold"
"""The action of a player that settles a game in which it could still move."""


@dataclass(frozen=True, slots=True)
class Killed:
    """A process was killed at an instant; `lost` are the effects of its last event that were not
    carried out."""

    kill: Kill
    lost: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Restarted:
    """A process started again from its store."""


@dataclass(frozen=True, slots=True)
class Noted:
    """An event of one side, or what happened to it, at this height of the chain."""

    height: int
    side: int
    what: SessionEvent | Action | Killed | Restarted


def side_of(event: SessionEvent) -> Side | None:
    """The side of an event; None if it is of neither alone."""
    match event:
        case Handled(peer=name) | Sent(sender=name) | Pushed(by=name):
            return Side(NAMES.index(name))
        case NewsFor(player=name) | Decided(player=name):
            return Side(NAMES.index(name))
        case _:
            return None


@dataclass
class Situations:
    """The situations of a session so far, in the order in which they were reached, and where."""

    reached: dict[str, Place] = field(default_factory=dict)
    last_fault: str = NO_FAULT
    _signed: set[Side] = field(default_factory=set)
    _shut: set[Side] = field(default_factory=set)
    _left: set[Side] = field(default_factory=set)

    def follow(
        self, side: Side, event: SessionEvent, state: PeerState, place: Callable[[], Place]
    ) -> Iterator[str]:
        """Note the situation after an event of a side, and find the landmarks that it is."""
        match event:
            case Handled(event=cause):
                name = f"{situation(state, side)} {self.last_fault}"
                if name not in self.reached:
                    self.reached[name] = place()
                if isinstance(cause, Connected):
                    yield "link"
                if any(isinstance(one, Push) and one.name == UNPIN for one in event.effects):
                    yield "unpins"
                if state.opening.opened is not None and side not in self._signed:
                    self._signed.add(side)
                    yield "signed"
                if state.shutdown is not None and side not in self._shut:
                    self._shut.add(side)
                    yield "shutdown"
            case NewsFor(news=LeftForChain() | UnilateralClose()) if side not in self._left:
                self._left.add(side)
                yield "chain"
            case NewsFor(news=ChannelOpen()):
                yield "open"
            case NewsFor(news=Acted(before=before, after=after)) if after is not before:
                if not after.over:
                    yield "acted"
            case Decided(action=move) if move.verb == FOLD:
                yield "folds"
            case NewsFor(news=GameSettled(by_us=True)):
                yield "settled"
            case NewsFor(news=UnrollSeen()):
                yield "unroll"
            case NewsFor(news=StateCounts()):
                yield "counts"
            case NewsFor(news=MovedOnChain()):
                yield "move"
            case NewsFor(news=GamePaid()):
                yield "paid"
            case _:
                pass


def situation(state: PeerState, side: Side) -> str:
    """Where a peer is: its phase, whether it resumes, who has the potato, who owes what, its place
    in a dispute, and its decks.

    >>> from channelsim.channel.crypto.keys import SecretKeys
    >>> from channelsim.channel.peer.opening.handshake import Opening
    >>> situation(PeerState(Opening(SecretKeys.derive(bytes(32)))), Side.INITIATOR)
    'OPENING - - - - -'
    """
    play = state.play
    parts = (
        state.phase.name,
        "resuming" if state.resuming else "-",
        "-" if play is None else "ours" if play.potato else "theirs",
        "-" if play is None else _owed(state, play, side),
        _place(state),
        "-" if play is None else _decks(play),
    )
    return " ".join(parts)


def _owed(state: PeerState, play: PlayState, side: Side) -> str:
    """The answers that are due from the other side, and the number of games in which we move."""
    due = sorted({awaited.rule for awaited in state.marks})
    ours = sum(game.mover is side for game in play.state.games)
    asked = f"{'a' * play.we_asked}{'t' * play.they_asked}{'l' * play.ask_later}"
    return f"{'+'.join(due)}/{min(ours, MANY)}/{asked}/{min(len(play.queue), MANY)}"


def _place(state: PeerState) -> str:
    """The stage of a dispute, the kinds of facts that are known, and the games that go on."""
    dispute = state.dispute
    if dispute is None:
        return "shutdown" if state.shutdown is not None else "-"
    facts = sorted({type(fact).__name__ for fact in dispute.reported})
    games = f"{min(len(dispute.tracked), MANY)}/{min(len(dispute.undecided), MANY)}"
    waits = "stale" if _is_stale(state) else ""
    return f"{dispute.status.name}/{'+'.join(facts)}/{games}/{waits}"


def _is_stale(state: PeerState) -> bool:
    """True if the other side has published a state older than the newest that we can complete."""
    dispute = state.dispute
    if dispute is None:
        return False
    seen = [fact.number for fact in dispute.reported if isinstance(fact, UnrollSeen)]
    return bool(seen) and seen[-1] < dispute.newest.state.number


def _decks(play: PlayState) -> str:
    decks = play.decks.decks.values()
    ready = sum(deck.deck is not None for deck in decks)
    return f"{min(ready, MANY)}/{min(len(decks) - ready, MANY)}"
