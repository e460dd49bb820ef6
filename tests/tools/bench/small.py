"""The figures of `bench` from little work, for tests that do not look at the times."""

from __future__ import annotations

import pytest

from channelsim.games.calpoker import game as calpoker
from channelsim.games.spacepoker import game as spacepoker
from scripts.tools.bench import (
    attacked_sessions,
    campaign_speed,
    crosscheck_speed,
    deck_preparation,
    judging,
    linked_peers,
    signed_hand,
    slash_costs,
    stored_batch,
)

ROUNDS = 8
"""In which decks are shuffled."""


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure few hands and cases, and decks of few rounds."""
    monkeypatch.setattr(judging, "MIX", 3)
    monkeypatch.setattr(attacked_sessions, "SESSIONS", 2)
    monkeypatch.setattr(deck_preparation, "ROUNDS", ROUNDS)
    monkeypatch.setattr(deck_preparation, "BARE", 100)
    monkeypatch.setattr(signed_hand, "HANDS", 2)
    monkeypatch.setattr(slash_costs, "CASES", 12)
    monkeypatch.setattr(stored_batch, "HANDS", 1)
    monkeypatch.setitem(linked_peers.PAIR, "hands", 1)
    monkeypatch.setattr(crosscheck_speed, "CHUNK", 30)
    for name in ("FIRST", "FEWEST", "WHOLE"):
        monkeypatch.setattr(campaign_speed, name, 100)
    monkeypatch.setattr(calpoker, "HANDS", 200)
    monkeypatch.setattr(calpoker, "HANDS_OF_OTHERS", 200)
    monkeypatch.setattr(spacepoker, "HANDS", 200)
