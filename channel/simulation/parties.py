"""Make both parties of a scenario from its seed: a peer each, and what is in its place.

That is an adversary, or a peer that is restored from an older copy of its store.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

from channelsim.channel.adversaries.base import Adversary, Plan, Rewind
from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import Connected, Effect, Event, Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.dealers import deck_settings
from channelsim.channel.session.identity import fund_wallet, make_config, policy_chance, secret_of
from channelsim.channel.session.peer_driver import Actor, PeerStopped
from channelsim.channel.simulation.run import Party
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.chance import Chance


class RestoredPeer:
    """The actor of a peer that is stopped once, and goes on from a copy made earlier.

    Steps count the messages that it sent: the copy is made after `copied`, once the channel's
    states are signed, and put in the place of the store after `stopped`, if the peer still plays.
    `on_copy` is called when the copy is made.
    """

    def __init__(self, peer: Peer, copied: int, stopped: int) -> None:
        self.peer = peer
        self.restored = False
        self.on_copy: Callable[[], None] = lambda: None
        self._copied = copied
        self._stopped = stopped
        self._sent = 0
        self._store = MemoryStore()
        self._copy: MemoryStore | None = None
        self._durable = DurablePeer(peer, self._store)

    def start(self, peak: int) -> list[Effect]:
        """Begin; or go on from the copy."""
        return self._count(self._durable.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, unless the copy is due. Raises `PeerStopped`."""
        if self._copy is not None and self.is_due(event):
            self.restored = True
            self.peer.state = Peer(self.peer.config).state
            self._durable = DurablePeer(self.peer, self._copy)
            raise PeerStopped(None)
        effects = self._count(self._durable.handle(event))
        if self._copy is None and self._sent >= self._copied and self.peer.state.play is not None:
            self._copy = deepcopy(self._store)
            self.on_copy()
        return effects

    def is_due(self, event: Event) -> bool:
        """True if the copy takes the place of the store before this event.

        Not while a connection is made, which both sides have to see begin once.
        """
        plays = self.peer.phase in (Phase.PLAYING, Phase.CLOSING)
        waits = self._copy is not None and not self.restored and not isinstance(event, Connected)
        return waits and plays and self._sent >= self._stopped

    def _count(self, effects: list[Effect]) -> list[Effect]:
        self._sent += sum(isinstance(effect, Send) for effect in effects)
        return effects


def actor_of(scenario: Scenario, peer: Peer) -> Actor:
    """The actor of a peer that is not an adversary's: the peer itself, unless it is restored."""
    if not scenario.old_copy or peer.config.side != scenario.honest:
        return peer
    chance = Chance(derive(scenario.seed.encode(), "old copy"))
    return RestoredPeer(peer, chance.below(scenario.old_copy), scenario.old_copy)


Wrap = Callable[[Peer], Actor]
"""Puts something in the place of a peer that is not an adversary's."""


def make_parties(
    scenario: Scenario, chain: FarmableChain, rewind: Rewind, wrap: Wrap
) -> tuple[Party, Party]:
    """Make both parties with funded wallets; `rewind` as in `Plan`."""
    seed = scenario.seed.encode()
    agreement = Agreement(
        (scenario.balance, scenario.balance),
        scenario.unroll_timeout,
        scenario.confirmations,
        decks=deck_settings(scenario.games),
        spacing=scenario.spacing,
    )

    def make(side: Side) -> Party:
        config = make_config(seed, side, chain, agreement)
        if all(scenario.most_fees) and side == scenario.honest:
            most, most_of_all = scenario.most_fees
            wallet = fund_wallet(secret_of(seed, side), "fees", chain, most_of_all)
            fees = Fees(wallet, most, most_of_all)
            config = replace(config, fees=fees)
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
