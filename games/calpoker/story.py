"""A hand of California Poker in lines for people.

A viewer sees what its own player knows and nothing else: both hands once they are dealt, its own
discards when it picks them, the opponent's only when they are revealed.
"""

from __future__ import annotations

from typing import TypeAlias

from channelsim.games.amounts import amount_text
from channelsim.games.calpoker.deal import Cards, Hands, given
from channelsim.games.calpoker.hands import describe
from channelsim.games.calpoker.player import DISCARD, CalPokerPlayer, KnownCards, best_selections
from channelsim.games.calpoker.policies import best_response, discard_odds
from channelsim.games.calpoker.result import best_hand, cards_of, hand_result, showdown
from channelsim.games.cards import LABEL, faces, in_a_row, pictures, signs
from channelsim.games.contract import Hand, Line, Player, Seat, Step
from channelsim.games.results import result_lines, showdown_lines, step_lines

PARTS = {"a": "deal", "b": "deal", "c": "opening", "d": "discards", "e": "showdown"}
"""The part of a hand that a move belongs to, by its validator."""


class CaliforniaPokerStory:
    """Lines about a hand; see `channelsim.games.contract.Story`."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step: its action, and the cards that became known before and after it."""
        step = hand.steps[-1]
        action = _action(hand, step, viewer)
        return [*step_lines(hand, viewer, cards_of, _dealt, action), *_swap(hand, step)]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The result of the hand. Both hands are named only after a showdown."""
        lines = showdown_lines(hand, showdown(hand), describe, signs)
        return [*lines, *result_lines(hand, hand_result(hand), "the stakes are")]

    def view(self, player: Player) -> list[Line]:
        """The knowledge of this seat: both hands, the discards that win most often, the stakes."""
        if not isinstance(player, CalPokerPlayer):
            return []
        cards, terms = player.cards, player.terms
        lines: list[Line] = []
        if cards.final is not None:
            lines += _final("your eight", cards.final, player.seat)
            lines += _final("their eight", cards.final, player.seat.other)
        elif cards.hands is not None:
            own, others = cards.hands[player.seat], cards.hands[player.seat.other]
            lines += pictures("your cards", faces(own), numbered=True)
            lines += pictures("their cards", faces(others))
            if DISCARD in player.choices():
                lines += _advice(own, others)
        stakes = f"the winner takes {amount_text(terms.amount, terms.unit)}"
        lines.append(((f"{'stakes':<{LABEL}}", "dim"), (stakes, "")))
        return lines


_BySeat: TypeAlias = dict[Seat, KnownCards]


def _dealt(hand: Hand, before: _BySeat, after: _BySeat) -> list[Line]:
    """Both hands, if nobody knew them before."""
    if any(cards.hands for cards in before.values()):
        return []
    hands = next(filter(None, (cards.hands for cards in after.values())), None)
    if hands is None:
        return []
    return [
        line
        for name, cards in zip(hand.names, hands, strict=True)
        for line in pictures(f"  {name}", faces(cards))
    ]


_PHRASES = {
    "commit": " commits to one half of the deal",
    "seed": " sends the other half, which fixes the cards",
    "reveal": " opens what was given away",
    "accept": " accepts the result",
}


def _action(hand: Hand, step: Step, viewer: Seat | None) -> list[Line]:
    name = (hand.names[step.seat], "bold")
    match step.action.verb:
        case "discard":
            return _discard(hand, step, viewer)
        case "fold":
            share = amount_text(step.before.mover_share, hand.terms.unit)
            return [(name, (f" folds, keeping {share}", "red"))]
        case verb:
            return [(name, (_PHRASES[verb], ""))]


def _discard(hand: Hand, step: Step, viewer: Seat | None) -> list[Line]:
    """The cards given away and their odds, for a viewer that may know them."""
    name = (hand.names[step.seat], "bold")
    cards = cards_of(step.players[step.seat])
    mask = cards.masks[step.seat]
    if cards.hands is None or mask is None or viewer not in (None, step.seat):
        if cards.hands is None or step.seat is Seat.ALICE:
            return [(name, (" gives four cards away, face down", ""))]
        mask = step.action.amount  # Bob's choice is open: Alice is bound by then
    own, others = cards.hands[step.seat], cards.hands[step.seat.other]
    odds = discard_odds(own, others)[mask]
    return [
        (name, (" gives away ", ""), *in_a_row(faces(given(own, mask)))),
        ((f"  uniform answers: {odds.text()}", "dim"),),
    ]


def _swap(hand: Hand, step: Step) -> list[Line]:
    """After the reveal: what Alice gave, and both final hands, the best five bright."""
    cards = cards_of(step.players[step.seat])
    mask = cards.masks[Seat.ALICE]
    if step.action.verb != "reveal" or cards.hands is None or cards.final is None or mask is None:
        return []
    gave = in_a_row(faces(given(cards.hands[Seat.ALICE], mask)))
    return [
        ((f"  {hand.names[Seat.ALICE]} gave ", ""), *gave),
        *(line for seat in Seat for line in _final(f"  {hand.names[seat]}", cards.final, seat)),
    ]


def _final(label: str, final: Hands, seat: Seat) -> list[Line]:
    """Eight cards after the swap, the best five bright, and their name."""
    mask = best_selections(final)[seat]
    spans = [
        span if mask >> place & 1 else (span[0], "dim")
        for place, span in enumerate(faces(final[seat]))
    ]
    name = describe(best_hand(final[seat], mask).value)
    return [*pictures(label, spans), ((f"{'':<{LABEL}}", ""), (name, "cyan"))]


def _advice(own: Cards, others: Cards) -> list[Line]:
    """The discards that win most often."""
    mask = best_response(own, others)
    odds = discard_odds(own, others)[mask]
    return [
        ((f"{'hint':<{LABEL}}", "dim"), ("give away ", ""), *in_a_row(faces(given(own, mask)))),
        ((f"{'':<{LABEL}}{odds.text()}", "dim"),),
    ]
