"""The standard puzzle's other way in: why the initiator's channel key is shown only in C.

The channel coin is locked by the sum of both channel keys. Who knows P and a puzzle h with
sum = P + sha256(P, h) * G spends the coin by h, unsigned and at any time.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import msgspec
from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Bundle, Spend, standard_puzzle
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import Hello, decode
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list, tree_hash
from tests.channel.table import ANN, BALANCE, BEN, Table, sit

ORDER = int("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
"""The order of the group of the keys."""

THIEF = bytes(31) + b"\x07"
HIDDEN: Value = (b"\x01", to_list([to_list([b"\x33", THIEF, int_to_atom(2 * BALANCE)])]))
"""`(q . ((51 thief total)))`."""


def secret(number: int) -> PrivateKey:
    return PrivateKey.from_bytes((number % ORDER).to_bytes(32, "big"))


def with_key(table: Table, index: int, key: PrivateKey) -> None:
    """Give a peer this channel key before it has said anything."""
    peer = table.ends[index].peer
    opening = peer.state.opening
    keys = replace(opening.secret_keys, channel=key)
    opening = replace(opening, secret_keys=keys)
    peer.state = msgspec.structs.replace(peer.state, opening=opening)


def test_a_receiver_that_knew_the_other_key_first_could_take_everything() -> None:
    table = sit()
    ann = table.ends[ANN].peer.state.opening.secret_keys.channel.get_g1()
    own = secret(123456789)
    hidden_key = ann + own.get_g1()
    digest = sha256(bytes(hidden_key) + tree_hash(HIDDEN)).digest()
    offset = int.from_bytes(digest, "big", signed=True)
    with_key(table, BEN, secret(int.from_bytes(bytes(own), "big") + offset))
    table.open()
    # Nothing in the key shows it: it has a proof, and play begins.
    assert table.ends[ANN].peer.phase is Phase.PLAYING
    channel = table.channel
    puzzle = standard_puzzle(bytes(channel.channel_key)).serialized
    solution = serialize(to_list([bytes(hidden_key), HIDDEN, NIL]))
    table.chain.push(Bundle((Spend(channel.coin, puzzle, solution),), NO_SIGNATURE))
    table.chain.farm()
    assert sum(seen.coin.amount for seen in table.chain.coins_at(THIEF)) == 2 * BALANCE


def test_the_receiver_names_its_key_before_it_can_know_the_other() -> None:
    table = sit().start()
    key = table.ends[ANN].peer.state.opening.secret_keys.channel.get_g1()
    (_, first), *more = table.mail
    assert not more
    hello = decode(first)
    assert isinstance(hello, Hello)
    assert bytes(key) not in first
    assert hello.channel_key_hash == sha256(bytes(key)).digest()
    # Its signatures could give the key away, or be a proof that fits one key only: there is none.
    assert {name for name in hello.__struct_fields__ if "channel" in name} == {"channel_key_hash"}
    table.deliver()
    welcome = decode(table.mail[0][1])
    assert bytes(table.ends[BEN].peer.state.opening.secret_keys.channel.get_g1()) == getattr(
        welcome, "channel_key", None
    )
