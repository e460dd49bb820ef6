"""The hostile side of an attacked session: a real peer whose messages and spends deviate.

Each action of its script is a layer around the peer: an adversary by name, or a change of what is
in `hostile_words`. The layers act independently, the first of them next to the peer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from channelsim.channel.adversaries.base import Adversary, Plan, Rewind
from channelsim.channel.adversaries.registry import get
from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.hostile_spends import Spender
from channelsim.channel.attack.hostile_words import Altering, Speaking, Withholding
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.games.chance import Chance


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a hostile side's peer: a node of its own, and the world's weather.

    `took_place` hears of an action when it deviates, and `reconnect` makes a new connection.
    """

    seed: bytes
    games: tuple[str, ...]
    chain: Chain
    rewind: Rewind
    took_place: Callable[[Action], None]
    reconnect: Callable[[], object]

    def plan(self, action: Action) -> Plan:
        """The plan of an adversary that acts for this action."""
        labels = (action.kind, action.name, action.at, action.amount)
        chance = Chance(derive(self.seed, "deviation", *labels))
        return Plan(action.at, chance, self.chain, self.rewind, self.games)


class Deviating(Peer):
    """A peer as the layer outside an adversary has it: it reacts as the adversary does."""

    def __init__(self, inside: Adversary) -> None:
        self._inside = inside
        super().__init__(inside.peer.config, inside.peer.state)

    @property
    def config(self) -> Config:
        """The settings of the peer: an adversary may have it tell lies."""
        return self._inside.peer.config

    @config.setter
    def config(self, config: Config) -> None:
        self._inside.peer.config = config

    @property
    def state(self) -> PeerState:
        """All that the peer knows."""
        return self._inside.peer.state

    @state.setter
    def state(self, state: PeerState) -> None:
        self._inside.peer.state = state

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self._inside.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """React to an event as the adversary does."""
        return self._inside.handle(event)


@dataclass(slots=True)
class HostileSide:
    """The actor of a hostile process, made of a peer and the actions of its side.

    `witness` is next to the peer and changes nothing: it knows which messages the peer itself made.
    """

    peer: Peer
    actions: Sequence[Action]
    around: Surroundings
    witness: Adversary = field(init=False)
    _layers: list[tuple[Action, Adversary]] = field(default_factory=list)
    _noted: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Put a layer around the peer for each action."""
        nothing = Plan(0, Chance(b""), self.around.chain, self.around.rewind)
        self.witness = outermost = Adversary(self.peer, nothing)
        for action in self.actions:
            plan = self.around.plan(action)
            outermost = _kind_of(action)(Deviating(outermost), plan)
            self._layers.append((action, outermost))

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height, as the peer does: what it sends before there is a connection is
        lost, and comes again with the first one."""
        return self.witness.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """React to an event, and after a block a second time, as the last one."""
        effects = self._outermost.handle(event)
        if isinstance(event, Block):
            for _, adversary in self._layers:
                effects += adversary.finish_block()
        self._note()
        if any(adversary.breaks_connection() for _, adversary in self._layers):
            self.around.reconnect()
        return effects

    def spends(self, action: Action) -> list[Bundle]:
        """The spends of an action, as of now."""
        return Spender(self.peer, self.around.plan(action)).spends()

    @property
    def adversary(self) -> Adversary:
        """The adversary of its only action; the witness, where it has none or several."""
        return self._layers[0][1] if len(self._layers) == 1 else self.witness

    @property
    def _outermost(self) -> Adversary:
        return self._layers[-1][1] if self._layers else self.witness

    def _note(self) -> None:
        """Report each action once it has deviated."""
        for number, (action, adversary) in enumerate(self._layers):
            if adversary.done and number not in self._noted:
                self._noted.add(number)
                self.witness.done = True
                self.around.took_place(action)


def _kind_of(action: Action) -> Callable[[Peer, Plan], Adversary]:
    match action.kind:
        case "alter":
            return Altering
        case "say":
            return Speaking
        case "withhold":
            return Withholding
        case _:
            return get(action.name)
