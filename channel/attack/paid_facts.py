"""Compare a side's news of spent coins with the chain at the end: its node may hide solutions."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.chain_news import GamePaid, StateCounts
from channelsim.channel.protocol.spend_parsing import read_unroll
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.run import Run


def wrong_at_the_end(run: Run, side: Side) -> Iterator[str]:
    """Find facts that a side has reported and that do not hold on the chain."""
    dispute = run.parties[side].peer.state.dispute
    for fact in dispute.reported if dispute is not None else ():
        match fact:
            case GamePaid():
                yield from _of_game(run, side, fact)
            case StateCounts() if _is_timed_out(run, fact) and fact.preempted:
                yield f"state {fact.number} preempted another one, and it was paid by its timeout"
            case _:
                pass


def _of_game(run: Run, side: Side, fact: GamePaid) -> Iterator[str]:
    for owner, coin in ((side, fact.ours), (side.other, fact.theirs)):
        address = run.parties[owner].peer.config.reward_address
        is_there = coin is None or run.chain.coin(coin.id) is not None
        if not is_there or (coin is not None and coin.puzzle_hash != address):
            yield f"game {fact.game_id} paid a coin that is not there"


def _is_timed_out(run: Run, fact: StateCounts) -> bool:
    """True if the coins of this state were paid by an unroll coin's timeout, as the spend says."""
    coins = [coin for coin in (*fact.rewards, *(coin for _, coin in fact.games)) if coin]
    unroll = run.chain.coin(coins[0].parent) if coins else None
    solution = unroll.solution if unroll is not None else None
    paid = read_unroll(solution) if solution is not None else None
    return paid is not None and not paid.preempted
