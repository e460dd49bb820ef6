"""Helpers for California Poker: a table with two players, at any step."""

from __future__ import annotations

from channelsim.games import registry
from channelsim.games.calpoker.player import CalPokerPlayer, KnownCards
from channelsim.games.contract import Action, Player
from channelsim.games.judge import hashes_of
from tests.games.table import Decide, Table, by_policy, sit_down

GAME = registry.get("calpoker")
HASHES = hashes_of(GAME)


def deal_cards(seed: bytes | str, *, advise: bool = True, unit: int = 100) -> Table:
    """Two players at the start of a hand."""
    return sit_down(seed, unit=unit, game=GAME, advise=advise)


def policy(name: str, seed: bytes | str = b"") -> Decide:
    return by_policy(name, seed, GAME)


def giving(mask: int) -> Decide:
    return lambda player: Action("discard", mask)


def cal(player: Player) -> CalPokerPlayer:
    assert isinstance(player, CalPokerPlayer)
    return player


def cards_of(player: Player) -> KnownCards:
    return cal(player).cards
