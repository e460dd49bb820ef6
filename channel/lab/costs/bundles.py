"""The cost of whole spends in a block: CLVM, conditions and bytes.

Every bundle that is costed here is real: an embedded node took it, signed, and in its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
from chia_rs import Coin as ChiaCoin
from chia_rs import solution_generator
from chia_rs.sized_ints import uint64

from channelsim.channel.chain.coins import Bundle, Spend, joined, standard_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.costs.costs import (
    MOST_MOJOS,
    PATHS,
    TIMEOUT,
    VALIDATOR,
    CostFigure,
    Costs,
)
from channelsim.channel.lab.node.node_wallet import NodeWallet, signed, spend_of
from channelsim.channel.lab.referee.referee_runs import RefereeRunner, conditions
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
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games.contract import Terms
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE, CREATE_COIN

PER_COIN, PER_SIGNATURE, PER_BYTE = 1_800_000, 1_200_000, 12_000
"""The cost of each CREATE_COIN, each AGG_SIG and each byte in a block."""

_COSTS = {
    int_to_atom(CREATE_COIN): PER_COIN,
    int_to_atom(AGG_SIG_ME): PER_SIGNATURE,
    int_to_atom(AGG_SIG_UNSAFE): PER_SIGNATURE,
}

_QUOTE = 2
"""The bytes in which a block wraps all of its spends together."""

UNROLL_TIMEOUT = 15

NODE = 1
"""The seed of the node."""


class BundleCost(msgspec.Struct, frozen=True, rename={"size": "bytes"}):
    """The cost of a bundle in a block, by what it is for; `size` (`bytes` in files) is a length."""

    clvm: CostFigure
    conditions: CostFigure
    size: CostFigure
    total: CostFigure


def bundle_cost(bundle: Bundle) -> BundleCost:
    """Compute the cost of a bundle that shares a block with others."""
    clvm = asked = 0
    for spend in bundle.spends:
        outcome = run_serialized(spend.puzzle, spend.solution)
        if not isinstance(outcome, ProgramValid | ProgramSlash):
            raise InvariantError(f"a spend that fails has no cost: {outcome}")
        clvm += outcome.cost
        asked += sum(_COSTS.get(atom_of(code), 0) for code, *_ in conditions(outcome))
    size = generator_size(bundle.spends)
    return BundleCost(clvm, asked, size, clvm + asked + PER_BYTE * size)


def generator_size(spends: tuple[Spend, ...]) -> int:
    """The bytes that spends add to a block."""
    listed = [
        (
            ChiaCoin(spend.coin.parent, spend.coin.puzzle_hash, uint64(spend.coin.amount)),
            spend.puzzle,
            spend.solution,
        )
        for spend in spends
    ]
    return len(solution_generator(listed)) - _QUOTE


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
    found, refused = {}, {}
    interrupted = costs.interrupted
    try:
        for name, bundle, error in offer_bundles(costs) if not interrupted else ():
            if error:
                refused[name] = error
            else:
                found[name] = bundle_cost(bundle)
    except KeyboardInterrupt:
        interrupted = True
    left_out = [
        f"{name} {path}"
        for name, paths in costs.figures().items()
        for path in paths
        if path != VALIDATOR and (name, path) not in costs.costliest
    ]
    return Bundles(found, refused, tuple(left_out), interrupted)


Tried = tuple[str, Bundle, str]
"""The purpose of a bundle, the bundle, and the node's reason for refusing it, or empty."""


def offer_bundles(costs: Costs) -> Iterator[Tried]:
    """Offer every bundle to the node, and yield each with the answer."""
    return _Lab(costs).all()


class _Lab:
    """A node, and two players with their keys."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._chain = SimulatedChain(NODE)
        self._agg_sig_data = self._chain.agg_sig_data()
        self._secrets = tuple(derive(b"costs", "player", side) for side in Side)
        self._keys = tuple(SecretKeys.derive(secret) for secret in self._secrets)
        self._rewards = tuple(address_of(wallet_key(one, "reward")) for one in self._secrets)

    def all(self) -> Iterator[Tried]:
        if self._costs.first is not None:
            yield from self._shut_down()
            yield from self._unroll()
        yield from self._games()

    # --- the channel ---

    def _shut_down(self) -> Iterator[Tried]:
        channel, funding = self._channel()
        yield self._push("funding", funding)
        state = ChannelState(2, channel.contributions)
        message = channel.shutdown_message(state)
        signature = bls.add(
            *(bls.sign_half(keys.channel, message, channel.channel_key) for keys in self._keys)
        )
        spend = standard_spend(
            channel.coin, bytes(channel.channel_key), channel.shutdown_conditions(state)
        )
        yield self._push("clean shutdown", Bundle((spend,), signature))

    def _unroll(self) -> Iterator[Tried]:
        channel, funding = self._channel()
        self._push("", funding)
        older, newer = (self._signed(channel, number) for number in (4, 5))
        yield self._push("publish", publish(channel, self._keys[0], older))
        yield self._push("preempt", preempt(channel, self._keys[1], newer, older.state))
        channel, funding = self._channel()
        self._push("", funding)
        older = self._signed(channel, 4)
        self._push("", publish(channel, self._keys[0], older))
        self._chain.farm(UNROLL_TIMEOUT)
        yield self._push("unroll timeout", time_out(channel, older.state))

    def _channel(self) -> tuple[Channel, Bundle]:
        """A channel that is not funded yet, and the bundle that does it."""
        stake = self._live().coin.amount
        contributions = (2 * stake + 1, 2 * stake + 2)
        wallets = []
        for secret, contribution in zip(self._secrets, contributions, strict=True):
            key = wallet_key(secret, "funding")
            coin = self._chain.give(address_of(key), contribution + 1)
            wallets.append(Wallet(key, coin))
        one, other = self._keys
        channel = Channel.of(
            keys=(one.public(), other.public()),
            rewards=(self._rewards[0], self._rewards[1]),
            payout_signatures=(
                one.payout_signature(self._rewards[0]),
                other.payout_signature(self._rewards[1]),
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
        return channel, joined(*parts)

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

    @cached_property
    def _referee_keys(self) -> tuple[bytes, bytes]:
        one, other = (bytes(keys.referee.get_g1()) for keys in self._keys)
        return one, other

    # --- the games ---

    def _games(self) -> Iterator[Tried]:
        wallet = NodeWallet(self._chain, b"costs")
        keys = dict(zip(self._referee_keys, (one.referee for one in self._keys), strict=True))
        runner = RefereeRunner(self._costs.target)
        for name in self._costs.target.programs:
            for path in PATHS:
                costliest = self._costs.costliest.get((name, path))
                if path == VALIDATOR or costliest is None:
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
