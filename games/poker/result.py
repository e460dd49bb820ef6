"""The result of a hand, its money after each step, and the best hands at its showdown."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games.amounts import counted
from channelsim.games.betting import Money, live_position, money_of
from channelsim.games.contract import Hand, Player, Position, Seat, Step, Terms
from channelsim.games.counting import HandValue
from channelsim.games.poker.chinese import arranged, points
from channelsim.games.poker.hand_names import decided_by, describe, low_name, value_of_key
from channelsim.games.poker.known_cards import NO_CARDS, KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.pots import WHOLE
from channelsim.games.poker.ranking import RANKINGS
from channelsim.games.poker.selections import Claim, best_claim, best_selection, quarters_won
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
from channelsim.games.results import BestHand, early_result
from channelsim.games.story import HandResult


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
    """The cards of both players by seat, the board last, once both were shown at a showdown."""
    last = _last_of(hand, "end")
    if last is None:
        return None
    cards = cards_of(last.players[last.seat])
    own = (*cards.own, *cards.own_up, *cards.board)
    other = (*cards.others, *cards.others_up, *cards.board)
    return (own, other) if last.seat is Seat.ALICE else (other, own)


def shown_rows(hand: Hand) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The arranged cards of both players by seat, once both were shown."""
    last = _last_of(hand, "score")
    if last is None or not isinstance(last.before.state, Score):
        return None
    own, other = cards_of(last.players[last.seat.other]).others, last.before.state.shown
    return (own, other) if last.seat is Seat.ALICE else (other, own)


def _last_of(hand: Hand, validator: str) -> Step | None:
    """The step in which the last cards were shown to this validator."""
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
