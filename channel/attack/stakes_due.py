"""The stake of each pushed spend: its mojos, and the height before which it has to be confirmed.

Fees follow from both, so that they are counted here anew. Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState
from channelsim.games.amounts import counted


def wrong_stakes(before: PeerState, after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find spends that are pushed for other mojos than they are about, or for another height."""
    if before.dispute is None and after.dispute is not None:
        began, peak = after.dispute.began, after.block.peak
        if began != peak:
            yield f"it goes on chain at height {peak}, and takes {began} for that height"
    for effect in effects:
        if not isinstance(effect, Push):
            continue
        due = _due(effect.name.partition("+")[0], effect.bundle.spends[0].coin, after)
        if due is not None and (effect.stake, effect.before) != due:
            pushed = _text(effect.stake, effect.before)
            yield f"it pushes {effect.name} about {pushed}, and not about {_text(*due)}"


def _text(stake: int, before: int | None) -> str:
    return counted(stake, "mojo") + (f" before height {before}" if before is not None else "")


def _due(name: str, coin: Coin, state: PeerState) -> tuple[int, int | None] | None:
    """The stake and the height of a spend; None for one that is not known here."""
    opened, endpoint, play = state.opening.opened, state.endpoint, state.play
    if opened is None or endpoint is None or play is None:
        return None
    if name == "funding":
        return endpoint.channel.contributions[endpoint.side], opened.deadline
    if name == "shutdown":
        return play.state.balances[endpoint.side], None
    coins = {seen.coin: seen for seen in state.block.coins}
    return _on_chain(name, coin, state.dispute, coins) if state.dispute is not None else None


def _on_chain(
    name: str, coin: Coin, dispute: Dispute, coins: dict[Coin, CoinSeen]
) -> tuple[int, int | None] | None:
    channel, side, seen = dispute.endpoint.channel, dispute.endpoint.side, coins.get(coin)
    if seen is None:
        return None
    tracked = dispute.tracked.get(coin)
    match name:
        case "unroll":
            born = max(dispute.began, seen.born)
            return channel.coin.amount, born + channel.unroll_timeout
        case "preempt":
            return channel.coin.amount, seen.born + channel.unroll_timeout
        case "unroll-timeout":
            published = dispute.lineage.published if dispute.lineage is not None else None
            if published is None:
                return None
            games = sum(game.coin.amount for game in published.games)
            return published.balances[side] + games, None
        case "claim" if tracked is not None:
            return tracked.game.shares()[side], None
        case "move" | "redo" | "slash" if tracked is not None:
            return tracked.game.coin.amount, seen.born + tracked.game.coin.timeout
        case _:
            return None
