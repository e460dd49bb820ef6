"""Altered messages of a preparation between two peers: each burns the deck by the rule it breaks.

Both sides compute honestly, and one message is changed on its way. The channel goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import pytest

from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.interface import ComputeDeck, DeckBurnt, PrepareDeck
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import DeckStep, decode, encode
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import Computing
from channelsim.games.chance import Chance
from channelsim.games.deck.group import real_group
from channelsim.games.deck.secrets import Random, encode_scalars
from channelsim.games.deck.terms import DeckTerms
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from tests.channel.peer.decks.high_card import TOY
from tests.channel.peer.decks.test_proposals import SETTINGS, prepare
from tests.channel.table import ANN, BEN, Table, sit
from tests.games.deck.test_cheats import times

Said: TypeAlias = dict[int, bytes]
"""The messages of a deck, by step, as they were sent."""

Alteration: TypeAlias = Callable[[Said], bytes]
"""What is delivered in the place of the newest message."""

SIZE, LOCKS = TOY.point_size, SETTINGS.positions
PACK = 53 * SIZE
LOCKED = 2 * LOCKS * SIZE + 32 + 32 * LOCKS
"""The bytes of points, keys and proof at the end of messages 4 and 5."""

BITS = b"\x35"
"""Both sides' challenge."""


def secrets(side: int, terms: DeckTerms) -> Random:
    """A side's secrets; its challenge is the only single byte that it draws."""
    random = Chance(bytes((side,)) + terms.encode()).bytes
    return lambda size: BITS if size == 1 else random(size)


def computing(side: int, work: DeckWork) -> Callable[[], DeckResult]:
    return lambda: compute(work, secrets(side, work.terms))


@cache
def opened(settings: DeckSettings = SETTINGS) -> Table:
    return sit("altered", decks=settings).open()


def table(how: Computing = computing) -> Table:
    first, second = opened().ends
    return Table(opened().chain, (first.fork(), second.fork()), computing=how)


def altered(step: int, change: Alteration, decks: int = 1) -> Table:
    """Prepare decks; a message of the last one is changed on its way."""
    two, said = table(), Said()
    prepare(two, decks - 1)
    two.command(BEN, PrepareDeck())
    while two.driver.finish_step() or two.mail:
        if two.mail:
            receiver, blob = two.mail.popleft()
            message = decode(blob)
            if isinstance(message, DeckStep):
                said[message.step] = message.data
                if message.step == step:
                    blob = encode(DeckStep(message.deck_no, step, change(said)))
            two.receive(receiver, blob)
    return two


def check_burnt(two: Table, step: int, rule: str) -> None:
    """The receiver of a step burns the deck by this rule; the channel goes on."""
    for side, end in enumerate(two.ends):
        assert end.peer.phase is Phase.PLAYING
        assert 1 not in end.play.decks.ready
        rules = [one.rule for one in end.news if isinstance(one, DeckBurnt)]
        assert rules == [rule if side == receiver_of(step) else ""]


def receiver_of(step: int) -> Side:
    return ANN if step % 2 else BEN


def put(step: int, at: int, new: bytes) -> Alteration:
    """Other bytes at a place, which may be counted from the end."""

    def change(said: Said) -> bytes:
        start = at % len(said[step])
        return said[step][:start] + new + said[step][start + len(new) :]

    return change


def flip(step: int, at: int) -> Alteration:
    """Another low bit of the byte at a place."""
    return lambda said: put(step, at, bytes((said[step][at] ^ 1,)))(said)


def test_unchanged_messages_make_a_deck() -> None:
    """So that each of the others fails for what it changes."""
    two = altered(5, lambda said: said[5])
    assert [[*end.play.decks.ready] for end in two.ends] == [[1], [1]]


# --- fields ---------------------------------------------------------------------------------------

POINTS = {
    **{(step, at): start + at * SIZE for step, start in ((2, 64), (3, 33)) for at in (0, 1, 52)},
    **{(step, at): -LOCKED + at * SIZE for step in (4, 5) for at in (0, LOCKS, 2 * LOCKS - 1)},
}
"""Where points are in each message: keys of masks, cards, locked cards and keys of locks."""

ENCODINGS = {
    "the neutral one": (1).to_bytes(SIZE, "big"),
    "zero": bytes(SIZE),
    "outside of the group": TOY.subtract([(TOY.base, TOY.map(b"x"))])[0][::-1],
    "not canonical": b"\xff" * SIZE,
}


@pytest.mark.parametrize("place", POINTS)
def test_a_message_has_points_only(place: tuple[int, int]) -> None:
    """PD-1."""
    step, number = place
    wrong = [*ENCODINGS.values()][number % len(ENCODINGS)]
    assert not TOY.is_point(wrong)
    check_burnt(altered(step, put(step, POINTS[place], wrong)), step, "PD-1")


G1_POINTS = {
    "infinity": b"\xc0" + bytes(47),
    "off the curve": b"\x80" + bytes(46) + b"\x01",
    "outside of the subgroup": b"\x80" + bytes(46) + b"\x04",
    "x is too large": b"\x9f" + b"\xff" * 47,
    "not compressed": bytes((real_group().base[0] & 0x7F,)) + real_group().base[1:],
}


@pytest.mark.parametrize("name", G1_POINTS)
def test_a_message_has_points_of_g1_only(name: str) -> None:
    """PD-1 in the group of real decks. The second mask key is the first point that is checked."""
    group = real_group()
    table = opened(DeckSettings(2, 40)).fork()
    table.command(BEN, PrepareDeck())
    table.driver.finish_step()
    table.take_mail()
    card = group.map(b"a card")
    pack = [group.base, G1_POINTS[name], *[card] * 51]
    table.receive(BEN, DeckStep(1, 2, b"".join((bytes(64), *pack, bytes(32 * 40)))))
    table.driver.finish_step()
    (burnt,) = table.ends[BEN].news_of(DeckBurnt)
    assert isinstance(burnt, DeckBurnt)
    assert (burnt.rule, "card 0" in burnt.reason) == ("PD-1", True)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: b""])
def test_a_message_has_its_length(step: int, change: Callable[[bytes], bytes]) -> None:
    """PD-2."""
    check_burnt(altered(step, lambda said: change(said[step])), step, "PD-2")


def joined(step: int) -> int:
    """The place of the first answer with a scalar and a permutation: to bit 0 of the challenge."""
    return 33 if step == 4 else 0


SCALARS = {
    "zero": 0,
    "the order": TOY.order,
    "beyond the order": TOY.order + 5,
    "negative": (1 << 256) - 1,
}


@pytest.mark.parametrize("step", [4, 5])
@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_is_in_its_range(step: int, name: str) -> None:
    """PD-3, of an answer and of a proof of locks, in which zero may occur."""
    wrong = encode_scalars([SCALARS[name]])
    check_burnt(altered(step, put(step, joined(step), wrong)), step, "PD-3")
    if name in ("zero", "the order"):
        rule = "PD-7" if name == "zero" else "PD-3"
        check_burnt(altered(step, put(step, -32, wrong)), step, rule)


@pytest.mark.parametrize("step", [4, 5])
@pytest.mark.parametrize("positions", [bytes(52), bytes((*range(51), 52)), bytes(range(1, 53))])
def test_the_positions_of_an_answer_are_a_permutation(step: int, positions: bytes) -> None:
    """PD-4."""
    check_burnt(altered(step, put(step, joined(step) + 32, positions)), step, "PD-4")


@pytest.mark.parametrize("step", [4, 5])
def test_another_answer_does_not_fit_its_hash(step: int) -> None:
    """PD-5, for both values of a bit: the answer to bit 1 begins behind that to bit 0."""
    assert BITS[0] & 3 == 1
    for at in (joined(step) + 31, joined(step) + 84):
        check_burnt(altered(step, flip(step, at)), step, "PD-5")


@pytest.mark.parametrize("step", [3, 4])
@pytest.mark.parametrize("at", [0, 1, 32])
def test_a_challenge_that_was_not_committed_to_is_not_answered(step: int, at: int) -> None:
    """PD-6: of its bits and of its salt. Else the verifier could choose it by the hashes."""
    two = altered(step, flip(step, at))
    check_burnt(two, step, "PD-6")
    assert not any(
        isinstance(message := decode(blob), DeckStep) and message.step > step
        for _, blob in two.sent
    )


@pytest.mark.parametrize("step", [4, 5])
def test_another_proof_of_the_locks_is_refused(step: int) -> None:
    """PD-7: its hash, and a response in its range."""
    at = -32 * LOCKS - 1 if step == 4 else -1
    check_burnt(altered(step, flip(step, at)), step, "PD-7")


@pytest.mark.parametrize("at", [3, 4, 5, 6])
def test_message_1_repeats_the_agreed_terms(at: int) -> None:
    """PD-8: the number of the deck, of cards, of positions and of rounds."""
    check_burnt(altered(1, flip(1, at)), 1, "PD-8")


# --- messages from elsewhere ----------------------------------------------------------------------


@pytest.mark.parametrize(("step", "rule"), [(2, "PD-6"), (3, "PD-6"), (4, "PD-6"), (5, "PD-5")])
def test_a_message_of_an_earlier_deck_is_refused(step: int, rule: str) -> None:
    """Nonces and terms are in everything that is hashed."""
    earlier: Said = {}
    altered(step, lambda said: earlier.setdefault(step, said[step]))
    two = altered(step, lambda said: earlier[step], decks=2)
    for end in two.ends:
        assert [*end.play.decks.ready] == [1]
    burnt = [one.rule for end in two.ends for one in end.news if isinstance(one, DeckBurnt)]
    assert [one for one in burnt if one] == [rule]


def step_in(blob: bytes) -> DeckStep:
    message = decode(blob)
    assert isinstance(message, DeckStep)
    return message


def given(two: Table, side: Side, step: int, data: bytes) -> bytes:
    """Give a step to a side; its answer."""
    two.receive(side, DeckStep(1, step, data))
    two.driver.finish_step()
    answer = decode(two.take_mail())
    return answer.data if isinstance(answer, DeckStep) else b""


def test_a_mirrored_shuffle_is_refused() -> None:
    """PD-5: the receiver returns the initiator's pack with its proof; the role is in the hash."""
    two = table()
    two.command(BEN, PrepareDeck())
    two.driver.finish_step()
    second = given(two, ANN, 1, step_in(two.take_mail()).data)
    third = given(two, BEN, 2, second)
    fourth = given(two, ANN, 3, third[:33] + second[64:])
    assert fourth, "both challenges are the same, so that the answers fit too"
    assert not given(two, ANN, 5, fourth[33:])
    (burnt,) = two.ends[ANN].news_of(DeckBurnt)
    assert isinstance(burnt, DeckBurnt)
    assert burnt.rule == "PD-5"


@pytest.mark.parametrize("part", ["all of it", "the proof", "the keys"])
def test_the_locks_of_the_other_side_are_refused(part: str) -> None:
    """PD-7: the receiver returns the initiator's locks, their proof, or their keys."""
    start, end = {
        "all of it": (-LOCKED, None),
        "the proof": (-LOCKED + 2 * LOCKS * SIZE, None),
        "the keys": (-LOCKED + LOCKS * SIZE, -LOCKED + 2 * LOCKS * SIZE),
    }[part]
    change: Alteration = lambda said: put(5, start, said[4][start:end])(said)  # noqa: E731
    check_burnt(altered(5, change), 5, "PD-7")


def test_a_mark_in_the_lock_step_is_refused() -> None:
    """PD-7: the receiver locks a multiple of the initiator's point."""

    def change(said: Said) -> bytes:
        start = len(said[5]) - LOCKED
        return put(5, start, times(3, said[5][start : start + SIZE]))(said)

    check_burnt(altered(5, change), 5, "PD-7")


# --- each step once -------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_another_message_for_an_answered_step_burns_the_deck_uncomputed(step: int) -> None:
    """PD-11: a second step 2 could be proved once the challenge is known, and two answers to a
    step 3 would give the shuffle away. The same bytes again change nothing."""
    two, side = table(), receiver_of(step)
    two.command(BEN, PrepareDeck())
    two.driver.finish_step()
    message = step_in(two.take_mail())
    for earlier in range(1, step):
        message = DeckStep(1, earlier + 1, given(two, receiver_of(earlier), earlier, message.data))
    two.receive(side, message)
    two.driver.finish_step()
    two.receive(side, message)
    assert not two.ends[side].news_of(DeckBurnt)
    effects = two.receive(side, DeckStep(1, step, message.data[:-1] + b"!"))
    assert not any(isinstance(one, ComputeDeck) for one in effects)
    if step < 5:
        (burnt,) = two.ends[side].news_of(DeckBurnt)
        assert isinstance(burnt, DeckBurnt)
        assert burnt.rule == "PD-11"
    two.pump()
    for end in two.ends:
        assert not end.play.decks.ready


def test_a_number_is_used_once() -> None:
    """PD-10: a new step 1 with the number of a deck that is given up."""
    said: Said = {}
    two = altered(2, lambda all_said: said.setdefault(1, all_said[1]) and b"")
    two.receive(ANN, DeckStep(1, 1, said[1]))
    assert not two.driver.finish_step()
    rules = [one.rule for one in two.ends[ANN].news if isinstance(one, DeckBurnt)]
    assert rules == ["", "PD-10"]


def test_a_fifth_deck_is_refused() -> None:
    """PD-17: the initiator computes nothing for it."""
    two = prepare(table(), 4)
    effects = two.receive(ANN, DeckStep(5, 1, b"x"))
    assert not any(isinstance(one, ComputeDeck) for one in effects)
    rules = [one.rule for one in two.ends[ANN].news if isinstance(one, DeckBurnt)]
    assert rules == ["PD-17"]
    assert [*two.ends[ANN].play.decks.ready] == [1, 2, 3, 4]
