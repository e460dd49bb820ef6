"""The outcome of a dispute: what each peer received, from which coins, and why."""

from __future__ import annotations

from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    Forfeited,
    GamePaid,
    MovedOnChain,
    StateCounts,
)
from channelsim.channel.peer_text.news_text import reason_text
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.run import Run, valid_news
from channelsim.games.amounts import counted

Parts = tuple[list[str], list[str]]
"""The origins of each peer's money, the initiator's first."""


def account(run: Run) -> list[str]:
    """A line for each peer, and one with the reasons."""
    honest = run.scenario.honest
    names = [name.capitalize() for name in NAMES]
    us, them = names[honest], names[1 - honest]
    events = valid_news(run.parties[honest].news)
    parts: Parts = ([], [])
    reasons: list[str] = []
    for news in events:
        if reason := reason_text(news, us, them):
            reasons.append(reason)
        match news:
            case ChannelClosed(rewards):
                for paid in rewards:
                    side = _side_of(run, paid.puzzle_hash)
                    parts[side].append(f"{paid.amount:,} by the shutdown")
            case StateCounts(number, rewards=balances):
                for side, coin in enumerate(balances):
                    parts[side].extend([f"{coin.amount:,} in state {number}"] if coin else [])
            case GamePaid(game_id, slashed, ours, theirs, _):
                moves = sum(
                    isinstance(move, MovedOnChain) and move.game_id == game_id for move in events
                )
                reasons.append(_ended(game_id, slashed, moves, us, them))
                for side, coin in ((honest, ours), (1 - honest, theirs)):
                    parts[side].extend([f"{coin.amount:,} from game {game_id}"] if coin else [])
            case Forfeited(game_id, _, theirs):
                if not any(
                    isinstance(paid, GamePaid) and paid.game_id == game_id for paid in events
                ):
                    reasons.append(
                        f"{counted(theirs, 'mojo')} of game {game_id} went to the other side"
                    )
            case _:
                pass
    lines = []
    for side, name in enumerate(names):
        got = run.paid(side)
        origin = f": {', '.join(parts[side])}" if parts[side] else ""
        lines.append(f"{name} got {counted(got, 'mojo')}, put in {run.scenario.balance:,}{origin}")
    return [*lines, f"why: {'; '.join(reasons) or 'nothing was put in'}"]


def _ended(game_id: int, slashed: str, moves: int, us: str, them: str) -> str:
    how = f"was slashed by {us if slashed == 'us' else them}" if slashed else "timed out"
    after = f" after {counted(moves, 'move')} on chain" if moves else ""
    return f"game {game_id} {how}{after}"


def _side_of(run: Run, address: bytes) -> int:
    return int(run.parties[1].peer.config.reward_address == address)
