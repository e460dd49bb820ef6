"""Make both parties of a scenario from its seed: a peer each, or an adversary in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from channelsim.channel.adversaries.base import Adversary, Plan, Rewind
from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import make_config, policy_chance
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.simulation.run import Party
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.games.chance import Chance


def peer_itself(peer: Peer) -> Actor:
    """Put nothing in the place of a peer."""
    return peer


Wrap = Callable[[Peer], Actor]
"""Puts something in the place of a peer that is not an adversary's."""


def make_parties(
    scenario: Scenario, chain: FarmableChain, rewind: Rewind, wrap: Wrap
) -> tuple[Party, Party]:
    """Make both parties with funded wallets; `rewind` as in `Plan`."""
    seed = scenario.seed.encode()

    def make(side: Side) -> Party:
        pays = all(scenario.most_fees) and side == scenario.honest
        fees = scenario.most_fees if pays else ()
        config = make_config(seed, side, chain, setup_of(scenario).agreement, *fees)
        if side == scenario.honest:
            config = replace(config, limits=scenario.limits)
        peer = Peer(config)
        actor: Actor = peer
        if scenario.adversary and side == scenario.side:
            # With the step as a label too, or one seed would begin with the same choice at each.
            chance = Chance(derive(seed, "adversary", scenario.adversary, scenario.step))
            plan = Plan(scenario.step, chance, chain, rewind, scenario.games)
            actor = get(scenario.adversary)(peer, plan)
        else:
            actor = wrap(peer)
        return Party(config.name, peer, actor, policy_chance(seed, side))

    return make(Side.INITIATOR), make(Side.RECEIVER)


class LinkedAdversary:
    """The actor of an adversary, which acts last after each block by itself."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self.adversary.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """Let the adversary react."""
        effects = self.adversary.handle(event)
        return [*effects, *self.adversary.finish_block()] if isinstance(event, Block) else effects
