"""What every adversary is: a real peer, with a hand between it and the world.

It has its peer's keys and all that its peer knows, which is all that a thief has; what it
does not change is what an honest peer does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from pkgutil import iter_modules
from typing import ClassVar, TypeVar

import msgspec

from channel import adversaries
from channel.chain.coins import Bundle
from channel.chain.interface import Chain
from channel.chain.observations import Block
from channel.crypto.keys import SecretKeys
from channel.errors import InvariantError, UsageError, Violation
from channel.peer.interface import Command, Effect, Event, Pinned, Push, Send
from channel.peer.machine import Peer, Phase
from channel.peer.onchain.signed_games import SignedGames
from channel.protocol import transitions
from channel.protocol.half_signed import Signed, publish, sign_halves
from channel.protocol.messages import Batch, BatchAction, Message, Move, Offer, decode, encode
from channel.protocol.proposals import Wish
from channel.protocol.state import Before, Channel, ChannelState, LiveGame
from games.chance import Chance
from games.contract import Player, Position
from games.names import nearest, quoted
from games.referee import RefereeRefusal


@dataclass(frozen=True, slots=True)
class Plan:
    """When to deviate, chance to do it by, and the node, for who wants to look at it.

    `rewind` replaces so many blocks by others without their spends, where the harness allows it
    (False: not now). Nobody else can do that, and the adversary only as often as the weather.
    """

    step: int
    chance: Chance
    chain: Chain
    rewind: Callable[[int], bool]


class Adversary:
    """An honest peer that does one thing wrong from its `step`-th message on.

    Override `say` to change messages, `push` to change spends; `act` to do more with every event
    once it is due, `block` with every block, and `last` when the other side has had the block
    as well. `done` is set once it has deviated: a run in which it never could says so.
    """

    name: ClassVar[str] = ""
    about: ClassVar[str] = ""
    default_step: ClassVar[int] = 8
    """Where it begins to deviate unless somebody says: in the middle of a hand."""
    at_once: ClassVar[bool] = True
    """Whether it deviates at the first thing, from its step on, that lets it."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        self.peer = peer
        self.plan = plan
        self.said = 0
        self.meant: list[bytes] = []
        self.deviated_at: int | None = None
        self._offered: Offer | None = None

    @property
    def done(self) -> bool:
        """Whether it has deviated; `deviated_at` says after how many of its messages."""
        return self.deviated_at is not None

    @done.setter
    def done(self, deviated: bool) -> None:
        if deviated and self.deviated_at is None:
            self.deviated_at = self.said

    # --- the interface of a peer ---

    @property
    def phase(self) -> Phase:
        """Where its peer stands."""
        return self.peer.phase

    def player(self, game_id: int) -> Player | None:
        """Its seat in a game."""
        return self.peer.player(game_id)

    def start(self, peak: int) -> list[Effect]:
        """Begin, as the peer does."""
        return self._through(self.peer.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """What the peer does about an event, changed."""
        effects = self._through(self.peer.handle(event))
        self._remember_offers()
        if isinstance(event, Block):
            effects += self.block(event)
        if self.due and not isinstance(event, Pinned):
            effects += self.act()
        return effects

    def means(self, blob: bytes) -> bool:
        """Whether its peer said this message, be it in other bytes."""
        try:
            return blob in self.meant or encode(decode(blob)) in self.meant
        except Violation:
            return False

    # --- what an adversary changes ---

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """What is sent in place of this message, once it is time to deviate."""
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        """What is pushed in place of this bundle."""
        return [push]

    def block(self, block: Block) -> list[Effect]:
        """What else is done about a block."""
        return []

    def act(self) -> list[Effect]:
        """What it does of its own accord, with every event from its step on."""
        return []

    def last(self) -> list[Effect]:
        """What it does when the other side has had the block too, and pushed its spends."""
        return []

    # --- what it is made of ---

    @property
    def due(self) -> bool:
        """Whether it is time to deviate."""
        return self.said > self.plan.step

    @property
    def keys(self) -> SecretKeys:
        """Its own secret keys."""
        return SecretKeys.derive(self.peer.config.secret)

    @property
    def channel(self) -> Channel | None:
        """The channel, once it is known."""
        return self.peer.endpoint.channel if self.peer.endpoint else None

    def completable(self) -> list[Signed]:
        """The states that it can publish, oldest first."""
        if self.peer._play is None:
            return []
        return sorted(
            (link.signed for link in self.peer.play.history if link.signed),
            key=lambda signed: signed.state.number,
        )

    def publishes(self, signed: Signed) -> Bundle:
        """The spend of the channel coin to this state's unroll coin."""
        return publish(self._channel(), self.keys, signed)

    def batch(self, state: ChannelState, actions: Sequence[BatchAction]) -> bytes:
        """A batch of these actions after this state, signed as it declares itself."""
        try:
            after, _ = transitions.apply(
                self._channel(), state, self.peer.config.side, actions, as_declared
            )
        except (Violation, InvariantError):
            after = msgspec.structs.replace(state, number=state.number + 1)
        halves = sign_halves(self._channel(), self.keys, after)
        return encode(Batch(after.number, tuple(actions), *halves))

    def command(self, command: Command) -> list[Effect] | None:
        """What follows when its player wants this of its peer; None if that cannot be now."""
        try:
            return self._through(self.peer.handle(command))
        except UsageError:
            return None

    def wish(self) -> Wish | None:
        """A game like the one that was offered last; None before there was one."""
        self._remember_offers()
        offer = self._offered
        if offer is None:
            return None
        return Wish(offer.game, offer.parameters, offer.timeout, offer.proposer_is_alice)

    def seat(self, game: LiveGame) -> Player | None:
        """Its seat in a game as it was in the state before its newest."""
        before = self.before()
        if before is None or self.peer.endpoint is None:
            return None
        return SignedGames.of(self.peer.endpoint, self.peer.play.history).player_at(before, game)

    def halves(self, state: ChannelState) -> Signed:
        """A state with its own halves in place of the other side's."""
        channel = self._channel()
        return Signed(state, channel.on_chain(state), sign_halves(channel, self.keys, state))

    def before(self) -> ChannelState | None:
        """The state before the batch that its peer has just made."""
        past = self.peer.play.history.older if self.peer._play else None
        return past.state if past else None

    def _remember_offers(self) -> None:
        """The peer itself forgets proposals that are answered."""
        for link in islice(self.peer.play.history if self.peer._play else (), 2):
            if link.state.groups:
                self._offered = link.state.groups[0].offers[0]
                return

    def _channel(self) -> Channel:
        if self.channel is None:
            raise InvariantError("an adversary signs before there is a channel")
        return self.channel

    def _through(self, effects: Sequence[Effect]) -> list[Effect]:
        changed: list[Effect] = []
        for effect in effects:
            match effect:
                case Send(blob):
                    self.said += 1
                    self.meant.append(blob)
                    blobs = self.say(decode(blob), blob) if self.due else [blob]
                    changed += [Send(one) for one in blobs]
                case Push() if self.due:
                    changed += self.push(effect)
                case _:
                    changed.append(effect)
        return changed


class MoveChanger(Adversary, ABC):
    """Changes the first move that it can, once it is due, and signs the batch again."""

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with its first move changed."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        actions: list[BatchAction] = []
        for action in message.actions:
            game = before.game(action.game_id) if isinstance(action, Move) else None
            if isinstance(action, Move) and game is not None and not self.done:
                changed = self.change(action, game)
                self.done = changed is not None and changed != action
                actions.append(changed or action)
            else:
                actions.append(action)
        return [self.batch(before, actions)] if self.done else [blob]

    @abstractmethod
    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The move that it makes instead; None for none."""


def as_declared(game: LiveGame, action: Move) -> LiveGame:
    """What a move makes of its game when nobody judges it: the coin as it is declared."""
    try:
        coin = game.coin.after(action.move, action.commitment, action.share, action.max_move_size)
    except RefereeRefusal:
        return game
    before = game.position
    position = Position(None, None, before.mover.other, action.share, 0, action.move)
    return LiveGame(game.id, game.terms, game.alice, coin, position, Before(before, game.coin))


# --- the registry --------------------------------------------------------------------------------

A = TypeVar("A", bound=type[Adversary])

_known: dict[str, type[Adversary]] = {}


def register(kind: A) -> A:
    """Make an adversary known by its name."""
    if kind.name in _known or not kind.name or not kind.about:
        raise InvariantError(f"{kind.__name__}: no name of its own, or nothing about it")
    _known[kind.name] = kind
    return kind


@cache
def names() -> tuple[str, ...]:
    """The names of all adversaries, sorted."""
    for module in iter_modules(adversaries.__path__):
        import_module(f"{adversaries.__name__}.{module.name}")
    return tuple(sorted(_known))


def get(name: str) -> type[Adversary]:
    """The adversary of this name. Raises `UsageError`, naming those that there are."""
    if name not in names():
        raise UsageError(
            f"no adversary is called {quoted(name)}{nearest(name, names())};"
            " `channelsim dispute list` shows all"
        )
    return _known[name]
