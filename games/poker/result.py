"""The result of a hand, its money after each step, and the best hands at its showdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.games.contract import Hand, Player, Position, Seat, Step, Terms
from channelsim.games.poker.hand_names import decided_by, value_of_key
from channelsim.games.poker.known_cards import NO_CARDS, KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.selections import best_selection
from channelsim.games.poker.states import Begin, Deal, End, Mid, Show, Showdown
from channelsim.games.poker.terms import initial
from channelsim.games.poker.variants import VARIANTS, Variant
from channelsim.games.results import BestHand, HandResult, early_result, showdown_result


@dataclass(frozen=True, slots=True)
class Money:
    """What both players have put into the pot, and what they have left, by seat, in mojos."""

    put: tuple[int, int]
    stacks: tuple[int, int]

    @property
    def pot(self) -> int:
        """The whole pot, in mojos."""
        return sum(self.put)


def parts(variant: Variant) -> tuple[str, ...]:
    """The parts of a hand in the order of play."""
    return ("deal", *variant.streets, "showdown")


def street(variant: Variant, position: Position) -> str:
    """The part of a hand that a move at this position belongs to."""
    match position.state:
        case Deal():
            return "deal"
        case Begin() | Mid() as state:
            return variant.streets[len(variant.streets) - len(state.streets)]
        case _:
            return "showdown"


def cards_of(player: Player) -> KnownCards:
    """The cards that a player knows; none that a player of another game does."""
    return player.cards if isinstance(player, PokerPlayer) else NO_CARDS


def money(terms: Terms, position: Position) -> Money:
    """Pot and stacks at a position that is not over."""
    match position.state:
        case Deal() | Begin() | Mid() as state:
            chips = state.pot.mover, state.pot.waiter
        case Show() | End() as state:
            chips = state.put, state.put
        case _:
            chips = 0, 0
    first, second = chips if position.mover is Seat.ALICE else chips[::-1]
    put = first * terms.unit, second * terms.unit
    return Money(put, (terms.stakes[0] - put[0], terms.stakes[1] - put[1]))


def money_after(terms: Terms, steps: Sequence[Step]) -> Money:
    """Pot and stacks after these steps; the end of the betting fixes them."""
    for step in reversed(steps):
        for position in (step.after, step.before):
            if not position.over:
                return money(terms, position)
    return money(terms, initial(VARIANTS[terms.game], terms).position)


def showdown(hand: Hand) -> tuple[BestHand, BestHand] | None:
    """Both best hands by seat, once both were shown; None before, and after a fold or a muck."""
    if not hand.steps:
        return None
    last = next((step for step in reversed(hand.steps) if step.before.validator == "end"), None)
    if last is None or last.action.verb != "show":
        return None
    cards = cards_of(last.players[last.seat])
    rules = VARIANTS[hand.terms.game].showdown
    own = best_hand(rules, (*cards.own, *cards.own_up, *cards.board))
    other = best_hand(rules, (*cards.others, *cards.others_up, *cards.board))
    return (own, other) if last.seat is Seat.ALICE else (other, own)


def best_hand(rules: Showdown, cards: tuple[int, ...]) -> BestHand:
    """A player's best five cards, those that occur most often first."""
    best = best_selection(rules, cards)
    ranks = [card // 4 for card in best.cards]
    ordered = sorted(best.cards, key=lambda card: (ranks.count(card // 4), card), reverse=True)
    return BestHand(best.mask, tuple(ordered), value_of_key(best.key))


def hand_result(hand: Hand) -> HandResult:
    """The result of a hand, also of an unfinished one."""
    hands = showdown(hand)
    if hands is not None:
        return showdown_result(hands, decided_by)
    if hand.steps and hand.steps[-1].action.verb == "muck":
        seat = hand.steps[-1].seat
        return HandResult("fold", seat.other, f"{hand.names[seat]} mucks")
    before = hand.steps[-1].before if hand.steps else None
    return early_result(hand, street(VARIANTS[hand.terms.game], before) if before else "")
