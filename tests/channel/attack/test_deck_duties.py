"""The duties of a side that prepares decks: a course of two decks, right and with each mistake."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from channelsim.channel.attack.deck_duties import DeckDuties
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.decks import pool as pools
from channelsim.channel.peer.decks.pool import DeckPool, PoolTransition
from channelsim.channel.peer.interface import (
    ComputeDeck,
    Connected,
    DeckComputed,
    Effect,
    PrepareDeck,
    Received,
    Send,
)
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.protocol.messages import (
    Batch,
    DeckStep,
    NamedDeck,
    Offer,
    Propose,
    Resume,
    decode,
    encode,
)
from channelsim.channel.protocol.state import Side
from channelsim.games.chance import Chance
from channelsim.games.deck.work import compute
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.games.deck.toy_group import ToyGroup

TABLE = {fault.name: fault for fault in faults()}

OFFER = Offer(1, "razz", {}, 99, True, 2, (1, 1), bytes(32), 1, 0, NamedDeck(3, bytes(32)))

PATIENCE = 13

TIMES = SimpleNamespace(response=PATIENCE - 3, margin=3)
CONFIG: Any = SimpleNamespace(side=Side.RECEIVER, agreement=SimpleNamespace(times=TIMES))
INITIATOR: Any = SimpleNamespace(side=Side.INITIATOR, agreement=CONFIG.agreement)
SETTINGS = DeckSettings(3, 8, ToyGroup(), demonstration=True)


def state(
    pool: DeckPool,
    phase: Phase = Phase.PLAYING,
    named: tuple[int, ...] = (),
    secrets: tuple[int, ...] = (),
    resuming: bool = False,
    last_sent: bytes = b"",
    height: int = 10,
) -> Any:
    """A peer's state with this pool, a proposal that names decks, and secrets of decks."""
    groups = (SimpleNamespace(decks=lambda: named),) if named else ()
    game_state = SimpleNamespace(groups=groups, games=())
    newest = SimpleNamespace(state=game_state)
    play = SimpleNamespace(decks=pool, state=game_state, newest=newest, potato=False)
    decks = {number: SimpleNamespace(deck=bytes([number])) for number in secrets}
    endpoint = SimpleNamespace(decks=decks)
    return SimpleNamespace(
        phase=phase,
        play=play,
        endpoint=endpoint,
        resuming=resuming,
        last_sent=last_sent,
        block=Block(height),
    )


class Followed:
    """One side's pool, each event of which is followed."""

    def __init__(self, side: Side) -> None:
        self.pool = DeckPool(side, bytes(32), SETTINGS)
        self.duties = DeckDuties(CONFIG if side is Side.RECEIVER else INITIATOR)
        self.found: list[str] = []
        self.height = 10
        self.chance = Chance(side.name.encode())

    def do(
        self, event: Any, react: Callable[[DeckPool], PoolTransition], *, resuming: bool = False
    ) -> list[Effect]:
        before, now = self.pool, state(self.pool, resuming=resuming)
        self.pool, effects = react(before)
        after = state(self.pool, height=self.height)
        self.found += self.duties.follow(event, now, after, effects)
        return effects

    def prepare(self) -> list[DeckStep]:
        return self.computed(self.do(PrepareDeck(), pools.prepare))

    def receive(self, message: DeckStep) -> list[DeckStep]:
        event = Received(encode(message))
        return self.computed(self.do(event, lambda pool: pools.receive(pool, message)))

    def computed(self, effects: list[Effect]) -> list[DeckStep]:
        """The steps that these effects send, once all is computed."""
        sent = [decode(effect.message) for effect in effects if isinstance(effect, Send)]
        for effect in effects:
            if isinstance(effect, ComputeDeck):
                result = compute(effect.work, self.chance.bytes)
                more = self.do(
                    DeckComputed(result),
                    partial(pools.computed, result=result, height=self.height),
                )
                sent += [decode(effect.message) for effect in more if isinstance(effect, Send)]
        return [message for message in sent if isinstance(message, DeckStep)]

    def resume(self, decks: tuple[int, ...], highest: int) -> None:
        message = Resume(0, 0, bytes(32), bytes(96), bytes(96), decks, highest)
        event = Received(encode(message))
        self.do(
            event,
            lambda pool: pools.resume(pool, message.decks, message.highest_deck),
            resuming=True,
        )
        self.do(event, lambda pool: (pool, []))  # it comes twice

    def block(self, height: int) -> None:
        self.height = height
        self.do(Block(height), lambda pool: pools.expire(pool, height, PATIENCE))


def course() -> list[str]:
    """What is found in a course: a step comes twice, connections are new, and a deck is late."""
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    (first,) = receiver.prepare()
    initiator.receive(first)
    initiator.receive(first)
    receiver.resume((1,), 1)
    receiver.prepare()
    initiator.resume((), 1)
    for height in (10 + PATIENCE, 11 + PATIENCE):
        receiver.block(height)
    return [*initiator.found, *receiver.found]


def test_a_course_without_mistakes_is_right() -> None:
    assert course() == []


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("uses-a-number-again", "takes 0 for the highest number"),
        ("answers-no-repeat", "for a step that comes again"),
        ("repeats-no-step-of-a-deck", "does not repeat its step of deck 1"),
        ("drops-decks-on-connections", "drops deck 1, which the other side has"),
        ("keeps-decks-that-the-other-lacks", "keeps deck 1, which the other side does not have"),
        ("decks-expire-early", "gives deck 1 up after 13 blocks"),
        ("decks-expire-late", "waits 14 blocks for a step of deck 1"),
        ("burns-in-silence", "the other side does not hear of it"),
        ("repeats-a-step-as-the-last", "sends step 1 of deck 1, which is the other side's"),
    ],
)
def test_each_mistake_in_a_course_is_seen(fault: str, text: str) -> None:
    with ExitStack() as stack:
        TABLE[fault].plant(stack, Reach())
        assert text in "\n".join(course())


@pytest.mark.parametrize(("lowest", "late"), [(None, 21 + PATIENCE), (15, 16 + PATIENCE)])
def test_each_step_has_its_own_time(lowest: int | None, late: int) -> None:
    """It counts from the lowest height since our step: blocks may be taken back."""
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    (first,) = receiver.prepare()
    (second,) = initiator.receive(first)
    receiver.block(20)
    receiver.receive(second)
    for height in (*([lowest] if lowest is not None else []), late - 1):
        receiver.block(height)
    assert receiver.pool.decks
    receiver.block(late)
    assert not receiver.pool.decks
    assert receiver.found == []


def test_a_step_that_has_the_time_of_an_earlier_one_is_seen() -> None:
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    (first,) = receiver.prepare()
    (second,) = initiator.receive(first)
    receiver.block(20)
    with ExitStack() as stack:
        TABLE["times-whole-decks"].plant(stack, Reach())
        receiver.receive(second)
    receiver.block(11 + PATIENCE)
    assert receiver.found == ["gives deck 1 up after 4 blocks"]


def test_a_step_that_is_not_the_last_one_is_not_repeated() -> None:
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    (first,) = receiver.prepare()
    (second,) = initiator.receive(first)
    receiver.receive(second)
    with ExitStack() as stack:
        TABLE["repeats-its-first-step"].plant(stack, Reach())
        receiver.resume((1,), 1)
    assert "repeats step 1 of deck 1, which is not its last one" in receiver.found


def test_a_deck_that_is_given_up_takes_no_other_one_with_it() -> None:
    receiver = Followed(Side.RECEIVER)
    receiver.prepare()
    receiver.prepare()
    with ExitStack() as stack:
        TABLE["burns-all-decks-for-one"].plant(stack, Reach())
        receiver.do(PrepareDeck(), lambda pool: pools.burn(pool, 1, "", 0, "for a test"))
    assert "drops deck 2, and its player does not hear of it" in receiver.found


def test_a_step_that_nobody_computes_sends_or_takes_is_seen() -> None:
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    none, (begun, effects) = receiver.pool, pools.prepare(receiver.pool)
    (found,) = followed(state(none), state(begun), event=PrepareDeck())
    assert "has step 0 of deck 1 computed by nobody" in found
    assert followed(state(none), state(begun), *effects, event=PrepareDeck()) == []
    (work,) = (effect.work for effect in effects if isinstance(effect, ComputeDeck))
    result = compute(work, receiver.chance.bytes)
    done, _ = pools.computed(begun, result=result, height=10)
    (found,) = followed(state(begun), state(done), event=DeckComputed(result))
    assert "does not send its computed step of deck 1" in found
    (first,) = receiver.prepare()
    (second,) = initiator.receive(first)
    waits, event = state(receiver.pool), Received(encode(second))
    assert followed(waits, waits, event=event) == ["passes over step 2 of deck 1"]


def test_a_message_waits_for_a_deck_that_the_other_side_has() -> None:
    """It has the deck as soon as it has sent its last step, and may name it at once."""
    initiator, receiver = Followed(Side.INITIATOR), Followed(Side.RECEIVER)
    work: Any = SimpleNamespace(terms=SimpleNamespace(number=1), is_new=False, is_last=True)
    last = ComputeDeck(work)
    for duties, event in ((initiator.duties, Connected()), (receiver.duties, Received(b""))):
        pools_now = (state(initiator.pool, resuming=True),) * 2
        list(duties.follow(PrepareDeck(), *pools_now, [last]))
        mistakes = [*duties.follow(event, *pools_now, [])]
        too_soon = "takes a message before deck 1 is finished" in mistakes
        assert too_soon is isinstance(event, Received)


def test_a_step_has_the_same_bytes_each_time() -> None:
    pool = DeckPool(Side.RECEIVER, bytes(32), SETTINGS)
    duties, sides = DeckDuties(CONFIG), (state(pool), state(pool))
    sends = [Send(encode(DeckStep(1, 1, data))) for data in (b"one", b"one", b"two")]
    mistakes = [[*duties.follow(Block(1), *sides, [send])] for send in sends]
    assert mistakes == [[], [], ["repeats step 1 of deck 1 with other bytes"]]


def test_a_step_that_is_never_computed_is_seen_once() -> None:
    receiver = Followed(Side.RECEIVER)
    receiver.do(PrepareDeck(), pools.prepare)
    for peak in range(40):
        receiver.do(Block(peak), lambda pool: (pool, []))
    assert receiver.found == ["waits 24 blocks for its own step of deck 1"]
    other = Followed(Side.RECEIVER)
    other.prepare()
    for peak in range(40):
        other.do(Block(peak), lambda pool: (pool, []))
    assert not any("own step" in how for how in other.found)


def followed(before: Any, after: Any, *effects: Effect, event: Any = None) -> list[str]:
    return list(DeckDuties(CONFIG).follow(event, before, after, list(effects)))


def test_decks_that_are_named_again_counted_wrongly_or_kept_over_a_restart_are_seen() -> None:
    receiver = Followed(Side.RECEIVER)
    receiver.prepare()
    empty, one = DeckPool(Side.RECEIVER, bytes(32), SETTINGS), receiver.pool
    (named,) = followed(state(one), state(one, named=(1,)), event=Block(1))
    assert "keeps deck 1 for another proposal" in named
    assert followed(state(empty), state(empty, named=(1,)), event=Block(1)) == []
    (burnt,) = followed(
        state(empty), state(replace(empty, discarded=frozenset([1]))), event=Block(1)
    )
    assert "counts 1 burnt deck" in burnt
    (kept,) = followed(state(one), state(one))
    assert "after a restart" in kept
    assert followed(state(one), state(empty)) == []


def test_more_decks_than_may_be_open_and_numbers_used_again_are_seen() -> None:
    receiver = Followed(Side.RECEIVER)
    for _ in range(pools.MOST_DECKS):
        receiver.prepare()
    assert receiver.found == []
    with ExitStack() as stack:
        TABLE["computes-without-bound"].plant(stack, Reach())
        receiver.prepare()
    assert any("has 5 decks open" in how for how in receiver.found)
    again = Followed(Side.RECEIVER)
    again.prepare()
    again.pool = DeckPool(Side.RECEIVER, bytes(32), SETTINGS)
    again.prepare()
    assert "begins deck 1 again (PD-10)" in again.found


@pytest.mark.parametrize(("number", "begins"), [(1000, False), (1001, True)])
def test_a_deck_with_a_number_far_above_the_highest_is_seen(
    number: int, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (step,) = Followed(Side.RECEIVER).prepare()
    far = structs.replace(step, deck_no=number)
    right, wrong = Followed(Side.INITIATOR), Followed(Side.INITIATOR)
    right.receive(far)
    monkeypatch.setattr(pools, "MOST_SKIPPED", 1 << 30)
    wrong.receive(far)
    assert not any("is the highest so far" in how for how in right.found)
    assert any("is the highest so far" in how for how in wrong.found) is begins


@pytest.mark.parametrize(
    ("decks", "potato", "is_right"),
    [((1, 3), False, True), ((1,), False, False), ((1, 3), True, False), ((1,), True, True)],
)
def test_last_numbers_have_the_decks_of_a_batch_that_may_be_lost(
    decks: tuple[int, ...], potato: bool, is_right: bool
) -> None:
    receiver = Followed(Side.RECEIVER)
    receiver.prepare()
    sent = Batch(2, (Propose((OFFER,)),), bytes(96), bytes(96))
    after = state(receiver.pool, resuming=True, last_sent=encode(sent))
    after.play.potato = potato
    numbers = Send(encode(Resume(1, 2, bytes(32), bytes(96), bytes(96), decks, 3)))
    found = followed(after, after, numbers, event=Connected())
    assert any("as its own" in how for how in found) is not is_right


@pytest.mark.parametrize("phase", [Phase.CLOSING, Phase.ON_CHAIN])
def test_secrets_that_no_game_needs_are_erased_when_play_is_over(phase: Phase) -> None:
    empty = DeckPool(Side.RECEIVER, bytes(32), SETTINGS)
    (kept,) = followed(state(empty), state(empty, phase, secrets=(1,)), event=Block(1))
    assert "keeps the secrets of deck 1 when play is over" in kept
    assert followed(state(empty), state(empty, phase), event=Block(1)) == []
