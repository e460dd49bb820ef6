"""California Poker told to people: what happened, and what a player sees.

A viewer is told what its own player knows and nothing else: both hands once they are dealt,
its own discards when it picks them, the opponent's only when they are revealed.
"""

from __future__ import annotations

from games.amounts import spoken
from games.calpoker.chances import best_response, chances
from games.calpoker.deal import Cards, Hands, given
from games.calpoker.names import card_face, describe, signs
from games.calpoker.outcome import Shown, outcome, showdown, shown, sight_of
from games.calpoker.player import DISCARD, CalPokerPlayer
from games.calpoker.sight import best_selections
from games.cards import LABEL, in_a_row, pictures
from games.contract import Hand, Line, Player, Seat, Span, Step
from games.ending import told

PARTS = {"a": "deal", "b": "deal", "c": "opening", "d": "discards", "e": "showdown"}
"""The parts of a hand, by the validator of the move."""


class CaliforniaPokerStory:
    """How a hand is told; see `games.contract.Story`."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step: cards that came to be known before it, the action, and after it."""
        step = hand.steps[-1]
        earlier = hand.steps[-2].players if len(hand.steps) > 1 else step.players_before
        return [
            *_dealt(hand, viewer, earlier, step.players_before),
            *_action(hand, step, viewer),
            *_dealt(hand, viewer, step.players_before, step.players),
            *_swap(hand, step),
        ]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """How the hand ended. Both hands are named only when they were shown."""
        lines = [
            _shown_line(hand.names[seat], best)
            for seat, best in zip(Seat, showdown(hand) or (), strict=False)
        ]
        return [*lines, *told(hand, outcome(hand), "the stakes are")]

    def view(self, player: Player) -> list[Line]:
        """What this seat sees now: both hands, what wins most often, the stakes."""
        assert isinstance(player, CalPokerPlayer)
        sight, terms = player.sight, player.terms
        lines: list[Line] = []
        if sight.final is not None:
            lines += _final("your eight", sight.final, player.seat)
            lines += _final("their eight", sight.final, player.seat.other)
        elif sight.hands is not None:
            own, others = sight.hands[player.seat], sight.hands[player.seat.other]
            lines += pictures("your cards", _faces(own), numbered=True)
            lines += pictures("their cards", _faces(others))
            if DISCARD in player.choices():
                lines += _advice(own, others)
        stakes = f"the winner takes {spoken(terms.amount, terms.unit)}"
        lines.append(((f"{'stakes':<{LABEL}}", "dim"), (stakes, "")))
        return lines


def _dealt(
    hand: Hand, viewer: Seat | None, before: tuple[Player, Player], after: tuple[Player, Player]
) -> list[Line]:
    """Both hands, if the viewer (None: anybody) came to know them between the two."""
    seats = tuple(Seat) if viewer is None else (viewer,)
    if any(sight_of(before[seat]).hands is not None for seat in seats):
        return []
    hands = next((found for seat in seats if (found := sight_of(after[seat]).hands)), None)
    if hands is None:
        return []
    return [
        line
        for name, cards in zip(hand.names, hands, strict=True)
        for line in pictures(f"  {name}", _faces(cards))
    ]


def _action(hand: Hand, step: Step, viewer: Seat | None) -> list[Line]:
    name = (hand.names[step.seat], "bold")
    match step.action.verb:
        case "commit":
            return [(name, (" commits to one half of the deal", ""))]
        case "seed":
            return [(name, (" sends the other half, which fixes the cards", ""))]
        case "discard":
            return _discard(hand, step, viewer)
        case "reveal":
            return [(name, (" opens what was given away", ""))]
        case "fold":
            kept = spoken(step.before.mover_share, hand.terms.unit)
            return [(name, (f" folds, keeping {kept}", "red"))]
        case _:
            return [(name, (" accepts the result", ""))]


def _discard(hand: Hand, step: Step, viewer: Seat | None) -> list[Line]:
    """Who may know the cards is told which, and how good a choice that is."""
    name = (hand.names[step.seat], "bold")
    sight = sight_of(step.players[step.seat])
    mask = sight.masks[step.seat]
    if sight.hands is None or mask is None or viewer not in (None, step.seat):
        if step.seat is Seat.ALICE:
            return [(name, (" gives four cards away, face down", ""))]
        mask = step.action.amount  # Bob's choice is open: Alice is bound by then
    assert sight.hands is not None
    own, others = sight.hands[step.seat], sight.hands[step.seat.other]
    chance = chances(own, others)[mask]
    return [
        (name, (" gives away ", ""), *in_a_row(_faces(given(own, mask)))),
        ((f"  uniform answers: {chance.words()}", "dim"),),
    ]


def _swap(hand: Hand, step: Step) -> list[Line]:
    """With the reveal: what Alice gave, and what both hold then, the best five bright."""
    sight = sight_of(step.players[step.seat])
    mask = sight.masks[Seat.ALICE]
    if step.action.verb != "reveal" or sight.hands is None or sight.final is None or mask is None:
        return []
    gave = in_a_row(_faces(given(sight.hands[Seat.ALICE], mask)))
    return [
        ((f"  {hand.names[Seat.ALICE]} gave ", ""), *gave),
        *(line for seat in Seat for line in _final(f"  {hand.names[seat]}", sight.final, seat)),
    ]


def _final(label: str, final: Hands, seat: Seat) -> list[Line]:
    """Eight cards after the swap, the best five bright, and what they are worth."""
    mask = best_selections(final)[seat]
    faces = [
        card_face(card) if mask >> place & 1 else (card_face(card)[0], "dim")
        for place, card in enumerate(final[seat])
    ]
    name = describe(shown(final[seat], mask).value)
    return [*pictures(label, faces), ((f"{'':<{LABEL}}", ""), (name, "cyan"))]


def _advice(own: Cards, others: Cards) -> list[Line]:
    """What wins most often, for a person who has to decide."""
    mask = best_response(own, others)
    chance = chances(own, others)[mask]
    return [
        ((f"{'hint':<{LABEL}}", "dim"), ("give away ", ""), *in_a_row(_faces(given(own, mask)))),
        ((f"{'':<{LABEL}}{chance.words()}", "dim"),),
    ]


def _faces(cards: Cards) -> list[Span]:
    return [card_face(card) for card in cards]


def _shown_line(name: str, best: Shown) -> Line:
    return (
        (f"{name}: ", "bold"),
        (describe(best.value), ""),
        (f"  ({signs(best.five)})", "dim"),
    )
