"""A hand of Space Poker in lines for people.

A viewer sees what its own player knows and nothing else: its cards when it learns them, the board
as far as it is dealt, the opponent's cards only once they are shown.
"""

from __future__ import annotations

from itertools import combinations
from typing import TypeAlias

from channelsim.games.amounts import amount_text
from channelsim.games.betting import (
    action_lines,
    bet_between,
    bet_phrase,
    field,
    money_fields,
    size_fields,
)
from channelsim.games.cards import dimmed, face, pictures
from channelsim.games.contract import Hand, Line, Player, Position, Seat, Step, Terms
from channelsim.games.results import result_lines, showdown_lines, step_lines
from channelsim.games.spacepoker.cards import wins_toss
from channelsim.games.spacepoker.hands import boost_text, card_names, describe, value_of_five
from channelsim.games.spacepoker.player import Holding, KnownCards, SpacePokerPlayer
from channelsim.games.spacepoker.result import cards_of, hand_result, money, money_after, showdown
from channelsim.games.spacepoker.states import PRE_FLOP, BeginRound, MidRound

_DEALS = (("flop", 0, 3), ("turn", 3, 4), ("river", 4, 5))


class SpacePokerStory:
    """Lines about a hand; see `channelsim.games.contract.Story`."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step: its action, and the cards that became known before and after it."""
        step = hand.steps[-1]
        action = action_lines(hand, _phrase(hand, step), money_after)
        return step_lines(
            hand,
            viewer,
            cards_of,
            _dealt,
            [*_toss(hand, step), *action, *_answer_shown(hand, step)],
        )

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The result of the hand. Both hands are named only after a showdown."""
        lines = showdown_lines(hand, showdown(hand), describe, card_names)
        return [*lines, *result_lines(hand, hand_result(hand), "the pot is")]

    def move_between(self, terms: Terms, before: Position, after: Position) -> str:
        """The bet, call or check that led from one position to another; empty for other moves."""
        if after.over or not isinstance(before.state, BeginRound | MidRound):
            return ""
        if isinstance(before.state, BeginRound) and isinstance(after.state, BeginRound):
            return "pongs"
        return bet_between(money(terms, before), money(terms, after), before.mover, terms.unit)

    def view(self, player: Player) -> list[Line]:
        """The knowledge of this seat: its cards, the board, the money."""
        if not isinstance(player, SpacePokerPlayer):
            return []
        cards, terms = player.cards, player.terms
        lines: list[Line] = []
        if cards.own is not None:
            lines += _pictures("your cards", cards.own)
        if cards.other is not None:
            lines += _pictures("their cards", cards.other)
        lines += pictures("board", [face(rank) for rank in cards.board])
        if cards.own is not None and len(cards.board) >= 3:
            lines.append(field("your hand", _best_so_far(cards.own, cards.board)))
        state = player.position.state
        if isinstance(state, BeginRound) and state.street == PRE_FLOP:
            lines.append(field("the toss", "you open"))
        if not player.position.over:
            now = money(terms, player.position)
            lines += money_fields(now, player.seat, terms.unit)
            lines += size_fields(player.choices(), now, player.seat, terms.unit)
        lines.append(field("a unit", amount_text(terms.unit, 1)))
        return lines


_BySeat: TypeAlias = dict[Seat, KnownCards]


def _dealt(hand: Hand, before: _BySeat, after: _BySeat) -> list[Line]:
    lines: list[Line] = []
    drawn = len(after) > 1
    for seat, cards in after.items():
        if cards.own is not None and before[seat].own is None:
            lines += _dealt_cards(hand.names[seat], cards.own, drawn=drawn)
    had = max(len(cards.board) for cards in before.values())
    board = max((cards.board for cards in after.values()), key=len)
    for name, start, stop in _DEALS:
        if had < stop <= len(board):
            lines += _dealt_board(name, board[:start], board[start:stop], drawn=drawn)
    return lines


# A player sees its cards and the board drawn at each of its decisions; a spectator sees them drawn
# as they come.


def _dealt_cards(name: str, own: Holding, *, drawn: bool) -> list[Line]:
    if drawn:
        return _pictures(f"  {name}", own)
    return [((f"  {name}'s cards: ", ""), *_cards(own))]


def _dealt_board(
    street: str, known: tuple[int, ...], new: tuple[int, ...], *, drawn: bool
) -> list[Line]:
    if drawn:
        return pictures(f"  {street}", [*dimmed(map(face, known)), *map(face, new)])
    whole = f"  board {card_names(known + new)}" if known else ""
    return [((f"  {street}: ", "cyan"), (card_names(new), "bold"), (whole, "dim"))]


def _toss(hand: Hand, step: Step) -> list[Line]:
    """The player that opens, shown with Alice's first move of the first street."""
    state = step.before.state
    if not isinstance(state, BeginRound) or state.street != PRE_FLOP or step.seat is Seat.BOB:
        return []
    alice = step.players[Seat.ALICE]
    if not isinstance(alice, SpacePokerPlayer):
        return []
    opener = Seat.ALICE if wins_toss(alice.chain[PRE_FLOP], state.waiter_image) else Seat.BOB
    return [(("  the toss: ", "cyan"), (f"{hand.names[opener]} opens", ""))]


def _answer_shown(hand: Hand, step: Step) -> list[Line]:
    """The other player's cards, with a reveal: its last call has shown them."""
    other = cards_of(step.players[step.seat]).other if step.action.verb == "show" else None
    if other is None:
        return []
    return [((hand.names[step.seat.other], "bold"), (" has ", ""), *_cards(other))]


_PHRASES = {"commit": "commits", "check": "checks", "pong": "pongs", "accept": "accepts the result"}


def _phrase(hand: Hand, step: Step) -> str:
    """The action as a phrase."""
    unit, state, verb = hand.terms.unit, step.before.state, step.action.verb
    last_raise = state.last_raise if isinstance(state, MidRound) else 0
    match verb:
        case "commit" if step.seat is Seat.BOB:
            return f"commits; each puts in {amount_text(unit, unit)}"
        case "call" if not last_raise:
            return "checks too"
        case "bet" | "raise" | "call":
            is_bet = verb == "raise" and not last_raise
            mojos = last_raise if verb == "call" else step.action.amount
            now = money(hand.terms, step.after)
            return bet_phrase(hand, "bet" if is_bet else verb, mojos, now)
        case "show":
            holding = cards_of(step.players[step.seat]).own
            return f"shows {_text(_cards(holding))}" if holding else "shows"
        case "fold":
            return f"folds, keeping {amount_text(step.before.mover_share, unit)}"
    return _PHRASES[verb]


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)


def _cards(holding: Holding) -> Line:
    return ((card_names(holding.hole), "bold"), (f", {boost_text(holding.boost)}", ""))


def _pictures(label: str, holding: Holding) -> list[Line]:
    """A player's own cards, drawn, and its boost beside them."""
    top, middle, bottom = pictures(label, [face(rank) for rank in holding.hole])
    return [top, (*middle, (f"  {boost_text(holding.boost)}", "")), bottom]


def _best_so_far(holding: Holding, board: tuple[int, ...]) -> str:
    cards = holding.hole + board
    best = max(value_of_five(five, holding.boost) for five in combinations(cards, 5))
    return describe(best)
