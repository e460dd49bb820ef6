"""The money of a hand, and the state of its first coin."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.games.poker.chinese import MOST_POINTS
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.states import Deal, Lock, Pot, Seats, Street, Table
from channelsim.games.poker.variants import Variant


@dataclass(frozen=True, slots=True)
class Stakes:
    """The money of a hand: chips of `unit` mojos, the stake of each player, and the forced bets.

    `bet` is the smallest bet: the big blind where there are blinds, and what a point is worth in
    Chinese Poker. `ante` has what is carried over from hands that were passed out.
    """

    unit: int
    stake: int
    small_blind: int
    bet: int
    structure: Structure = Structure.NO_LIMIT
    cap: int = 3
    ante: int = 0
    bring_in: int = 0


def first_state(
    variant: Variant, stakes: Stakes, deck_id: bytes, locks: tuple[Lock, ...], initiator: int
) -> Deal:
    """The state of the first coin, for the player that opens first.

    `initiator` is 1 if that player is the channel's initiator.
    """
    fixed = stakes.structure is Structure.FIXED_LIMIT
    streets = tuple(
        Street(
            row.first, stakes.bet * (row.bets if fixed else min(row.bets, 1)), row.deal, row.kind
        )
        for row in variant.rounds
    )
    constants = stakes.unit, stakes.stake, stakes.structure, stakes.cap, stakes.bring_in
    table = Table(deck_id, locks, *constants, variant.showdown)
    button = int(variant.opener_has_button)
    if variant.arranges:
        posted = [min(MOST_POINTS * stakes.bet, stakes.stake)] * 2
    elif variant.blinds:
        posted = [stakes.bet, stakes.small_blind]
    else:
        posted = [0, 0]
    pot = Pot(stakes.ante + posted[button], stakes.ante + posted[1 - button])
    return Deal(table, streets, pot, variant.forced, Seats(button, initiator))
