"""Random hands of every game and structure, decision by decision, as another library plays them.

Where the library plays by other rules, it is set up or corrected, each time with the reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest
from pokerkit import (
    Automation,
    BettingStructure,
    Card,
    Deck,
    EightOrBetterLowHand,
    OmahaEightOrBetterLowHand,
    OmahaHoldemHand,
    Opening,
    RegularLowHand,
    StandardHighHand,
    StandardLowHand,
    State,
    Street,
)

from channelsim.games.chance import Chance
from channelsim.games.contract import Valid
from channelsim.games.poker.limits import First, Forced, Structure
from channelsim.games.poker.openings import is_own
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    BUTTONS_UP,
    OTHERS,
    OTHERS_UP,
    Begin,
    Draw,
    End,
    Kind,
    Mid,
)
from channelsim.games.poker.terms import Stakes
from channelsim.games.poker.validators import CALL, passes_out
from channelsim.games.poker.variants import SMALL, Variant
from tests.games.poker.hands import ROWS, Hand, Turn
from tests.games.poker.test_ranking import renamed

AUTOMATIONS = tuple(
    one
    for one in Automation
    if one not in (Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.CARD_BURNING)
)

STRUCTURES = {
    Structure.NO_LIMIT: BettingStructure.NO_LIMIT,
    Structure.POT_LIMIT: BettingStructure.POT_LIMIT,
    Structure.FIXED_LIMIT: BettingStructure.FIXED_LIMIT,
}

OPENINGS = {
    First.OTHER: Opening.POSITION,
    First.BUTTON: Opening.POSITION,
    First.BETTOR: Opening.POSITION,
    First.HIGHEST: Opening.HIGH_HAND,
    First.LOWEST: Opening.LOW_CARD,
    First.HIGHEST_ACE_LOW: Opening.HIGH_CARD,
    First.LOWEST_ACE_LOW: Opening.LOW_HAND,
}

HANDS = {0: StandardHighHand, 1: StandardLowHand, 2: StandardLowHand, 3: RegularLowHand}
"""By the number of a ranking; cards are renamed for the order ace to six."""


def hand_types(variant: Variant) -> tuple[type, ...]:
    if variant.showdown.mask_size == 2:
        both: tuple[type, type] = (OmahaHoldemHand, OmahaEightOrBetterLowHand)
    else:
        both = (HANDS[variant.showdown.ranking], EightOrBetterLowHand)
    return both if variant.showdown.low else both[:1]


@cache
def library_card(card: int) -> Card:
    (found,) = Card.parse("23456789TJQKA"[card // 4] + "cdhs"[card % 4])
    return found


def library_state(variant: Variant, stakes: Stakes) -> State:
    """The same game there: player 0 is the other seat, player 1 the button."""
    fixed = stakes.structure is Structure.FIXED_LIMIT
    streets = []
    for number, one in enumerate(variant.rounds):
        if one.kind is not Kind.BET:
            continue
        drawn = number > 0 and variant.rounds[number - 1].kind is not Kind.BET
        whose = [who for _, who in one.deal if who in (OTHERS, OTHERS_UP)]
        # It counts no blind as a bet.
        cap = stakes.cap + (0 if variant.blinds and number == 0 else 1)
        streets.append(
            Street(
                False,
                tuple(who == OTHERS_UP for who in whose),
                sum(who == BOARD for _, who in one.deal),
                drawn,
                OPENINGS[one.first],
                stakes.bet * (one.bets if fixed else SMALL),
                cap if fixed else None,
            )
        )
    return State(
        AUTOMATIONS,
        Deck.STANDARD,
        hand_types(variant),
        tuple(streets),
        STRUCTURES[stakes.structure],
        True,
        stakes.ante,
        (stakes.small_blind, stakes.bet) if variant.blinds else 0,
        stakes.bring_in,
        (stakes.stake, stakes.stake),
        2,
    )


@dataclass
class Mirror:
    """A hand, and the same one in the library."""

    hand: Hand

    def __post_init__(self) -> None:
        variant = self.hand.variant
        self.theirs = library_state(variant, self.hand.stakes)
        self.left = [one for one in variant.rounds if one.kind is Kind.BET]
        self.decisions = 0
        self.bettor = 0
        self.discards: list[tuple[int, ...]] = []
        self.renames = variant.showdown.ranking == 2

    def card(self, number: int) -> Card:
        return library_card(renamed(number) if self.renames else number)

    def deal(self) -> None:
        """Deal there what the schedule deals here."""
        theirs = self.theirs
        while self.left and (theirs.can_deal_hole() or theirs.can_deal_board()):
            for position, who in self.left.pop(0).deal:
                card = self.card(self.hand.card(position))
                if who == BOARD:
                    theirs.deal_board((card,))
                else:
                    theirs.deal_hole((card,), int(who in (BUTTONS, BUTTONS_UP)))
            self.break_ties()

    def break_ties(self) -> None:
        """It leaves a tie of the first open cards to player 0; here suits decide (STUD-2)."""
        theirs, first = self.theirs, self.hand.variant.rounds[0].first
        if first is First.HIGHEST and theirs.street_index == 0 and theirs.actor_indices:
            ups = [theirs.get_up_cards(player) for player in (0, 1)]
            numbers = [self.number(*up) for up in map(tuple, ups)]
            if numbers[1] > numbers[0] and theirs.actor_indices[0] == 0:
                assert numbers[0] // 4 == numbers[1] // 4
                self.rotate()

    def number(self, card: Card) -> int:
        return 4 * "23456789TJQKA".index(card.rank) + "cdhs".index(card.suit)

    def rotate(self) -> None:
        self.theirs.actor_indices.rotate(1)
        self.theirs.opener_index = self.theirs.actor_indices[0]

    def decision(self, turn: Turn) -> None:
        """Compare what the mover may do, and do there what it does."""
        state, theirs = turn.state, self.theirs
        assert isinstance(state, Begin | Mid)
        raises = self.hand.raises(state)
        owed = state.pot.waiter - state.pot.mover
        if theirs.actor_index is None:
            assert not raises
            assert not owed
            return
        mover = state.seats.button
        assert theirs.actor_index == mover
        self.decisions += 1
        due = isinstance(state, Begin) and state.forced
        amount = added(turn)
        if due == Forced.BRING_IN:
            assert theirs.can_post_bring_in()
            assert theirs.effective_bring_in_amount == state.table.bring_in
            assert not theirs.can_check_or_call()
            raises.remove(state.table.bring_in)
        elif due != Forced.OPENING:
            assert theirs.checking_or_calling_amount == owed
        earlier = self.hand.stakes.stake - theirs.stacks[mover] - theirs.bets[mover]
        assert bool(raises) == theirs.can_complete_bet_or_raise_to()
        if raises and due != Forced.OPENING:
            assert state.pot.waiter + raises[0] - earlier == (
                theirs.min_completion_betting_or_raising_to_amount
            )
            assert state.pot.waiter + raises[-1] - earlier == (
                theirs.max_completion_betting_or_raising_to_amount
            )
        if due == Forced.BRING_IN and amount == state.table.bring_in:
            theirs.post_bring_in()
        elif amount:
            theirs.complete_bet_or_raise_to(state.pot.waiter + amount - earlier)
            if theirs.street_index == 0 and not self.hand.variant.blinds and self.bets == 0:
                self.bettor = mover
            self.bets += 1
        else:
            theirs.check_or_call()

    bets = 0

    def draw(self, seat: int, hand: tuple[int, ...], mask: int, new: list[int]) -> None:
        """Discard there; both players draw before the cards are dealt."""
        out = [self.card(one) for number, one in enumerate(hand) if mask >> number & 1]
        assert self.theirs.stand_patter_or_discarder_index == seat
        self.theirs.stand_pat_or_discard(out)
        self.discards.append(tuple(new[: len(out)]))
        if len(self.discards) == 2:
            for player, cards in enumerate(self.discards):
                for card in cards:
                    self.theirs.deal_hole((self.card(card),), player)
            if self.bettor and len(self.theirs.actor_indices) == 2:
                self.rotate()

    def play(self) -> None:
        """Play the hand out, and compare the stacks."""
        self.deal()
        last = None
        for turn in self.hand.turns():
            state = turn.state
            last = turn
            if isinstance(state, Mid) and turn.move[:1] == CALL and passes_out(state):
                # It goes on to the draw.
                assert self.theirs.stacks == [self.hand.stakes.stake - self.hand.stakes.ante] * 2
                assert turn.share == self.hand.stakes.unit * self.hand.stakes.stake
                return
            if self.folds(turn):
                return
            if isinstance(state, Mid) or (isinstance(state, Begin) and self.hand.acts_now(state)):
                self.decision(turn)
            if (drawn := self.drawn(turn)) is not None:
                self.draw(*drawn)
            else:
                self.deal()
        assert last is not None
        assert isinstance(last.state, End)
        self.compare(last.state.seats.button, last.share)

    def drawn(self, turn: Turn) -> tuple[int, tuple[int, ...], int, list[int]] | None:
        """A draw in a move: the seat, its hand, the mask, and the cards that it may get."""
        state = turn.state
        if isinstance(state, Draw):
            street = state.streets[0]
        elif isinstance(state, Mid) and turn.move[:1] == CALL and len(turn.move) == 2:
            street = state.streets[1]
        else:
            return None
        new = [self.hand.card(at) for at, who in street.deal if is_own(who, state.seats)]
        held = state.known.movers
        return state.seats.button, self.hand.cards(held), turn.move[-1], new

    def folds(self, turn: Turn) -> bool:
        """Fold at times when the mover owes chips, and compare the stacks."""
        state = turn.state
        if not isinstance(state, Mid) or state.pot.waiter == state.pot.mover:
            return False
        if self.hand.chance.below(12):
            return False
        self.theirs.fold()
        # What the waiter declared for this mover when it made the last move.
        self.compare(
            1 - state.seats.button,
            self.hand.stakes.unit * (self.hand.stakes.stake - state.pot.mover),
        )
        return True

    def compare(self, mover: int, share: int) -> None:
        """`share` is that of the player that did not move last."""
        stakes = self.hand.stakes
        assert not self.theirs.status
        waiter = share // stakes.unit
        expected = [waiter, waiter]
        expected[mover] = 2 * stakes.stake - waiter
        if self.theirs.stacks != expected:
            # Both halves are tied: there each odd chip goes to player 0, here nobody wins any.
            assert self.hand.variant.showdown.low
            assert expected == [stakes.stake, stakes.stake]
            assert self.theirs.stacks == [stakes.stake + 1, stakes.stake - 1]


def added(turn: Turn) -> int:
    """The bet or raise of a move; 0 for a check or call."""
    assert isinstance(turn.verdict, Valid)
    if isinstance(turn.state, Mid) and turn.move[:1] == CALL:
        return 0
    assert turn.verdict.next is not None
    assert isinstance(turn.verdict.next.state, Mid)
    return turn.verdict.next.state.last


def random_stakes(variant: Variant, chance: Chance) -> Stakes:
    """Any structure and size; stakes are often small, so that players are all-in often."""
    bet = 2 * (1 + chance.below(4))
    blind = bet // 2 if variant.blinds else 0
    ante = chance.pick((0, 0, 1)) if variant.blinds else 1 + chance.below(3)
    bring_in = 1 + chance.below(bet - 1) if variant.forced is Forced.BRING_IN else 0
    stake = ante + bet + chance.below(chance.pick((4, 20, 60, 200)))
    structure, cap = Structure(chance.below(3)), chance.pick((1, 3, 3, 50))
    return Stakes(1, stake, blind, bet, structure, cap, ante, bring_in)


def compare_hands(count: int, seed: str) -> Counter[str]:
    """Play hands of all games in turn; return the decisions that were compared, by game."""
    rows = [row for row in ROWS.values() if not row.arranges]
    decisions: Counter[str] = Counter()
    for number in range(count):
        variant = rows[number % len(rows)]
        chance = Chance(f"{seed} {number}".encode())
        stakes = random_stakes(variant, chance)
        mirror = Mirror(Hand(f"{seed} {number}", stakes, variant, bold=1 + chance.below(4)))
        mirror.play()
        decisions[variant.name] += mirror.decisions
    return decisions


def test_every_decision_is_that_of_another_library() -> None:
    decisions = compare_hands(250, "quick")
    assert len(decisions) == len(ROWS) - 1
    assert min(decisions.values()) > 25


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_very_many_decisions_are_those_of_another_library(part: int) -> None:
    """100,000 hands in all; a good half of the time is the other library's."""
    compare_hands(25_000, f"long {part}")
