"""The result of a hand: its money after each step, best hands with their names, and JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from channelsim.games import hand_classes
from channelsim.games.amounts import counted
from channelsim.games.betting import Money, actions_data, live_position, money_of
from channelsim.games.cards import card_name, rank_text
from channelsim.games.contract import Hand, Player, Position, Seat, Step, Terms
from channelsim.games.counting import HandValue
from channelsim.games.hand_classes import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    SET,
    STRAIGHT,
    TWO_PAIR,
    Classes,
)
from channelsim.games.poker.arranging import arranged, points
from channelsim.games.poker.known_cards import NO_CARDS, KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.ranking import RANKINGS
from channelsim.games.poker.selections import WHOLE, Claim, best_claim, best_selection, quarters_won
from channelsim.games.poker.states import (
    Begin,
    Commit,
    Deal,
    Draw,
    End,
    Mid,
    Rows,
    Score,
    Show,
    Showdown,
)
from channelsim.games.poker.terms import initial, passed_out
from channelsim.games.poker.variants import VARIANTS, Variant
from channelsim.games.results import BestHand, best_hand_data, early_result
from channelsim.games.story import HandResult, summary_of, tellers

# --- names of hands, and the reason why one beats another ---------------------------------------


CLASSES: Classes = {
    (8,): ("straight flush", ("highest card",)),
    (7,): FOUR_OF_A_KIND,
    (6,): FULL_HOUSE,
    (5,): FLUSH,
    (4,): STRAIGHT,
    (3,): SET,
    (2,): TWO_PAIR,
    (1,): PAIR,
    (0,): HIGH_CARD,
}
"""The classes of hands, best first."""


def value_of_key(key: int) -> HandValue:
    """The class of a key and the ranks that it holds.

    The ace is 14 in every order.

    >>> value_of_key(0x2D4900), value_of_key(0x450000), value_of_key(0x084321)
    ((2, 13, 4, 9), (4, 5), (0, 8, 4, 3, 2, 14))
    """
    _, roles = CLASSES[(key >> 20,)]
    ranks = (key >> 16 - 4 * place & 15 for place in range(len(roles)))
    return key >> 20, *(14 if rank == 1 else rank for rank in ranks)


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 13, 4, 9))
    'two pair, kings and fours'
    """
    return hand_classes.describe(value, CLASSES)


def low_name(value: HandValue) -> str:
    """A hand that is better the lower it is: by its ranks, unless it has a class.

    >>> low_name((0, 8, 4, 3, 2, 14)), low_name((1, 9, 8, 7, 2))
    ('8-4-3-2-A', 'pair, nines')
    """
    return "-".join(map(rank_text, value[1:])) if value[0] == 0 else describe(value)


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """The reason why the first hand beats the second: the class, or a rank.

    >>> decided_by((4, 9), (2, 13, 4, 9)), decided_by((2, 13, 4, 9), (2, 13, 4, 7))
    ('class: straight over two pair', 'kicker: nine over seven')
    """
    return hand_classes.decided_by(winner, loser, CLASSES)


# --- results ------------------------------------------------------------------------------------


def parts(variant: Variant) -> tuple[str, ...]:
    """The parts of a hand in the order of play."""
    return ("deal", *variant.streets, "showdown")


def street(variant: Variant, position: Position) -> str:
    """The part of a hand that a move at this position belongs to."""
    match position.state:
        case Deal():
            return "deal"
        case Commit() | Rows():
            return variant.streets[0]
        case Begin() | Mid() | Draw() as state:
            return variant.streets[len(variant.streets) - len(state.streets)]
        case _:
            return "showdown"


def cards_of(player: Player | None) -> KnownCards:
    """The cards that a player knows; none that a player of another game does."""
    return player.cards if isinstance(player, PokerPlayer) else NO_CARDS


def money(terms: Terms, position: Position) -> Money:
    """Pot and stacks at a position that is not over."""
    match position.state:
        case Deal() | Begin() | Mid() as state:
            chips = state.pot.mover, state.pot.waiter
        case Draw() | Show() | End() | Commit() | Rows() | Score() as state:
            chips = state.put, state.put
        case _:
            chips = 0, 0
    return money_of(terms, position.mover, (chips[0] * terms.unit, chips[1] * terms.unit))


def money_after(terms: Terms, steps: Sequence[Step]) -> Money:
    """Pot and stacks after these steps."""
    start = live_position(steps) or initial(VARIANTS[terms.game], terms).position
    return money(terms, start)


def shown_cards(hand: Hand) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The cards of both players by seat, the board last; None unless both were shown."""
    last = _last_of(hand, "end")
    if last is None:
        return None
    cards = cards_of(last.players[last.seat])
    own = (*cards.own, *cards.own_up, *cards.board)
    other = (*cards.others, *cards.others_up, *cards.board)
    return (own, other) if last.seat is Seat.ALICE else (other, own)


def shown_rows(hand: Hand) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The arranged cards of both players by seat; None unless both were shown."""
    last = _last_of(hand, "score")
    if last is None or not isinstance(last.before.state, Score):
        return None
    own, other = cards_of(last.players[last.seat.other]).others, last.before.state.shown
    return (own, other) if last.seat is Seat.ALICE else (other, own)


def _last_of(hand: Hand, validator: str) -> Step | None:
    """The step in which the last cards were shown to this validator; None if they were not."""
    for step in reversed(hand.steps):
        if step.before.validator == validator:
            return step if step.action.verb == "show" else None
    return None


def showdown(hand: Hand) -> tuple[BestHand, BestHand] | None:
    """Both best hands by seat, once both were shown; None before, and after a fold or a muck."""
    cards = shown_cards(hand)
    if cards is None:
        return None
    rules = VARIANTS[hand.terms.game].showdown
    return best_hand(rules, cards[0]), best_hand(rules, cards[1])


def best_hand(rules: Showdown, cards: tuple[int, ...]) -> BestHand:
    """A player's best five cards, those that occur most often first, then the highest."""
    best = best_selection(rules, cards)
    ranks = [card // 4 for card in best.cards]
    aces_low = 4 if RANKINGS[rules.ranking].ace_low else 0
    ordered = sorted(
        best.cards,
        key=lambda card: (ranks.count(card // 4), (card + aces_low) % 52),
        reverse=True,
    )
    return BestHand(best.mask, tuple(ordered), value_of_key(best.key))


def name_of(rules: Showdown, value: HandValue) -> str:
    """A hand by name, as the game ranks it."""
    return low_name(value) if RANKINGS[rules.ranking].low else describe(value)


def hand_result(hand: Hand) -> HandResult:
    """The result of a hand, also of an unfinished one."""
    if (cards := shown_cards(hand)) is not None:
        return _of_showdown(VARIANTS[hand.terms.game].showdown, hand.names, *cards)
    if (rows := shown_rows(hand)) is not None:
        won = points(arranged(rows[0]), arranged(rows[1]))
        return _result(won, f"{counted(abs(won), 'point')}")
    if passed_out(hand):
        return HandResult("tie", None, "passed out")
    if hand.steps and hand.steps[-1].action.verb == "muck":
        seat = hand.steps[-1].seat
        return HandResult("fold", seat.other, f"{hand.names[seat]} mucks")
    before = hand.steps[-1].before if hand.steps else None
    return early_result(hand, street(VARIANTS[hand.terms.game], before) if before else "")


def _of_showdown(
    rules: Showdown, names: tuple[str, str], alices: tuple[int, ...], bobs: tuple[int, ...]
) -> HandResult:
    """The result of a showdown between these cards."""
    hands = best_hand(rules, alices), best_hand(rules, bobs)
    claims = best_claim(rules, alices), best_claim(rules, bobs)
    order = RANKINGS[rules.ranking].better(claims[0].high, claims[1].high)
    winner, loser = hands if order >= 0 else hands[::-1]
    if RANKINGS[rules.ranking].low and order:
        reason = f"{low_name(winner.value)} is lower than {low_name(loser.value)}"
    else:
        reason = decided_by(winner.value, loser.value)
    won = quarters_won(rules, *claims) - WHOLE // 2
    if rules.low and (claims[0].low < rules.low or claims[1].low < rules.low):
        reason = f"high: {'split' if order == 0 else reason}; low: {_low_half(names, claims)}"
    return _result(won, reason)


def _low_half(names: tuple[str, str], claims: tuple[Claim, Claim]) -> str:
    """Who wins the lower half of the pot."""
    alices, bobs = claims[0].low, claims[1].low
    if alices == bobs:
        return "split"
    return f"{names[bobs < alices]}, {low_name(value_of_key(min(alices, bobs)))}"


def _result(won: int, by: str) -> HandResult:
    """The result when Alice wins more than nothing, or Bob does."""
    if won == 0:
        return HandResult("tie", None, by)
    return HandResult("showdown", Seat.ALICE if won > 0 else Seat.BOB, by)


# --- as JSON data -------------------------------------------------------------------------------


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or that the viewer does.

    - `cards`: by player `{hidden, open}`, the private and the open cards, `hidden` null where they
      are unknown, and `board` as far as it was dealt; a card is two letters, rank and suit (`Th`);
    - `actions`: every step, `{player, verb, street, amount, chips, pot, stacks}`, pot and stacks
      after it; the amount of a call is what it puts in;
    - `best_hands`: by player `{name, list, cards, mask}`, null unless both hands were shown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts are in mojos but for `chips`.
    """
    variant = VARIANTS[hand.terms.game]
    name = partial(name_of, variant.showdown)
    actions = actions_data(hand, partial(street, variant), _amount, money_after, "chips")
    hands = [best_hand_data(best, name, "cards", _names) for best in showdown(hand) or (None, None)]
    return summary_of(hand, hand_result(hand), _cards(hand, viewer), actions, hands)


def _cards(hand: Hand, viewer: Seat | None) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    board: tuple[int, ...] = ()
    for seat, player, is_own in tellers(hand, viewer):
        cards = cards_of(player)
        hidden, face_up = (cards.own, cards.own_up) if is_own else (cards.others, cards.others_up)
        shown[hand.names[seat]] = {"hidden": _names(hidden) or None, "open": _names(face_up)}
        board = max(board, cards.board, key=len)
    return {**shown, "board": _names(board)}


def _names(cards: Sequence[int]) -> list[str]:
    return [card_name(card) for card in cards]


def _amount(step: Step) -> int:
    """What an action puts in, in mojos; the number of some actions is a choice of cards."""
    state = step.before.state
    if step.action.verb == "call" and isinstance(state, Begin | Mid):
        return (state.pot.waiter - state.pot.mover) * state.table.unit
    return step.action.amount if step.action.verb in ("bet", "raise") else 0
