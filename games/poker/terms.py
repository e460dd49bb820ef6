"""The terms of a poker game: the money of both players, and the sizes of the bets."""

from __future__ import annotations

from channelsim.games.amounts import MAX_AMOUNT, short_number
from channelsim.games.contract import Initial, Parameters, Terms
from channelsim.games.errors import BadTerms
from channelsim.games.players import Seat
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.openings import SCALAR, owed_locks
from channelsim.games.poker.stakes import Stakes, first_state
from channelsim.games.poker.states import Lock
from channelsim.games.poker.variants import Variant

NAMES = ("amount", "chip", "bet", "structure", "cap")
"""The parameters: the amount and a chip in mojos, the smallest bet (the big blind) in chips, the
betting structure, and how many raises fixed limit allows after the first bet."""

BET = 2
"""The smallest bet in default terms, in chips."""

CAP = 3
"""The raises of a fixed-limit round in default terms."""

MOST_CAP = 255


def default_parameters(variant: Variant, unit: int, stack: int) -> Parameters:
    """The parameters of a game in which each player stakes `stack` chips of `unit` mojos."""
    return {
        "amount": 2 * unit * stack,
        "chip": unit,
        "bet": BET,
        "structure": int(variant.structure),
        "cap": CAP,
    }


def read_terms(variant: Variant, parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`, naming the rule."""
    whole = all(type(number) is int for number in parameters.values())
    if set(parameters) != set(NAMES) or not whole:
        raise BadTerms(f"the parameters are the integers {', '.join(NAMES)} (PK-TERMS-1)")
    amount, chip, bet = parameters["amount"], parameters["chip"], parameters["bet"]
    if not 0 < amount <= MAX_AMOUNT or amount % 2:
        shown = short_number(amount)
        raise BadTerms(f"an amount of {shown} is not positive, even and below 2^63 (PK-TERMS-2)")
    stake = amount // 2
    if not 0 < chip <= stake or stake % chip:
        shown = short_number(chip)
        raise BadTerms(f"a chip of {shown} does not divide the stake of {stake} (PK-TERMS-3)")
    if bet <= 0 or bet % 2:
        raise BadTerms(f"a bet of {short_number(bet)} chips is not positive and even (PK-TERMS-4)")
    if bet > stake // chip:
        raise BadTerms(
            f"a stake of {stake // chip} chips does not cover the bet of {short_number(bet)}"
            " (PK-TERMS-5)"
        )
    structures = range(min(Structure), max(Structure) + 1)
    if parameters["structure"] not in structures or not 0 <= parameters["cap"] <= MOST_CAP:
        raise BadTerms(
            "the structure is 0 (no limit), 1 (pot limit) or 2 (fixed limit), the cap 0 to"
            f" {MOST_CAP} (PK-TERMS-6)"
        )
    kept = tuple((name, parameters[name]) for name in NAMES)
    return Terms(variant.name, amount, (stake, stake), chip, kept)


def stakes(terms: Terms) -> Stakes:
    """The money of a hand in chips."""
    found = dict(terms.parameters)
    stake, bet = terms.amount // 2 // found["chip"], found["bet"]
    structure = Structure(found["structure"])
    return Stakes(found["chip"], stake, bet // 2, bet, structure, found["cap"])


def initial(variant: Variant, terms: Terms) -> Initial:
    """The record of the first coin. Raises `BadTerms` for terms without a deck.

    Alice opens first: she is the player that bets second.
    """
    deck = terms.deck
    if deck is None or len(deck.locks) != variant.positions:
        raise BadTerms(f"a hand needs a deck of {variant.positions} positions (PK-TERMS-7)")
    locks = tuple(Lock(*lock) for lock in deck.locks)
    initiator = int(deck.initiator is Seat.ALICE)
    state = first_state(variant, stakes(terms), deck.deck_id, locks, initiator)
    mover = state.table.unit * (state.table.stake - state.pot.mover)
    size = SCALAR * owed_locks(state.streets[0].deal, state.seats)
    return Initial("deal", state, size, mover)
