"""What one peer does and hears, a line at a time: for a person, or as JSON data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from channelsim.channel.peer.interface import (
    Acted,
    Cancelled,
    ChannelOpen,
    DeckBurnt,
    DeckReady,
    DecksUsedUp,
    FeeTooLow,
    FundingSent,
    GameStarted,
    Ignored,
    Moved,
    NearLimit,
    News,
    NotProposed,
    OpeningFailed,
    Proposed,
    ShutdownStarted,
    SpendDropped,
    YourTurn,
)
from channelsim.channel.report.lanes import amounts_text, chain_text, peer_text
from channelsim.channel.session.session_events import BlockMade, NewsFor, Pushed, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.games.amounts import counted

MOST_PUSHED = 1000
"""Answers to spends that are printed: a node could give another reason every time."""

MORE_FEES = "to allow more, stop and start again with --max-fee and --max-fees"
"""Advice where a fee is too low."""

Line = dict[str, Any]
"""The keys `height`, `event` (a kind of news, "Pushed" or "Link"), `text`, and any others."""


class PeerLines:
    """A listener that makes a line of each event of one peer, and passes it to `show`."""

    def __init__(self, us: int, show: Callable[[Line], None]) -> None:
        self._us = us
        self._show = show
        self._height = 0
        self._pushed: set[tuple[str, str]] = set()

    def __call__(self, event: SessionEvent) -> None:
        """Show an event, if a person follows it."""
        match event:
            case BlockMade(height):
                self._height = height
                return
            case Pushed(_, name, _, result):
                # The same spend is offered with every block until it is in.
                pushed = name, result.text
                if pushed not in self._pushed and len(self._pushed) < MOST_PUSHED:
                    self._pushed.add(pushed)
                    self.add("Pushed", f"pushes {name}: {result.text}")
            case NewsFor(_, news):
                text = news_text(news, self._us)
                if isinstance(news, FeeTooLow | SpendDropped):
                    text = f"{text}; {MORE_FEES}"
                if text:
                    self.add(type(news).__name__, text)
            case _:
                pass

    def add(self, event: str, text: str, **data: object) -> None:
        """Show a line of our own; `data` are further keys."""
        self._show({"height": self._height, "event": event, "text": text, **data})


def news_text(news: News, us: int) -> str:
    """News of the peer of this side as a line; empty for what its player answers anyway."""
    them = NAMES[1 - us]
    match news:
        case FundingSent(coin, deadline):
            return f"the funding of channel {coin.id.hex()} is pushed; due before height {deadline}"
        case ChannelOpen(coin, _):
            return f"the channel is open: {coin.id.hex()}"
        case OpeningFailed(deadline):
            return (
                f"the opening failed: no channel coin by height {deadline}; one that a"
                " reorganisation still makes will be closed unilaterally"
            )
        case Cancelled(group, _, reason):
            return f"proposal {group.id} is cancelled: {reason}"
        case NearLimit(limit):
            return f"the channel is near its limit of {limit}: no new games, then the shutdown"
        case NotProposed(_, reason):
            return f"not proposed: {reason}"
        case GameStarted(game, _):
            stake = counted(game.terms.amount, "mojo")
            return f"game {game.id} starts: {game.terms.game} for {stake}"
        case Acted(game_id, action):
            amount = f" {action.amount:,}" if action.amount else ""
            return f"game {game_id}: we {action.verb}{amount}"
        case Moved(game_id, _, _, _, disagreements):
            wrong = "; rules and program disagree" if disagreements else ""
            return f"game {game_id}: {them} moves{wrong}"
        case DeckReady(number):
            return f"deck {number} is ready"
        case DecksUsedUp():
            return "the numbers of decks are used up: no deck is begun any more; close the channel"
        case DeckBurnt(number, _, _, reason):
            return f"deck {number} is given up: {reason}"
        case ShutdownStarted(by_us, balances):
            asks = "we ask" if by_us else f"{them} asks"
            return f"{asks} for the shutdown: {amounts_text(0, *balances)}"
        case Ignored() | YourTurn() | Proposed():
            return ""
        case _:
            return chain_text(news, us) or peer_text(news, us)
