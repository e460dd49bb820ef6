"""Spends of game coins: what is due with each block, by the table of spec/channel.md.

"Going on chain": an illegal move is slashed at once, a move that is decided is made as soon as it
is safe, and from the timeout on a share is claimed. Each is sent again with every block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.games import registry
from channelsim.games.amounts import counted

LAST_CHANCE = 3
"""Blocks with transactions before the timeout from which on a move does not wait to be safe."""


def wrong_game_spends(
    config: Config, dispute: Dispute, block: Block, effects: Sequence[Effect]
) -> Iterator[str]:
    """Find spends of game coins that a side lacks with a block, or makes too early."""
    if dispute.lineage is None:
        return
    coins = {seen.coin: seen for seen in block.coins}
    pushes = [effect for effect in effects if isinstance(effect, Push)]
    names = {push.bundle.spends[0].coin: push.name.partition("+")[0] for push in pushes}
    for track in dispute.lineage.tracks:
        tip, seen = track.tip, coins.get(track.tip.coin)
        if seen is None or seen.spent is not None:
            continue
        age = block.peak - seen.born
        first = tip.coin == track.coins[0].coin
        due, does = _due(config, dispute, tip, age, first=first), names.get(tip.coin, "")
        if due != does:
            at = f"in game {tip.game.id}, whose coin is {counted(age, 'block')} old"
            did = f"the spend {does!r}" if does else "no spend"
            yield f"{at}, it makes {did} where {repr(due) if due else 'none'} is due"


def _due(config: Config, dispute: Dispute, tip: TrackedCoin, age: int, *, first: bool) -> str:
    """The name of the spend of a game coin of this age that is due; empty for none.

    The `first` coin of a game comes from the unroll coin.
    """
    if tip.slashable is not None:
        return "slash"
    game, side, timeout = tip.game, dispute.endpoint.side, tip.game.coin.timeout
    if age >= timeout:
        return "claim" if game.shares()[side] else ""
    signed = dispute.signed_games
    ours = game.mover is side and game.coin.infohash_b and tip.player is not None
    if not ours or signed.settled_by_us(game):
        return ""
    if signed.sent_from(game) is not None:
        return "redo"
    if dispute.decided.get(game.coin) is None:
        return ""
    reveals = registry.get(game.terms.game).reveals
    is_safe = first or age >= config.agreement.confirmations or not reveals
    last = timeout - config.agreement.spacing * LAST_CHANCE
    return "move" if is_safe or age >= last else ""
