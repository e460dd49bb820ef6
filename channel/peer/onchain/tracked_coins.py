"""Game coins on chain, each with our seat in the game; a move on chain leads to the next one."""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.slashable import SlashableMove, slashable_move
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry
from channelsim.games.contract import Player
from channelsim.games.judge import hashes_of, judge_move
from channelsim.games.players import player_after
from channelsim.games.referee import GameCoin


class TrackedCoin(msgspec.Struct, frozen=True):
    """A game coin, and our seat in the game as of it.

    `player` is None after an illegal move: no rules say how the game goes on. `slashable` is the
    move that made the coin, if it is illegal and we can slash it. `first`: the unroll coin made
    it, so that no reorganisation can change the move before it. `runs` and `disagreements` are of
    the judging of the move, as in `Moved`.
    """

    game: LiveGame
    coin: Coin
    player: Player | None
    slashable: SlashableMove | None = None
    first: bool = False
    runs: int = 0
    disagreements: tuple[str, ...] = ()

    def child(self, coin: GameCoin) -> Coin:
        """The coin that a move to this game coin makes."""
        return Coin(self.coin.id, coin.puzzle_hash(), coin.amount)


def advance(
    endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, known: LiveGame | None
) -> TrackedCoin:
    """The coin after a move on chain; `known` is our own move at this coin, if we made one."""
    child = tracked.child(after)
    if known is not None and known.coin == after:
        player = tracked.player
        if player is not None:
            player = player_after(player, known.position, known.memory)
        return TrackedCoin(known, child, player)
    return _judged(endpoint, tracked, after, child)


def _judged(endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, child: Coin) -> TrackedCoin:
    game, before, player = tracked.game, tracked.game.position, tracked.player
    if before.over:
        return TrackedCoin(game.after(after, None), child, None)
    candidates = player.evidence(before, after.move) if player else ()
    rules = registry.get(game.terms.game)
    ruling = judge_move(rules, hashes_of(rules), before, after, candidates)
    reached = game.after(after, ruling.next)
    slashable = None
    if not ruling.legal:
        slashable, player = slashable_move(endpoint, reached, ruling), None
    return TrackedCoin(
        reached,
        child,
        player.moved(reached.position) if player else None,
        slashable,
        runs=ruling.runs,
        disagreements=ruling.disagreements,
    )
