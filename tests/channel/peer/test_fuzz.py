"""Random messages at every step are refused or ignored, and raise nothing."""

from __future__ import annotations

from random import Random
from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from channelsim.channel.peer.interface import BrokenOff, Close
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import Batch, decode, encode
from tests.channel.table import ANN, BALANCE, BEN, Cheat, Table, by_policy, sit, total, wish

T = TypeVar("T", bound=msgspec.Struct)

OVER = (Phase.ON_CHAIN, Phase.FAILED)


def moments(seed: str) -> list[Table]:
    """Every moment of a session at which a message is about to arrive, each on a fork."""
    table = sit(seed).start()
    found: list[Table] = []
    decide = by_policy("random", seed), by_policy("aggressive", seed)

    def play() -> None:
        while True:
            if table.mail:
                found.append(table.fork())
            if not table.step(*decide):
                return

    play()
    table.farm(5)
    play()
    table.propose(ANN, wish(), wish(alice=False))
    play()
    table.propose(BEN)
    play()
    table.command(ANN, Close())
    play()
    assert [end.peer.phase for end in table.ends] == [Phase.COMPLETED] * 2
    return found


def sound(table: Table, victim: int) -> None:
    """After anything: broken off for a reason, or playing on with all the money there."""
    end = table.ends[victim]
    broken = [news for news in end.news if isinstance(news, BrokenOff)]
    assert bool(broken) == (end.peer.phase in OVER)
    for news in broken:
        assert news.blame.rule
        assert news.blame.party == table.ends[1 - victim].peer.config.name
        assert str(news.blame).isprintable()
    if end.peer.state.play is not None:
        assert total(end.state) == 2 * BALANCE
        assert end.play.newest.state.number % 2 == victim


def deliver(table: Table, message: bytes) -> None:
    victim, _ = table.mail.popleft()
    table.receive(victim, message)
    sound(table, victim)


@pytest.mark.parametrize("seed", ["one", pytest.param("two", marks=pytest.mark.long)])
def test_flipped_bytes_at_every_step(seed: str) -> None:
    random = Random(seed)
    for moment in moments(seed):
        honest = moment.mail[0][1]
        for _ in range(4):
            blob = bytearray(honest)
            for _ in range(random.choice((1, 1, 1, 2, 5))):
                blob[random.randrange(len(blob))] ^= 1 << random.randrange(8)
            deliver(moment.fork(), bytes(blob))


def test_cut_grown_and_doubled_at_every_step() -> None:
    random = Random(1)
    for moment in moments("one"):
        honest = moment.mail[0][1]
        for blob in (
            b"",
            honest[: random.randrange(len(honest))],
            honest[random.randrange(len(honest)) :],
            honest + honest,
            honest + b"\x00",
            random.randbytes(random.randrange(1, 400)),
        ):
            deliver(moment.fork(), blob)


def test_every_message_of_a_session_at_every_step() -> None:
    """A message that is right at one step is mostly wrong at another, from either side."""
    random = Random(2)
    every = moments("one")
    blobs = [moment.mail[0][1] for moment in every]
    for moment in every:
        for blob in random.sample(blobs, 8):
            deliver(moment.fork(), blob)


def test_repeating_every_message_does_not_harm_the_counterparty() -> None:
    """Twice the same bytes: a batch, a request, an early reveal are ignored."""
    for moment in moments("two"):
        victim, blob = moment.mail[0]
        name = type(decode(blob)).__name__
        if name not in ("Batch", "Request", "Advisory"):
            continue
        end = moment.ends[victim]
        if end.peer.phase is not Phase.PLAYING:
            continue
        fork = moment.fork()
        fork.deliver()
        before = fork.ends[victim].peer.phase
        assert before in (Phase.PLAYING, Phase.CLOSING)
        after = fork.ends[victim].play
        fork.receive(victim, blob)
        assert fork.ends[victim].peer.phase is before
        if name == "Batch":
            assert fork.ends[victim].play == after
        assert total(fork.ends[victim].state) == 2 * BALANCE


def test_batches_altered_anywhere_and_signed_again() -> None:
    """A cheat that holds its keys: it signs what it says, so only the rules stand against it."""
    random = Random(3)
    outcomes: set[str] = set()
    for moment in moments("one") + moments("two"):
        victim, blob = moment.mail[0]
        message = decode(blob)
        if not isinstance(message, Batch) or not message.actions:
            continue
        if moment.ends[victim].peer.phase is not Phase.PLAYING:
            continue
        for _ in range(3):
            fork = moment.fork()
            fork.mail.popleft()
            actions = list(message.actions)
            match random.randrange(5):
                case 0:
                    random.shuffle(actions)
                case 1:
                    actions.append(random.choice(actions))
                case 2:
                    actions.pop(random.randrange(len(actions)))
                case _:
                    place = random.randrange(len(actions))
                    actions[place] = altered(actions[place], random)
            batch = Cheat(fork, 1 - victim).batch(*actions)
            fork.receive(victim, batch)
            sound(fork, victim)
            broken = [news for news in fork.ends[victim].news if isinstance(news, BrokenOff)]
            outcomes.add(broken[0].blame.rule if broken else "taken")
    assert "taken" in outcomes
    assert len(outcomes) > 8, outcomes


def altered(action: T, random: Random) -> T:
    """One field of an action changed, its type kept."""
    name = random.choice(action.__struct_fields__)
    value = getattr(action, name)
    if isinstance(value, bool):
        new: object = not value
    elif isinstance(value, int):
        new = max(0, value + random.choice((-100, -2, -1, 1, 2, 100)))
    elif isinstance(value, bytes):
        new = random.choice((value[:-1], value + b"\x00", bytes(len(value)), b"\x01" + value[1:]))
    elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        new = (altered(value[0], random), *value[1:])
    else:
        new = value
    return replace(action, **{name: new})


def test_a_batch_is_accepted_in_any_encoding() -> None:
    """The order of a map's fields is free; what counts for a repeat is the bytes."""
    table = sit().open().propose(BEN)
    blob = table.take_mail()
    data = msgspec.msgpack.decode(blob)
    other = msgspec.msgpack.encode(dict(reversed(data.items())))
    assert other != blob
    assert decode(other) == decode(blob)
    table.receive(ANN, other)
    assert table.ends[ANN].peer.phase is Phase.PLAYING
    assert encode(decode(other)) == blob
