"""The small chain and the embedded node, side by side on random paths."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace as replaced
from typing import Any

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.mempool import Status
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.explore import small_chain
from channelsim.channel.explore.dispute_world import DisputeWorld
from channelsim.channel.explore.search import kind_of
from channelsim.channel.explore.signed_play import moments, scenario_of
from channelsim.channel.explore.small_chain import SmallChain
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.simulation.scenario import setup_of

GAMES, SEED = ("spacepoker",), "both chains"


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fast_signatures():
        yield


class Twin:
    """The embedded node, which follows every block of a small chain, and all its answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.node = SimulatedChain(node_seed(SEED.encode()))
        self.answers = {True: 0, False: 0}
        agreement = setup_of(scenario_of(GAMES, SEED, reorgs=False)).agreement
        for side in Side:
            make_config(SEED.encode(), side, self.node, agreement)
        self.changes = {self.node.peak(): self.node.changes}
        with_block, admitted = SmallChain.with_block, SmallChain.admitted

        def grows(chain: SmallChain, bundles: list[Bundle]) -> SmallChain:
            bundles = list(bundles)
            self.node.revert(self.changes[chain.height])
            for bundle in bundles:
                if admitted(chain, bundle) is not None:
                    self.node.push(bundle)
            self.node.farm()
            after = with_block(chain, bundles)
            self.follow(after)
            return after

        def judged(chain: SmallChain, bundle: Bundle) -> object:
            valid = admitted(chain, bundle)
            if chain.height == self.node.peak():
                outcome = self.node.offer(bundle)
                assert (outcome.status is Status.SUCCESS) is (valid is not None), outcome
                self.answers[valid is not None] += 1
                if outcome.status is not Status.FAILED:
                    self.node.revert(self.changes[chain.height])
            return valid

        monkeypatch.setattr(SmallChain, "with_block", grows)
        monkeypatch.setattr(SmallChain, "admitted", judged)

    def follow(self, chain: SmallChain) -> None:
        """Check that both have the same coins, and note this height."""
        assert chain.peak() == self.node.peak()
        for coin_id, seen in chain.coins.items():
            assert self.node.coin(coin_id) == seen
            assert self.node.children(coin_id) == chain.children(coin_id)
        self.changes[chain.height] = self.node.changes


def walked(number: int, kinds: Counter[str]) -> None:
    """Follow a random path with both chains, whatever the thief does, and with replaced blocks."""
    with pytest.MonkeyPatch.context() as patches:
        twin, chance = Twin(patches), random.Random(number)
        *_, moment, _ = moments(GAMES, SEED, 6)
        world = DisputeWorld(GAMES, SEED, moment, number % 2)
        state = world.first()
        for _ in range(20):
            choices = list(world.choices(state))
            if len(choices) > 1 and chance.random() < 0.6:
                choices = choices[1:]
            choice = chance.choice(choices)
            kinds[kind_of(choice.text)] += 1
            state = world.step(state, choice)
            if choice.back:
                # Another empty block made the new chain the longer one.
                twin.node.farm()
                twin.follow(state.chain)
            if world.is_end(state):
                break
        assert min(twin.answers.values()) > 2


def all_walked(numbers: range) -> Counter[str]:
    """Follow random paths; return the kinds of choices."""
    kinds = Counter[str]()
    for number in numbers:
        walked(number, kinds)
    return kinds


def test_the_embedded_node_has_the_same_coins_on_random_paths() -> None:
    assert len(all_walked(range(4))) > 3


@pytest.mark.long
def test_the_embedded_node_has_the_same_coins_on_many_random_paths() -> None:
    assert len(all_walked(range(4, 60))) > 6


def older(right: Any, seen: CoinSeen, tip: int | None) -> Any:
    """Time locks end one block early."""
    return right(replace(seen, born=seen.born - 1), tip)


def forgiving(right: Any, chain: SmallChain, bundles: Any) -> SmallChain:
    """Spent coins can be spent again."""
    after: SmallChain = right(chain, bundles)
    coins = {key: replace(seen, spent=None, solution=None) for key, seen in after.coins.items()}
    return replaced(after, coins=coins)


def born_late(right: Any, chain: SmallChain, bundles: Any) -> SmallChain:
    """Coins are one block younger than they are."""
    after: SmallChain = right(chain, bundles)
    return replaced(
        after,
        coins={
            key: seen if key in chain.coins else replace(seen, born=seen.born + 1)
            for key, seen in after.coins.items()
        },
    )


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (small_chain, "_record", older),
        (SmallChain, "with_block", forgiving),
        (SmallChain, "with_block", born_late),
    ],
)
def test_a_difference_in_the_small_chain_is_noticed(
    owner: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given: wrong(right, *given))
    with pytest.raises(AssertionError):
        all_walked(range(4))


def test_a_block_has_each_coin_spent_once_and_spends_of_its_own_coins_in_one_bundle_only() -> None:
    *_, moment, _ = moments(GAMES, SEED, 6)
    world = DisputeWorld(GAMES, SEED, moment, 1)
    bundles = {one.text: one.bundle for one in world.choices(world.first()) if one.bundle}
    channel = moment.sides[0].peer.endpoint.channel.coin
    published = [
        bundle for text, bundle in bundles.items() if text.startswith("the thief publishes")
    ]
    assert len(published) > 1
    chain = moment.chain.with_block(published)
    (unroll,) = chain.children(channel.id)
    assert chain.coin(channel.id) == moment.chain.with_block(published[:1]).coin(channel.id)
    assert (unroll.born, unroll.spent) == (chain.height, None)
    assert chain.before is not None
    assert chain.before.coin(channel.id) == moment.chain.coin(channel.id)
    assert chain.admitted(published[0]) is None
