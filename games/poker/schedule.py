"""Schedules of games: which positions of the deck are dealt when, to whom, and who bets first.

Rules: SCH-H, SCH-O. Seats are the button and the other one; the other seat's cards come first.
"""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    OTHERS,
    Deal,
    Lock,
    Pot,
    Seats,
    Street,
    Table,
)

OTHER_FIRST, BUTTON_FIRST = 0, 1
SMALL, BIG = 1, 2
"""The size of a street's bets in fixed limit, in small bets."""


@dataclass(frozen=True, slots=True)
class Round:
    """A street without amounts: who acts first, the size in small bets, and what is dealt."""

    first: int
    bets: int
    deal: tuple[tuple[int, int], ...]


HOLDEM = (
    Round(BUTTON_FIRST, SMALL, ((0, OTHERS), (1, OTHERS), (2, BUTTONS), (3, BUTTONS))),
    Round(OTHER_FIRST, SMALL, ((4, BOARD), (5, BOARD), (6, BOARD))),
    Round(OTHER_FIRST, BIG, ((7, BOARD),)),
    Round(OTHER_FIRST, BIG, ((8, BOARD),)),
)
"""Texas Hold'em."""


def positions(rounds: tuple[Round, ...]) -> int:
    """How many positions of a deck a game uses."""
    return 1 + max(position for one in rounds for position, _ in one.deal)


@dataclass(frozen=True, slots=True)
class Stakes:
    """The money of a hand: chips of `unit` mojos, the stake of each player, and the blinds."""

    unit: int
    stake: int
    small_blind: int
    big_blind: int
    structure: Structure = Structure.NO_LIMIT
    cap: int = 3


def first_state(
    rounds: tuple[Round, ...],
    stakes: Stakes,
    deck_id: bytes,
    locks: tuple[Lock, ...],
    opener: Seats,
) -> Deal:
    """The state of the first coin, for the player that opens first.

    That is the player that is not the first to act.
    """
    fixed = stakes.structure is Structure.FIXED_LIMIT
    streets = tuple(
        Street(one.first, stakes.big_blind * (one.bets if fixed else SMALL), one.deal)
        for one in rounds
    )
    table = Table(deck_id, locks, stakes.unit, stakes.stake, stakes.structure, stakes.cap, 0)
    blinds = (stakes.big_blind, stakes.small_blind)
    pot = Pot(blinds[opener.button], blinds[1 - opener.button])
    return Deal(table, streets, pot, Forced.NONE, opener)
