"""The lines that the command of a process prints: each can be printed, and none comes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from channelsim.channel.peer_text.peer_lines import Line, PeerLines
from channelsim.channel.session.session_events import NewsFor, SessionEvent

LONGEST = 600
"""The most characters of a line."""

MOST_REPEATS = 40
"""The most times that one line may come: facts that reorganisations undo come again."""


class PrintedLines:
    """A listener that prints as `channelsim peer` does, to nobody; `found` takes a line."""

    def __init__(self, side: int, found: Callable[[str], None]) -> None:
        self._found = found
        self._times = Counter[str]()
        self._last: Line | None = None
        self._lines = PeerLines(side, self._show)

    def __call__(self, event: SessionEvent) -> None:
        """Print an event."""
        self._last = None
        try:
            self._lines(event)
        except Exception as error:
            # Whatever it is, a user would see it in the place of the line.
            self._found(f"cannot print {type(event).__name__}: {type(error).__name__}: {error}")
            return
        if isinstance(event, NewsFor) and self._last is None:
            name = type(event.news).__name__
            if name not in SILENT:
                self._found(f"prints nothing of {name}")

    def _show(self, line: Line) -> None:
        self._last = line
        text = line["text"]
        self._times[text] += 1
        if not text.isprintable() or len(text) > LONGEST:
            self._found(f"prints {text[:100]!r}, of {len(text)} characters")
        if self._times[text] == MOST_REPEATS:
            self._found(f"prints {MOST_REPEATS} times: {text[:100]}")


SILENT = ("Ignored", "YourTurn", "Proposed", "SawCards")
"""News of which nothing is printed."""
