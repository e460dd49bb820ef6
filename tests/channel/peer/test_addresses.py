"""A reward address that is a game coin's puzzle hash: a state that could never be spent.

Referee coins are bound to no channel, so a player can work one out before the channel opens
and ask to be paid there. Once a balance equals the game's amount, the state makes one coin
twice; the chain refuses that, and an old state could not be preempted any more.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Cancelled, ProposeGames, YourTurn
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.messages import Propose, encode
from channelsim.channel.protocol.proposals import Wish, first_game, offer_of
from channelsim.channel.protocol.state import Side
from tests.channel.peer.hostile import refuse
from tests.channel.table import ANN, BEN, NAMES, Cheat, Table, broken_off, sit, wish

SEED = "addresses"


def ben_paid_at(address: bytes) -> Table:
    """Both at the table, with a strange address for Ben."""
    table = sit(SEED)
    end = table.ends[BEN]
    end.peer = Peer(replace(end.peer.config, reward_address=address))
    return table.open()


def first_coin(proposer: int, game_id: int, wanted: Wish) -> bytes:
    """The puzzle hash of a game's first coin: the address has no part in it."""
    channel = sit(SEED).open().channel
    offer = offer_of(channel, Side(proposer), game_id, wanted)
    return first_game(channel, Side(proposer), offer).coin.puzzle_hash()


def coin_after_first_move(proposer: int, *, and_the_answer: bool = False) -> bytes:
    """The puzzle hash of a game's coin once its proposer, who is Alice, has committed.

    Its own state has just that; the other side answers within the same step.
    """
    table = sit(SEED).open().propose(proposer, wish())
    end = table.ends[1 - proposer if and_the_answer else proposer]

    def moved() -> bool:
        game = end.state.game(proposer)
        return game is not None and game.coin.move != b""

    game = table.until(moved).ends[end is table.ends[1]].state.game(proposer)
    assert game is not None
    return game.coin.puzzle_hash()


def test_a_proposal_with_its_coin_at_the_others_address_is_not_made() -> None:
    table = ben_paid_at(first_coin(ANN, 0, wish()))
    with pytest.raises(UsageError, match="would be at a reward address"):
        table.command(ANN, ProposeGames((wish(),)))
    assert table.ends[ANN].peer.phase is Phase.PLAYING


def test_a_proposal_with_its_coin_at_the_proposers_address_is_cancelled() -> None:
    table = ben_paid_at(first_coin(BEN, 1, wish()))
    offer = offer_of(sit(SEED).open().channel, Side.RECEIVER, 1, wish())
    cheat = Cheat(table, BEN)
    cheat.send(cheat.batch(Propose((offer,))))
    (cancelled,) = table.ends[ANN].news_of(Cancelled)
    assert isinstance(cancelled, Cancelled)
    assert "would be at a reward address" in cancelled.reason


def test_a_move_onto_the_movers_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ben knows what he will commit to, so he can work out the coin that his move makes."""
    table = ben_paid_at(coin_after_first_move(BEN))
    with monkeypatch.context() as cheating:
        cheating.setattr(
            "channelsim.channel.protocol.transitions.check_addresses", lambda channel, state: None
        )
        batch = table.propose(BEN, wish()).until_move("commitA", BEN)
    news = refuse(table, ANN, encode(batch), "CH-COINS-1")
    assert news.slashable == ()


def test_our_own_move_onto_the_others_address_is_not_sent() -> None:
    """If our move was foreseen (here: our secrets are out), we go on chain instead."""
    table = ben_paid_at(coin_after_first_move(ANN)).propose(ANN, wish()).go_on()
    news = broken_off(table.ends[ANN])
    assert news.blame.rule == "CH-COINS-1"
    assert news.blame.party == NAMES[BEN]
    assert news.published == table.ends[ANN].play.newest.state.number
    assert not table.ends[ANN].news_of(YourTurn)


def test_our_answer_onto_the_others_address_is_not_sent() -> None:
    """The move that we answer is taken and kept; it is the state that we publish."""
    table = ben_paid_at(coin_after_first_move(BEN, and_the_answer=True))
    table.propose(BEN, wish()).go_on()
    end = table.ends[ANN]
    news = broken_off(end)
    assert news.blame.rule == "CH-COINS-1"
    assert news.published == end.state.number == end.play.newest.state.number
    assert end.play.history.state == end.play.newest.state
    game = end.state.game(BEN)
    assert game is not None
    assert game.coin.move != b""
