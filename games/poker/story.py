"""A hand of a poker game in lines for people.

A viewer sees what its own player knows and nothing else: its cards when the opponent has opened
them, the board as far as it is dealt, the opponent's cards only once they are shown. Cards that
the viewer never sees are drawn face down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from channelsim.games.amounts import amount_text, counted
from channelsim.games.betting import (
    action_lines,
    bet_between,
    bet_phrase,
    field,
    money_fields,
    pot_line,
    size_fields,
)
from channelsim.games.cards import dimmed, faces, pictures, signs
from channelsim.games.contract import Hand, Line, Player, Position, Seat, Span, Step, Terms
from channelsim.games.poker.arranging import arranged
from channelsim.games.poker.known_cards import KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.result import (
    best_hand,
    cards_of,
    describe,
    hand_result,
    low_name,
    money,
    money_after,
    name_of,
    shown_cards,
    shown_rows,
    value_of_key,
)
from channelsim.games.poker.selections import best_low, is_whole
from channelsim.games.poker.states import Begin, Deal, Mid, Showdown
from channelsim.games.poker.terms import passed_out, stakes
from channelsim.games.poker.validators import draws_with_call
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.results import best_hand_line, result_lines, step_lines

FACE_DOWN: Span = ("▒▒▒", "dim")

IN_A_ROW = 10
"""The cards that fit into a line."""


class PokerStory:
    """Lines about a hand; see `channelsim.games.contract.Story`."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step: its action, and the cards that became known before and after it."""
        step = hand.steps[-1]
        action = action_lines(hand, _phrase(hand, step), money_after)
        return step_lines(hand, viewer, cards_of, _dealt, [*action, *_posted(hand, step)])

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The result of the hand. Both hands are named only if both were shown; otherwise those
        that the viewer does not know are face down, and a folded one is dim."""
        result, cards, rows = hand_result(hand), shown_cards(hand), shown_rows(hand)
        lines: list[Line] = []
        for name, shown in zip(hand.names, cards or (), strict=False):
            lines += _hand_lines(VARIANTS[hand.terms.game].showdown, name, shown)
        for name, shown in zip(hand.names, rows or (), strict=False):
            lines += _rows_lines(name, shown)
        if cards is None and rows is None and hand.steps:
            lines += _left_over(hand, viewer, result.winner)
        halves = VARIANTS[hand.terms.game].showdown.low and cards is not None
        split = f"{result.by}: the pot is" if halves or passed_out(hand) else "the pot is"
        return [*lines, *result_lines(hand, result, split)]

    def move_between(self, terms: Terms, before: Position, after: Position) -> str:
        """The bet, call or check that led from one position to another; empty for other moves."""
        is_raise: bool | None = None
        match before.state, after.state:
            case Begin(), Mid():
                pass
            case Mid(raises=raises, brought_in=brought_in), _ if not after.over:
                is_raise = raises > 0 or bool(brought_in)
            case _:
                return ""
        then, now = money(terms, before), money(terms, after)
        return bet_between(then, now, before.mover, terms.unit, is_raise=is_raise)

    def view(self, player: Player) -> list[Line]:
        """The knowledge of this seat: its cards, the board, the best hand so far, the money."""
        if not isinstance(player, PokerPlayer):
            return []
        terms, cards = player.terms, player.cards
        own = (*cards.own, *cards.own_up)
        lines: list[Line] = []
        if own:
            lines += _pictures("your cards", faces(own))
            if cards.own_up:
                lines.append(field("face up", signs(cards.own_up)))
            others = (*cards.others, *cards.others_up)
            hidden = len(own) - len(others)
            lines += _pictures("their cards", [*[FACE_DOWN] * hidden, *faces(others)])
        if cards.board:
            lines += pictures("board", faces(cards.board))
        if is_whole(player.showdown, own, cards.board):
            known = (*own, *cards.board)
            best = best_hand(player.showdown, known)
            lines.append(field("your hand", name_of(player.showdown, best.value)))
            if player.showdown.low:
                lines.append(field("your low", _low(player.showdown, known)))
        if not player.position.over:
            now = money(terms, player.position)
            lines += money_fields(now, player.seat, terms.unit)
            lines += size_fields(player.choices(), now, player.seat, terms.unit)
        lines.append(field("a unit", amount_text(terms.unit, 1)))
        return lines


_BySeat: TypeAlias = dict[Seat, KnownCards]


def _dealt(hand: Hand, before: _BySeat, after: _BySeat) -> list[Line]:
    lines: list[Line] = []
    for seat, cards in after.items():
        known, own = len(_own(before[seat])), _own(cards)
        lines += _row(hand.names[seat], own, known) if len(own) > known else []
    had = max(len(cards.board) for cards in before.values())
    board = max((cards.board for cards in after.values()), key=len)
    return [*lines, *(_row("board", board, had) if len(board) > had else [])]


def _own(cards: KnownCards) -> tuple[int, ...]:
    return (*cards.own, *cards.own_up)


def _row(label: str, cards: Sequence[int], known: int) -> list[Line]:
    """Cards in a row, those that were known already dim."""
    return _pictures(f"  {label}", [*dimmed(faces(cards[:known])), *faces(cards[known:])])


def _pictures(label: str, spans: Sequence[Span]) -> list[Line]:
    """Cards in as many rows as they need."""
    lines = pictures(label, spans[:IN_A_ROW])
    if len(spans) > IN_A_ROW:
        lines += pictures("", spans[IN_A_ROW:])
    return lines


def _hand_lines(rules: Showdown, name: str, cards: tuple[int, ...]) -> list[Line]:
    """A player's best hand and, where half of the pot goes to the lowest hand, its best low."""
    best = best_hand(rules, cards)
    lines = [best_hand_line(name, name_of(rules, best.value), signs(best.five))]
    return [*lines, ((f"  low: {_low(rules, cards)}", "dim"),)] if rules.low else lines


def _low(rules: Showdown, cards: tuple[int, ...]) -> str:
    """The best low hand by name."""
    low = best_low(rules, cards)
    return low_name(value_of_key(low.key)) if low else "none"


def _rows_lines(name: str, cards: tuple[int, ...]) -> list[Line]:
    """Arranged cards row by row from the top, and what each row is."""
    rows = cards[:3], cards[3:8], cards[8:]
    hand = arranged(cards)
    named = "; ".join(describe(value_of_key(key)) for key in hand.keys)
    foul = " (foul: a row is stronger than the one below it)" if hand.foul else ""
    return [field(name, "  ".join(map(signs, rows))), ((f"  {named}{foul}", "dim"),)]


def _posted(hand: Hand, step: Step) -> list[Line]:
    """Who has the button, and what both have put in before the first card."""
    state = step.before.state
    if not isinstance(state, Deal):
        return []
    variant, unit = VARIANTS[hand.terms.game], hand.terms.unit
    button = step.seat if state.seats.button else step.seat.other
    chips = stakes(variant, hand.terms)
    posted = [f"  {hand.names[button]} has the button"]
    if chips.ante:
        posted.append(f"antes of {amount_text(chips.ante * unit, unit)}")
    if variant.blinds:
        small, big = (amount_text(blind * unit, unit) for blind in (chips.small_blind, chips.bet))
        posted.append(f"blinds of {small} and {big}")
    line: Line = (("; ".join(posted), "dim"),)
    return [line, pot_line(hand, money_after(hand.terms, ()))]


def _left_over(hand: Hand, viewer: Seat | None, winner: Seat | None) -> list[Line]:
    """The private and open cards of both players, when they were not all shown."""
    players = hand.steps[-1].players
    lines: list[Line] = []
    for seat in Seat:
        own = _own(cards_of(players[seat]))
        if viewer in (None, seat):
            spans = faces(own)
        else:
            seen = cards_of(players[viewer])
            known = (*seen.others, *seen.others_up)
            spans = [*[FACE_DOWN] * (len(own) - len(known)), *faces(known)]
        lost = winner is seat.other
        lines += _pictures(f"  {hand.names[seat]}", dimmed(spans) if lost else spans)
    return lines


_PHRASES = {
    "deal": "opens the other player's cards",
    "pong": "opens what is due",
    "arrange": "arranges thirteen cards",
    "bring-in": "brings in",
    "muck": "mucks",
    "accept": "accepts the result",
}


def _phrase(hand: Hand, step: Step) -> str:
    """The action as a phrase."""
    unit, state, verb = hand.terms.unit, step.before.state, step.action.verb
    match verb:
        case "check":
            return f"checks{_replacing(step)}"
        case "discard":
            return f"replaces {counted(step.action.amount.bit_count(), 'card')}"
        case "bet" | "raise" | "call":
            mojos = step.action.amount
            if verb == "call" and isinstance(state, Begin | Mid):
                mojos = (state.pot.waiter - state.pot.mover) * unit
            now = money(hand.terms, step.after)
            return bet_phrase(hand, verb, mojos, now) + (_replacing(step) if verb == "call" else "")
        case "show":
            rows = shown_rows(hand)
            return (
                f"shows {signs(rows[step.seat] if rows else cards_of(step.players[step.seat]).own)}"
            )
        case "fold":
            return f"folds, keeping {amount_text(step.before.mover_share, unit)}"
    return _PHRASES[verb]


def _replacing(step: Step) -> str:
    """What a call or check before the draw says about it."""
    state = step.before.state
    if not isinstance(state, Mid) or not draws_with_call(state):
        return ""
    return f" and replaces {counted(step.action.amount.bit_count(), 'card')}"
