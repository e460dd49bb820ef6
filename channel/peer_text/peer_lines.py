"""What one peer does and hears, a line at a time: for a person, or as JSON data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from channelsim.channel.peer.interface import (
    FeeTooLow,
    SpendDropped,
)
from channelsim.channel.peer_text.news_text import news_text
from channelsim.channel.session.session_events import BlockMade, NewsFor, Pushed, SessionEvent

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
