"""Adversaries that prepare a deck falsely, and prove what they can of it, or that take their time.

A deck that is refused never gets as far as a game: the honest side burns it and prepares another.
Source: spec/deck.md, "Ways to cheat".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.adversaries.decks import without_decks
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import DeckComputed, Effect, Event, PrepareDeck, Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.messages import DeckStep, Message
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.deck import initiator, lock_proof, receiver, shuffle_proof
from channelsim.games.deck.group import Group
from channelsim.games.deck.lock_proof import Locks
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.shuffle_proof import Shuffle
from channelsim.games.deck.work import DeckResult, Preparation, Stage

Pack: TypeAlias = tuple[bytes, ...]

FIRST_AWAITED = 2
"""The first step of a deck for which the other side waits: it has sent one itself."""


class FalseDealer(Adversary):
    """Has a deck prepared, and changes what its own side computes for one."""

    default_step = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._has_asked = False

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if no game uses a prepared deck."""
        return without_decks(games)

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, with a changed result of its own step."""
        if isinstance(event, DeckComputed) and self.due and not self.done and self.is_open:
            changed = self._changed(event.result)
            if changed is not None:
                self.done = True
                event = DeckComputed(changed)
        return super().handle(event)

    def act(self) -> list[Effect]:
        """Have a deck prepared once: a session may have others from a dealer."""
        if self._has_asked or self.done or self.peer.phase is not Phase.PLAYING:
            return []
        effects = self.command(PrepareDeck())
        self._has_asked = effects is not None
        return effects or []

    def false_step(self, before: Stage, result: DeckResult) -> tuple[Stage, bytes] | None:
        """Replace the outcome of a step: the state after it, and the message that is sent.

        None where this step is left as it is.
        """
        return None

    def _changed(self, result: DeckResult) -> DeckResult | None:
        waiting = self.peer.play.decks.decks.get(result.number)
        if waiting is None or result.after is None:
            return None
        # A new deck has no state before: what it needs is in the state after.
        before = (waiting.preparation or result.after).stage
        false = self.false_step(before, result)
        if false is None:
            return None
        stage, answer = false
        return replace(result, after=_with_stage(result.after, stage, answer), answer=answer)


def _with_stage(true: Preparation, stage: Stage, answer: bytes) -> Preparation:
    last = None if true.last is None else (*true.last[:2], answer)
    return replace(true, stage=stage, last=last)


# --- shuffles ------------------------------------------------------------------------------------


@adversary("false-shuffle", "shuffles another pack than it was given, and proves what it can")
class _FalseShuffle(FalseDealer):
    def false_step(self, before: Stage, result: DeckResult) -> tuple[Stage, bytes] | None:
        """A changed pack, with the rounds that an honest shuffle has."""
        stage = result.after.stage if result.after is not None else None
        if isinstance(stage, initiator.Shuffled) and result.step == 1:
            false, sent = self._proved(stage.shuffle, stage.secrets)
            return replace(stage, shuffle=false), _with_end(result.answer, sent)
        if isinstance(stage, receiver.Shuffled) and result.step == 2:
            false, sent = self._proved(stage.ours, stage.secrets)
            return replace(stage, ours=false), _with_end(result.answer, sent)
        return None

    def _proved(self, true: Shuffle, secrets: DeckSecrets) -> tuple[Shuffle, bytes]:
        pack, base = false_pack(true, self.plan.chance)
        false = replace(true, result=pack, result_base=base)
        hashes = shuffle_proof.round_hashes(false, secrets.round_seeds)
        return false, b"".join((base, *pack, *hashes))


def false_pack(true: Shuffle, chance: Chance) -> tuple[Pack, bytes]:
    """A pack that is no shuffle of its source, or a base under another mask."""
    group, base = true.group, true.result_base
    pack = list(true.result)
    at = chance.below(len(pack))
    other = (at + 1 + chance.below(len(pack) - 1)) % len(pack)
    match chance.below(5):
        case 0:
            (pack[at],) = group.multiply([(2, pack[at])])
        case 1:
            pack[at] = pack[other]
        case 2:
            pack[at] = group.map(b"foreign")
        case 3:
            pack = group.multiply([(3, point) for point in pack])
        case _:
            (base,) = group.multiply([(2, base)])
    return tuple(pack), base


def _with_end(answer: bytes, end: bytes) -> bytes:
    return answer[: len(answer) - len(end)] + end


@adversary("other-challenge", "opens another challenge than the one that it committed to")
class _OtherChallenge(FalseDealer):
    def false_step(self, before: Stage, result: DeckResult) -> tuple[Stage, bytes] | None:
        """Other bits, by which it judges the answers."""
        stage = result.after.stage if result.after is not None else None
        if isinstance(stage, initiator.Locked):
            bits = self._other(stage.bits)
            return replace(stage, bits=bits), bits + result.answer[len(bits) :]
        if isinstance(stage, receiver.Shuffled):
            bits = self._other(stage.secrets.bits)
            secrets = replace(stage.secrets, bits=bits)
            return replace(stage, secrets=secrets), bits + result.answer[len(bits) :]
        return None

    def _other(self, bits: bytes) -> bytes:
        flipped = 1 << self.plan.chance.below(8)
        return bytes((bits[0] ^ flipped,)) + bits[1:]


# --- locks ---------------------------------------------------------------------------------------


@adversary("false-locks", "locks other points than it was given, and proves what it can")
class _FalseLocks(FalseDealer):
    def false_step(self, before: Stage, result: DeckResult) -> tuple[Stage, bytes] | None:
        """Changed locks, with the proof that the scalars of the true ones give."""
        after = result.after
        if after is None:
            return None
        if isinstance(before, initiator.Shuffled) and isinstance(after.stage, initiator.Locked):
            true = after.stage.locks
            false, sent = self._proved(true, before.secrets)
            return replace(after.stage, locks=false), _with_end(result.answer, sent)
        deck = after.finished
        if isinstance(before, receiver.Shuffled) and deck is not None and after.last is not None:
            true = Locks(
                deck.group,
                deck.deck,
                b"B",
                before.ours.result_base,
                _locked_in(deck.group, deck.terms.positions, after.last[1]),
                deck.points,
                deck.receiver_keys,
            )
            false, sent = self._proved(true, before.secrets)
            changed = replace(deck, points=false.locked, receiver_keys=false.keys)
            return changed, _with_end(result.answer, sent)
        return None

    def _proved(self, true: Locks, secrets: DeckSecrets) -> tuple[Locks, bytes]:
        change = self.plan.chance.pick(LOCK_CHANGES)
        false = change(true, self.plan.chance.below(len(true.locked)))
        inverse = pow(secrets.mask, -1, true.group.order)
        scalars = [lock * inverse % true.group.order for lock in secrets.locks]
        proof = lock_proof.prove(false, scalars, secrets.lock_nonces)
        return false, b"".join((*false.locked, *false.keys, proof))


def _locked_in(group: Group, positions: int, message: bytes) -> Pack:
    """The points at the end of message 4 that the initiator has locked."""
    size = group.point_size
    at = len(message) - lock_proof.proof_size(positions) - 2 * positions * size
    return tuple(message[at + size * one : at + size * (one + 1)] for one in range(positions))


def _marked(true: Locks, at: int) -> Locks:
    return replace(true, locked=_item(true.locked, at, _doubled(true.group, true.locked[at])))


def _of_another_position(true: Locks, at: int) -> Locks:
    return replace(true, locked=_item(true.locked, at, true.locked[at - 1]))


def _from_beyond(true: Locks, at: int) -> Locks:
    return replace(true, locked=_item(true.locked, at, true.group.map(b"beyond")))


def _another_key(true: Locks, at: int) -> Locks:
    return replace(true, keys=_item(true.keys, at, _doubled(true.group, true.keys[at])))


def _doubled(group: Group, point: bytes) -> bytes:
    return group.multiply([(2, point)])[0]


def _item(points: Pack, at: int, new: bytes) -> Pack:
    return (*points[:at], new, *points[at + 1 :])


LOCK_CHANGES: tuple[Callable[[Locks, int], Locks], ...] = (
    _marked,
    _of_another_position,
    _from_beyond,
    _another_key,
)
"""The changes of the lock of a position."""


# --- times ---------------------------------------------------------------------------------------


@adversary("late-deck-steps", "sends each step of a deck in the last moment that is allowed")
class _LateSteps(FalseDealer):
    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._times: dict[bytes, int] = {}
        self._held: list[bytes] = []

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing in place of a step that the other side awaits, until its time has come."""
        if not isinstance(message, DeckStep) or message.step < FIRST_AWAITED:
            return [blob]
        self.done = True
        times, peak = self.peer.config.agreement.times, self.peer.state.block.peak
        time = self._times.setdefault(blob, peak + times.response + times.margin - 1)
        if peak >= time:
            return [blob]
        self._held.append(blob)
        return []

    def block(self, block: Block) -> list[Effect]:
        """Send the steps whose time has come."""
        due = [blob for blob in self._held if self._times[blob] <= block.peak]
        self._held = [blob for blob in self._held if blob not in due]
        return [Send(blob) for blob in due]
