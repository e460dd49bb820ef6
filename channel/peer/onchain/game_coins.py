"""A game coin on chain with all that we know of it, and what a move on chain makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from channel.chain.coins import Coin
from channel.peer.play.book import Table
from channel.protocol.state import Before, LiveGame
from clsp.values import Value
from games import registry
from games.contract import Player, Position
from games.judge import judge_move, position_after, slash_pays
from games.referee import GameCoin


@dataclass(frozen=True, slots=True)
class Fault:
    """An illegal move: the rule that it breaks, and the evidence for which the slash pays."""

    rule: str
    evidence: Value


@dataclass(frozen=True, slots=True)
class Spot:
    """A game coin, and our seat in the game as of it.

    `player` is None where the rules do not say how the game goes on: behind an illegal move.
    `fault` is what is wrong with the move that made the coin, when we can slash it. `first`:
    it came out of the unroll coin, so that what made it is fixed. `runs` and `disagreements`
    are of the judging of the move.
    """

    game: LiveGame
    coin: Coin
    player: Player | None
    fault: Fault | None = None
    first: bool = False
    runs: int = 0
    disagreements: tuple[str, ...] = ()

    def child(self, coin: GameCoin) -> Coin:
        """The coin that a move makes."""
        return Coin(self.coin.id, coin.puzzle_hash(), coin.amount)


def advance(table: Table, spot: Spot, after: GameCoin, known: LiveGame | None) -> Spot:
    """The next spot, when a move was made on chain; `known` is ours, as we decided it."""
    child = spot.child(after)
    if known is not None and known.coin == after:
        player = spot.player.moved(known.position) if spot.player else None
        return Spot(known, child, player)
    return _judged(table, spot, after, child)


def _judged(table: Table, spot: Spot, after: GameCoin, child: Coin) -> Spot:
    game, before, player = spot.game, spot.game.position, spot.player
    unknown = Position(None, None, before.mover.other, after.mover_share, 0, after.move)
    reached = LiveGame(game.id, game.terms, game.alice, after, unknown, Before(before, game.coin))
    if before.over:
        return Spot(reached, child, None)
    rules = registry.get(game.terms.game)
    candidates = player.evidence(before, after.move) if player else ()
    ruling = judge_move(rules, table.hashes(rules.name), before, after, candidates)
    told = ruling.runs, ruling.disagreements
    if not ruling.legal:
        fault = None
        if ruling.evidence is not None:
            fault = fault_of(table, reached, ruling.rule, ruling.evidence)
        return Spot(reached, child, None, fault, False, *told)
    position = position_after(before, ruling.next, after.move, after.mover_share)
    reached = LiveGame(game.id, game.terms, game.alice, after, position, Before(before, game.coin))
    return Spot(reached, child, player.moved(position) if player else None, None, False, *told)


def fault_of(table: Table, game: LiveGame, rule: str, evidence: Value) -> Fault | None:
    """The fault of a game's last move, if the referee lets our slash of it through."""
    before = game.before
    if game.mover is not table.side or before is None or before.position.state is None:
        return None
    pays = slash_pays(
        registry.get(game.terms.game).programs[before.position.validator or ""],
        before.position.state.value(),
        game.coin,
        evidence,
        table.channel.rewards[table.side],
    )
    return Fault(rule, evidence) if pays else None
