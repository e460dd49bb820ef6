"""Both sides of an attacked session as its script says: the scenario, settings and players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from channelsim.channel.attack.actions import Attack, hostile_side
from channelsim.channel.attack.filled_blocks import Market
from channelsim.channel.attack.menu_player import Menu, MenuPlayer
from channelsim.channel.attack.terms import Proposals
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import make_config
from channelsim.channel.session.questions import Deciding, PlayerOfPeer
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.simulation.scenario import Scenario, setup_of

HOSTILE = "hostile"
"""The name of the adversary that promises are checked against; its deviations have names."""


def scenario_of(attack: Attack) -> Scenario:
    """The session of a script, as promises are checked by.

    Its weather excuses spends that the node refuses.
    """
    terms = attack.terms
    scenario = Scenario(
        games=attack.games,
        seed=attack.seed,
        weather="reorgs",
        fees=terms.fees,
        unit=terms.unit,
        stack=terms.stack,
        hands=attack.hands,
        staggered=terms.proposals is Proposals.STAGGERED,
        agreed=terms.proposals is Proposals.AGREED,
        policies=attack.policies,
        contribution=terms.unit * terms.stack if attack.tight else terms.balance,
        most_states=terms.most_states,
        most_bytes=terms.most_bytes,
        mixed=attack.mixed,
        max_fee=terms.max_fee,
        max_fees=terms.max_fees,
        crowd=terms.crowd,
    )
    hostile = hostile_side(attack.actions)
    if hostile is None:
        return scenario
    return replace(scenario, adversary=HOSTILE, side=hostile, agreed=False)


def configs_of(attack: Attack, chain: FarmableChain, market: Market | None) -> list[Config]:
    """The settings of both sides, with funded wallets.

    In a market both pay fees; otherwise honest sides do, by their maxima.
    """
    scenario, hostile = scenario_of(attack), hostile_side(attack.actions)
    agreement, seed = setup_of(scenario).agreement, attack.seed.encode()
    configs = []
    for side in Side:
        fees: tuple[int, int] | tuple[()] = ()
        if market is not None and market.most_fee:
            fees = (market.most_fee, market.most_fees)
        if side != hostile and all(scenario.most_fees):
            fees = scenario.most_fees
        config = make_config(seed, side, chain, agreement, *fees)
        if side != hostile and (scenario.most_states or scenario.most_bytes):
            config = replace(config, limits=scenario.limits)
        configs.append(config)
    return configs


def player_of(
    attack: Attack, deal: Callable[[int], None], peer: Peer, decide: Deciding
) -> PlayerOfPeer:
    """The player of a side; `deal` makes so many decks for both, where a dealer does."""
    setup, proposals = setup_of(scenario_of(attack)), attack.terms.proposals
    if proposals is Proposals.AGREED:
        return SidePlayer(setup, peer, decide)
    first = hostile_side(attack.actions) or Side.INITIATOR
    return MenuPlayer(Menu(setup, proposals, first, deal), peer, decide)
