"""Space Poker told to people: what happened, and what a player sees.

A viewer is told what its own player knows and nothing else: its cards when it learns them,
the board as far as it sees it, the opponent's cards only once they are shown.
"""

from __future__ import annotations

from itertools import combinations

from games.amounts import spoken
from games.cards import LABEL, face, pictures
from games.contract import Hand, Line, Player, Seat, Step, Terms
from games.ending import told
from games.spacepoker.entropy import wins_toss
from games.spacepoker.hands import value_of_five
from games.spacepoker.money import Money, money
from games.spacepoker.names import boost_sign, describe, in_cards
from games.spacepoker.outcome import Shown, money_after, outcome, showdown, sight_of
from games.spacepoker.player import SpacePokerPlayer
from games.spacepoker.sight import Holding
from games.spacepoker.states import PRE_FLOP, BeginRound, MidRound

_DEALS = (("flop", 0, 3), ("turn", 3, 4), ("river", 4, 5))


class SpacePokerStory:
    """How a hand is told; see `games.contract.Story`."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step: cards that came to be known before it, the action, and after it."""
        step = hand.steps[-1]
        earlier = hand.steps[-2].players if len(hand.steps) > 1 else step.players_before
        return [
            *_dealt(hand, viewer, earlier, step.players_before),
            *_toss(hand, step),
            *_action(hand, step),
            *_answer_shown(hand, step),
            *_dealt(hand, viewer, step.players_before, step.players),
        ]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """How the hand ended. Both hands are named only when they were shown."""
        lines = [
            _shown_line(hand.names[seat], shown)
            for seat, shown in zip(Seat, showdown(hand) or (), strict=False)
        ]
        return [*lines, *told(hand, outcome(hand), "the pot is")]

    def view(self, player: Player) -> list[Line]:
        """What this seat sees now: its cards, the board, the money."""
        assert isinstance(player, SpacePokerPlayer)
        sight, terms = player.sight, player.terms
        lines: list[Line] = []
        if sight.own is not None:
            lines += _pictures("your cards", sight.own)
        if sight.other is not None:
            lines += _pictures("their cards", sight.other)
        lines += pictures("board", [face(rank) for rank in sight.board])
        if sight.own is not None and len(sight.board) >= 3:
            lines.append(_field("your hand", _best_so_far(sight.own, sight.board)))
        state = player.position.state
        if isinstance(state, BeginRound) and state.street == PRE_FLOP:
            lines.append(_field("the toss", "you open"))
        if not player.position.over:
            now = money(terms, player.position)
            mine, yours = now.stacks[player.seat], now.stacks[player.seat.other]
            left = f"you {spoken(mine, terms.unit)}, the other player {spoken(yours, terms.unit)}"
            lines += [_field("pot", spoken(now.pot, terms.unit)), _field("left", left)]
        lines.append(_field("a unit", spoken(terms.unit, 1)))
        return lines


def _dealt(
    hand: Hand, viewer: Seat | None, before: tuple[Player, Player], after: tuple[Player, Player]
) -> list[Line]:
    """The cards that the viewer (None: both players together) came to know between the two."""
    lines: list[Line] = []
    seats = tuple(Seat) if viewer is None else (viewer,)
    for seat in seats:
        own = sight_of(after[seat]).own
        if own is not None and sight_of(before[seat]).own is None:
            lines += _told_cards(hand.names[seat], own, drawn=viewer is None)
    had = max(len(sight_of(before[seat]).board) for seat in seats)
    board = max((sight_of(after[seat]).board for seat in seats), key=len)
    for name, start, stop in _DEALS:
        if had < stop <= len(board):
            lines += _told_board(name, board[:start], board[start:stop], drawn=viewer is None)
    return lines


# Who plays sees its cards and the board drawn whenever it has to decide; who only watches
# sees them drawn as they come.


def _told_cards(name: str, own: Holding, *, drawn: bool) -> list[Line]:
    if drawn:
        return _pictures(f"  {name}", own)
    return [((f"  {name}'s cards: ", ""), *_cards(own))]


def _told_board(
    street: str, known: tuple[int, ...], new: tuple[int, ...], *, drawn: bool
) -> list[Line]:
    if drawn:
        faces = [(face(rank)[0], "dim") for rank in known] + [face(rank) for rank in new]
        return pictures(f"  {street}", faces)
    whole = f"  board {in_cards(known + new)}" if known else ""
    return [((f"  {street}: ", "cyan"), (in_cards(new), "bold"), (whole, "dim"))]


def _toss(hand: Hand, step: Step) -> list[Line]:
    """Who opens, told with Alice's first move of the first street."""
    state = step.before.state
    if not isinstance(state, BeginRound) or state.street != PRE_FLOP or step.seat is Seat.BOB:
        return []
    alice = step.players[Seat.ALICE]
    assert isinstance(alice, SpacePokerPlayer)
    opener = Seat.ALICE if wins_toss(alice.chain[PRE_FLOP], state.waiter_image) else Seat.BOB
    return [(("  the toss: ", "cyan"), (f"{hand.names[opener]} opens", ""))]


def _action(hand: Hand, step: Step) -> list[Line]:
    """What was done, and below it what that left, if money moved."""
    name = (hand.names[step.seat], "bold")
    text = f" {_words(hand.terms, step)}"
    if step.action.verb == "fold":
        return [(name, (text, "red"))]
    before, now = money_after(hand.terms, hand.steps[:-1]), money_after(hand.terms, hand.steps)
    moved: list[Line] = [((_money(hand, now), "dim"),)] if now != before else []
    return [(name, (text, "")), *moved]


def _answer_shown(hand: Hand, step: Step) -> list[Line]:
    """With a reveal, the other player's cards are open as well: its last call showed them."""
    other = sight_of(step.players[step.seat]).other if step.action.verb == "show" else None
    if other is None:
        return []
    return [((hand.names[step.seat.other], "bold"), (" has ", ""), *_cards(other))]


def _words(terms: Terms, step: Step) -> str:
    """What was done, in words."""
    unit, state = terms.unit, step.before.state
    match step.action.verb:
        case "commit" if step.seat is Seat.BOB:
            return f"commits; each puts in {spoken(unit, unit)}"
        case "commit":
            return "commits"
        case "check":
            return "checks"
        case "pong":
            return "pongs"
        case "bet":
            return f"bets {spoken(step.action.amount, unit)}" + _if_all_in(terms, step)
        case "raise" if isinstance(state, MidRound) and state.last_raise == 0:
            return f"bets {spoken(step.action.amount, unit)}" + _if_all_in(terms, step)
        case "raise":
            return f"raises by {spoken(step.action.amount, unit)}" + _if_all_in(terms, step)
        case "call" if isinstance(state, MidRound) and state.last_raise:
            return f"calls {spoken(state.last_raise, unit)}" + _if_all_in(terms, step)
        case "call":
            return "checks too"
        case "show":
            holding = sight_of(step.players[step.seat]).own
            assert holding is not None
            return f"shows {in_cards(holding.hole)}, {boost_sign(holding.boost)} boost"
        case "fold":
            return f"folds, keeping {spoken(step.before.mover_share, unit)}"
        case _:
            return "accepts the result"


def _if_all_in(terms: Terms, step: Step) -> str:
    return " and is all-in" if money(terms, step.after).stacks[step.seat] == 0 else ""


def _money(hand: Hand, now: Money) -> str:
    (alice, bob), (alices, bobs) = hand.names, now.stacks
    pot = spoken(now.pot, hand.terms.unit)
    return f"  pot {pot}; left: {alice} {alices}, {bob} {spoken(bobs, 1)}"


def _cards(holding: Holding) -> Line:
    return ((in_cards(holding.hole), "bold"), (f", {boost_sign(holding.boost)} boost", ""))


def _pictures(label: str, holding: Holding) -> list[Line]:
    """A player's own cards, drawn, and its boost beside them."""
    top, middle, bottom = pictures(label, [face(rank) for rank in holding.hole])
    return [top, (*middle, (f"  {boost_sign(holding.boost)} boost", "")), bottom]


def _field(label: str, text: str) -> Line:
    return ((f"{label:<{LABEL}}", "dim"), (text, ""))


def _best_so_far(holding: Holding, board: tuple[int, ...]) -> str:
    cards = holding.hole + board
    best = max(value_of_five(five, holding.boost) for five in combinations(cards, 5))
    return describe(best)


def _shown_line(name: str, shown: Shown) -> Line:
    return (
        (f"{name}: ", "bold"),
        (describe(shown.value), ""),
        (f"  ({in_cards(shown.five)})", "dim"),
    )
