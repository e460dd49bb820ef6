"""A watcher: it saves the owner from a stale state, and can do nothing else with what it has."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.chain.coins import Bundle, Spend, signed_spend, standard_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Close
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, sign_halves
from channelsim.channel.protocol.unroll import to_unroll
from channelsim.channel.store import watched_peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch import watch_data
from channelsim.channel.watch.watch_data import NEWEST, STATES, WatchData, read_watch_data
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from channelsim.clsp.values import to_list
from tests.channel.disputes import (
    at_message,
    farm,
    hear,
    leave,
    publish_old,
    received,
    settle,
    settled,
    sound,
)
from tests.channel.on_chain import Unroll, games_of, restored_state, reward, take
from tests.channel.table import ANN, BEN, CONFIRMATIONS, TIMEOUT, Table, sit

WAIT = 5


@dataclass
class Watched:
    """A table at which Ann's peer writes watch data; `copied` reads them as a thief would."""

    table: Table
    folder: Path

    def copied(self) -> WatchData:
        return read_watch_data(self.folder)

    def look(self, wait: int = WAIT) -> Sight:
        return Watcher(self.copied(), wait).look(self.table.chain)


def watched(folder: Path, table: Table) -> Watched:
    """Let Ann's peer write watch data from here on."""
    end = table.ends[ANN]
    actor = WatchedPeer(DurablePeer(end.peer, MemoryStore()), folder)
    end.driven.actor = actor
    hear(table, (BEN,))
    return Watched(table, folder)


def in_a_hand(folder: Path, messages: int = 15) -> Watched:
    """A game is live and has moved; both sides know states that the other can preempt."""
    found = watched(folder, at_message(8, seed="watched"))
    table = found.table
    while len(table.sent) < messages and table.step():
        pass
    assert table.ends[ANN].state.games
    assert len(received(table, BEN)) > 2
    return found


def test_a_watcher_preempts_while_the_owner_is_dead_and_the_owner_recovers_everything(
    tmp_path: Path,
) -> None:
    ours = in_a_hand(tmp_path)
    table = ours.table
    assert ours.look().step is Step.OPEN
    newest = table.ends[ANN].play.newest.state.number
    table.mail.clear()
    stale = received(table, BEN)[-2]
    publish_old(table, BEN, stale)
    pushed = []
    for _ in range(TIMEOUT + 2):
        farm(table, dead=(ANN,))
        sight = ours.look()
        if sight.spend is not None:
            pushed.append(sight)
            assert table.chain.push(sight.spend).benign
    first = pushed[0]
    assert (first.step, first.state) == (Step.STALE, stale)
    assert first.since is not None
    assert first.peak == first.due == first.since + WAIT, "the owner has time to come first"
    assert (ours.look().step, ours.look().state, ours.look().final) == (Step.PAID, newest, True)
    # The owner is back in time for its game, and the game is played to its end.
    hear(table)
    settle(table)
    sound(table)
    assert settled(table.ends[ANN]).number == newest


def test_a_watcher_pays_out_any_other_state_after_its_timeout(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path)
    table = ours.table
    table.mail.clear()
    leave(table, ANN)
    table.chain.farm()
    number = table.ends[ANN].play.newest.state.number
    sight = ours.look()
    assert (sight.step, sight.state, sight.spend) == (Step.PUBLISHED, number, None)
    table.chain.farm(TIMEOUT - 1)
    assert ours.look().spend is None
    table.chain.farm()
    spend = ours.look().spend
    assert spend is not None
    take(table, spend)
    assert (ours.look().step, ours.look().state) == (Step.PAID, number)
    table.chain.reorganise(2, 3, keep=False)
    assert ours.look().spend is not None, "a reorganisation took it back"


def test_a_node_that_hides_the_spend_of_the_channel_coin_stops_nothing(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path)
    stale = received(ours.table, BEN)[0]
    publish_old(ours.table, BEN, stale)
    ours.table.chain.farm(WAIT + 1)

    class Hiding(SimulatedChain):
        def __init__(self) -> None:
            pass

        peak = ours.table.chain.peak
        children = ours.table.chain.children

        def coin(self, coin_id: bytes) -> CoinSeen | None:
            seen = ours.table.chain.coin(coin_id)
            return seen and msgspec.structs.replace(seen, solution=None)

    watcher = Watcher(ours.copied(), WAIT)
    for late in (False, True):
        sight = watcher.look(Hiding())
        assert (sight.step, sight.state) == (Step.STALE, stale)
        assert sight.spend is not None
        assert sight.late is late, "two thirds of the timeout are over"
        ours.table.chain.farm(TIMEOUT - WAIT)


def test_data_that_are_too_old_do_nothing_and_say_so(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path, messages=12)
    old, table = ours.copied(), ours.table
    while len(received(table, BEN)) < 5:
        assert table.step()
    publish_old(table, BEN, received(table, BEN)[-1])
    table.chain.farm(TIMEOUT + 1)
    sight = Watcher(old, 0).look(table.chain)
    assert (sight.step, sight.spend, sight.final) == (Step.UNKNOWN, None, True)


def test_a_clean_shutdown_is_the_end(tmp_path: Path) -> None:
    ours = watched(tmp_path, sit("shut").open())
    ours.table.command(ANN, Close())
    ours.table.pump()
    ours.table.farm(CONFIRMATIONS + 1)
    sight = ours.look()
    assert (sight.step, sight.final) == (Step.SHUT, True)


# --- a thief -----------------------------------------------------------------------------------


def test_no_secret_and_no_half_signature_is_in_the_data(tmp_path: Path) -> None:
    """Every secret of both sides, and every half, in every form in which bytes are written."""
    table = in_a_hand(tmp_path).table
    everything = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")))
    hidden: list[bytes] = []
    for index in (ANN, BEN):
        config = table.ends[index].peer.config
        keys = SecretKeys.derive(config.secret)
        hidden += [config.secret, bytes(config.wallet.key)]
        hidden += [bytes(key) for key in (keys.channel, keys.unroll, keys.referee)]
        hidden += [table.ends[index].endpoint.entropy(number) for number in range(4)]
        for link in table.ends[index].play.history:
            hidden += link.signed.halves if link.signed else ()
            hidden += sign_halves(table.channel, keys, link.state)
    hidden += table.channel.payout_signatures
    assert len(hidden) > 40
    for secret in hidden:
        for written in (secret, secret.hex().encode(), b64encode(secret).rstrip(b"=")):
            assert written not in everything
    shown = b64encode(bytes(table.channel.unroll_key))
    assert shown in everything, "what is there would be found"


def _halves(blob: bytes) -> tuple[bytes, ...]:
    record = msgspec.msgpack.decode(blob)
    return tuple(record.get("halves", ())) if isinstance(record, dict) else ()


def test_a_thief_can_spend_nothing_but_stale_and_timed_out_unroll_coins(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path)
    table, data = ours.table, ours.copied()
    chain, channel, signature = table.chain, table.channel, data.newest.signature
    newest = restored_state(table, ANN, data.newest.state.number)
    unroll = Unroll(table, newest)
    conditions = to_unroll(newest.unroll_puzzle_hash, channel.coin.amount)
    spend = standard_spend(channel.coin, bytes(channel.channel_key), conditions)

    def refused(*bundles: Bundle) -> None:
        for bundle in bundles:
            # A node does not judge the same bytes twice.
            for signed in {bundle.signature, signature, NO_SIGNATURE}:
                result = chain.push(Bundle(bundle.spends, signed))
                assert result.answer is Answer.REFUSED, result

    # The newest state cannot be published, and no fee or wallet coin can be spent.
    wallet = table.ends[ANN].peer.config.wallet
    refused(Bundle((spend,), signature))
    take(table, Unroll(table, newest).publish(ANN))
    # It is the newest: no signature of the thief's spends it before its timeout.
    for state in data.states.values():
        refused(Bundle((replace_solution(unroll, state.conditions),), signature))
    table.chain.farm(TIMEOUT)
    take(table, unroll.time_out())
    (game,) = games_of(table, unroll)
    table.chain.farm(TIMEOUT + 1)
    refused(Bundle(game.claim().spends, signature))
    coins = [seen.coin for seen in chain.coins_at(table.ends[ANN].peer.config.reward_address)]
    assert coins
    for coin in coins:
        stolen = signed_spend(wallet.key, coin, to_list([]), channel.agg_sig_data)
        refused(Bundle(stolen.spends, signature))
    assert reward(table, ANN) == newest_balance(table)


def replace_solution(unroll: Unroll, conditions: bytes) -> Spend:
    (spend,) = unroll.time_out().spends
    return msgspec.structs.replace(spend, solution=conditions)


def newest_balance(table: Table) -> int:
    return table.ends[ANN].play.newest.state.balances[ANN]


def test_a_thief_and_the_counterparty_together_can_end_at_the_stolen_state(
    tmp_path: Path,
) -> None:
    """The price of a watcher: what it can do for the owner, it can do for the counterparty."""
    ours = in_a_hand(tmp_path, messages=12)
    table, stolen = ours.table, ours.copied()
    table.go_on()
    assert table.ends[ANN].play.newest.state.number > stolen.newest.state.number
    first = received(table, BEN)[0]
    old = Unroll(table, restored_state(table, BEN, first))
    preempting = Watcher(stolen, 0)
    take(table, old.publish(BEN))
    spend = preempting.look(table.chain).spend
    assert spend is not None
    take(table, spend)
    sight = ours.look()
    assert (sight.step, sight.state) == (Step.PAID, stolen.newest.state.number)
    # Earlier states are out of their reach: each copy has one signature, that of its newest.
    assert stolen.newest.signature != ours.copied().newest.signature


# --- the files ---------------------------------------------------------------------------------


def test_the_data_follow_every_restart_and_every_kill(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path)
    table, before = ours.table, ours.copied()
    actor = table.ends[ANN].driven.actor
    assert isinstance(actor, WatchedPeer)
    actor.close()
    # A kill between two writes: the last line is half there, and the newest file is older.
    states = tmp_path / STATES
    lines = states.read_bytes().splitlines(keepends=True)
    states.write_bytes(b"".join(lines[:-2]) + lines[-2][:-9])
    assert len(read_watch_data(tmp_path).states) < len(before.states) + 1
    watched(tmp_path, table)
    assert ours.copied() == before
    assert states.read_bytes() == b"".join(lines)
    table.go_on()
    number = table.ends[ANN].play.newest.state.number
    assert ours.copied().newest.state.number == number > before.newest.state.number


def test_a_store_that_is_older_than_the_data_is_refused(tmp_path: Path) -> None:
    table = in_a_hand(tmp_path).table
    earlier = table.fork()
    table.go_on()
    table.ends[ANN].driven.actor.close()  # type: ignore[attr-defined]
    lines = (tmp_path / STATES).read_bytes()
    with pytest.raises(StoreError, match="an old copy"):
        watched(tmp_path, earlier)
    other = sit("another").open()
    with pytest.raises(StoreError, match="another channel"):
        watched(tmp_path, other)
    assert (tmp_path / STATES).read_bytes() == lines


@pytest.mark.parametrize("room", [True, False])
def test_data_that_are_full_can_be_read_again_and_the_channel_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: bool
) -> None:
    """The last state that goes in does, and the next one stops the peer, at every restart."""
    store, table = MemoryStore(), sit("full")
    end = table.ends[ANN]

    def actor() -> WatchedPeer:
        return WatchedPeer(DurablePeer(Peer(end.peer.config), store), tmp_path)

    end.driven.actor = actor()
    table.open().ask(ANN)
    states = tmp_path / STATES
    before = states.read_bytes()
    number, line = end.state.number, len(before.splitlines(keepends=True)[-1])
    for module in (watched_peer, watch_data):
        monkeypatch.setattr(module, "LINES", len(before) + line - (not room))
    end.driven.actor.close()
    end.driven.actor = actor()
    table.driver.restart(ANN)
    if room:
        table.pump().ask(1 - table.holder())
        assert end.state.number == number + 1
        assert len(states.read_bytes()) == len(before) + line
        assert len(read_watch_data(tmp_path).states) == number + 2
        before = states.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match=r"full: .*: end the channel with channelsim recover"):
            table.pump().ask(1 - table.holder()).ask(table.holder())
        assert states.read_bytes() == before
        data = read_watch_data(tmp_path)
        assert data.newest.state == data.states[max(data.states)]
        table.mail.clear()
        end.driven.actor.close()
        end.driven.actor = actor()
        table.driver.restart(ANN)
    leave(table, ANN)
    settle(table)
    sound(table)
    assert states.read_bytes() == before


def changed_line(number: int, old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines = (folder / STATES).read_bytes().splitlines(keepends=True)
        assert old in lines[number]
        lines[number] = lines[number].replace(old, new)
        (folder / STATES).write_bytes(b"".join(lines))

    return change


def without_a_line(folder: Path) -> None:
    lines = (folder / STATES).read_bytes().splitlines(keepends=True)
    (folder / STATES).write_bytes(b"".join((*lines[:3], *lines[4:])))


def with_another_signature(folder: Path) -> None:
    newest = msgspec.json.decode((folder / NEWEST).read_bytes())
    newest["signature"] = b64encode(NO_SIGNATURE).decode()
    (folder / NEWEST).write_bytes(msgspec.json.encode(newest))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda folder: (folder / STATES).unlink(), "missing; name a copy of the folder 'watch'"),
        (lambda folder: (folder / STATES).write_bytes(b"\0" * 99), "line 1: "),
        (lambda folder: (folder / NEWEST).write_bytes(b""), "line 1: "),
        (lambda folder: (folder / NEWEST).unlink(), "cannot be read"),
        (changed_line(0, b"watch data 1", b"watch data 2"), "not written by this version"),
        (changed_line(2, b'"number":1', b'"number":2'), "state 1 is missing"),
        (changed_line(0, b'"unroll_timeout":15', b'"unroll_timeout":16'), "another unroll coin"),
        (without_a_line, "state 2 is missing"),
        (with_another_signature, "does not sign state"),
    ],
)
def test_damaged_data_are_refused_in_one_line(
    tmp_path: Path, damage: Callable[[Path], object], reason: str
) -> None:
    in_a_hand(tmp_path, messages=12)
    damage(tmp_path)
    with pytest.raises(UsageError, match=reason) as error:
        read_watch_data(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)
