"""The adversary that lies about what it hides, and plays on with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import Batch, Message, Move
from channelsim.games import registry
from channelsim.games.contract import Game, Seat
from channelsim.games.hidden import Lies


@adversary("hides-wrong", "hides what the rules may forbid, and plays on with it")
class _HidesWrong(Adversary):
    """Its peer lies from its first game on, about one value of each seat.

    The peer makes the moves of a player that hides this, also those that its own rules refuse. Its
    step only decides what it hides.
    """

    default_step = 0

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if no seat hides a value in any of the games."""
        if any(game.hidden for game in games):
            return ""
        names = " or ".join(game.name for game in games)
        return f"there is nothing to lie about: no seat of {names} hides a value (`Game.hidden`)"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        peer.config = replace(peer.config, lies=_lies(plan))

    @property
    def due(self) -> bool:
        """True: it hides something before its first message in a game."""
        return True

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The message as it is: it has deviated once it moves in a game in which it lies."""
        if isinstance(message, Batch) and any(map(self._follows_a_lie, message.actions)):
            self.done = True
        return [blob]

    def _follows_a_lie(self, action: object) -> bool:
        game = self.state.game(action.game_id) if isinstance(action, Move) else None
        return game is not None and bool(self.peer.endpoint.lies_in(game))


def _lies(plan: Plan) -> Lies:
    """A lie about one of the values that each seat hides in each of the games."""
    seeds: dict[str, bytes] = {}
    for game in map(registry.get, plan.games):
        for seat in Seat:
            hides = [hidden.name for hidden in game.hidden if seat in hidden.seats]
            if hides:
                seeds.setdefault(plan.chance.pick(hides), plan.chance.bytes(32))
    return tuple(seeds.items())
