"""The games that a test tries."""

from __future__ import annotations

import pytest

from channelsim.games import registry

DECKS = frozenset(name for name in registry.names() if registry.get(name).deck_positions)
"""The games that are played with a prepared deck: a hand of theirs takes much longer."""

NAMES = tuple(
    pytest.param(name, marks=pytest.mark.long) if name in DECKS else name
    for name in registry.names()
)
"""All games, those with a deck in the long tests only."""

each_game = pytest.mark.parametrize("game", NAMES)
"""For tests that play many hands."""

_SAME_PROGRAMS = DECKS - {"holdem", "chinese"}

each_program = pytest.mark.parametrize(
    "game",
    [
        pytest.param(name, marks=pytest.mark.long) if name in _SAME_PROGRAMS else name
        for name in registry.names()
    ],
)
"""For tests that play few hands: all games, but of those that share their programs only two in the
quick tests, which use most of these programs."""

each_game_without_a_deck = pytest.mark.parametrize(
    "game", [name for name in registry.names() if name not in DECKS]
)
