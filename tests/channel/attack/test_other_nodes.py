"""Sessions in which nodes of a side have its spends in pins, or make pins up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.filled_blocks import LENGTHS
from channelsim.channel.attack.kinds import PINNED
from channelsim.channel.attack.other_nodes import FALSE_FEE, OtherNodes, Pins
from channelsim.channel.attack.world import run
from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.protocol.wallet import address_of, wallet_key
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.sampling import one_row_in

TABLE = {fault.name: fault for fault in faults()}

OURS, STRANGERS = (wallet_key(bytes(32), name) for name in ("ours", "stranger"))

MONEY = 10**10


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fast_signatures():
        yield


# --- the nodes -----------------------------------------------------------------------------------


def offer(nodes: OtherNodes, coin: Coin, fee: int) -> Bundle:
    return padded_spend(OURS, coin, fee, 0, nodes.chain.agg_sig_data())


def nodes_with_coins() -> tuple[OtherNodes, Coin]:
    chain = SimulatedChain(0)
    for _ in range(2):
        chain.give(address_of(STRANGERS), MONEY)
    coins = [seen.coin for seen in chain.coins_at(address_of(STRANGERS))]
    assert len({*coins}) == 2
    return OtherNodes(chain, STRANGERS, coins), chain.give(address_of(OURS), MONEY)


@pytest.mark.parametrize(("how", "count"), [(Pins.ONE, 1), (Pins.SEVERAL, 2), (Pins.FALSE_FEE, 2)])
def test_a_pin_holds_the_push_and_stays_until_its_height(how: Pins, count: int) -> None:
    nodes, coin = nodes_with_coins()
    bundle = offer(nodes, coin, 0)
    nodes.pin(bundle, Action(PINNED, 0, 0, how), nodes.chain.peak() + 2)
    pins = nodes.pending(coin.id)
    assert len(pins) == count
    assert all({*bundle.spends} < {*pin.bundle.spends} for pin in pins)
    assert [pin.fee for pin in pins].count(FALSE_FEE) == (how is Pins.FALSE_FEE)
    assert not nodes.take(bundle)
    nodes.chain.farm(2)
    assert nodes.pending(coin.id) == []
    assert nodes.take(bundle)


def test_what_has_all_of_a_pin_and_pays_more_replaces_it_unless_it_is_made_up() -> None:
    nodes, coin = nodes_with_coins()
    nodes.pin(offer(nodes, coin, 0), Action(PINNED, 0, 0, Pins.FALSE_FEE), nodes.chain.peak() + 9)
    for pin in nodes.pending(coin.id):
        (theirs,) = (spend for spend in pin.bundle.spends if spend.coin != coin)
        union = joined(offer(nodes, coin, 2 * LEAST_RAISE), Bundle((theirs,), pin.bundle.signature))
        assert not nodes.take(union)  # of two nodes, one always has another one
    assert [pin.fee for pin in nodes.pending(coin.id)][-1] == FALSE_FEE


def test_a_pin_goes_with_the_coins_that_it_spends() -> None:
    nodes, coin = nodes_with_coins()
    nodes.pin(offer(nodes, coin, 0), Action(PINNED, 0, 0, Pins.ONE), nodes.chain.peak() + 9)
    assert nodes.is_alone
    assert nodes.chain.push(offer(nodes, coin, LEAST_RAISE)).benign
    nodes.chain.farm()
    assert nodes.pending(coin.id) == []


def test_a_joint_pin_has_another_push_too() -> None:
    nodes, coin = nodes_with_coins()
    for _ in range(2):
        nodes.chain.give(address_of(OURS), MONEY)
    coins = [seen.coin for seen in nodes.chain.coins_at(address_of(OURS)) if seen.coin != coin]
    other, third = coins[:2]
    first, second = offer(nodes, other, 0), offer(nodes, coin, 0)
    nodes.pin(first, Action(PINNED, 0, 0, Pins.JOINT), nodes.chain.peak() + 9)
    assert not nodes.take(first)
    with_fee = joined(second, offer(nodes, third, LEAST_RAISE))
    assert not nodes.take(with_fee)
    (pin,) = nodes.pending(other.id)
    assert {*first.spends, *with_fee.spends} < {*pin.bundle.spends}


# --- sessions ------------------------------------------------------------------------------------


def broken_with(name: str, *actions: Action) -> tuple[str, bool]:
    """The violations of a session with a fault, if one is named, and whether it was reached."""
    reach = Reach()
    with ExitStack() as stack:
        if name:
            TABLE[name].plant(stack, reach)
        session = run(Attack(("spacepoker",), "s0", actions))
    assert name or {*session.done} == {*actions}
    return " ".join(violation.text for violation in session.violations), reach.reached


LEAVES = Action("go-on-chain", 0, 24)
PAYS = Action("fill", 0, 2, LENGTHS + 6)
FULL = Action("push-refused", 0, 0, 0, since="chain", blocks=1)
ONE, SEVERAL, FALSE = (
    Action(PINNED, 0, 0, how, since="chain", blocks=6)
    for how in (Pins.ONE, Pins.SEVERAL, Pins.FALSE_FEE)
)
DROPPED = Action("push-forgotten", 0, 1, 1, since="unpins", blocks=3)
REFUSED = Action("push-refused", 0, 1, 0, since="unpins", blocks=2)


@pytest.mark.parametrize(
    ("name", "actions", "says"),
    one_row_in(
        4,
        [
            ("replaces-at-the-first-fee", (ONE,), "mojos for a pinned unroll+fee that waits for"),
            ("replaces-one-of-several-pins", (FALSE,), "one of the pins of its unroll+fee never"),
            (
                "gives-up-dropped-replacements",
                (ONE, DROPPED),
                "a dropped unroll+fee in no other bytes",
            ),
            ("gives-up-refused-replacements", (ONE, REFUSED), "bids no more for its pinned unroll"),
            ("bids-a-quarter-only", (FULL,), "refused for 16,431,860, and its node takes 82,"),
            ("leaves-pins", (SEVERAL,), "one of the pins of its unroll+fee never"),
            ("leaves-pins", (ONE,), "in a bundle that pays less than its own"),
        ],
    ),
)
def test_a_fault_that_pins_show_is_noticed(
    name: str, actions: tuple[Action, ...], says: str
) -> None:
    assert broken_with("", PAYS, LEAVES, *actions) == ("", False)
    broken, reached = broken_with(name, PAYS, LEAVES, *actions)
    assert reached
    assert says in broken
