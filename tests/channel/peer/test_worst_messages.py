"""The worst that each message can hold within its size limit, and what a peer spends on it.

However a message is made, handling it takes about a second and 100 MB at the most, and what a peer
keeps because of it is bounded. Time is processor time, and its limit here is generous.
"""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from time import process_time

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, Spend, condition
from channelsim.channel.peer.interface import BrokenOff, Received
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, sign_halves
from channelsim.channel.protocol.limits import message_limit
from channelsim.channel.protocol.messages import (
    MAX_ACTIONS,
    MAX_MESSAGE,
    MAX_OFFERS,
    MAX_OPENING_MESSAGE,
    MAX_PARAMETERS,
    MAX_TEXT,
    Advisory,
    Batch,
    Cancel,
    Funded,
    Funding,
    Launch,
    Message,
    Move,
    Offer,
    Propose,
    Request,
    Settle,
    encode,
)
from channelsim.channel.protocol.proposals import Wish, offer_of
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.wallet import launcher_spend
from channelsim.channel.store.history_codec import encode_newer
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, serialize, to_list
from channelsim.games import registry
from channelsim.games.choices import least_action
from channelsim.games.contract import Action, Player
from channelsim.games.referee import AGG_SIG_ME, CREATE_COIN
from tests.channel.peer.hostile import quiet, refuse
from tests.channel.peer.moments import STEPS, at
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    STACK,
    STAKE,
    TIMEOUT,
    UNIT,
    Cheat,
    End,
    Table,
    sit,
    wish,
)
from tests.sampling import one_in

SECONDS = 4.0
MEGABYTES = 100

HALVES = (NO_SIGNATURE, NO_SIGNATURE)

ENVIRONMENT, APPLY, CONS, CONCAT = b"\x01", b"\x02", b"\x04", b"\x0e"


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> None:
    """Keep what other tests have left out of the garbage collections here."""
    gc.collect()
    gc.freeze()


def spent(table: Table, victim: int, blob: bytes) -> tuple[float, float]:
    """The seconds (tracing memory counts) and megabytes that the victim spends on this message."""
    peer = table.fork().ends[victim].peer
    gc.collect()
    tracemalloc.start()
    began = process_time()
    peer.handle(Received(blob))
    seconds = process_time() - began
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, megabytes


def bearable(table: Table, victim: int, message: bytes | Message) -> None:
    blob = message if isinstance(message, bytes) else encode(message)
    seconds, megabytes = spent(table, victim, blob)
    print(f"{seconds:.2f} s, {megabytes:.1f} MB, {len(blob)} bytes")
    assert seconds < SECONDS, seconds
    assert megabytes < MEGABYTES, megabytes


# --- bytes that are no message -------------------------------------------------------------------


def garbage(size: int) -> Iterator[bytes]:
    """Bytes that are no message, as many as may be decoded."""
    yield b"\x91" * size
    yield b"\x81\xa1a" * (size // 3)
    yield b"\xdd" + (size - 5).to_bytes(4, "big") + b"\x90" * (size - 5)
    yield b"\xdf" + ((size - 5) // 3).to_bytes(4, "big") + b"\xa1a\x90" * ((size - 5) // 3)
    yield b"\xdb" + (size - 5).to_bytes(4, "big") + b"a" * (size - 5)
    yield b"\xdd\xff\xff\xff\xff" + b"\xc0" * (size - 5)
    tagged = b"\x82\xa3say\xa5batch\xa7actions\xdd" + size.to_bytes(4, "big")
    yield (tagged + b"\x82\xa2do\xa6settle\xa7game_id\x01" * size)[:size]
    yield b"\x82\xa3say\xa7funding\xa4part" + b"\x91" * (size - 18)


@pytest.mark.parametrize("step", one_in(5, STEPS), ids=lambda step: step[0].__name__)
def test_garbage_as_long_as_a_message_of_the_opening(step: tuple[type[Message], int]) -> None:
    kind, victim = step
    table = at(kind, victim).table
    for blob in garbage(MAX_OPENING_MESSAGE):
        bearable(table, victim, blob)


def test_garbage_as_long_as_a_batch() -> None:
    table = sit().open()
    for blob in garbage(message_limit(table.ends[ANN].state)):
        bearable(table, ANN, blob)


@pytest.mark.parametrize("size", [MAX_MESSAGE, MAX_MESSAGE + 1])
def test_a_long_message_is_refused_before_it_is_decoded(size: int) -> None:
    for table in (at(Funded, ANN).table, sit().open()):
        bearable(table, ANN, b"\x91" * size)
        refuse(table, ANN, b"\x91" * size, "CH-MSG-1")


# --- funding spends ------------------------------------------------------------------------------


def doubled(operator: bytes, start: Value, times: int) -> Value:
    """A program that gives its start to an operator twice, and the result again, so often."""
    program = start
    for _ in range(times):
        twice: Value = (b"\x01", to_list([operator, ENVIRONMENT, ENVIRONMENT]))
        program = to_list([APPLY, twice, program])
    return program


def listed(item: Value, count: int) -> Value:
    """A program that makes a list of so many references to what this program gives."""
    body: Value = (b"\x01", NIL)
    for _ in range(count):
        body = to_list([CONS, ENVIRONMENT, body])
    return to_list([APPLY, (b"\x01", body), item])


def wallet_spends() -> Iterator[tuple[str, Value, Value]]:
    """Puzzles and solutions of at most about 50 kB whose results are anything but small."""
    ones: Value = to_list([b"\x01"] * 10_000)
    yield "a long list, shared by every condition", listed(ENVIRONMENT, 5_000), ones
    yield "a long list of conditions", ENVIRONMENT, to_list([to_list([b"\x33"])] * 10_000)
    yield "a list that doubles", listed(doubled(CONS, ENVIRONMENT, 40), 20), ones
    atom = doubled(CONCAT, (b"\x01", b"\x7f" * 64), 14)
    yield "large atoms", listed(listed(atom, 7), 30), NIL
    announced = to_list([CONS, (b"\x01", b"\x3d"), listed(atom, 1)])
    yield "large announcements", listed(announced, 30), NIL
    amount = to_list(
        [CONS, (b"\x01", b"\x33"), to_list([CONS, (b"\x01", bytes(32)), listed(atom, 1)])]
    )
    yield "a large amount", listed(amount, 1), NIL
    again: Value = (b"\x01", to_list([APPLY, ENVIRONMENT, ENVIRONMENT]))
    yield "a program that never ends", to_list([APPLY, again, again]), NIL
    deep: Value = NIL
    for _ in range(20_000):
        deep = (deep, NIL)
    yield "a deep solution", ENVIRONMENT, deep
    yield "a deep puzzle", (b"\x01", deep), NIL
    key = bytes(sit().ends[ANN].peer.config.wallet.key.get_g1())
    signed = [condition(AGG_SIG_ME, key, n.to_bytes(2, "big")) for n in range(600)]
    yield "signatures without end", ENVIRONMENT, to_list(signed)
    coins = [condition(CREATE_COIN, bytes(32), bytes([n])) for n in range(1, 100)]
    yield "coins without end", ENVIRONMENT, to_list(coins)


WALLET_SPENDS = list(wallet_spends())


def initiators_part(puzzle: bytes, solution: bytes) -> tuple[Table, Message]:
    """Before message E, with a part whose wallet coin has this puzzle."""
    moment = at(Launch, BEN)
    coin = Coin(bytes(32), Program(puzzle).hash, 2 * BALANCE)
    table = moment.table
    table.receive(BEN, replace(moment.message, parent=coin))
    channel = table.ends[BEN].peer.state.opening.channel
    assert channel is not None
    halves = sign_halves(channel, moment.keys, ChannelState(1, channel.contributions))
    part = Bundle((Spend(coin, puzzle, solution), launcher_spend(channel)), NO_SIGNATURE)
    return table, Funding(*halves, part)


def receivers_part(puzzle: bytes, solution: bytes) -> tuple[Table, Message]:
    """Before message F, with a completion whose wallet coin has this puzzle."""
    moment = at(Funded, ANN)
    assert isinstance(moment.message, Funded)
    coin = Coin(bytes(32), Program(puzzle).hash, 2 * BALANCE)
    old = moment.message.bundle
    bundle = Bundle((*old.spends[:2], Spend(coin, puzzle, solution)), old.signature)
    return moment.table, Funded(bundle)


@pytest.mark.parametrize("victim", one_in(2, [BEN, ANN]))
@pytest.mark.parametrize("name", one_in(4, [name for name, _, _ in WALLET_SPENDS]))
def test_a_funding_spend_is_read_within_limits(victim: int, name: str) -> None:
    _, puzzle, solution = next(one for one in WALLET_SPENDS if one[0] == name)
    build = initiators_part if victim == BEN else receivers_part
    table, message = build(serialize(puzzle), serialize(solution))
    assert len(encode(message)) < MAX_OPENING_MESSAGE
    if victim == BEN:
        bearable(table, victim, message)
    table.receive(victim, message)
    (news,) = table.ends[victim].news_of(BrokenOff)
    assert isinstance(news, BrokenOff)
    assert news.blame.rule == ("CH-OPEN-9" if victim == BEN else "CH-OPEN-10")


# --- batches -------------------------------------------------------------------------------------


def first_choice(player: Player) -> Action:
    choice = player.choices()[0]
    return least_action(choice)


def widest(offer: Offer) -> Offer:
    """The same, unknown here, with every field as long as it may be."""
    number = (1 << 63) - 1
    names = [f"{n:02}" + "p" * 62 for n in range(MAX_PARAMETERS)]
    return replace(
        offer,
        game_id=offer.game_id,
        game="g" * 64,
        parameters=dict.fromkeys(names, -number),
        timeout=(1 << 31) - 1,
        amount=number,
        stakes=(number, number),
        max_move_size=(1 << 15) - 1,
        mover_share=number,
    )


def proposals(cheat: Cheat, change: Callable[[Offer], Offer], grouped: bool = True) -> Batch:
    """A batch with as many offers as there may be, in one group or a group each."""
    first = cheat.state.next_ids[cheat.side]
    one = offer_of(cheat.table.channel, cheat.side, 0, wish())
    offers = [change(replace(one, game_id=first + 2 * n)) for n in range(MAX_OFFERS)]
    groups = [tuple(offers)] if grouped else [(offer,) for offer in offers]
    return cheat.batch(*(Propose(group) for group in groups))


@pytest.mark.parametrize("grouped", [True, False])
def test_the_largest_proposals_fit_and_are_cheap_to_handle(grouped: bool) -> None:
    table = sit().open()
    for change in (widest, lambda offer: offer):
        blob = encode(proposals(Cheat(table, BEN), change, grouped))
        assert len(blob) <= message_limit(table.ends[ANN].state)
        bearable(table, ANN, blob)
        fork = table.fork()
        fork.receive(ANN, blob)
        assert fork.ends[ANN].peer.phase is Phase.PLAYING


LAST_MOVER = {"spacepoker": ANN, "calpoker": ANN}


@pytest.mark.parametrize("game", one_in(2, LAST_MOVER))
def test_a_batch_with_the_last_move_of_a_hundred_games(game: str) -> None:
    table = sit(contributions=(200 * STAKE, 200 * STAKE)).open()
    rules = registry.get(game)
    one = Wish(game, rules.default_parameters(UNIT, STACK), TIMEOUT, True)
    table.propose(ANN, *[one] * MAX_OFFERS)
    sender = LAST_MOVER[game]
    batch = table.until_move([*rules.validators][-1], sender, first_choice, first_choice)
    assert len(batch.actions) == MAX_OFFERS
    bearable(table, 1 - sender, batch)


def test_actions_and_texts_are_bounded() -> None:
    table = sit().open()
    for message in (
        Batch(2, (Settle(0),) * (MAX_ACTIONS + 1), *HALVES),
        Batch(2, (Cancel(0, "x" * MAX_TEXT),) * MAX_ACTIONS, *HALVES),
        Batch(2, (Move(0, bytes(1 << 15), 0, 0, b""),), *HALVES),
        Advisory(0, bytes(4097)),
    ):
        bearable(table, ANN, message)
        fork = table.fork()
        fork.receive(ANN, message)
        assert fork.ends[ANN].news_of(BrokenOff)


# --- what is kept --------------------------------------------------------------------------------


def kept(end: End) -> int:
    """The bytes that a peer has stored, and those that it holds in memory, roughly."""
    return sum(map(len, encode_newer(end.play.history, 0))) + len(pickle.dumps(memory(end)))


def memory(end: End) -> object:
    peer = end.peer
    links = [(link.state.number, link.state.groups) for link in peer.play.history]
    return links, peer.play.queue, peer.play.state.groups, list(peer.state.early)


def test_refused_proposals_leave_nothing_behind_but_their_number() -> None:
    table = sit().open()
    sizes: list[int] = []
    for _ in range(6):
        table.receive(ANN, proposals(Cheat(table, BEN), widest, grouped=False))
        assert table.ends[ANN].peer.phase is Phase.PLAYING
        sizes.append(kept(table.ends[ANN]))
    # What a round adds is the record of its two states, without anything that was proposed.
    assert max(after - before for before, after in pairwise(sizes[1:])) < 2000


def test_messages_before_play_are_bounded() -> None:
    table = sit().start().pump()
    early = sit().open()
    for message in (
        encode(Request()),
        encode(proposals(Cheat(early, BEN), widest)),
        *(encode(Advisory(n, bytes(4096))) for n in range(50)),
        *(encode(Request()) for _ in range(50)),
    ):
        assert quiet(table.receive(ANN, message))
    assert kept(table.ends[ANN]) < 300_000
    refuse(table.fork(), ANN, proposals(Cheat(early, BEN), lambda offer: offer), "CH-MSG-3")
