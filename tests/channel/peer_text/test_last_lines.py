"""The last lines of commands: who is paid what, which hands are missing, and what has failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import UnknownGame
from channelsim.channel.peer.interface import Close
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer_text.last_lines import (
    check_unfunded,
    end_of_paid_channel,
    end_of_peer,
    end_of_unfunded_channel,
    publishing_notice,
    waiting_notice,
)
from channelsim.channel.session.setup import Setup
from channelsim.channel.store.interface import StoreError
from tests.channel.disputes import leave, settle
from tests.channel.on_chain import reward
from tests.channel.session.test_agreed_hands import agreed, played
from tests.channel.table import ANN, BEN, Table, sit

DIRECTORY = Path("alice")


def text(table: Table, side: int, setup: Setup) -> tuple[str, bool, str]:
    end = end_of_peer(setup, table.ends[side].peer.state, table.ends[side].peer.config.side)
    return end.text, end.failed, end.unplayed


def paid(table: Table, side: int) -> str:
    peer = table.ends[side].peer
    return end_of_paid_channel(peer.config, peer.state).text


def test_a_shutdown_after_the_last_hand_ends_well() -> None:
    table = played(sit("ends").open(), 2)
    table.command(ANN, Close())
    settle(table)
    first, second = reward(table, ANN), reward(table, BEN)
    for side in (ANN, BEN):
        ended = f"the end; balances Initiator {first:,}, Receiver {second:,}"
        assert text(table, side, agreed(2)) == (ended, False, "")
        _, failed, unplayed = text(table, side, agreed(3))
        assert failed
        assert unplayed.startswith("2 of 3 hands played: ")
        assert f" {reward(table, side):,} mojos at our reward address" in paid(table, side)


def test_an_end_on_chain_is_a_failure() -> None:
    table = played(sit("leaves").open(), 1)
    leave(table, ANN)
    settle(table)
    ended, failed, _ = text(table, ANN, agreed(1))
    assert (ended, failed) == ("the end", True)
    assert f": {reward(table, ANN):,} mojos" in paid(table, ANN)


def test_what_games_pay_that_an_old_copy_lacks_is_not_counted() -> None:
    table = played(sit("leaves").open(), 1)
    leave(table, ANN)
    settle(table)
    peer = table.ends[ANN].peer
    known = peer.state.dispute
    assert known is not None
    assert paid(table, ANN).endswith(peer.config.reward_address.hex())
    lost = UnknownGame(peer.config.wallet.coin, 9)
    dispute = replace(known, reported=(*known.reported, lost, lost))
    peer.state = replace(peer.state, dispute=dispute)
    assert paid(table, ANN).endswith(", and what 2 games paid that the old copy lacks")


def test_a_shutdown_that_overtakes_a_unilateral_close_ends_well() -> None:
    table = played(sit("overtaken").open(), 1)
    table.command(ANN, Close())
    while table.ends[BEN].peer.phase is not Phase.COMPLETED:
        table.deliver()
    leave(table, ANN)
    settle(table)
    assert table.ends[ANN].peer.state.closed is None
    assert [text(table, side, agreed(1))[1] for side in (ANN, BEN)] == [False, False]


def test_a_channel_without_funding_says_which_deadline_has_passed() -> None:
    table = sit("unfunded")
    state, wallet = table.ends[ANN].peer.state, table.ends[ANN].peer.config.wallet.coin
    free, gone = CoinSeen(wallet, 1, None), CoinSeen(wallet, 1, 7)
    assert end_of_unfunded_channel(state, free, 9).text == (
        "the channel is not funded as of height 9; the wallet's coin is free"
    )
    assert "free" not in end_of_unfunded_channel(state, gone, 9).text
    check_unfunded(DIRECTORY, state, free)
    check_unfunded(DIRECTORY, state, None)
    with pytest.raises(StoreError, match=r"alice: .* was spent at height 7: .* an older copy"):
        check_unfunded(DIRECTORY, state, gone)
    opened = table.open().ends[ANN].peer.state
    check_unfunded(DIRECTORY, opened, gone)
    deadline = opened.opening.opened.deadline if opened.opening.opened is not None else 0
    assert f"past its deadline {deadline}" in end_of_unfunded_channel(opened, gone, 9).text


def test_an_old_copy_names_the_state_that_it_lacks() -> None:
    table = played(sit("copy").open(), 1)
    state = table.ends[ANN].peer.state
    assert waiting_notice(state) is None
    with pytest.raises(UsageError, match="alice: --publish-old: nothing has shown"):
        publishing_notice(DIRECTORY, state)
    number = table.ends[ANN].play.newest.state.number
    old = replace(state, phase=Phase.OUTDATED, shown=number + 6)
    notice, waits = publishing_notice(DIRECTORY, old), waiting_notice(old)
    assert notice is not None
    assert waits is not None
    assert f"alice: the store is an old copy: it ends before state {number + 6}" in notice
    assert f"publishes state {number}:" in notice
    assert waits.startswith(f"the store is an old copy: it ends before state {number + 6}")
