"""The cost of whole spends in a block: CLVM, conditions and bytes.

Every bundle that is costed here is real: an embedded node took it, signed, and in its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from chia_rs import get_conditions_from_spendbundle
from chia_rs.sized_ints import uint32

from channelsim.channel.chain.coins import Bundle, joined, standard_spend
from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE, constants_of
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.validation import node_bundle
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.costs.costs import (
    MOST_MOJOS,
    PATHS,
    TIMEOUT,
    VALIDATOR,
    Costs,
)
from channelsim.channel.lab.node.node_wallet import NodeWallet, signed, spend_of
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.values import atom_of
from channelsim.channel.protocol.half_signed import (
    SignedState,
    check_halves,
    preempt,
    publish,
    sign_halves,
    time_out,
)
from channelsim.channel.protocol.state import Channel, ChannelState, LiveGame, Side
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.clsp.analysis.tracer import Figure
from channelsim.clsp.values import atom_to_int
from channelsim.games.contract import Terms

UNROLL_TIMEOUT = 15

NODE = 1
"""The seed of the node."""


class BundleCost(msgspec.Struct, frozen=True, rename={"size": "bytes"}):
    """The cost of a bundle in a block, by what it is for; `size` (`bytes` in files) is a length."""

    clvm: Figure
    conditions: Figure
    size: Figure
    total: Figure


def bundle_cost(bundle: Bundle) -> BundleCost:
    """Compute the cost of a bundle that shares a block with others."""
    constants = constants_of(bytes(32), BLOCK_COST, BLOCK_COST)
    costs = get_conditions_from_spendbundle(node_bundle(bundle), BLOCK_COST, constants, uint32(0))
    total, clvm, conditions = int(costs.cost), int(costs.execution_cost), int(costs.condition_cost)
    return BundleCost(clvm, conditions, (total - clvm - conditions) // COST_PER_BYTE, total)


@dataclass(frozen=True, slots=True)
class Bundles:
    """The costs by what a bundle does, and of those that the node refused, its reason.

    `left_out` are game spends of which every coin holds more than an embedded node can give.
    `interrupted`: not all were offered.
    """

    costs: dict[str, BundleCost]
    refused: dict[str, str]
    left_out: tuple[str, ...]
    interrupted: bool = False


def measure(costs: Costs) -> Bundles:
    """Measure the spends of a channel and the costliest game spends on an embedded node.

    The channel has two balances and one game; a game spend is the one with the most CLVM of
    its validator and path. An interrupt ends it early; with interrupted costs, nothing is
    offered.
    """
    measured, refused = {}, {}
    interrupted = costs.interrupted
    try:
        for name, bundle, error in offer_bundles(costs) if not interrupted else ():
            if error:
                refused[name] = error
            else:
                measured[name] = bundle_cost(bundle)
    except KeyboardInterrupt:
        interrupted = True
    left_out = [
        f"{name} {path}"
        for name, paths in costs.figures().items()
        for path in paths
        if path != VALIDATOR and (name, path) not in costs.costliest
    ]
    return Bundles(measured, refused, tuple(left_out), interrupted)


Tried = tuple[str, Bundle, str]
"""The purpose of a bundle, the bundle, and the node's reason for refusing it, or empty."""


def offer_bundles(costs: Costs) -> Iterator[Tried]:
    """Offer every bundle to the node, and yield each with the answer."""
    lab = _Lab(costs)
    if costs.first is not None:
        yield from lab.shut_down()
        yield from lab.unroll()
    yield from lab.spend_games()


class _Lab:
    """A node, and two players with their keys."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._chain = SimulatedChain(NODE)
        self._agg_sig_data = self._chain.agg_sig_data()
        self._secrets = tuple(derive(b"costs", "player", side) for side in Side)
        self._keys = tuple(SecretKeys.derive(secret) for secret in self._secrets)
        self._rewards = tuple(address_of(wallet_key(secret, "reward")) for secret in self._secrets)
        self._referee_keys = tuple(bytes(keys.referee.get_g1()) for keys in self._keys)

    # --- the channel ---

    def shut_down(self) -> Iterator[Tried]:
        """Fund a channel, and shut it down together."""
        channel, funding = self._funded()
        yield funding
        state = ChannelState(2, channel.contributions)
        message = channel.shutdown_message(state)
        signature = bls.add(
            *(bls.sign_half(keys.channel, message, channel.channel_key) for keys in self._keys)
        )
        spend = standard_spend(
            channel.coin, bytes(channel.channel_key), channel.shutdown_conditions(state)
        )
        yield self._push("clean shutdown", Bundle((spend,), signature))

    def unroll(self) -> Iterator[Tried]:
        """Publish a state and preempt it; publish another one, and let it time out."""
        channel, _ = self._funded()
        older, newer = (self._signed(channel, number) for number in (4, 5))
        yield self._push("publish", publish(channel, self._keys[0], older))
        yield self._push("preempt", preempt(channel, self._keys[1], newer, older.state))
        channel, _ = self._funded()
        older = self._signed(channel, 4)
        self._push("", publish(channel, self._keys[0], older))
        self._chain.farm(UNROLL_TIMEOUT)
        yield self._push("unroll timeout", time_out(channel, older.state))

    def _funded(self) -> tuple[Channel, Tried]:
        """A new channel, and the bundle that funded it."""
        stake = self._live().coin.amount
        contributions = (2 * stake + 1, 2 * stake + 2)
        wallets = []
        for secret, contribution in zip(self._secrets, contributions, strict=True):
            key = wallet_key(secret, "funding")
            coin = self._chain.give(address_of(key), contribution + 1)
            wallets.append(Wallet(key, coin))
        (first, second), rewards = self._keys, self._rewards
        channel = Channel.of(
            keys=(first.public(), second.public()),
            rewards=(rewards[0], rewards[1]),
            payout_signatures=(
                first.payout_signature(rewards[0]),
                second.payout_signature(rewards[1]),
            ),
            contributions=contributions,
            unroll_timeout=UNROLL_TIMEOUT,
            agg_sig_data=self._agg_sig_data,
            launcher_parent=wallets[0].coin,
        )
        deadline = self._chain.peak() + 100
        parts = [
            wallet.fund(channel, contribution, deadline, launch=side is Side.INITIATOR)
            for side, wallet, contribution in zip(Side, wallets, contributions, strict=True)
        ]
        return channel, self._push("funding", joined(*parts))

    def _signed(self, channel: Channel, number: int) -> SignedState:
        """A state with one game, signed by the other side of the one that may publish it."""
        game = self._live()
        first, second = channel.contributions
        balances = (first - game.coin.amount, second)
        state = ChannelState(number, balances, (game,))
        sender = Side(1 - number % 2)
        return check_halves(channel, sender, state, sign_halves(channel, self._keys[sender], state))

    def _live(self) -> LiveGame:
        site = self._costs.first
        if site is None:
            raise InvariantError("a target without a site has no game to fund")
        coin = msgspec.structs.replace(
            RefereeRunner(self._costs.target).coin(site),
            amount=min(site.amount, MOST_MOJOS),
            mover_key=self._referee_keys[0],
            waiter_key=self._referee_keys[1],
        )
        terms = Terms(self._costs.target.name, coin.amount, (coin.amount, 0), 1, ())
        return LiveGame(coin.nonce, terms, Side.INITIATOR, coin, site.before, None)

    # --- the games ---

    def spend_games(self) -> Iterator[Tried]:
        """Make the costliest coins, and spend them."""
        wallet = NodeWallet(self._chain, b"costs")
        keys = {bytes(keys.referee.get_g1()): keys.referee for keys in self._keys}
        runner = RefereeRunner(self._costs.target)
        for name in self._costs.target.programs:
            for path in PATHS:
                costliest = self._costs.costliest.get((name, path))
                if costliest is None:
                    continue
                # The keys of generated hands are none that could sign.
                fields = (*self._referee_keys, *costliest.fields[2:])
                puzzle = runner.puzzle(fields)
                amount = atom_to_int(atom_of(fields[3]))
                (coin,) = wallet.coins([(puzzle.hash, amount)])
                if path == TIMEOUT:
                    self._chain.farm(atom_to_int(atom_of(fields[2])))
                spend = spend_of(coin, puzzle.serialized, costliest.solution)
                bundle = signed(spend, keys, self._agg_sig_data)
                if costliest.signature:
                    both = bls.add(bundle.signature, costliest.signature)
                    bundle = Bundle(bundle.spends, both)
                yield self._push(f"{name} {path}", bundle)

    def _push(self, name: str, bundle: Bundle) -> Tried:
        result = self._chain.push(bundle)
        self._chain.farm()
        return name, bundle, "" if result.answer is Answer.ACCEPTED else result.error
