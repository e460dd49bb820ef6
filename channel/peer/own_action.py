"""Our own action in a game: the message for it, and the state of the game after it."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.protocol.messages import Move, Settle
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry
from channelsim.games.contract import Action, Play, Player, Position
from channelsim.games.errors import IllegalMove
from channelsim.games.judge import commitment, hashes_of, own_move, program_record
from channelsim.games.players import player_after
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


def check_action(game: LiveGame, player: Player, action: Action, *, lying: bool = False) -> None:
    """Check that an action is legal, or that a lying player has it. Raises `IllegalAction`."""
    play = player.act(action)
    if isinstance(play, Play) and not lying:
        rules = registry.get(game.terms.game)
        own_move(rules, hashes_of(rules), game.position, game.coin.amount, play)


def own_action(game: LiveGame, player: Player, action: Action, *, lying: bool = False) -> OwnAction:
    """Work out what an action sends, and the game after it. Raises `IllegalAction`.

    A player that is `lying` makes moves that its rules refuse, and goes where the program leads;
    it settles where the referee takes no such move.
    """
    play = player.act(action)
    before = game.position
    if not isinstance(play, Play):
        return OwnAction(action, Settle(game.id), before, game, player)
    rules = registry.get(game.terms.game)
    hashes = hashes_of(rules)
    try:
        if lying:
            step = program_record(rules, hashes, before, game.coin, play)
        else:
            step = own_move(rules, hashes, before, game.coin.amount, play)
        committed = commitment(step, hashes)
        size = step.max_move_size if step else 0
        coin = game.coin.after(play.move, committed, play.share, size)
    except RefereeRefusal as error:
        if lying:
            return OwnAction(action, Settle(game.id), before, game, player)
        raise IllegalMove(
            f"the game {rules.name}: its player's own move at {before.validator} breaks {error}"
        ) from None
    after = game.after(coin, step, play.memory)
    wire = Move(game.id, play.move, play.share, size, committed)
    return OwnAction(action, wire, before, after, player_after(player, after.position, play.memory))
