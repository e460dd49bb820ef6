"""Both sides of an attacked session as its script says: the scenario, settings and players."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from msgspec.structs import replace

from channelsim.channel.attack.actions import Attack, hostile_side
from channelsim.channel.attack.filled_blocks import Market
from channelsim.channel.attack.menu_player import Menu, MenuPlayer
from channelsim.channel.attack.watch_fees import WatchWallet
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.session.identity import make_config, secret_of
from channelsim.channel.session.picks import Pick, any_pick
from channelsim.channel.session.questions import Deciding, PlayerOfPeer
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import Accepting, Choosing, SidePlayer
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.channel.simulation.terms import Proposals
from channelsim.games.chance import Chance

HOSTILE = "hostile"
"""The name of the adversary that promises are checked against; its deviations have names."""


def scenario_of(attack: Attack) -> Scenario:
    """The session of a script, as promises are checked by.

    Its weather excuses spends that the node refuses.
    """
    terms, hostile = attack.terms, hostile_side(attack.actions)
    if attack.tight:
        terms = replace(terms, balance=terms.unit * terms.stack)
    scenario = Scenario(
        attack.games,
        attack.seed,
        weather="reorgs",
        hands=attack.hands,
        policies=attack.policies,
        mixed=attack.mixed,
        terms=terms,
    )
    if hostile is None:
        return scenario
    return dataclasses.replace(scenario, adversary=HOSTILE, side=hostile)


def configs_of(attack: Attack, chain: FarmableChain, market: Market | None) -> list[Config]:
    """The settings of both sides, with funded wallets.

    In a market both pay fees; otherwise honest sides do, by their maxima.
    """
    terms, hostile = attack.terms, hostile_side(attack.actions)
    agreement, seed = setup_of(scenario_of(attack)).agreement, attack.seed.encode()
    configs = []
    for side in Side:
        fees: tuple[int, int] | tuple[()] = ()
        if market is not None and market.most_fee:
            fees = (market.most_fee, market.most_fees)
        if side != hostile and all(terms.most_fees):
            fees = terms.most_fees
        config = make_config(seed, side, chain, agreement, *fees)
        if side != hostile and terms.limits is not None:
            config = dataclasses.replace(config, limits=terms.limits)
        configs.append(config)
    return configs


def watch_wallet_of(attack: Attack, config: Config, chain: FarmableChain) -> WatchWallet | None:
    """The funded wallet of a side's watchers; None if they pay no fees.

    They pay as much for a spend as their side does.
    """
    if not attack.watched or config.fees is None or not config.fees.per_spend:
        return None
    most = config.fees.per_spend
    secret = secret_of(attack.seed.encode(), config.side)
    key, unused = (wallet_key(secret, name) for name in ("watcher fees", "watcher"))
    chain.give(address_of(key), most)
    return WatchWallet(key, most, (unused,))


def chosen(setup: Setup, peer: Peer) -> Choosing:
    """Name the games of a side's hands: the same ones after a restart."""

    def choose(number: int) -> Pick:
        secret = peer.config.secret
        return any_pick(setup.games, Chance(derive(secret, "dealer's choice", number)))

    return choose


def player_of(
    attack: Attack,
    deal: Callable[[int], None],
    peer: Peer,
    decide: Deciding,
    accepts: Accepting,
) -> PlayerOfPeer:
    """The player of a side; `deal` makes so many decks for both, where a dealer does.

    Where hands are agreed on, it plays those that it still `accepts`.
    """
    setup, proposals = setup_of(scenario_of(attack)), attack.terms.proposals
    if proposals.is_agreed:
        choose = chosen(setup, peer) if proposals is Proposals.CHOSEN else None
        return SidePlayer(setup, peer, decide, accepts, choose)
    first = hostile_side(attack.actions) or Side.INITIATOR
    return MenuPlayer(Menu(setup, proposals, first, deal), peer, decide)
