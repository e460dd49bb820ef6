"""The lines that a command prints: each says what its news are, and none comes without end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from channelsim.channel.attack.line_facts import left_out
from channelsim.channel.peer_text.peer_lines import MOST_PUSHED, Line, PeerLines
from channelsim.channel.session.session_events import BlockMade, NewsFor, Pushed, SessionEvent

LONGEST = 600
"""The most characters of a line."""

MOST_REPEATS = 40
"""The most times that one line may come: facts that reorganisations undo come again."""


class PrintedLines:
    """A listener that prints as `channelsim peer` does, to nobody; `found` takes a line.

    `height` is that of the peer's newest block.
    """

    def __init__(
        self, side: int, found: Callable[[str], None], height: Callable[[], int | None]
    ) -> None:
        self._side, self._found, self._height = side, found, height
        self._saw_block = False
        self._times = Counter[str]()
        self._answers = set[tuple[str, str]]()
        self._shown: list[Line] = []
        self.lines = PeerLines(side, self._show)

    def __call__(self, event: SessionEvent) -> None:
        """Print an event."""
        self._shown.clear()
        self._saw_block = self._saw_block or isinstance(event, BlockMade)
        try:
            self.lines(event)
        except Exception as error:
            # Whatever it is, a user would see it in the place of the line.
            self._found(f"cannot print {type(event).__name__}: {type(error).__name__}: {error}")
            return
        if isinstance(event, Pushed):
            self._find_unprinted(event)
        if not isinstance(event, NewsFor):
            return
        name = type(event.news).__name__
        if not self._shown:
            if name not in SILENT:
                self._found(f"prints nothing of {name}")
            return
        line, height = self._shown[-1], self._height()
        for phrase in left_out(event.news, self._side, line["text"]):
            self._found(f"does not say {phrase[:100]!r} of {name}: {line['text'][:100]}")
        printed = line["height"]
        if self._saw_block and height is not None and printed != height:
            self._found(f"prints {name} at height {printed}, and it is {height}")

    def _find_unprinted(self, push: Pushed) -> None:
        """Find an answer of the node that is new for such a spend, and is not printed."""
        answer = push.name, push.result.text
        is_new = answer not in self._answers and len(self._answers) < MOST_PUSHED
        self._answers.add(answer)
        if is_new and not self._shown:
            self._found(f"prints nothing of {push.name}: {push.result.text}"[:100])

    def _show(self, line: Line) -> None:
        self._shown.append(line)
        text = line["text"]
        self._times[text] += 1
        if not text.isprintable() or len(text) > LONGEST:
            self._found(f"prints {text[:100]!r}, of {len(text)} characters")
        if self._times[text] == MOST_REPEATS:
            self._found(f"prints {MOST_REPEATS} times: {text[:100]}")


SILENT = ("Ignored", "YourTurn", "Proposed", "SawCards")
"""News of which nothing is printed."""
