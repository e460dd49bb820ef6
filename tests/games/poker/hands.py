"""Hands of poker with a prepared deck, played by the rules: what an honest player sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from channelsim.clsp.programs import load
from channelsim.clsp.values import NIL, Value, int_to_atom
from channelsim.games.chance import Chance
from channelsim.games.contract import Next, Valid, Verdict
from channelsim.games.deck.group import G1
from channelsim.games.deck.secrets import encode_scalars, permutation
from channelsim.games.deck.terms import card_points
from channelsim.games.poker import arranging, validators
from channelsim.games.poker.arranging import commitment
from channelsim.games.poker.limits import First, Forced, Structure, acts_first
from channelsim.games.poker.openings import dealt_by_call, is_own
from channelsim.games.poker.selections import best_masks, claimed, quarters_won
from channelsim.games.poker.states import (
    BUTTONS_UP,
    OTHERS_UP,
    Begin,
    Commit,
    Deal,
    Draw,
    End,
    Held,
    Kind,
    Lock,
    Mid,
    Owed,
    Rows,
    Score,
    Seats,
    Show,
)
from channelsim.games.poker.terms import Stakes, first_state
from channelsim.games.poker.validators import limits_facing, passes_out
from channelsim.games.poker.variants import BIG, SMALL, VARIANTS, Round, Variant, seven_stud

BLIND_DRAW = (
    Round(First.BUTTON, SMALL, VARIANTS["five-draw"].rounds[0].deal),
    Round(First.OTHER, 0, VARIANTS["five-draw"].rounds[1].deal, Kind.DRAW),
    Round(First.OTHER, BIG, ()),
)
"""A draw game with blinds."""

OPTIONS = (
    replace(VARIANTS["five-draw"], name="five-draw-blinds", rounds=BLIND_DRAW, blinds=True),
    replace(VARIANTS["lowball-27"], name="lowball-27-blinds", rounds=BLIND_DRAW, blinds=True),
    replace(VARIANTS["five-stud"], name="five-stud-open", forced=Forced.OPENING),
    replace(
        VARIANTS["seven-stud"],
        name="seven-stud-high",
        rounds=seven_stud(First.HIGHEST),
        forced=Forced.NONE,
    ),
)
"""Other forms of these games, which the validators judge as well; they are not registered."""

ROWS = {**VARIANTS, **{row.name: row for row in OPTIONS}}
"""Every game that the validators judge."""

VALIDATORS = {**validators.VALIDATORS, **arranging.VALIDATORS}
HASHES = {name: load(f"poker/{name}").hash for name in VALIDATORS}
GROUP = G1()

State: TypeAlias = Deal | Begin | Mid | Draw | Show | End | Commit | Rows | Score


@dataclass(frozen=True)
class Pack:
    """A pack behind locks, with all secrets: hands take any of its positions in any order."""

    deck_id: bytes
    locks: tuple[Lock, ...]
    scalars: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    """Of the initiator and of the receiver."""
    cards: tuple[int, ...]


@cache
def pack() -> Pack:
    """One pack for all hands, so that its openings are checked once."""
    chance = Chance(b"pack")
    deck_id = chance.bytes(32)
    cards = permutation(chance.bytes(32))
    points = card_points(GROUP, deck_id)
    sides = [[1 + chance.below(GROUP.order - 1) for _ in cards] for _ in range(2)]
    both = [k * m % GROUP.order for k, m in zip(*sides, strict=True)]
    locked = GROUP.multiply([(k, points[card]) for k, card in zip(both, cards, strict=True)])
    keys = [GROUP.multiply([(k, GROUP.base) for k in side]) for side in sides]
    locks = tuple(map(Lock, locked, *keys))
    alices, bobs = (tuple(encode_scalars([k]) for k in side) for side in sides)
    return Pack(deck_id, locks, (alices, bobs), tuple(cards))


@dataclass(frozen=True)
class Turn:
    """A validator about to judge an honest move."""

    validator: str
    state: State
    move: bytes
    share: int
    evidence: Value
    verdict: Verdict


@dataclass
class Hand:
    """A hand between two players that know both sides' locks, so that tests can see every card."""

    seed: str
    stakes: Stakes
    variant: Variant = VARIANTS["holdem"]
    bold: int = 4
    """One answer in this many is a raise."""
    deck: tuple[int, ...] = ()
    """The cards at the first positions; the rest of the pack follows in random order."""
    rows: tuple[int, ...] = ()
    """Cards in the order in which their owner arranges them."""

    def __post_init__(self) -> None:
        self.chance = Chance(self.seed.encode())
        places = {card: place for place, card in enumerate(pack().cards)}
        chosen = [places[card] for card in self.deck]
        others = [at for at in permutation(self.chance.bytes(32)) if at not in chosen]
        self.order = (*chosen, *others)[: self.variant.positions]
        locks = tuple(pack().locks[at] for at in self.order)
        initiator = self.chance.below(2)
        self.first = first_state(self.variant, self.stakes, pack().deck_id, locks, initiator)
        self.arrangement = b""

    def card(self, position: int) -> int:
        return pack().cards[self.order[position]]

    def opening(self, position: int, seats: Seats) -> bytes:
        return pack().scalars[1 - seats.initiator][self.order[position]]

    def opening_and_card(self, position: int, seats: Seats) -> bytes:
        return self.opening(position, seats) + bytes((self.card(position),))

    def owed(self, pending: tuple[Owed, ...], seats: Seats) -> bytes:
        return b"".join(
            self.opening_and_card(one.position, seats)
            if one.scalar
            else self.opening(one.position, seats)
            for one in pending
        )

    def locks(self, deal: tuple[tuple[int, int], ...], seats: Seats) -> bytes:
        return b"".join(self.opening(at, seats) for at, who in deal if not is_own(who, seats))

    def held(self, held: Held, seats: Seats) -> bytes:
        return b"".join(self.opening_and_card(at, seats) for at, _ in held)

    def cards(self, held: Held) -> tuple[int, ...]:
        return tuple(self.card(at) for at, _ in held)

    def turns(self) -> Iterator[Turn]:
        """Play the hand with random choices."""
        validator, state = "deal", self.first
        while True:
            move, evidence = self.choose(state)
            turn = self.turn(validator, state, move, evidence)
            yield turn
            assert isinstance(turn.verdict, Valid), (validator, turn.verdict)
            step: Next | None = turn.verdict.next
            if step is None:
                return
            validator, state = step.validator, step.state  # type: ignore[assignment]

    def turn(self, validator: str, state: State, move: bytes, evidence: Value) -> Turn:
        share = self.share(state, move, evidence)
        judge = VALIDATORS[validator].judge
        amount = 2 * self.stakes.unit * self.stakes.stake
        verdict = judge(state, move, share, amount, evidence, HASHES)
        return Turn(validator, state, move, share, evidence, verdict)

    def raises(self, state: Begin | Mid) -> list[int]:
        """The legal bets or raises of a player to act."""
        limits = limits_facing(state)
        return [x for x in range(1, limits.left + 1) if limits.allows(x)]

    def acts_now(self, state: Begin) -> bool:
        """True if the mover also bets or checks, as both players see the open cards after it."""
        button = state.seats.button
        boards = [
            [card for _, card in up] for up in (state.known.movers_up, state.known.waiters_up)
        ]
        for owed in state.pending:
            if owed.who in (OTHERS_UP, BUTTONS_UP):
                is_others = (owed.who == BUTTONS_UP) != bool(button)
                boards[is_others].append(self.card(owed.position))
        return acts_first(state.streets[0].first, button, *boards)

    def choose(self, state: State) -> tuple[bytes, Value]:
        chance = self.chance
        match state:
            case Deal():
                return self.locks(state.streets[0].deal, state.seats), NIL
            case Begin():
                data = self.owed(state.pending, state.seats)
                if not self.acts_now(state):
                    return data, NIL
                allowed = self.raises(state)
                must = state.forced != Forced.NONE
                x = chance.pick(tuple(allowed)) if must or (allowed and chance.below(2)) else 0
                return data + int_to_atom(x), NIL
            case Mid():
                allowed = self.raises(state)
                if allowed and not chance.below(self.bold):
                    x = chance.pick((allowed[0], allowed[-1], chance.pick(tuple(allowed))))
                    return b"\x02" + int_to_atom(x), NIL
                return b"\x01" + self.called(state), NIL
            case Draw():
                return self.owed(state.pending, state.seats) + self.mask(), NIL
            case Show():
                shown = self.held(state.known.movers, state.seats)
                return self.owed(state.pending, state.seats) + shown, NIL
            case End():
                own = *self.cards(state.held), *state.open, *state.board
                showdown = state.table.showdown
                mine = best_masks(showdown, own)
                theirs = best_masks(showdown, (*state.shown, *state.board))
                return self.held(state.held, state.seats) + mine, theirs
            case Commit():
                self.arrangement = self.arranged(state.held) + chance.bytes(32)
                committed = commitment(self.arrangement[:13], self.arrangement[13:])
                return self.owed(state.pending, state.seats) + committed, NIL
            case Rows():
                return self.arranged(state.held) + self.held(state.held, state.seats), NIL
            case Score():
                return self.held(state.held, state.seats) + self.arrangement, NIL

    def called(self, state: Mid) -> bytes:
        """What follows the verb of a call."""
        all_in = state.pot.waiter == state.table.stake
        opened = self.locks(dealt_by_call(state.streets, all_in), state.seats)
        later = state.streets[1:]
        draws = later and later[0].kind is not Kind.BET and later[0].first == state.seats.button
        return opened + (self.mask() if draws and not passes_out(state) else b"")

    def mask(self) -> bytes:
        return bytes((self.chance.below(32),))

    def arranged(self, held: Held) -> bytes:
        """The positions of thirteen cards: as the rows say, or at random, or sorted so that most
        are no foul."""
        if self.rows:
            wanted = sorted(held, key=lambda one: self.rows.index(self.card(one[0])))
            return bytes(position for position, _ in wanted)
        chance = self.chance
        ordered = sorted(held, key=lambda _: chance.below(1 << 30))
        if chance.below(3):
            ordered = sorted(held, key=lambda one: self.card(one[0]))
        return bytes(position for position, _ in ordered)

    def share(self, state: State, move: bytes, evidence: Value) -> int:
        """The share that the mover declares; after the last move, what the other player gets."""
        unit, stake = self.stakes.unit, self.stakes.stake
        match state:
            case Mid() if move[:1] == b"\x01" and passes_out(state):
                return unit * stake
            case Mid():
                return unit * (stake - state.pot.waiter)
            case Deal():
                return unit * (stake - state.pot.waiter - self.forced_bet(state))
            case Begin():
                forced = 0 if self.acts_now(state) else self.forced_bet(state)
                return unit * (stake - state.pot.waiter - forced)
            case Draw() | Show() | Commit() | Rows():
                return unit * (stake - state.put)
            case Score():
                own = [self.card(at) for at in move[13 * 33 : 13 * 34]]
                theirs = arranging.arranged(state.shown)
                won = arranging.points(theirs, arranging.arranged(own))
                return unit * (stake + arranging.payment(won, state.point, stake))
            case End():
                assert isinstance(evidence, bytes)
                size = 33 * len(state.held)
                own = [*self.cards(state.held), *state.open, *state.board]
                mine = claimed(state.table.showdown, own, move[size:])
                their = claimed(state.table.showdown, (*state.shown, *state.board), evidence)
                assert mine is not None
                assert their is not None
                quarters = quarters_won(state.table.showdown, their, mine)
                odd = 3 if state.seats.button else 0
                return unit * (stake - state.put + (2 * state.put * quarters + odd) // 4)

    def forced_bet(self, state: Deal | Begin) -> int:
        if state.forced == Forced.OPENING:
            return state.streets[0].size
        return state.table.bring_in if state.forced == Forced.BRING_IN else 0


def stakes_of(variant: Variant, structure: Structure, stake: int = 60, unit: int = 10) -> Stakes:
    """Small stakes for a game, with the forced bets that it needs."""
    blind = 1 if variant.blinds else 0
    ante = 0 if variant.blinds or variant.arranges else 1
    bring_in = 1 if variant.forced is Forced.BRING_IN else 0
    return Stakes(unit, stake, blind, 2, structure, ante=ante, bring_in=bring_in)
