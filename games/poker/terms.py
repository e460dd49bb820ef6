"""The terms of a poker game, and what they lead to: the money of a hand, and its first coin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from channelsim.games.amounts import MAX_AMOUNT, short_number
from channelsim.games.contract import Hand, Initial, Parameters, Position, Terms
from channelsim.games.errors import BadTerms
from channelsim.games.players import Seat
from channelsim.games.poker.arranging import MOST_POINTS
from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.poker.openings import SCALAR, owed_locks
from channelsim.games.poker.states import (
    Deal,
    Lock,
    Mid,
    Pot,
    Seats,
    Street,
    Table,
    forced_bet,
)
from channelsim.games.poker.variants import Variant

# --- the money of a hand, and its first state ---------------------------------------------------


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


# --- terms --------------------------------------------------------------------------------------


BET, BRING_IN_BET, POINT = 2, 4, 1
"""In default terms, in chips: the smallest bet, that of games with a bring-in, and a point."""

ANTE = 1
"""The ante in default terms, in chips, of games without blinds."""

CAP = 3
"""The raises of a fixed-limit round in default terms."""

MOST_CAP = 255

LIMITS = {Structure.NO_LIMIT: "no", Structure.POT_LIMIT: "pot", Structure.FIXED_LIMIT: "fixed"}
"""The names of the betting structures."""


def default_parameters(variant: Variant, unit: int, stack: int) -> Parameters:
    """The parameters of a game in which each player stakes `stack` chips of `unit` mojos."""
    usual = {
        "amount": 2 * unit * stack,
        "chip": unit,
        "point": POINT,
        "bet": BRING_IN_BET if variant.forced is Forced.BRING_IN else BET,
        "ante": ANTE,
        "structure": int(variant.structure),
        "cap": CAP,
    }
    return {name: usual[name] for name in parameter_names(variant)}


def parameter_names(variant: Variant, ante: bool = False) -> tuple[str, ...]:
    """The parameters of a game, in order; of one with blinds with an `ante` besides if it has one.

    The amount and a chip are in mojos. In chips: the smallest bet, which is the big blind, and the
    ante; in Chinese Poker what a point is worth. Then the betting structure, and how many raises
    fixed limit allows after the first bet.
    """
    if variant.arranges:
        return ("amount", "chip", "point")
    antes = () if variant.blinds and not ante else ("ante",)
    return ("amount", "chip", "bet", *antes, "structure", "cap")


def limits(variant: Variant) -> Mapping[str, Parameters]:
    """The betting structures by name, that of the default terms first (BET-1)."""
    if variant.arranges:
        return {}
    first = sorted(Structure, key=lambda structure: structure is not variant.structure)
    return {LIMITS[structure]: {"structure": int(structure)} for structure in first}


def variations(variant: Variant) -> tuple[Parameters, ...]:
    """The other betting structures, bets (points, where there are none) of twice the size, and an
    ante besides blinds."""
    usual = default_parameters(variant, 1, 1)
    twice = {name: 2 * usual[name] for name in ("bet", "point") if name in usual}
    antes = ({"ante": 2 * ANTE},) if variant.blinds else ()
    return (*list(limits(variant).values())[1:], twice, *antes)


def carried(terms: Terms, before: Position, after: Position) -> int:
    """What each player leaves to the next hand, in mojos: the ante of one that was passed out.

    That is its own ante, and what it took over from the hands before it (DRAW-3).
    """
    if not is_passed_out(before, after):
        return 0
    parameters = dict(terms.parameters)
    return parameters["ante"] * parameters["chip"]


def passed_out(hand: Hand) -> bool:
    """True if the hand is over because nobody bet before the draw."""
    return any(is_passed_out(step.before, step.after) for step in hand.steps)


def is_passed_out(before: Position, after: Position) -> bool:
    """True if a move from one position to the other was a check that ended the hand."""
    return after.over and isinstance(before.state, Mid)


def with_carry(parameters: Parameters, mojos: int) -> Parameters:
    """Add what was left to the ante, as far as the stake covers that and the bet (DRAW-3)."""
    chip = parameters["chip"]
    ante = parameters.get("ante", 0)
    room = parameters["amount"] // 2 // chip - parameters["bet"] - ante
    more = min(mojos // chip, room)
    return {**parameters, "ante": ante + more} if more > 0 else parameters


def read_terms(variant: Variant, parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`, naming the rule."""
    whole = all(type(number) is int for number in parameters.values())
    names = parameter_names(variant, "ante" in parameters)
    if set(parameters) != set(names) or not whole:
        raise BadTerms(f"the parameters are the integers {', '.join(names)} (PK-TERMS-1)")
    amount, chip = parameters["amount"], parameters["chip"]
    if not 0 < amount <= MAX_AMOUNT or amount % 2:
        shown = short_number(amount)
        raise BadTerms(f"an amount of {shown} is not positive, even and below 2^63 (PK-TERMS-2)")
    stake = amount // 2
    if not 0 < chip <= stake or stake % chip:
        shown = short_number(chip)
        raise BadTerms(f"a chip of {shown} does not divide the stake of {stake} (PK-TERMS-3)")
    _check_bets(variant, parameters, stake // chip)
    structures = range(min(Structure), max(Structure) + 1)
    structure, cap = parameters.get("structure", 0), parameters.get("cap", 0)
    if structure not in structures or not 0 <= cap <= MOST_CAP:
        raise BadTerms(
            "the structure is 0 (no limit), 1 (pot limit) or 2 (fixed limit), the cap 0 to"
            f" {MOST_CAP} (PK-TERMS-6)"
        )
    kept = tuple((name, parameters[name]) for name in names)
    return Terms(variant.name, amount, (stake, stake), chip, kept)


def _check_bets(variant: Variant, parameters: Parameters, stake: int) -> None:
    """Check the sizes of bets against a stake in chips. Raises `BadTerms`."""
    bet, ante = parameters.get("bet", parameters.get("point", 0)), parameters.get("ante", 0)
    of = "a point" if variant.arranges else "a bet"
    step = bet_step(variant)
    if bet <= 0 or bet % step:
        kind = {1: "positive", 2: "positive and even"}.get(step, f"a positive multiple of {step}")
        raise BadTerms(f"{of} of {short_number(bet)} chips is not {kind} (PK-TERMS-4)")
    if "ante" in parameters and ante <= 0:
        raise BadTerms(f"an ante of {short_number(ante)} chips is not positive (PK-TERMS-8)")
    if ante + bet > stake:
        what = f"the ante of {short_number(ante)} and " if ante else ""
        raise BadTerms(
            f"a stake of {stake} chips does not cover {what}the bet of {short_number(bet)}"
            " (PK-TERMS-5)"
        )


def bet_step(variant: Variant) -> int:
    """What the smallest bet is a multiple of: a small blind is half of it, a bring-in a quarter."""
    if variant.forced is Forced.BRING_IN:
        return 4
    return 2 if variant.blinds else 1


def stakes(variant: Variant, terms: Terms) -> Stakes:
    """The money of a hand in chips."""
    parameters = dict(terms.parameters)
    bet = parameters.get("bet", parameters.get("point", 0))
    return Stakes(
        parameters["chip"],
        terms.amount // 2 // parameters["chip"],
        bet // 2 if variant.blinds else 0,
        bet,
        Structure(parameters.get("structure", Structure.NO_LIMIT)),
        parameters.get("cap", 0),
        parameters.get("ante", 0),
        bet // 4 if variant.forced is Forced.BRING_IN else 0,
    )


def initial(variant: Variant, terms: Terms) -> Initial:
    """The record of the first coin. Raises `BadTerms` for terms without a deck.

    Alice opens first: she is the player that is not the first to act, or has the button.
    """
    deck = terms.deck
    if deck is None or len(deck.locks) != variant.positions:
        raise BadTerms(f"a hand needs a deck of {variant.positions} positions (PK-TERMS-7)")
    locks = tuple(Lock(*lock) for lock in deck.locks)
    initiator = int(deck.initiator is Seat.ALICE)
    state = first_state(variant, stakes(variant, terms), deck.deck_id, locks, initiator)
    due = forced_bet(state.table, state.streets, state.forced)
    mover = state.table.unit * (state.table.stake - state.pot.mover - due)
    size = SCALAR * owed_locks(state.streets[0].deal, state.seats)
    return Initial("deal", state, size, mover)
