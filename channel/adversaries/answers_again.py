"""It answers again after a reorganisation has shown it a reveal."""

from __future__ import annotations

from dataclasses import replace

from channel.adversaries.base import Plan, register
from channel.adversaries.onchain_base import OnChain
from channel.compose import own_action
from channel.events import Block, Effect, Event, Push, Tell
from channel.onchain.news import MovedOnChain, Undone
from channel.onchain.spends import move_bundle
from channel.peer import Peer
from games.contract import Action


@register
class AnswersAgain(OnChain):
    """A move of its own that a reorganisation removed it makes anew, and differently."""

    name = "answers-again"
    about = "makes another move where a reorganisation took its own away"
    honest_claim = True

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._undone = False

    def handle(self, event: Event) -> list[Effect]:
        """Notice what was undone, before the peer's own repetition of it gets out."""
        raw = self.peer.handle(event)
        for effect in raw:
            match effect:
                case Tell(Undone(MovedOnChain(by_us=True))):
                    self._undone = True
                case _:
                    pass
        effects = self._through(raw)
        if isinstance(event, Block):
            effects += self.block(event)
        return effects

    def push(self, push: Push) -> list[Effect]:
        """Not the move as it was."""
        return [] if self._undone and push.name == "move" else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """Change what was decided, where there is a choice."""
        dispute = self.peer._dispute
        if dispute is None or not self._undone:
            return []
        self._undone = False
        effects: list[Effect] = []
        for spot, _ in self.tips(block):
            decided = dispute.decided.get(spot.game.coin)
            if decided is None or spot.player is None or self.peer.table is None:
                continue
            for choice in spot.player.choices():
                number = choice.options[0] if choice.options else choice.least
                other = own_action(
                    self.peer.table, spot.game, spot.player, Action(choice.verb, number)
                ).after
                if choice.forced or other.coin in (decided.coin, spot.game.coin):
                    continue
                self.done = True
                changed = {**dispute.decided, spot.game.coin: other}
                self.peer._dispute = dispute = replace(dispute, decided=changed)
                bundle = move_bundle(
                    self._channel(), self.keys, spot.coin, spot.game.coin, other.coin
                )
                effects.append(Push("again", bundle))
                break
        return effects
