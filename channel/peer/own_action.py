"""Our own action in a game: the message for it, and the state of the game after it."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.protocol.messages import Move, Settle
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry
from channelsim.games.contract import Action, Play, Player, Position
from channelsim.games.errors import IllegalMove
from channelsim.games.judge import commitment, hashes_of, own_move
from channelsim.games.referee import RefereeRefusal


@dataclass(frozen=True, slots=True)
class OwnAction:
    """Our action in a game: its form in a batch, and the game after it (the same if we settle).

    `player` is our seat after it.
    """

    action: Action
    wire: Settle | Move
    before: Position
    after: LiveGame
    player: Player


def check_action(game: LiveGame, player: Player, action: Action) -> None:
    """Check that an action is legal. Raises `IllegalAction`."""
    play = player.act(action)
    if isinstance(play, Play):
        rules = registry.get(game.terms.game)
        own_move(rules, hashes_of(rules), game.position, game.coin.amount, play)


def own_action(game: LiveGame, player: Player, action: Action) -> OwnAction:
    """Work out what an action sends, and the game after it. Raises `IllegalAction`."""
    play = player.act(action)
    before = game.position
    if not isinstance(play, Play):
        return OwnAction(action, Settle(game.id), before, game, player)
    rules = registry.get(game.terms.game)
    hashes = hashes_of(rules)
    step = own_move(rules, hashes, before, game.coin.amount, play)
    committed = commitment(step, hashes)
    size = step.max_move_size if step else 0
    try:
        coin = game.coin.after(play.move, committed, play.share, size)
    except RefereeRefusal as error:
        raise IllegalMove(
            f"the game {rules.name}: its player's own move at {before.validator} breaks {error}"
        ) from None
    after = game.after(coin, step)
    wire = Move(game.id, play.move, play.share, size, committed)
    return OwnAction(action, wire, before, after, player.moved(after.position))
