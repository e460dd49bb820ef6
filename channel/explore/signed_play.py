"""Honest play from the first message on, and every moment at which one side may stop playing by it.

Both peers open a channel on a small chain, and play games by their policies up to a state of some
number; then they close, if the games are over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.explore.explored_side import ExploredSide
from channelsim.channel.explore.small_chain import SmallChain
from channelsim.channel.peer.agreement import least_unroll_timeout
from channelsim.channel.peer.interface import AcceptGames, Close, Proposed, ProposeGames, Received
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.proposals import Wish, least_timeout
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.simulation.scenario import Scenario, Times, setup_of
from channelsim.channel.simulation.terms import TOGETHER
from channelsim.games import registry

CONFIRMATIONS = 1
"""The depth of explored channels: one block that is replaced must not undo what is final."""

UNIT, STACK = 2, 10
"""The smallest money that all games can be played for."""

MOST_STEPS = 400
"""Messages and blocks of honest play; more are a mistake."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The chain and both sides, with the messages under way, each with the side that gets it."""

    chain: SmallChain
    sides: tuple[ExploredSide, ExploredSide]
    messages: tuple[tuple[int, bytes], ...] = ()

    def number(self, side: int) -> int:
        """The number of the newest state that a side knows; 0 before play."""
        play = self.sides[side].state.play
        return play.state.number if play is not None else 0

    def with_side(self, index: int, side: ExploredSide) -> Moment:
        """The moment after a side has reacted; its messages are under way."""
        sent = tuple((1 - index, message) for message in side.outbox)
        sides = list(self.sides)
        sides[index] = replace(side, outbox=())
        return replace(self, sides=(sides[0], sides[1]), messages=(*self.messages, *sent))

    def farmed(self) -> Moment:
        """The moment after a block with everything that is pending."""
        pending = [push.bundle for side in self.sides for push in side.pending]
        chain = self.chain.with_block(pending)
        moment = replace(self, chain=chain)
        for index, side in enumerate(self.sides):
            moment = moment.with_side(index, side.after_block(chain))
        return moment

    def delivered(self) -> Moment:
        """The moment after the oldest message has arrived, and its player has answered."""
        (index, message), *others = self.messages
        moment = replace(self, messages=tuple(others))
        side = moment.sides[index].after(Received(message), moment.chain)
        return moment.with_side(index, _answered(side, moment.chain))


def scenario_of(games: tuple[str, ...], seed: str, side: int = 1, *, reorgs: bool) -> Scenario:
    """The session as promises are checked by; `side` is the one that does not play by the rules."""
    return Scenario(
        games=games,
        seed=seed,
        adversary="explored",
        side=side,
        weather="reorgs" if reorgs else "calm",
        terms=msgspec.structs.replace(
            TOGETHER, unit=UNIT, stack=STACK, balance=UNIT * STACK * len(games)
        ),
        times=Times(
            confirmations=CONFIRMATIONS,
            unroll_timeout=least_unroll_timeout(CONFIRMATIONS, 1),
            game_timeout=max(least_timeout(name, CONFIRMATIONS, 1) for name in games),
            spacing=1,
        ),
    )


def channel_of(
    games: tuple[str, ...], seed: str
) -> tuple[SmallChain, tuple[ExploredSide, ExploredSide]]:
    """A chain with both wallets, and both sides before their first message."""
    scenario, secret = scenario_of(games, seed, reorgs=False), seed.encode()
    node = SimulatedChain(node_seed(secret))
    agreement = setup_of(scenario).agreement
    configs = [make_config(secret, side, node, agreement) for side in Side]
    coins = [node.coin(config.wallet.coin.id) for config in configs]
    chain = SmallChain.of(node.peak(), node.agg_sig_data(), [one for one in coins if one])
    first, second = (ExploredSide(config, Peer(config).state) for config in configs)
    return chain, (first, second)


def opened(games: tuple[str, ...], seed: str) -> Moment:
    """A channel that is open on both sides, with nothing under way."""
    chain, sides = channel_of(games, seed)
    moment = Moment(chain, sides)
    for index, side in enumerate(moment.sides):
        moment = moment.with_side(index, side.begun(chain))
    for _ in range(MOST_STEPS):
        if moment.messages:
            moment = moment.delivered()
        elif all(side.state.phase is Phase.PLAYING for side in moment.sides):
            return moment
        else:
            moment = moment.farmed()
    raise InvariantError("a channel does not open")


def proposal(games: tuple[str, ...], scenario: Scenario) -> ProposeGames:
    """The proposal of all games at once."""
    return ProposeGames(
        tuple(
            Wish(
                name,
                registry.get(name).default_parameters(UNIT, STACK),
                scenario.game_timeout,
                number % 2 == 0,
            )
            for number, name in enumerate(games)
        )
    )


def moments(games: tuple[str, ...], seed: str, most_states: int) -> Iterator[Moment]:
    """Every moment of honest play, before and after each message, up to a state of this number."""
    moment = opened(games, seed)
    yield moment
    side = moment.sides[0].after(
        proposal(games, scenario_of(games, seed, reorgs=False)), moment.chain
    )
    moment = moment.with_side(0, side)
    closing = False
    for _ in range(MOST_STEPS):
        if max(moment.number(0), moment.number(1)) > most_states:
            return
        yield moment
        if moment.messages:
            moment = moment.delivered()
        elif closing:
            return
        elif moment.sides[1].peer.play.state.games or moment.sides[1].peer.play.state.groups:
            moment = moment.farmed()  # a mover asks for the potato with a block
        else:
            closing = True
            moment = moment.with_side(1, moment.sides[1].after(Close(), moment.chain))


def _answered(side: ExploredSide, chain: SmallChain) -> ExploredSide:
    """The side after its player has accepted what is proposed, and taken its turns."""
    while proposed := next((one for one in side.questions if isinstance(one, Proposed)), None):
        side = replace(side, questions=tuple(one for one in side.questions if one != proposed))
        try:
            side = side.after(AcceptGames(proposed.group.id), chain)
        except UsageError:
            continue  # it is withdrawn
    return side.answered(chain)
