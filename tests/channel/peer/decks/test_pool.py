"""The pool of decks: what a peer does about its own decks, and about the other side's messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.decks import pool as pools
from channelsim.channel.peer.decks.pool import MOST_DECKS, DeckPool, PoolTransition
from channelsim.channel.peer.interface import (
    ComputeDeck,
    DeckBurnt,
    DeckReady,
    DecksUsedUp,
    Effect,
    Ignored,
    Send,
    Tell,
)
from channelsim.channel.protocol.deck_records import encode_deck, restore_decks
from channelsim.channel.protocol.messages import LAST_DECK, DeckAbort, DeckStep, decode, encode
from channelsim.channel.protocol.state import Side
from channelsim.games.chance import Chance
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from tests.games.deck.toy_group import ToyGroup

SETTINGS = DeckSettings(3, 8, ToyGroup(), demonstration=True)
CHANNEL = bytes(31) + b"c"
INITIATOR, RECEIVER = Side.INITIATOR, Side.RECEIVER


@dataclass
class Pools:
    """Both sides' pools: the test decides what is delivered, and when a step is computed."""

    pools: list[DeckPool] = field(
        default_factory=lambda: [DeckPool(side, CHANNEL, SETTINGS) for side in Side]
    )
    mail: list[tuple[Side, DeckStep | DeckAbort]] = field(default_factory=list)
    works: list[tuple[Side, DeckWork]] = field(default_factory=list)
    effects: dict[Side, list[Effect]] = field(default_factory=lambda: {one: [] for one in Side})
    height: int = 10
    chance: Chance = field(default_factory=lambda: Chance(b"pools"))

    def take(self, side: Side, transition: PoolTransition) -> list[Effect]:
        self.pools[side], effects = transition
        self.effects[side] += effects
        for effect in effects:
            match effect:
                case Send(blob):
                    message = decode(blob)
                    assert isinstance(message, DeckStep | DeckAbort)
                    self.mail.append((side.other, message))
                case ComputeDeck(work):
                    self.works.append((side, work))
                case _:
                    pass
        return effects

    def prepare(self, side: Side = RECEIVER) -> list[Effect]:
        return self.take(side, pools.prepare(self.pools[side]))

    def receive(self, side: Side, message: DeckStep | DeckAbort) -> list[Effect]:
        pool = self.pools[side]
        if isinstance(message, DeckAbort):
            return self.take(side, pools.given_up(pool, message))
        return self.take(side, pools.receive(pool, message))

    def compute(self) -> list[Effect]:
        side, work = self.works.pop(0)
        return self.finish(side, compute(work, self.chance.bytes))

    def finish(self, side: Side, result: DeckResult) -> list[Effect]:
        return self.take(side, pools.computed(self.pools[side], result, self.height))

    def deliver(self) -> list[Effect]:
        return self.receive(*self.mail.pop(0))

    def until(self, ready: Callable[[], bool]) -> Pools:
        while not ready():
            assert self.mail or self.works, "it never happens"
            if self.works:
                self.compute()
            else:
                self.deliver()
        return self

    def go_on(self) -> Pools:
        return self.until(lambda: not self.mail and not self.works)

    def until_step(self, step: int) -> DeckStep:
        """The message of this step, on its way."""

        def there() -> bool:
            return any(isinstance(one, DeckStep) and one.step == step for _, one in self.mail)

        self.until(there)
        message = self.mail.pop(0)[1]
        assert isinstance(message, DeckStep)
        return message

    def news(self, side: Side) -> list[object]:
        return [effect.news for effect in self.effects[side] if isinstance(effect, Tell)]

    def burnt(self, side: Side) -> list[str]:
        return [news.rule for news in self.news(side) if isinstance(news, DeckBurnt)]

    def deck(self) -> Pools:
        """A deck, prepared on both sides."""
        self.prepare()
        return self.go_on()


def test_both_sides_prepare_the_same_deck() -> None:
    two = Pools().deck()
    first, second = (pool.ready[1] for pool in two.pools)
    assert first.root(3) == second.root(3)
    assert first.terms == second.terms == SETTINGS.terms(CHANNEL, 1)
    assert not two.burnt(INITIATOR)
    assert not two.burnt(RECEIVER)
    assert DeckReady(1) in two.news(INITIATOR)
    assert DeckReady(1) in two.news(RECEIVER)


def test_the_initiator_asks_for_a_deck() -> None:
    two = Pools()
    two.prepare(INITIATOR)
    two.go_on()
    assert [*two.pools[INITIATOR].ready] == [*two.pools[RECEIVER].ready] == [1]


@pytest.mark.parametrize("wish", [DeckStep(1, 0, b""), DeckStep(0, 0, b"x")])
def test_a_wish_for_a_deck_says_nothing_else(wish: DeckStep) -> None:
    two = Pools()
    (told,) = two.receive(RECEIVER, wish)
    assert isinstance(told, Tell)
    assert isinstance(told.news, Ignored)
    (told,) = two.receive(INITIATOR, DeckStep(0, 0, b""))
    assert isinstance(told, Tell)
    assert isinstance(told.news, Ignored)
    assert not two.pools[RECEIVER].decks
    assert not two.works


def test_a_number_is_used_up_before_its_first_step_is_sent_or_answered() -> None:
    """PD-10: a crash in between uses the number up."""
    two = Pools()
    assert [type(effect) for effect in two.prepare()] == [ComputeDeck]
    assert two.pools[RECEIVER].highest == 1
    two.compute()
    assert [type(effect) for effect in two.deliver()] == [ComputeDeck]
    assert two.pools[INITIATOR].highest == 1


def test_numbers_rise() -> None:
    two = Pools()
    for _ in range(3):
        two.deck()
    assert [*two.pools[INITIATOR].ready] == [1, 2, 3]


def test_a_used_number_is_refused() -> None:
    two = Pools()
    two.prepare()
    first = two.until_step(1)
    two.receive(INITIATOR, DeckAbort(1))
    two.receive(INITIATOR, first)
    two.receive(INITIATOR, DeckAbort(1))
    two.receive(INITIATOR, first)
    assert two.burnt(INITIATOR) == ["", "PD-10"]
    assert len(two.works) == 1  # of the deck that was given up while it was computed


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_repeat_gets_the_same_answer_at_any_time(step: int) -> None:
    """PD-11, also for the steps before the last one, and once the deck is ready."""
    two = Pools()
    two.prepare()
    message = two.until_step(step)
    side = INITIATOR if step % 2 else RECEIVER
    two.receive(side, message)
    (ignored,) = two.receive(side, message)
    assert isinstance(ignored, Tell), "it is still being computed"
    answer = two.until_step(step + 1)
    for _ in range(2):
        (again,) = two.receive(side, message)
        assert again == Send(encode(answer))
        two.mail.clear()
        two.mail.append((side.other, answer))
        two.go_on()
    assert two.pools[side].ready


def test_the_last_step_has_no_answer() -> None:
    two = Pools()
    two.prepare()
    last = two.until_step(5)
    two.receive(INITIATOR, last)
    two.go_on()
    assert two.receive(INITIATOR, last) == []


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_another_message_for_a_step_burns_the_deck_before_anything_is_computed(step: int) -> None:
    """PD-11 carries the soundness of the shuffle's proof."""
    two = Pools()
    two.prepare()
    message = two.until_step(step)
    side = INITIATOR if step % 2 else RECEIVER
    two.receive(side, message)
    two.until(lambda: not two.works)
    two.receive(side, replace_data(message))
    assert two.burnt(side) == ["PD-11"]
    assert not two.works
    assert not two.pools[side].decks
    two.go_on()
    assert two.burnt(side.other) == [""]
    assert not two.pools[side.other].decks


def replace_data(message: DeckStep) -> DeckStep:
    return DeckStep(message.deck_no, message.step, message.data[:-1] + b"!")


def test_another_message_while_a_step_is_computed_burns_the_deck() -> None:
    two = Pools()
    two.prepare()
    message = two.until_step(2)
    two.receive(RECEIVER, message)
    two.receive(RECEIVER, replace_data(message))
    assert two.burnt(RECEIVER) == ["PD-11"]
    assert two.compute() == [], "the result is thrown away"
    assert not two.pools[RECEIVER].discarded


@pytest.mark.parametrize("step", [3, 4, 5])
def test_steps_come_in_order(step: int) -> None:
    two = Pools()
    two.prepare()
    two.until_step(2)
    two.receive(RECEIVER, DeckStep(1, step, b"x"))
    assert two.burnt(RECEIVER) == ["PD-11"]


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_message_is_no_longer_than_its_terms_allow(step: int) -> None:
    two = Pools()
    two.prepare()
    message = two.until_step(step)
    side = INITIATOR if step % 2 else RECEIVER
    two.receive(side, DeckStep(1, step, message.data + bytes(2000)))
    if step == 1:
        two.compute()
    assert two.burnt(side) == ["PD-2"]
    assert not two.works


def test_a_fault_is_told_with_its_rule_and_step() -> None:
    two = Pools()
    two.prepare()
    message = two.until_step(3)
    two.receive(INITIATOR, replace_data(message))
    two.go_on()
    (told,) = [news for news in two.news(INITIATOR) if isinstance(news, DeckBurnt)]
    assert (told.number, told.rule, told.step) == (1, "PD-5", 5)
    two = Pools()
    two.prepare()
    message = two.until_step(3)
    two.receive(INITIATOR, DeckStep(1, 3, b"\xff" + message.data[1:]))
    two.go_on()
    (told,) = [news for news in two.news(INITIATOR) if isinstance(news, DeckBurnt)]
    assert (told.number, told.rule, told.step) == (1, "PD-6", 3)


def test_a_deck_of_another_channel_is_refused() -> None:
    """Nonces and terms are in the commitments, so its messages do not fit."""
    two = Pools()
    two.pools[INITIATOR] = replace(two.pools[INITIATOR], channel_id=bytes(32))
    two.deck()
    assert not any(pool.ready for pool in two.pools)
    assert [rule for side in Side for rule in two.burnt(side) if rule] == ["PD-6"]


def test_other_terms_are_refused() -> None:
    two = Pools()
    weaker = DeckSettings(3, 16, ToyGroup(), demonstration=True)
    two.pools[INITIATOR] = replace(two.pools[INITIATOR], settings=weaker)
    two.deck()
    assert two.burnt(INITIATOR) == ["PD-8"]


def test_a_channel_agrees_to_no_weak_proof_and_to_no_other_group() -> None:
    assert DeckSettings(26, 40).rounds == 40
    with pytest.raises(UsageError, match="at least 40"):
        DeckSettings(26, 32)
    with pytest.raises(UsageError, match="demonstrations"):
        DeckSettings(26, 40, ToyGroup())


def test_there_are_at_most_four_decks() -> None:
    """PD-17, whether they are ready or in preparation."""
    two = Pools()
    for _ in range(MOST_DECKS - 1):
        two.deck()
    two.prepare()
    with pytest.raises(UsageError, match="no more decks"):
        two.prepare()
    assert not isinstance(two.receive(RECEIVER, DeckStep(0, 0, b""))[0], ComputeDeck)
    two.go_on()
    with pytest.raises(UsageError, match="no more decks"):
        two.prepare(INITIATOR)
    crowded = two.receive(INITIATOR, DeckStep(9, 1, b""))
    assert two.burnt(INITIATOR) == ["PD-17"]
    assert not any(isinstance(effect, ComputeDeck) for effect in crowded)
    two.receive(INITIATOR, DeckStep(9, 1, b""))
    assert two.burnt(INITIATOR) == ["PD-17", "PD-10"]


def test_decks_that_are_given_up_while_they_are_computed_still_count() -> None:
    """Else a peer could have us compute without end, by starting and giving up."""
    two = Pools()
    for number in range(1, MOST_DECKS + 1):
        two.receive(INITIATOR, DeckStep(number, 1, b""))
        two.receive(INITIATOR, DeckAbort(number))
    assert len(two.works) == MOST_DECKS
    two.receive(INITIATOR, DeckStep(9, 1, b""))
    assert two.burnt(INITIATOR)[-1] == "PD-17"
    two.compute()
    two.receive(INITIATOR, DeckStep(10, 1, b""))
    assert len(two.works) == MOST_DECKS


def test_either_side_may_give_up_a_deck_that_no_game_has_named() -> None:
    two = Pools().deck()
    for side in Side:
        two.receive(side, DeckAbort(1))
        assert two.burnt(side) == [""]
        assert not two.pools[side].ready
        (ignored,) = two.receive(side, DeckAbort(1))
        assert isinstance(ignored, Tell)
        assert isinstance(ignored.news, Ignored)


def test_a_step_that_is_late_gives_the_deck_up() -> None:
    two = Pools()
    two.prepare()
    two.until_step(1)
    for height in range(10, 24):
        assert two.take(RECEIVER, pools.expire(two.pools[RECEIVER], height, 13)) == []
    sent, told = two.take(RECEIVER, pools.expire(two.pools[RECEIVER], 24, 13))
    assert sent == Send(encode(DeckAbort(1)))
    assert isinstance(told, Tell)
    assert isinstance(told.news, DeckBurnt)


def test_our_own_computing_and_ready_decks_are_never_late() -> None:
    two = Pools()
    two.prepare()
    assert two.take(RECEIVER, pools.expire(two.pools[RECEIVER], 99, 13)) == []
    two.go_on()
    for side in Side:
        assert two.take(side, pools.expire(two.pools[side], 99, 13)) == []


def test_after_a_reorganisation_a_step_is_awaited_from_the_lower_height() -> None:
    two = Pools()
    two.prepare()
    two.until_step(1)
    two.take(RECEIVER, pools.expire(two.pools[RECEIVER], 5, 13))
    assert two.take(RECEIVER, pools.expire(two.pools[RECEIVER], 18, 13)) == []
    assert two.take(RECEIVER, pools.expire(two.pools[RECEIVER], 19, 13)) != []


def test_a_step_of_a_deck_that_is_not_open_is_answered_with_its_end() -> None:
    two = Pools()
    sent, told = two.receive(RECEIVER, DeckStep(7, 2, b""))
    assert sent == Send(encode(DeckAbort(7)))
    assert isinstance(told, Tell)
    assert not two.pools[RECEIVER].highest


def test_a_number_that_is_only_named_stays_unused() -> None:
    """PD-9: proposals that are refused use up nothing."""
    pool = Pools().pools[INITIATOR]
    for number in (1, 1000, 1001, LAST_DECK):
        assert pools.name(pool, [number, number + 1]) is pool
        assert pools.reason_against(pool, [number]) == f"PD-9: deck {number} is unknown"


@pytest.mark.parametrize("highest", [0, 7, LAST_DECK - 2000])
def test_a_new_deck_is_at_most_1000_above_the_highest(highest: int) -> None:
    """PD-10: one step cannot use up all numbers."""
    pool = replace(Pools().pools[INITIATOR], highest=highest)
    for number in (highest + 1001, LAST_DECK):
        after, effects = pools.receive(pool, DeckStep(number, 1, b""))
        assert after is pool
        assert effects[0] == Send(encode(DeckAbort(number)))
        assert all(isinstance(one, Tell) and isinstance(one.news, Ignored) for one in effects[1:])
    after, effects = pools.receive(pool, DeckStep(highest + 1000, 1, b""))
    assert after.highest == highest + 1000
    assert isinstance(effects[0], ComputeDeck)


@pytest.mark.parametrize("left", range(4))
def test_the_last_numbers_are_used_and_then_no_deck_is_begun(left: int) -> None:
    """PD-10, on both sides: by our own decks, and by those of the other side."""
    two = Pools()
    two.pools = [replace(pool, highest=LAST_DECK - left) for pool in two.pools]
    for _ in range(left):
        two.deck()
        two.pools = [pools.name(pool, [*pool.ready]) for pool in two.pools]
    for side in Side:
        assert two.pools[side].is_used_up
        assert two.news(side).count(DecksUsedUp()) == (left > 0)
        with pytest.raises(UsageError, match="the numbers of this channel are used up"):
            two.prepare(side)
    assert [kind(one) for one in two.receive(RECEIVER, DeckStep(0, 0, b""))] == ["Ignored"]
    for step in range(1, 6):
        said = [kind(one) for one in two.receive(INITIATOR, DeckStep(LAST_DECK, step, b""))]
        assert said[0] == "DeckAbort"


def test_hostile_steps_that_push_the_numbers_up_end_in_no_more_decks() -> None:
    """Each uses up 1000 numbers, and the pool is soon full."""
    two = Pools()
    two.pools[INITIATOR] = replace(two.pools[INITIATOR], highest=LAST_DECK - 6500)
    for number in range(LAST_DECK - 5500, LAST_DECK, 1000):
        two.receive(INITIATOR, DeckStep(number, 1, b""))
    two.receive(INITIATOR, DeckStep(LAST_DECK, 1, b""))
    assert two.pools[INITIATOR].is_used_up
    assert two.news(INITIATOR).count(DecksUsedUp()) == 1


def kind(effect: Effect) -> str:
    """The kind of message or news."""
    match effect:
        case Send(blob):
            return type(decode(blob)).__name__
        case Tell(news):
            return type(news).__name__
        case _:
            return type(effect).__name__


def test_a_named_deck_leaves_the_pool_for_ever() -> None:
    two = Pools().deck()
    pool = pools.name(two.pools[INITIATOR], [1])
    assert not pool.ready
    assert not pool.is_full
    assert pools.reason_against(two.pools[INITIATOR], [1]) is None
    assert (pools.reason_against(pool, [1]) or "").startswith("PD-10")
    assert (pools.reason_against(pool, [2]) or "").startswith("PD-9")
    twice = pools.reason_against(two.pools[INITIATOR], [1, 1])
    assert (twice or "").startswith("PD-9")
    record = encode_deck(two.pools[INITIATOR].ready[1], named=True)
    free, named = restore_decks(SETTINGS.group, [record])
    assert ([*free], [*named]) == ([], [1])
    pool, (ignored,) = pools.given_up(pool, DeckAbort(1))
    assert isinstance(ignored, Tell)
    assert isinstance(ignored.news, Ignored)


def test_a_finished_deck_reads_back_from_its_record() -> None:
    """PD-12."""
    two = Pools().deck()
    for side in Side:
        ready = two.pools[side].ready
        records = [encode_deck(deck, named=False) for deck in ready.values()]
        assert restore_decks(SETTINGS.group, records) == (ready, {})


def test_secrets_are_erased_when_a_deck_is_finished() -> None:
    """PD-16: only its locks are left of a side's secrets."""
    two = Pools()
    two.prepare()
    two.until_step(5)
    (open_deck,) = two.pools[RECEIVER].decks.values()
    assert open_deck.preparation is None
    assert open_deck.deck is not None
    shown = repr(two.pools[RECEIVER])
    assert all(str(lock) not in shown for lock in open_deck.deck.own_locks)
