"""The records of states: strict, complete, and written before anything follows from them."""

from __future__ import annotations

import msgspec
import pytest

from channel.peer.interface import Effect, Push, Send, Store
from channel.protocol.messages import Batch, Funded, decode, encode
from channel.protocol.state_records import read
from clsp.values import deserialize, tree_hash
from games.referee import FIRST, infohash
from tests.channel.on_chain import kept, kept_states
from tests.channel.table import ANN, BEN, GAME, Table, by_policy, sit


def played() -> Table:
    table = sit().open()
    decide = by_policy("random", "kept")
    return table.propose(ANN).go_on(decide, decide).propose(BEN).go_on(decide, decide)


def test_a_record_reads_back_and_nothing_else_does() -> None:
    table = played()
    for index in (ANN, BEN):
        for name, data in kept_states(table, index).items():
            kind, _, number = name.partition("/")
            record = read(data)
            assert record.number == int(number)
            assert (record.halves == ()) == (kind == "sent")
            assert msgspec.msgpack.encode(record) == data
    for garbage in (b"", b"\xc1", b"\x80", data[:-1]):
        with pytest.raises(msgspec.DecodeError):
            read(garbage)


def test_what_is_sent_was_stored_before() -> None:
    """Of every batch: the record of its state, and its bytes, come earlier in the effects."""
    table = played()
    for end in table.ends:
        states: set[int] = set()
        last = b""
        sends = 0
        for effect in end.effects:
            match effect:
                case Store("last-sent", data):
                    last = data
                case Store(name, data) if name.startswith("sent/"):
                    states.add(read(data).number)
                case Send(message):
                    said = decode(message)
                    if isinstance(said, Batch):
                        sends += 1
                        assert last == message
                        assert said.number in states
                case _:
                    pass
        assert sends > 5


def test_every_message_of_the_opening_is_stored_before_it_is_sent() -> None:
    table = sit().start().pump()
    for end in table.ends:
        stored: list[bytes] = []
        sent = 0
        for effect in end.effects:
            match effect:
                case Store(name, data) if name.startswith("opening/"):
                    stored.append(data)
                case Send(message):
                    sent += 1
                    assert stored[-1] == message
                case Push("funding", bundle):
                    assert stored[-1] == encode(Funded(bundle))
                case _:
                    pass
        assert sent == 3


def test_what_stands_behind_infohash_a_is_kept() -> None:
    """A puzzle hash cannot be turned back: validator and state must be at hand for a slash."""
    table = played()
    seen: set[str] = set()
    names = {program.hash: name for name, program in GAME.programs.items()}
    for index in (ANN, BEN):
        for name in kept_states(table, index):
            kind, _, number = name.partition("/")
            for game in kept(table, index, int(number), kind == "received").games:
                infohash_a = game.coin[10]
                if infohash_a == FIRST:
                    assert (game.validator, game.state) == (b"", b"")
                    continue
                state = deserialize(game.state)
                assert infohash(game.validator, tree_hash(state)) == infohash_a
                seen.add(names[game.validator])
    assert seen == set(GAME.validators)


def test_nothing_is_pushed_before_it_is_stored() -> None:
    table = sit().open()
    table.receive(ANN, b"\xc1")
    effects: list[Effect] = table.ends[ANN].effects
    stores = [n for n, effect in enumerate(effects) if isinstance(effect, Store)]
    pushes = [n for n, effect in enumerate(effects) if isinstance(effect, Push)]
    assert min(stores) < min(pushes)
