"""Slashes of honest moves, with every evidence that there is."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.protocol.game_spends import slash_bundle
from clsp.values import Value
from games import registry


@register
class EvidenceForger(OnChain):
    """It tries to slash moves that broke no rule."""

    name = "evidence-forger"
    about = "tries to slash honest moves with evidence of all kinds"

    def cheat(self, block: Block) -> list[Effect]:
        """Every coin where it is the mover, with a few pieces of evidence more each block."""
        effects: list[Effect] = []
        for spot, _ in self.tips(block):
            before = spot.game.before
            if spot.game.mover is not self.peer.config.side or before is None:
                continue
            if before.position.state is None or before.position.validator is None:
                continue
            self.done = True
            program = registry.get(spot.game.terms.game).programs[before.position.validator]
            state = before.position.state.value()
            guesses = [bytes([self.plan.chance.below(256)]) for _ in range(4)]
            tried: list[Value] = [b"", (b"", b""), self.plan.chance.bytes(40), *guesses]
            for evidence in tried:
                bundle = slash_bundle(
                    self._channel(), spot.coin, spot.game, state, program, evidence
                )
                effects.append(Push("forged", bundle))
        return effects
