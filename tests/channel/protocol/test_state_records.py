"""The records of states: strict, complete, small, and written before anything follows from them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Command,
    Effect,
    ProposeGames,
    Push,
    Send,
    Store,
)
from channelsim.channel.protocol.messages import Batch, Funded, decode, encode
from channelsim.channel.protocol.state import Group
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.protocol.state_records import (
    GameRecord,
    RestoredState,
    decode_record,
    restore,
)
from channelsim.channel.protocol.transitions import MAX_LIVE_GAMES
from channelsim.clsp.values import deserialize, serialize, tree_hash
from channelsim.games.chance import Chance
from channelsim.games.referee import FIRST, infohash
from tests.channel.on_chain import restored_state, stored_records
from tests.channel.table import (
    ANN,
    BEN,
    GAME,
    HASHES,
    STAKE,
    Decide,
    Table,
    by_policy,
    sit,
    wish,
)


@pytest.fixture(scope="module")
def table() -> Table:
    """Two hands, played to their ends; tests only read what was stored."""
    table = sit().open()
    decide = by_policy("random", "kept")
    return table.propose(ANN).go_on(decide, decide).propose(BEN).go_on(decide, decide)


def random_session(seed: str) -> Table:
    """Groups of up to three games, proposed, accepted, refused and played at random."""
    table = sit(seed, contributions=(40 * STAKE, 40 * STAKE)).open()
    chance = Chance(seed.encode())
    decide: tuple[Decide, Decide] = by_policy("random", seed), by_policy("random", f"{seed} too")
    for _ in range(12):
        index = chance.below(2)
        games = 1 + chance.below(3)
        table.command(
            index, ProposeGames(tuple(wish(alice=chance.chance(50)) for _ in range(games)))
        )
        for _ in range(chance.below(30)):
            end = table.ends[index]
            if end.offers and not table.mail and chance.below(3) == 0:
                table.command(index, CancelGames(end.offers.pop(), "no"))
            table.step(*decide)
    return table


def complete(table: Table, link: StateHistory) -> RestoredState:
    """A state of a live peer, with nothing left out."""
    channel, state, signed = table.channel, link.state, link.signed
    games = []
    for game in state.games:
        validator = value = b""
        if game.before is not None and game.before.position.state is not None:
            validator = HASHES[game.before.position.validator or ""]
            value = serialize(game.before.position.state.value())
        games.append(
            GameRecord(game.id, "spacepoker", game.alice, game.coin.atoms(), validator, value)
        )
    return RestoredState(
        number=state.number,
        conditions=serialize(channel.preemption_conditions(state)),
        unroll_puzzle_hash=channel.on_chain(state).unroll_puzzle_hash,
        halves=signed.halves if signed else (),
        games=tuple(games),
        slashes=(),
    )


@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_the_states_restored_from_disk_are_those_of_the_live_peer(seed: str) -> None:
    table = random_session(seed)
    live_games: set[int] = set()
    for index, end in enumerate(table.ends):
        states = restore(table.channel, stored_records(table, index).values())
        assert states == {link.state.number: complete(table, link) for link in end.play.history}
        live_games |= {len(state.games) for state in states.values()}
    assert len(live_games) > 4


@pytest.mark.parametrize("seed", ["one", "two"])
def test_the_proposals_on_disk_are_those_that_are_open(seed: str) -> None:
    table = random_session(seed)
    table.command(ANN, ProposeGames((wish(), wish())))
    table.pump()
    for end in table.ends:
        stored = [data for name, data in end.stored.items() if name.startswith("proposal/")]
        groups = [msgspec.msgpack.decode(data, type=Group) for data in stored]
        assert sorted(groups, key=lambda group: group.id) == sorted(
            end.state.groups, key=lambda group: group.id
        )
        assert groups


def stored_and_said(table: Table, act: Callable[[], object]) -> tuple[int, int]:
    """The bytes that the peers stored for one event, and those of its messages."""
    delivered = len(table.mail[0][1]) if table.mail else 0
    sent = len(table.sent)
    done = [len(end.effects) for end in table.ends]
    act()
    stored = sum(
        len(effect.name) + len(effect.data)
        for end, start in zip(table.ends, done, strict=True)
        for effect in end.effects[start:]
        if isinstance(effect, Store)
    )
    return stored, delivered + sum(len(message) for _, message in table.sent[sent:])


def test_what_a_batch_stores_is_proportional_to_its_message() -> None:
    """With 100 live games, a batch about none of them stores some hundred bytes."""
    funds = 2 * MAX_LIVE_GAMES * STAKE
    table = sit(contributions=(funds, funds)).open()
    figures: list[tuple[int, int]] = []

    def command(index: int, command: Command, accepted: int = 0) -> None:
        events = [stored_and_said(table, lambda: table.command(index, command))]
        while table.mail:
            events.append(stored_and_said(table, table.deliver))
        figures.extend((stored, said + accepted) for stored, said in events)

    command(ANN, ProposeGames((wish(unit=1),) * MAX_LIVE_GAMES))
    # An acceptance is short, and starts games that an earlier message described.
    described = max(said for _, said in figures)
    command(BEN, AcceptGames(table.ends[BEN].offers.pop()), accepted=described)
    begun = len(figures)
    for _ in range(16):
        # A peer that still has to decide its moves sends what else it has when it is asked to.
        command(1 - table.holder(), ProposeGames((wish(unit=1),)))
        for index, end in enumerate(table.ends):
            while end.offers:
                command(index, CancelGames(end.offers.pop(), "no"))
    for end in table.ends:
        assert len(end.state.games) == MAX_LIVE_GAMES
    assert sum(0 < said < 1000 for _, said in figures[begun:]) > 24
    assert all(stored <= 1000 + 6 * said for stored, said in figures), figures


def test_a_record_reads_back_and_nothing_else_does(table: Table) -> None:
    for index in (ANN, BEN):
        for name, data in stored_records(table, index).items():
            kind, _, number = name.partition("/")
            record = decode_record(data)
            assert record.number == int(number)
            assert (record.halves == ()) == (kind == "sent")
            assert msgspec.msgpack.encode(record) == data
    for garbage in (b"", b"\xc1", b"\x80", data[:-1]):
        with pytest.raises(msgspec.DecodeError):
            decode_record(garbage)


def test_without_one_record_no_later_state_is_restored(table: Table) -> None:
    records = list(stored_records(table, ANN).values())
    numbers = sorted(decode_record(record).number for record in records)
    assert [*restore(table.channel, records)] == numbers
    for missing in (0, 1, numbers[-2]):
        rest = [record for record in records if decode_record(record).number != missing]
        with pytest.raises(InvariantError, match=f"the record of state {missing} is missing"):
            restore(table.channel, rest)


def damaged(value: object, chance: Chance) -> object:
    """A decoded record with one value changed, somewhere in it."""
    match value:
        case dict():
            key = sorted(value)[chance.below(len(value))]
            return {**value, key: damaged(value[key], chance)}
        case [*items] if items and chance.chance(70):
            place = chance.below(len(items))
            return [*items[:place], damaged(items[place], chance), *items[place + 1 :]]
        case [*items]:
            return items[1:] if items and chance.chance(50) else [*items, *items, 7]
        case int():
            return value + (1, -1, 10**9)[chance.below(3)]
        case bytes():
            return (b"", value + b"\x01", bytes(len(value)))[chance.below(3)]
        case _:
            return value


def test_a_damaged_record_is_refused_by_name_or_restored(table: Table) -> None:
    """Whatever changes in a record, `restore` raises no other error than it says."""
    records = list(stored_records(table, ANN).values())
    chance = Chance(b"damage")
    refused: set[type[Exception]] = set()
    for _ in range(300):
        place = chance.below(len(records))
        blob = bytearray(records[place])
        if chance.chance(50):
            blob[chance.below(len(blob))] ^= 1 << chance.below(8)
        else:
            blob[:] = msgspec.msgpack.encode(damaged(msgspec.msgpack.decode(blob), chance))
        try:
            restore(table.channel, [*records[:place], bytes(blob), *records[place + 1 :]])
        except (msgspec.DecodeError, InvariantError) as error:
            refused.add(type(error))
    assert refused == {msgspec.DecodeError, msgspec.ValidationError, InvariantError}


def test_a_record_that_gives_another_unroll_coin_is_refused(table: Table) -> None:
    """Its conditions would be published, and nobody could spend what they make."""
    records = [*stored_records(table, ANN).values()]
    for place, record in enumerate(map(decode_record, records)):
        first, second = record.balances
        for changed in (
            msgspec.structs.replace(record, balances=(first - 1, second + 1)),
            msgspec.structs.replace(record, unroll_puzzle_hash=bytes(32)),
        ):
            wrong = [*records[:place], msgspec.msgpack.encode(changed), *records[place + 1 :]]
            with pytest.raises(msgspec.DecodeError, match=f"state {record.number} is damaged"):
                restore(table.channel, wrong)


def test_a_game_that_was_not_live_cannot_have_ended(table: Table) -> None:
    records = list(stored_records(table, ANN).values())
    newest = max(map(decode_record, records), key=lambda record: record.number)
    impossible = replace(newest, number=newest.number + 1, ended=(1000,))
    with pytest.raises(InvariantError, match=f"game 1000 ended in state {newest.number + 1}"):
        restore(table.channel, [*records, msgspec.msgpack.encode(impossible)])


def test_the_name_of_a_game_is_text_in_a_record(table: Table) -> None:
    records = stored_records(table, ANN).values()
    record = next(one for one in records if b"spacepoker" in one)
    with pytest.raises(msgspec.DecodeError, match="damaged"):
        decode_record(record.replace(b"spacepoker", b"spacepoke\xf2"))


def test_messages_are_stored_before_they_are_sent(table: Table) -> None:
    """Of every batch: the record of its state, and its bytes, come earlier in the effects."""
    for end in table.ends:
        states: set[int] = set()
        last = b""
        sends = 0
        for effect in end.effects:
            match effect:
                case Store("last-sent", data):
                    last = data
                case Store(name, data) if name.startswith("sent/"):
                    states.add(decode_record(data).number)
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


def test_the_validator_and_state_behind_infohash_a_are_stored(table: Table) -> None:
    """A puzzle hash cannot be reversed: validator and state must be at hand for a slash."""
    seen: set[str] = set()
    names = {program.hash: name for name, program in GAME.programs.items()}
    for index in (ANN, BEN):
        for name in stored_records(table, index):
            kind, _, number = name.partition("/")
            for game in restored_state(table, index, int(number), kind == "received").games:
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
