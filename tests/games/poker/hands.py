"""Hands of poker with a prepared deck, played by the rules: what an honest player sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.programs import load
from channelsim.clsp.values import NIL, Value
from channelsim.games.chance import Chance
from channelsim.games.contract import Next, Valid, Verdict
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import G1
from channelsim.games.deck.secrets import permutation
from channelsim.games.deck.terms import DeckTerms, card_points
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.openings import deals, is_own
from channelsim.games.poker.ranking import HIGH
from channelsim.games.poker.schedule import HOLDEM, Stakes, first_state, positions
from channelsim.games.poker.states import Begin, Deal, End, Lock, Mid, Owed, Seats, Show
from channelsim.games.poker.validators import VALIDATORS, limits_of

HASHES = {name: load(f"poker/{name}").hash for name in VALIDATORS}
GROUP = G1()


def decks(seed: str, count: int) -> tuple[FinishedDeck, FinishedDeck]:
    """A deck as both sides have it, made at once from all secrets: the initiator's side first."""
    chance = Chance(seed.encode())
    deck_id = bytes(chance.below(256) for _ in range(32))
    order = permutation(bytes(chance.below(256) for _ in range(32)))[:count]
    scalars = [[1 + chance.below(GROUP.order - 1) for _ in range(count)] for _ in range(2)]
    cards = card_points(GROUP, deck_id)
    points = GROUP.multiply(
        [(k * m % GROUP.order, cards[v]) for k, m, v in zip(*scalars, order, strict=True)]
    )
    keys = [tuple(GROUP.multiply([(k, GROUP.base) for k in side])) for side in scalars]
    terms = DeckTerms(bytes(32), 1, count, 40)
    made = FinishedDeck(
        GROUP, terms, deck_id, tuple(points), keys[0], keys[1], True, tuple(scalars[0])
    )
    return made, replace(made, is_initiator=False, own_locks=tuple(scalars[1]))


def locks_of(deck: FinishedDeck) -> tuple[Lock, ...]:
    return tuple(map(Lock, deck.points, deck.initiator_keys, deck.receiver_keys))


@dataclass(frozen=True)
class Turn:
    """A validator about to judge an honest move."""

    validator: str
    state: Deal | Begin | Mid | Show | End
    move: bytes
    share: int
    evidence: Value
    verdict: Verdict


@dataclass
class Hand:
    """A hand between two players that know both sides' locks, so that tests can see every card."""

    seed: str
    stakes: Stakes
    rounds: tuple = HOLDEM  # type: ignore[type-arg]

    def __post_init__(self) -> None:
        self.sides = decks(self.seed, positions(self.rounds))
        self.chance = Chance(f"{self.seed} choices".encode())
        opener = Seats(1 - self.rounds[0].first, self.chance.below(2))
        deck = self.sides[0]
        locks = locks_of(deck)
        self.first = first_state(self.rounds, self.stakes, deck.deck, locks, opener)

    def card(self, position: int) -> int:
        ours, theirs = self.sides
        return ours.card(position, theirs.opening(position))

    def opening(self, position: int, seats: Seats) -> bytes:
        return self.sides[1 - seats.initiator].opening(position)

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

    def turns(self) -> Iterator[Turn]:
        """Play the hand with random choices."""
        validator, state = "deal", self.first
        while True:
            move, evidence = self.choose(state)
            share = self.share(state, move, evidence)
            judge = VALIDATORS[validator].judge
            amount = 2 * self.stakes.unit * self.stakes.stake
            verdict = judge(state, move, share, amount, evidence, HASHES)
            yield Turn(validator, state, move, share, evidence, verdict)
            assert isinstance(verdict, Valid), verdict
            step: Next | None = verdict.next
            if step is None:
                return
            validator, state = step.validator, step.state  # type: ignore[assignment]

    def choose(self, state: Deal | Begin | Mid | Show | End) -> tuple[bytes, Value]:
        chance = self.chance
        match state:
            case Deal():
                return self.locks(state.streets[0].deal, state.seats), NIL
            case Begin():
                data = self.owed(state.pending, state.seats)
                if state.streets[0].first != state.seats.button:
                    return data, NIL
                raises = int(state.pot.waiter > state.pot.mover)
                limits = limits_of(state.table, state.streets, state.pot, 0, raises, 0)
                allowed = [x for x in range(limits.left + 1) if limits.allows(x)]
                x = chance.pick(tuple(allowed)) if allowed and chance.below(2) else 0
                return data + int_to_atom(x), NIL
            case Mid():
                limits = limits_of(
                    state.table, state.streets, state.pot, state.last, state.raises, state.forced
                )
                allowed = [x for x in range(limits.left + 1) if limits.allows(x)]
                if allowed and not chance.below(4):
                    x = chance.pick((allowed[0], allowed[-1], chance.pick(tuple(allowed))))
                    return b"\x02" + int_to_atom(x), NIL
                streets = state.streets[1:]
                all_in = state.pot.waiter == state.table.stake
                dealt = deals(streets if all_in else streets[:1])
                return b"\x01" + self.locks(dealt, state.seats), NIL
            case Show():
                cards = (self.opening_and_card(at, state.seats) for at, _ in state.known.movers)
                return self.owed(state.pending, state.seats) + b"".join(cards), NIL
            case End():
                seats = Seats(0, state.initiator)
                own = tuple(self.card(at) for at, _ in state.held)
                data = b"".join(self.opening_and_card(at, seats) for at, _ in state.held)
                mine = best_mask((*own, *state.open, *state.board))
                return data + mine, best_mask((*state.shown, *state.board))

    def share(self, state: Deal | Begin | Mid | Show | End, move: bytes, evidence: Value) -> int:
        unit, stake = self.stakes.unit, self.stakes.stake
        match state:
            case Deal() | Begin() | Mid():
                return unit * (stake - state.pot.waiter)
            case Show():
                return unit * (stake - state.put)
            case End():
                own = tuple(self.card(at) for at, _ in state.held)
                mine = HIGH.key(picked((*own, *state.open, *state.board), move[-1]))
                assert isinstance(evidence, bytes)
                theirs = HIGH.key(picked((*state.shown, *state.board), evidence[0]))
                return unit * (stake + HIGH.better(theirs, mine) * state.put)


def picked(cards: tuple[int, ...], mask: int) -> list[int]:
    return [card for number, card in enumerate(cards) if mask >> number & 1]


def best_mask(cards: tuple[int, ...]) -> bytes:
    masks = [mask for mask in range(128) if mask.bit_count() == 5]
    return bytes((max(masks, key=lambda mask: HIGH.key(picked(cards, mask))),))


STRUCTURES = tuple(Stakes(10, 60, 1, 2, structure) for structure in Structure)
