"""An adversary: a real peer whose messages and spends are changed on their way out.

It has its peer's keys and knowledge, which is all that a thief has. Whatever it does not change
is what an honest peer does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Protocol, TypeVar

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError, UsageError, Violation
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    Effect,
    Event,
    NodeReport,
    Push,
    Received,
    Send,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.half_signed import SignedState, publish, sign_halves
from channelsim.channel.protocol.messages import (
    Batch,
    BatchAction,
    Message,
    Move,
    Offer,
    Resume,
    decode,
    encode,
)
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Channel, ChannelState, LiveGame, Side
from channelsim.games.chance import Chance
from channelsim.games.contract import Game, Player
from channelsim.games.referee import RefereeRefusal
from channelsim.plugins import wrong_answer


class Rewind(Protocol):
    """Replaces the last `back` blocks by others without their spends; False where it cannot.

    With a `bundle`, the spends stay, and the first block that can have the bundle has it.
    """

    def __call__(self, back: int, bundle: Bundle | None = None) -> bool:
        """Replace the blocks."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The step at which to deviate, a source of random choices, the node, and the games by name.

    `rewind` replaces up to one block more than `confirmations`, and as often as the weather may,
    or in the opening, where no timeout runs.
    """

    step: int
    chance: Chance
    chain: Chain
    rewind: Rewind
    games: tuple[str, ...] = ()


class Adversary:
    """An honest peer that deviates in one way from its `step`-th message on.

    Override `send` to change messages and `push` to change spends. Once it is due, `act` runs
    after every event, `block` after every block, and `last` after the other side has handled
    that block and pushed its spends. Set `done` when it has deviated, so that a run in which it
    never could is reported as such.
    """

    name: ClassVar[str] = ""
    about: ClassVar[str] = ""
    default_step: ClassVar[int] = 8
    """The step at which it deviates unless the user names one: in the middle of a hand."""
    at_once: ClassVar[bool] = True
    """True if it deviates at the first opportunity from its step on."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        self.peer = peer
        self.plan = plan
        self.sent_count = 0
        self.intended: list[bytes] = []
        self._on_connection: list[bytes] = []
        self._resumes = False
        self.deviated_at: int | None = None
        self._offered: Offer | None = None

    @property
    def done(self) -> bool:
        """True once it has deviated: setting it to False later changes nothing.

        `deviated_at` counts the messages that it had sent by then.
        """
        return self.deviated_at is not None

    @done.setter
    def done(self, deviated: bool) -> None:
        if deviated and self.deviated_at is None:
            self.deviated_at = self.sent_count

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason why it can do nothing in these games, in one line; empty if it can."""
        return ""

    # --- the interface of a peer ---

    @property
    def phase(self) -> Phase:
        """The phase of its peer."""
        return self.peer.phase

    def player(self, game_id: int) -> Player | None:
        """Its seat in a game; None if there is no such game."""
        return self.peer.player(game_id)

    def start(self, peak: int) -> list[Effect]:
        """Begin, as the peer does."""
        return self._change(self.peer.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the peer handle an event, and change the effects."""
        self._resumes = _resumes(event)
        effects = self._change(self.peer.handle(event))
        self._resumes = False
        self._remember_offers()
        if isinstance(event, Block):
            effects += self._checked(self.block(event))
        # What it does may be refused, and must not be done again because of that.
        if self.due and not isinstance(event, NodeReport):
            effects += self._checked(self.act())
        return effects

    def finish_block(self) -> list[Effect]:
        """Its last effects after a block, once the other side has handled the block too."""
        return self._checked(self.last())

    def breaks_connection(self) -> bool:
        """True if it breaks the connection now, and makes a new one."""
        answer: object = self.reconnects()
        if isinstance(answer, bool):
            return answer
        raise wrong_answer(type(self), answer, "neither True nor False")

    def is_intended(self, blob: bytes) -> bool:
        """True if its peer made this message, possibly in another encoding."""
        try:
            known = (*self.intended, *self._on_connection)
            return blob in known or encode(decode(blob)) in known
        except Violation:
            return False

    # --- what an adversary overrides ---

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The messages to send instead of this one, once it is due."""
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        """The effects to carry out instead of this push."""
        return [push]

    def block(self, block: Block) -> list[Effect]:
        """Additional effects after a block."""
        return []

    def act(self) -> list[Effect]:
        """Additional effects after any event, once it is due."""
        return []

    def last(self) -> list[Effect]:
        """Additional effects once the other side has handled the block too."""
        return []

    def reconnects(self) -> bool:
        """True if it breaks the connection now, and makes a new one."""
        return False

    # --- what it knows ---

    @property
    def due(self) -> bool:
        """True if it has sent enough messages to deviate."""
        return self.sent_count > self.plan.step

    @property
    def side(self) -> Side:
        """Its side of the channel."""
        return self.peer.config.side

    @property
    def keys(self) -> SecretKeys:
        """Its secret keys."""
        return SecretKeys.derive(self.peer.config.secret)

    @property
    def is_open(self) -> bool:
        """True if the first states of the channel are signed."""
        return self.peer.state.play is not None

    @property
    def known_channel(self) -> Channel | None:
        """The channel; None before its coin is known."""
        return self.peer.endpoint.channel if self.peer.state.endpoint else None

    @property
    def channel(self) -> Channel:
        """The channel. Raises `InvariantError` before its coin is known."""
        if self.known_channel is None:
            raise InvariantError("an adversary needs a channel before there is one")
        return self.known_channel

    def channel_coin(self) -> CoinSeen | None:
        """The channel coin as the chain has it; None if it has none."""
        channel = self.known_channel
        return self.plan.chain.coin(channel.coin.id) if channel is not None else None

    @property
    def dispute(self) -> Dispute | None:
        """Its peer's dispute; None while the channel is off chain."""
        return self.peer.state.dispute

    @property
    def state(self) -> ChannelState:
        """The newest state that it knows."""
        return self.peer.play.state

    def everything(self) -> tuple[int, int]:
        """Balances that give it all the money of the channel."""
        total = self.channel.coin.amount
        return (total, 0) if self.side is Side.INITIATOR else (0, total)

    def before(self) -> ChannelState | None:
        """The state before the newest; None if there is none."""
        past = self.peer.play.history.older if self.is_open else None
        return past.state if past else None

    def batch_and_before(self, message: Message) -> tuple[Batch, ChannelState] | None:
        """A batch that its peer has just made and the state before it; None for other messages."""
        before = self.before()
        return (message, before) if isinstance(message, Batch) and before is not None else None

    def completable(self) -> list[SignedState]:
        """The states that it can publish, oldest first."""
        if not self.is_open:
            return []
        return sorted(
            (link.signed for link in self.peer.play.history if link.signed),
            key=lambda signed: signed.state.number,
        )

    def seat(self, game: LiveGame) -> Player | None:
        """Its seat in a game as of the state before the newest; None without such a state."""
        before = self.before()
        if before is None or self.peer.state.endpoint is None:
            return None
        return SignedGames.of(self.peer.state.endpoint, self.peer.play.history).player_at(
            before, game
        )

    def wish(self) -> Wish | None:
        """A game with the terms of the latest offer, and with another deck if it needs one.

        None before there was an offer, or without a deck.
        """
        offer = self.latest_offer()
        if offer is None or offer.deck is None:
            return None if offer is None else self.wish_of(offer)
        deck = min(self.peer.play.decks.ready, default=None)
        return None if deck is None else replace(self.wish_of(offer), deck=deck)

    def latest_offer(self) -> Offer | None:
        """The latest offer of either side; None before there was one."""
        self._remember_offers()
        return self._offered

    def wish_of(self, offer: Offer) -> Wish:
        """The wish that leads to an offer."""
        deck = None if offer.deck is None else offer.deck.number
        return Wish(offer.game, offer.parameters, offer.timeout, offer.proposer_is_alice, deck)

    # --- what it can make ---

    def publishes(self, signed: SignedState) -> Bundle:
        """The spend of the channel coin to this state's unroll coin."""
        return publish(self.channel, self.keys, signed)

    def batch(self, state: ChannelState, actions: Sequence[BatchAction]) -> bytes:
        """An encoded batch of these actions after this state, signed for what it declares."""
        try:
            after, _ = transitions.apply(self.channel, state, self.side, actions, as_declared)
        except (Violation, InvariantError):
            after = replace(state, number=state.number + 1)
        return encode(self.signs(after, actions))

    def signs(self, after: ChannelState, actions: Sequence[BatchAction]) -> Batch:
        """A batch of these actions with valid halves for this state."""
        halves = sign_halves(self.channel, self.keys, after)
        return Batch(after.number, tuple(actions), *halves)

    def command(self, command: Command) -> list[Effect] | None:
        """Give its peer a command; None if that is not possible now."""
        try:
            return self._change(self.peer.handle(command))
        except UsageError:
            return None

    def rewind(self, back: int, bundle: Bundle | None = None) -> bool:
        """Replace this many blocks, within the confirmation depth; False if that is impossible."""
        reach = self.peer.config.agreement.confirmations
        return back <= reach and self.plan.rewind(back, bundle)

    def rewind_to(self, height: int) -> bool:
        """Replace the blocks from this height on at a random moment; True if it does.

        At the latest it does so when they are about to be too deep.
        """
        back = self.plan.chain.peak() - height + 1
        late = back == self.peer.config.agreement.confirmations
        return (late or self.plan.chance.below(3) == 0) and self.rewind(back)

    # --- internal ---

    def _remember_offers(self) -> None:
        """Note the latest offer: the peer forgets proposals that are answered."""
        for link in islice(self.peer.play.history if self.is_open else (), 2):
            if link.state.groups:
                self._offered = link.state.groups[0].offers[0]
                return

    def _change(self, effects: Sequence[Effect]) -> list[Effect]:
        changed: list[Effect] = []
        for effect in effects:
            match effect:
                case Send(blob):
                    try:
                        message = decode(blob)
                    except Violation:
                        # Another adversary is inside, and sends bytes that are no message.
                        changed.append(effect)
                        continue
                    # A step is the same one however often the connection breaks.
                    if isinstance(message, Resume) or (self._resumes and blob in self.intended):
                        self._on_connection.append(blob)
                    else:
                        self.sent_count += 1
                        self.intended.append(blob)
                    blobs: object = self.send(message, blob) if self.due else [blob]
                    if not isinstance(blobs, list) or not all(
                        isinstance(item, bytes) for item in blobs
                    ):
                        raise wrong_answer(type(self), blobs, "not a list of messages in bytes")
                    changed += map(Send, blobs)
                case Push() if self.due:
                    changed += self._checked(self.push(effect))
                case _:
                    changed.append(effect)
        return changed

    def _checked(self, effects: object) -> list[Effect]:
        """Check the effects that an adversary returned, which may be a plug-in's."""
        if isinstance(effects, list) and all(isinstance(item, Effect) for item in effects):
            return effects
        raise wrong_answer(type(self), effects, "not a list of effects")


def _resumes(event: Event) -> bool:
    """True if messages are repeated after this event."""
    try:
        return isinstance(event, Connected) or (
            isinstance(event, Received) and isinstance(decode(event.message), Resume)
        )
    except Violation:
        return False


class MessageChanger(Adversary):
    """Replaces the first message that it can, once it is due."""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The messages in place of this one."""
        changed = None if self.done else self.change(message, blob)
        if changed is None:
            return [blob]
        self.done = True
        return changed

    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        """The messages to send instead; None to leave this one as it is."""
        return None


class BatchChanger(MessageChanger):
    """Replaces the first batch that it can, once it is due."""

    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        """The messages in place of a batch; None for other messages."""
        batch_and_before = self.batch_and_before(message)
        return self.change_batch(*batch_and_before) if batch_and_before is not None else None

    def change_batch(self, batch: Batch, before: ChannelState) -> list[bytes] | None:
        """The messages in place of a batch after this state; None to leave it as it is."""
        return None


def as_declared(game: LiveGame, action: Move) -> LiveGame:
    """Apply a move without judging it: the coin is the one that the move declares."""
    try:
        coin = game.coin.after(action.move, action.commitment, action.share, action.max_move_size)
    except RefereeRefusal:
        return game
    return game.after(coin, None)


# --- registration --------------------------------------------------------------------------------

A = TypeVar("A", bound=type[Adversary])
F = TypeVar("F", bound=Callable[..., Any])

REGISTERED: dict[str, type[Adversary]] = {}
"""All adversaries whose modules were imported, by name; `registry` finds the others."""


def adversary(name: str, about: str) -> Callable[[A], A]:
    """Register a class under a name, with what it does: "sends no more messages"."""

    def register(kind: A) -> A:
        if not name or not about or name in REGISTERED:
            raise InvariantError(f"adversary {name!r}: the name is taken, or a text is missing")
        kind.name, kind.about = name, about
        REGISTERED[name] = kind
        return kind

    return register


def variant(kind: type[Adversary], name: str, about: str, **attributes: Any) -> None:
    """Register a subclass of a class, with these methods and class variables of its own."""
    adversary(name, about)(type(name, (kind,), attributes))


def by_method(
    kind: type[Adversary], method: str, name: str, about: str, **attributes: Any
) -> Callable[[F], F]:
    """Register a subclass of a class by one method: the decorated function."""

    def register(function: F) -> F:
        attributes.update({method: function, "__module__": function.__module__})
        variant(kind, name, about, **attributes)
        return function

    return register


def changes_message(
    name: str,
    about: str,
    *,
    step: int = Adversary.default_step,
    kind: type[MessageChanger] = MessageChanger,
) -> Callable[[F], F]:
    """Register an adversary that changes one message, by its `MessageChanger.change`."""
    return by_method(kind, "change", name, about, default_step=step)


def changes_batch(name: str, about: str) -> Callable[[F], F]:
    """Register an adversary that changes one batch, by its `BatchChanger.change_batch`."""
    return by_method(BatchChanger, "change_batch", name, about)
