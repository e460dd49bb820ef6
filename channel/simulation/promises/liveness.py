"""Check that a channel is settled in time.

Source: spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.ledger import MOST_GAP
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.simulation.crowd import CROWDED
from channelsim.channel.simulation.promises.safety import channel_coin
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.weather import (
    MOST_CUT_OFF,
    MOST_DROPPED,
    MOST_FORGOTTEN,
    MOST_FULL,
    MOST_HIDDEN,
)
from channelsim.games.amounts import counted


def unsettled(run: Run) -> Iterator[str]:
    """Find what is not settled within the timeouts of the moves, and what the weather adds."""
    scenario, side = run.scenario, run.scenario.honest
    done = run.finished[side]
    if done is None:
        yield f"not settled after {counted(run.blocks, 'block')}"
        return
    coin = channel_coin(run)
    seen = run.chain.coin(coin.id) if coin else None
    if seen is None or seen.spent is None:
        return
    moves = max((_moves(run, child) for child in run.chain.children(seen.coin.id)), default=0)
    bound = scenario.unroll_timeout + (moves + 1) * scenario.game_timeout
    # Each reorganisation takes back this many blocks at most; other weather delays each spend.
    weather = run.reorgs * (2 * scenario.confirmations + 2)
    weather += 4 * (moves + 3) if scenario.weather == "slow" else 0
    weather += MOST_FULL * (moves + 3) if scenario.weather == "full" else 0
    weather += MOST_CUT_OFF * (moves + 3) if scenario.weather == "cut-off" else 0
    weather += MOST_HIDDEN * (moves + 3) if scenario.weather == "blind" else 0
    dropped = MOST_DROPPED * MOST_FORGOTTEN
    weather += dropped * (moves + 3) if scenario.weather == "forgetful" else 0
    weather += CROWDED if scenario.crowd else 0
    # A lock counts to the last block with transactions, and the spend waits for the next one.
    weather += 2 * MOST_GAP * (moves + 3) if scenario.mixed else 0
    most = seen.spent + bound + 2 * scenario.confirmations + 2 + weather
    if done > most:
        yield f"settled at {done}, promised by {most}"


def _moves(run: Run, child: CoinSeen) -> int:
    """The longest chain of coins below this one."""
    below = [_moves(run, one) for one in run.chain.children(child.coin.id)]
    return 1 + max(below) if below else 0
