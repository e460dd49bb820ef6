"""A game coin on chain with all that we know of it, and what a move on chain makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from channel.chain.coins import Coin
from channel.peer.endpoint import Endpoint
from channel.peer.slashable import SlashableMove, slashable_move
from channel.protocol.state import LiveGame, Predecessor
from games import registry
from games.contract import Player, Position
from games.judge import judge_move, position_after
from games.referee import GameCoin


@dataclass(frozen=True, slots=True)
class TrackedCoin:
    """A game coin, and our seat in the game as of it.

    `player` is None where the rules do not say how the game goes on: behind an illegal move.
    `fault` is what is wrong with the move that made the coin, when we can slash it. `first`:
    it came out of the unroll coin, so that what made it is fixed. `runs` and `disagreements`
    are of the judging of the move.
    """

    game: LiveGame
    coin: Coin
    player: Player | None
    slashable: SlashableMove | None = None
    first: bool = False
    runs: int = 0
    disagreements: tuple[str, ...] = ()

    def child(self, coin: GameCoin) -> Coin:
        """The coin that a move makes."""
        return Coin(self.coin.id, coin.puzzle_hash(), coin.amount)


def advance(
    endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, known: LiveGame | None
) -> TrackedCoin:
    """The next tracked, when a move was made on chain; `known` is ours, as we decided it."""
    child = tracked.child(after)
    if known is not None and known.coin == after:
        player = tracked.player.moved(known.position) if tracked.player else None
        return TrackedCoin(known, child, player)
    return _judged(endpoint, tracked, after, child)


def _judged(endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, child: Coin) -> TrackedCoin:
    game, before, player = tracked.game, tracked.game.position, tracked.player
    unknown = Position(None, None, before.mover.other, after.mover_share, 0, after.move)
    reached = LiveGame(
        game.id, game.terms, game.alice, after, unknown, Predecessor(before, game.coin)
    )
    if before.over:
        return TrackedCoin(reached, child, None)
    rules = registry.get(game.terms.game)
    candidates = player.evidence(before, after.move) if player else ()
    ruling = judge_move(rules, endpoint.hashes(rules.name), before, after, candidates)
    told = ruling.runs, ruling.disagreements
    if not ruling.legal:
        fault = None
        if ruling.evidence is not None:
            fault = slashable_move(endpoint, reached, ruling.rule or "CH-MOVE-5", ruling.evidence)
        return TrackedCoin(reached, child, None, fault, False, *told)
    position = position_after(before, ruling.next, after.move, after.mover_share)
    reached = LiveGame(
        game.id, game.terms, game.alice, after, position, Predecessor(before, game.coin)
    )
    return TrackedCoin(
        reached, child, player.moved(position) if player else None, None, False, *told
    )
