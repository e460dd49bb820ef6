"""Messages of a hostile side that nobody named: a field changed at random, and words out of place.

Whatever the channel signs is signed again with the side's real keys, so that only the changed field
is wrong, if it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, MessageChanger, Plan
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    BatchAction,
    Cancel,
    Message,
    Move,
    Propose,
    Request,
    Resume,
    Settle,
    Shutdown,
    ShutdownDone,
    encode,
)
from channelsim.channel.protocol.proposals import UnfitProposal, offer_of
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, Choice, OneOf
from channelsim.games.errors import IllegalAction

MOST_WORDS = 4
"""The most messages that are said beside one of the peer's."""

MOST_ACTIONS = 3
"""The most actions of a batch out of place."""

CLOSE = "unroll"
"""The spend that closes a channel."""

LARGEST = (1 << 63) - 1
"""The largest number that every message can carry to the other side's decoder."""


class Altering(MessageChanger):
    """Changes one field of its message, or of an action in it, and signs that again."""

    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        """The message with one field changed; None if it has none."""
        chance = self.plan.chance
        batch_and_before = self.batch_and_before(message)
        if batch_and_before is not None and batch_and_before[0].actions and chance.chance(75):
            batch, before = batch_and_before
            actions = _altered(batch.actions, chance)
            with suppress(TypeError, ValueError, AttributeError):
                return [self.batch(before, actions)]
            return [encode(replace(batch, actions=actions))]
        altered = _altered(message, chance)
        return None if altered == message else [encode(altered)]


def _altered(value: Any, chance: Chance) -> Any:
    """A copy of a value with one of its parts changed, which may leave it no message any more.

    >>> _altered(Cancel(4, "no"), Chance(b"x"))
    Cancel(group_id=3, reason='no')
    """
    places = list(_places(value))
    if not places:
        return value
    place = chance.pick(places)
    return _changed(value, place, chance)


def _places(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The paths to all parts of a value that can be changed, its own first."""
    match value:
        case msgspec.Struct():
            parts: Iterator[tuple[str | int, Any]] = (
                (name, getattr(value, name)) for name in value.__struct_fields__
            )
        case tuple():
            if value:
                yield ()
            parts = iter(enumerate(value))
        case dict():
            parts = iter(value.items())
        case bool() | int() | bytes() | str():
            yield ()
            return
        case _:
            return
    for name, part in parts:
        for place in _places(part):
            yield (name, *place)


def _changed(value: Any, place: Sequence[str | int], chance: Chance) -> Any:
    if not place:
        return _other(value, chance)
    name, *rest = place
    match value:
        case msgspec.Struct():
            assert isinstance(name, str)
            return replace(value, **{name: _changed(getattr(value, name), rest, chance)})
        case dict():
            return {**value, name: _changed(value[name], rest, chance)}
        case _:
            assert isinstance(name, int)
            return (*value[:name], _changed(value[name], rest, chance), *value[name + 1 :])


def _other(value: Any, chance: Chance) -> Any:
    """Another value of the same kind: near it, or at an end of what there is."""
    match value:
        case bool():
            return not value
        case int():
            return _other_number(value, chance)
        case bytes():
            return _other_bytes(value, chance)
        case str():
            return chance.pick([f"{value}x", value[:-1] if value else "no", value.upper() + "?"])
        case _:
            at = chance.below(len(value))
            fewer, twice = (*value[:at], *value[at + 1 :]), (*value[: at + 1], *value[at:])
            return chance.pick([fewer, twice, (value[at], *fewer) if at else (*value, *value)])


def _other_number(number: int, chance: Chance) -> int:
    near = (number + 1, number - 1, number + 2, number - 2)
    far = (0, 1, 2 * number, number + 1000, LARGEST, 1 << chance.below(63))
    return chance.pick([n for n in (*near, *far) if n != number and abs(n) <= LARGEST])


def _other_bytes(data: bytes, chance: Chance) -> bytes:
    if not data:
        return chance.bytes(1)
    at = chance.below(len(data))
    flipped = data[:at] + bytes([data[at] ^ 1 << chance.below(8)]) + data[at + 1 :]
    others = (flipped, chance.bytes(len(data)), bytes(len(data)), data + b"\0", data[:-1])
    return chance.pick([other for other in others if other != data])


class Withholding(Adversary):
    """Leaves spends to the other side: all of its own, or only that which closes the channel."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._only_close = plan.chance.chance(50)

    def push(self, push: Push) -> list[Effect]:
        """Nothing, from its step on."""
        if push.name != CLOSE and self._only_close:
            return [push]
        self.done = True
        return []


class Speaking(Adversary):
    """Says a few words that are right somewhere, beside a message of its peer or in its place."""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Its words in place of this message, or before or after it."""
        if self.done or isinstance(message, Resume):
            return [blob]
        chance = self.plan.chance
        words = [self._word() for _ in range(chance.between(1, MOST_WORDS))]
        said = [word for word in words if word is not None]
        if not said:
            return [blob]
        self.done = True
        return chance.pick([said, [blob, *said], [*said, blob]])

    def _word(self) -> bytes | None:
        """One message; None if there is none of the drawn kind now."""
        chance = self.plan.chance
        if not self.is_open or self.phase not in (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING):
            return chance.pick(self.intended) if self.intended else None
        kinds: tuple[Callable[[], bytes | None], ...] = (
            lambda: encode(Request()),
            lambda: chance.pick(self.intended) if self.intended else None,
            self._batch,
            self._batch,
            self._shutdown,
            self._numbers,
            lambda: encode(Advisory(chance.pick(self._game_ids()), chance.bytes(33))),
            lambda: bytes(self.peer.longest_message + 1),
        )
        return chance.pick(kinds)()

    def _batch(self) -> bytes | None:
        """A batch of legal actions, after the newest state or an older one, with the potato or not.

        Its number is one more than the state's.
        """
        chance = self.plan.chance
        past = [link.state for link in self.peer.play.history][: chance.pick((1, 1, 3))]
        state = chance.pick(past)
        actions = [self._action(state) for _ in range(chance.below(MOST_ACTIONS + 1))]
        return self.batch(state, [action for action in actions if action is not None])

    def _action(self, state: ChannelState) -> BatchAction | None:
        chance = self.plan.chance
        group = chance.pick(self._game_ids())
        kinds: tuple[Callable[[], BatchAction | None], ...] = (
            lambda: Cancel(group, "it wants to"),
            lambda: Accept(group),
            lambda: self._proposal(state),
            lambda: Settle(group),
            lambda: self._move(state),
            lambda: self._move(state),
        )
        return chance.pick(kinds)()

    def _game_ids(self) -> list[int]:
        """The ids of games and proposals, of now and before, and of the next ones."""
        states = [link.state for link in self.peer.play.history][:8]
        ids = {game.id for state in states for game in state.games}
        ids |= {group.id for state in states for group in state.groups}
        return sorted({*ids, *self.state.next_ids})

    def _proposal(self, state: ChannelState) -> Propose | None:
        """The latest proposal under the next id, or under the same one."""
        wish, offer = self.wish(), self.latest_offer()
        if wish is None or offer is None:
            return None
        if self.plan.chance.chance(30):
            return Propose((offer,))
        with suppress(UnfitProposal):
            return Propose((offer_of(self.channel, self.side, state.next_ids[self.side], wish),))
        return None

    def _move(self, state: ChannelState) -> Move | Settle | None:
        """A legal action of its seat in a live game; None if it has none there."""
        chance = self.plan.chance
        games = [game for game in state.games if self.peer.player(game.id) is not None]
        if not games:
            return None
        game = chance.pick(games)
        player = self.peer.player(game.id)
        choices = player.choices() if player is not None and game.mover is self.side else ()
        if player is None or not choices:
            return None
        choice = chance.pick(choices)
        action = Action(choice.verb, _number(choice, chance))
        with suppress(IllegalAction):
            return self.peer.endpoint.own_action(game, player, action).wire
        return None

    def _shutdown(self) -> bytes:
        """A shutdown of the newest state, or its completion, rightly signed by this side."""
        state = replace(self.state, games=())
        half = bls.sign_half(
            self.keys.channel, self.channel.shutdown_message(state), self.channel.channel_key
        )
        return encode(Shutdown(half) if self.plan.chance.chance(50) else ShutdownDone(half))

    def _numbers(self) -> bytes | None:
        """Last numbers, of the newest state that this side can complete or of an older one."""
        states = self.completable()
        if not states:
            return None
        signed = self.plan.chance.pick([states[-1], self.plan.chance.pick(states)])
        state = signed.state
        halves = sign_halves(self.channel, self.keys, state)
        conditions = self.channel.on_chain(state).unroll_message
        sent = state.number + self.plan.chance.pick([1, -1])
        return encode(Resume(state.number, max(0, sent), conditions, *halves, (), 0))


def _number(choice: Choice, chance: Chance) -> int:
    """A number to take a choice with."""
    match choice:
        case Amount(least=least, most=most):
            return chance.pick((least, most, chance.between(least, max(least, most))))
        case OneOf(options=options):
            return chance.pick(options)
        case _:
            return 0
