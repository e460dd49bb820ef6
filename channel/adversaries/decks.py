"""Adversaries that cheat with prepared decks: in openings, in proposals, and in their steps.

Those that prepare a deck falsely are in `deck_proofs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace as changed
from itertools import pairwise

from msgspec.structs import replace

from channelsim.channel.adversaries.base import (
    Adversary,
    BatchChanger,
    F,
    MessageChanger,
    Plan,
    adversary,
    by_method,
    changes_message,
)
from channelsim.channel.adversaries.moves import MoveChanger
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, Event, Send
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import (
    LAST_DECK,
    Accept,
    Batch,
    DeckAbort,
    DeckStep,
    Message,
    Move,
    NamedDeck,
    Offer,
    Propose,
    encode,
)
from channelsim.channel.protocol.proposals import UnfitProposal, offer_of
from channelsim.channel.protocol.state import ChannelState, LiveGame, Side
from channelsim.clsp.values import NIL
from channelsim.games import registry
from channelsim.games.choices import least_action
from channelsim.games.contract import Game
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import SCALAR_SIZE
from channelsim.games.deck.terms import CARDS
from channelsim.games.judge import hashes_of
from channelsim.games.verdicts import Slash

MOST_NAMED = 50
"""Decks that an adversary names in one batch."""


def without_decks(games: Sequence[Game]) -> str:
    """The reason against an adversary that needs a prepared deck, if no game uses one."""
    if any(game.deck_positions for game in games):
        return ""
    return f"{' or '.join(game.name for game in games)}: no game with a prepared deck"


class Opener(MoveChanger):
    """Replaces the first move with an opening that it can, once it is due."""

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if no game uses a prepared deck."""
        return without_decks(games)

    def change_move(self, move: Move, game: LiveGame) -> Move | None:
        """One of the changed moves that the rules of the game forbid."""
        scalars = [] if game.terms.deck is None else list(self._openings(move, game))
        bad = [
            other
            for blob in (self.changes(move.move, scalars) if scalars else ())
            if (other := replace(move, move=blob)) != move and _is_illegal(other, game)
        ]
        return self.plan.chance.pick(bad) if bad else None

    def changes(self, move: bytes, at: list[int]) -> Iterator[bytes]:
        """Changed moves; own scalars are at these places."""
        return iter(())

    def locks(self, game: LiveGame) -> list[bytes]:
        """Its own locks of the positions that a game uses."""
        decks = self.peer.endpoint.decks.values()
        shared = game.terms.deck
        deck = next((deck for deck in decks if shared and deck.deck == shared.deck_id), None)
        count = len(shared.locks) if shared else 0
        return [deck.opening(position) for position in range(count)] if deck else []

    def _openings(self, move: Move, game: LiveGame) -> Iterator[int]:
        """The places of its own scalars in a move."""
        places = (move.move.find(lock) for lock in self.locks(game))
        return (place for place in sorted(places) if place >= 0)


def _is_illegal(move: Move, game: LiveGame) -> bool:
    """True if the rules slash a move without evidence."""
    position, rules = game.position, registry.get(game.terms.game)
    judge = rules.validators[position.validator or ""].judge
    verdict = judge(position.state, move.move, move.share, game.coin.amount, NIL, hashes_of(rules))
    return isinstance(verdict, Slash)


@adversary("wrong-opening", "opens the lock of another card than is due")
class _WrongOpening(Opener):
    def change_move(self, move: Move, game: LiveGame) -> Move | None:
        """Put the lock of another position in the place of each."""
        locks = self.locks(game)
        for place in self._openings(move, game):
            lock = move.move[place : place + SCALAR_SIZE]
            others = [other for other in locks if other != lock]
            blob = _with(move.move, place, self.plan.chance.pick(others))
            return replace(move, move=blob)
        return None


@adversary("swapped-openings", "opens two cards in the wrong order")
class _SwappedOpenings(Opener):
    def changes(self, move: bytes, at: list[int]) -> Iterator[bytes]:
        """Exchange each two neighbours."""
        for places in pairwise(at):
            first, second = (move[place : place + SCALAR_SIZE] for place in places)
            yield _with(_with(move, places[0], second), places[1], first)


@adversary("wrong-card", "claims another card than the one that it opens")
class _WrongCard(Opener):
    def changes(self, move: bytes, at: list[int]) -> Iterator[bytes]:
        """Change the byte behind each scalar, unless the next one begins there."""
        for place in at:
            end = place + SCALAR_SIZE
            if end < len(move) and end not in at:
                card = self.plan.chance.pick([self.plan.chance.below(CARDS), CARDS, 128, 255])
                yield _with(move, end, bytes((card,)))


@adversary("free-look", "opens cards in the batch that accepts the game")
class _FreeLook(BatchChanger):
    default_step = 0

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if no game uses a prepared deck."""
        return without_decks(games)

    def change_batch(self, batch: Batch, before: ChannelState) -> list[bytes] | None:
        """The batch with an opening that the other side could look at, and let vanish."""
        if not any(isinstance(action, Accept) for action in batch.actions):
            return None
        moved = {action.game_id for action in batch.actions if isinstance(action, Move)}
        for game in self.state.games:
            seat = self.player(game.id)
            new = before.game(game.id) is None and game.id not in moved
            if new and game.terms.deck is not None and game.mover is self.side and seat is not None:
                action = least_action(seat.choices()[0])
                move = self.peer.endpoint.own_action(game, seat, action).wire
                if isinstance(move, Move):
                    rest = [act for act in batch.actions if not isinstance(act, Propose)]
                    last = [act for act in batch.actions if isinstance(act, Propose)]
                    return [self.batch(before, (*rest, move, *last))]
        return None


# --- proposals -----------------------------------------------------------------------------------


class DeckProposer(BatchChanger):
    """Proposes a game by a name of a deck that the other side has to refuse.

    It remembers every deck that it ever had ready.
    """

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if no game uses a prepared deck."""
        return without_decks(games)

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self.decks: dict[int, FinishedDeck] = {}

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, and remember its decks."""
        effects = super().handle(event)
        if self.known_channel is not None:
            self.decks |= self.known_channel.decks
        return effects

    def change_batch(self, batch: Batch, before: ChannelState) -> list[bytes] | None:
        """The batch with one more proposal."""
        offers = tuple(offer for offer in self.offers() if offer is not None)
        if not offers or any(isinstance(action, Propose) for action in batch.actions):
            return None
        return [self.batch(before, (*batch.actions, Propose(offers)))]

    def offers(self) -> tuple[Offer | None, ...]:
        """The offers of the proposal; None for each that cannot be made."""
        return ()

    def offer(self, number: int, deck: int) -> Offer | None:
        """An offer of its proposal, with a deck that it has or had; None without terms or deck."""
        offered = self.latest_offer()
        if offered is None or offered.deck is None:
            return None
        wish = replace(self.wish_of(offered), deck=deck)
        game_id = self.state.next_ids[self.side] + 2 * number
        with suppress(UnfitProposal):  # as part of another adversary, it may not know the deck
            return offer_of(changed(self.channel, decks=self.decks), self.side, game_id, wish)
        return None

    def ready_offer(self, number: int = 0) -> Offer | None:
        """The same with the first deck that is ready; None without one."""
        ready = min(self.peer.play.decks.ready, default=None)
        return None if ready is None else self.offer(number, ready)


def _proposes(name: str, about: str) -> Callable[[F], F]:
    """Register an adversary by the offers of its proposal."""
    return by_method(DeckProposer, "offers", name, about)


@_proposes("used-deck", "proposes a game with a deck that another game had")
def _used_deck(proposer: DeckProposer) -> tuple[Offer | None, ...]:
    used = sorted(proposer.decks.keys() - proposer.peer.play.decks.ready.keys())
    return (proposer.offer(0, used[0]),) if used else ()


@_proposes("one-deck-twice", "proposes two games with one deck, and other seats")
def _one_deck_twice(proposer: DeckProposer) -> tuple[Offer | None, ...]:
    return proposer.ready_offer(), proposer.ready_offer(1)


@_proposes("another-root", "proposes a game with a deck of another root, or an unknown one")
def _another_root(proposer: DeckProposer) -> tuple[Offer | None, ...]:
    offer = proposer.ready_offer()
    if offer is None or offer.deck is None:
        return ()
    root, ready = proposer.plan.chance.bytes(32), offer.deck.number
    number = proposer.plan.chance.pick([ready, ready + 1000, (1 << 32) - 1])
    return (replace(offer, deck=NamedDeck(number, root)),)


@adversary("uses-up-numbers", "names decks far above those that there are, and begins such decks")
class _UsesUpNumbers(DeckProposer):
    def change_batch(self, batch: Batch, before: ChannelState) -> list[bytes] | None:
        """The batch with as many such proposals as there may be, and steps of such decks."""
        proposing = super().change_batch(batch, before)
        if proposing is None:
            return None
        return [*proposing, *_far_steps(self)]

    def offers(self) -> tuple[Offer | None, ...]:
        """Offers that are alike but for the numbers of their decks."""
        pool, offer = self.peer.play.decks, self.ready_offer()
        if offer is None:
            return ()
        return tuple(
            replace(
                offer,
                game_id=offer.game_id + 2 * count,
                deck=NamedDeck(pool.highest + 1000 * (count + 1), self.plan.chance.bytes(32)),
            )
            for count in range(MOST_NAMED)
        )


def _far_steps(cheat: Adversary) -> list[bytes]:
    """First steps of decks with numbers far above those that there are: the receiver's to send."""
    highest = cheat.peer.play.decks.highest
    numbers = (LAST_DECK, highest + 3001, highest + 1000, highest + 2000)
    return [encode(DeckStep(number, 1, bytes(71))) for number in numbers]


# --- steps ---------------------------------------------------------------------------------------


@changes_message("far-decks", "begins decks with numbers far above those that there are")
def _far_decks(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch) or changer.side is not Side.RECEIVER:
        return None
    return [blob, *_far_steps(changer)]


@changes_message("deck-noise", "sends steps of decks that nobody prepares")
def _deck_noise(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch):
        return None
    return [blob, *map(encode, _noise(changer))]


@adversary("deck-flood", "sends a step of a deck that nobody prepares with every block")
class _DeckFlood(Adversary):
    def block(self, block: Block) -> list[Effect]:
        """Send one while the channel is open."""
        if not self.due or not self.is_open or self.dispute is not None:
            return []
        self.done = True
        return [Send(encode(_noise(self)[0]))]


def _noise(cheat: Adversary) -> list[DeckStep | DeckAbort]:
    """Steps and ends of decks with any numbers, and bytes that are none."""
    chance = cheat.plan.chance
    steps: list[DeckStep | DeckAbort] = []
    for _ in range(6):
        number = chance.pick([0, 1, 2, 3, chance.below(1 << 31)])
        if chance.chance(20):
            steps.append(DeckAbort(1000 + number % 1000))
        else:
            steps.append(DeckStep(number, chance.between(1, 5), chance.bytes(chance.below(80))))
    return steps


def _with(move: bytes, at: int, new: bytes) -> bytes:
    return move[:at] + new + move[at + len(new) :]
