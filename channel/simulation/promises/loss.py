"""Who lost how many mojos in a run, by the chain and the newest state that both sides know."""

from __future__ import annotations

from channelsim.channel.chain.coins import Coin
from channelsim.channel.findings.finding import NOBODY, Loss
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.model.ledger import LedgerGame, LedgerState
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.safety import (
    channel_coin,
    followed,
    paid_out,
)
from channelsim.channel.simulation.run import Run

COSTS_MONEY = ("money", "safety")
"""The promises whose breach may cost a side money."""


def loss_of(run: Run, talk: Conversation) -> Loss | None:
    """The mojos that one side is short of what is its own; None where no side is short of any.

    The honest side comes first. The taker is the other side if that has more than its own, else
    `NOBODY`: the mojos are lost to both.
    """
    if channel_coin(run) is None or not talk.accounts:
        return None
    newest = talk.accounts[max(talk.accounts)]
    over = [run.paid(side) - _due(run, talk, newest, side) for side in Side]
    for side in (run.scenario.honest, 1 - run.scenario.honest):
        if over[side] < 0:
            taker = NAMES[1 - side].capitalize() if over[1 - side] > 0 else NOBODY
            return Loss(taker, NAMES[side].capitalize(), -over[side])
    return None


def _due(run: Run, talk: Conversation, newest: LedgerState, side: int) -> int:
    """What is a side's own: its balance, and what its games came to, in mojos."""
    paid = paid_out(run, talk)
    if paid is None or paid.state.number < newest.number:
        return newest.balances[side] + sum(game.share(side) for game in newest.games.values())
    return paid.state.balances[side] + sum(
        _due_of_game(run, game, coin, side) for _, game, coin in paid.games
    )


def _due_of_game(run: Run, game: LedgerGame, coin: Coin | None, side: int) -> int:
    """A side's part of a game after its last move on chain: all of it after an illegal move of the
    other side, and else its share."""
    last = game if coin is None else [game for game, _, _ in followed(run, game, coin)][-1]
    if last.illegal:
        return last.amount if last.mover == side else 0
    return last.share(side)
