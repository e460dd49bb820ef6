"""The decks of both sides: each is made of what the two sides computed, and of nothing else.

Both sides' own results are known here, so no proof has to be checked, or believed.
Source: spec/deck.md, "Ways to cheat".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from channelsim.games.deck.work import DeckResult


@dataclass(slots=True)
class TrueDecks:
    """The answers that both sides `computed`, by the deck's number and the step that they answer.

    `false` are the decks of a side, by its name, for which it took another message.
    """

    computed: set[tuple[int, int, bytes]] = field(default_factory=set)
    false: set[tuple[str, int]] = field(default_factory=set)

    def follow(self, name: str, result: DeckResult) -> Iterator[str]:
        """Follow the result of a side's step; find a deck that it takes for a good one."""
        if result.after is None:
            return
        if result.answer:
            self.computed.add((result.number, result.step, result.answer))
        if result.after.last is None:
            return
        step, message, _ = result.after.last
        if (result.number, step - 1, message) not in self.computed:
            self.false.add((name, result.number))
        if result.after.finished is not None and (name, result.number) in self.false:
            yield f"the {name} has finished deck {result.number}, which was prepared falsely"
