"""Secrets that must not be disclosed early, and objects that two peers must not share."""

from __future__ import annotations

import gc
from enum import Enum, EnumMeta
from types import FunctionType, ModuleType
from typing import Any

from chia_rs import PrivateKey

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.messages import Advisory, Batch, Move, decode
from channelsim.channel.store.history_codec import encode_newer
from channelsim.games.spacepoker.cards import chain
from tests.channel.table import ANN, BEN, Table, bet_or_call, by_policy, sit


def secrets(table: Table, index: int) -> list[bytes]:
    """The secrets that this side must never send: its seed and its keys."""
    secret = table.ends[index].peer.config.secret
    keys = SecretKeys.derive(secret)
    wallet = table.ends[index].peer.config.wallet.key
    return [secret, *(bytes(key) for key in (keys.channel, keys.unroll, keys.referee, wallet))]


def test_no_key_and_no_seed_is_ever_in_a_message() -> None:
    table = sit().open().propose(ANN).go_on().propose(BEN).go_on()
    for index in (ANN, BEN):
        for hidden in secrets(table, index):
            assert not [1 for _, blob in table.sent if hidden in blob]
            for end in table.ends:
                assert hidden not in b"".join(encode_newer(end.play.history, 0))


def test_no_value_of_a_chain_is_sent_before_it_is_due() -> None:
    """From the commitment on, the values appear one by one, downwards, and none skips ahead."""
    for decide in (by_policy("caller"), by_policy("random", "x"), bet_or_call):
        table = sit().open().propose(ANN).go_on(decide, decide)
        for index, first in ((ANN, 5), (BEN, 4)):
            secret = derive(table.ends[index].peer.config.secret, "game", 0, length=64)
            values = chain(secret[:16])
            # When each value is first said by its owner, in message numbers.
            said = [
                next(
                    (n for n, (sender, blob) in enumerate(table.sent) if value in blob),
                    len(table.sent),
                )
                for value in values
            ]
            mine = [n for n, (sender, _) in enumerate(table.sent) if sender == index]
            for level in range(first):
                assert said[level] > said[level + 1] or said[level] == len(table.sent)
                assert said[level] == len(table.sent) or said[level] in mine
            assert secret[16:] not in b"".join(blob for _, blob in table.sent)


def test_a_value_is_revealed_only_after_the_opponents_commitment() -> None:
    table = sit().open().propose(ANN).go_on()
    seen = []
    for sender, blob in table.sent:
        message = decode(blob)
        if isinstance(message, Batch):
            seen += [(sender, act.move) for act in message.actions if isinstance(act, Move)]
        if isinstance(message, Advisory):
            seen.append((sender, message.data))
    # Alice commits, Bob commits; only then does anybody reveal.
    assert [sender for sender, _ in seen[:2]] == [ANN, BEN]
    values = chain(derive(table.ends[ANN].peer.config.secret, "game", 0, length=64)[:16])
    assert seen[0][1] == values[5]
    assert seen[2][1][:32] == values[4]


def test_games_and_players_have_entropy_of_their_own() -> None:
    table = sit()
    seeds = {
        table.ends[index].peer.config.entropy(game_id)
        for index in (ANN, BEN)
        for game_id in range(9)
    }
    assert len(seeds) == 18


def test_nothing_secret_is_shown_when_a_configuration_is() -> None:
    table = sit()
    for index in (ANN, BEN):
        shown = repr(table.ends[index].peer.config)
        for hidden in secrets(table, index):
            assert hidden.hex() not in shown
            assert repr(hidden) not in shown


# --- peers share nothing -------------------------------------------------------------------------


def mutable(root: object) -> dict[int, object]:
    """All changeable objects that can be reached from this one, but for code and modules."""
    found: dict[int, object] = {}
    waiting: list[object] = [root]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, dict | list | set | bytearray) or hasattr(one, "__dict__"):
            found[id(one)] = one
        waiting += gc.get_referents(one)
    return found


def test_the_two_peers_have_no_changeable_object_in_common() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: any(end.turns for end in table.ends))
    ann, ben = (mutable(end.peer) for end in table.ends)
    common = [one for key, one in ann.items() if key in ben]
    allowed = [one for one in common if _belongs_to_a_module(one)]
    assert common == allowed, [type(one) for one in common if one not in allowed]


def _belongs_to_a_module(one: Any) -> bool:
    """Members of enumerations and their dictionaries, constants of the games' modules."""
    if isinstance(one, Enum):
        return True
    return isinstance(one, dict) and isinstance(one.get("__objclass__"), EnumMeta)


def test_each_peer_has_its_own_keys() -> None:
    table = sit()
    keys = [SecretKeys.derive(end.peer.config.secret) for end in table.ends]
    every = [key for one in keys for key in (one.channel, one.unroll, one.referee)]
    every += [end.peer.config.wallet.key for end in table.ends]
    assert all(isinstance(key, PrivateKey) for key in every)
    assert len({bytes(key) for key in every}) == 2 * 3 + 2
