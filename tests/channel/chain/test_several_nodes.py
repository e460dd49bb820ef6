"""Several nodes as one chain: which of them is read, and what happens when they contradict."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event

import pytest

from channelsim.channel.chain import several_nodes
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import NodeError, NodeSyncing, Patience, RpcChain
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.cli import nodes
from channelsim.channel.cli.nodes import node_addresses
from channelsim.channel.cli.option_groups import NodeOptions
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.node_wallet import NodeWallet
from channelsim.channel.store.data_directory import NodeAddress
from tests.channel.chain.test_chain_interface import ANYONE, NOWHERE, asks_little, free, pay
from tests.channel.chain.test_rpc import always, node, success

HASTY = Patience(seconds=5, attempts=1, pause=0.01)
GUARD = 20.0


class Moody(RpcChain):
    """A node that fails on demand: all of its calls, some of them, or as one that syncs."""

    fails = ""
    rate: int | None = None
    more: Bundle | None = None
    hangs: Event | None = None
    asked = 0

    def peak(self) -> int:
        if self.fails == "syncing":
            raise NodeSyncing(f"{self} is not synced")
        if self.fails == "all":
            raise NodeError(f"{self} cannot be reached")
        return super().peak()

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        if self.fails:
            raise NodeError(f"{self} ends every connection")
        return super().coins_at(puzzle_hash)

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        self._about_mempool()
        more = [] if self.more is None else [PendingBundle(self.more, 3, 1)]
        return super().pending(coin_id) + more

    def fee_rate(self) -> int:
        self._about_mempool()
        return super().fee_rate() if self.rate is None else self.rate

    def _about_mempool(self) -> None:
        self.asked += 1
        if self.hangs is not None:
            self.hangs.wait(GUARD)
        if self.fails:
            raise NodeError(f"{self} ends every connection")


class Pair:
    """Two nodes of one network, the second a few blocks behind the first."""

    def __init__(self, stack: ExitStack) -> None:
        self.chains = SimulatedChain(1), SimulatedChain(1)
        self.coins = [
            NodeWallet(chain, b"pair").coins([(ANYONE.hash, 100)])[0] for chain in self.chains
        ]
        assert self.coins[0] == self.coins[1]
        self.chains[0].farm(3)
        urls = [stack.enter_context(chain.served()) for chain in self.chains]
        self.moody = [Moody(url, patience=HASTY) for url in urls]
        self.both = stack.enter_context(SeveralNodes(self.moody))

    @property
    def coin(self) -> Coin:
        return self.coins[0]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(stack)


def eventually_pending(chain: SimulatedChain, coin: Coin) -> bool:
    until = time.monotonic() + GUARD
    while not chain.pending(coin.id) and time.monotonic() < until:
        time.sleep(0.01)
    return bool(chain.pending(coin.id))


def test_one_node_is_as_that_node() -> None:
    with SimulatedChain(1).served() as url, SeveralNodes([RpcChain(url)]) as chain:
        asks_little(chain)


def test_the_first_node_is_read_and_all_are_pushed_to(pair: Pair) -> None:
    assert pair.both.peak() == pair.chains[0].peak()
    bundle = free(pair.coin, pay(NOWHERE, 100))
    assert pair.both.push(bundle).answer is Answer.ACCEPTED
    for chain in pair.chains:
        assert eventually_pending(chain, pair.coin)
    assert [one.bundle for one in pair.both.pending(pair.coin.id)] == [bundle]


@pytest.mark.parametrize("fails", ["all", "syncing"])
def test_another_node_is_read_until_it_fails_itself(pair: Pair, fails: str) -> None:
    ahead, behind = (chain.peak() for chain in pair.chains)
    assert pair.both.peak() == ahead
    pair.moody[0].fails = fails
    assert pair.both.peak() == behind
    pair.moody[0].fails = ""
    # The first is there again, and contradicts the second: they do not take turns.
    assert {pair.both.peak() for _ in range(5)} == {behind}
    pair.moody[1].fails = fails
    assert pair.both.peak() == ahead


def test_what_is_pushed_reaches_others_while_one_is_away(pair: Pair) -> None:
    pair.moody[0].fails = "all"
    assert pair.both.push(free(pair.coin, pay(NOWHERE, 100))).answer is Answer.ACCEPTED
    assert eventually_pending(pair.chains[1], pair.coin)


def test_a_look_that_a_node_breaks_off_is_begun_again_with_another(pair: Pair) -> None:
    """A node that answers some questions only must not keep the peer from the others."""
    pair.moody[0].fails = "coins"
    pair.both.peak()
    with pytest.raises(NodeError, match="ends every connection"):
        pair.both.coins_at(ANYONE.hash)
    assert pair.both.peak() == pair.chains[1].peak()
    assert [seen.coin for seen in pair.both.coins_at(ANYONE.hash)] == [pair.coin]


def test_with_no_node_left_each_is_named(pair: Pair) -> None:
    for one in pair.moody:
        one.fails = "all"
    with pytest.raises(NodeError) as failed:
        pair.both.peak()
    assert not isinstance(failed.value, NodeSyncing)
    assert all(one.url in str(failed.value) for one in pair.moody)
    pair.moody[1].fails = "syncing"
    with pytest.raises(NodeSyncing):
        pair.both.peak()
    pair.moody[0].fails = ""
    assert pair.both.peak() == pair.chains[0].peak()


def test_a_node_of_another_network_is_not_read(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pair.both.peak() == pair.chains[0].peak()
    monkeypatch.setattr(pair.moody[1], "agg_sig_data", lambda: b"\x07" * 32)
    pair.moody[0].fails = "all"
    with pytest.raises(NodeError, match="on another network"):
        pair.both.peak()


# --- questions to all of them ------------------------------------------------------------------


def test_a_bundle_that_is_pending_in_any_node_is_found_once(pair: Pair) -> None:
    first, second = pair.chains
    ours, theirs = (free(pair.coin, pay(NOWHERE, amount)) for amount in (99, 98))
    assert first.push(theirs).answer is second.push(ours).answer is Answer.ACCEPTED
    pair.both.peak()
    pinned = pair.both.push(ours)
    assert pinned.answer is Answer.PENDING_CONFLICT, "the answer is that of the first node"
    found = pair.both.pending(pair.coin.id)
    assert [one.bundle for one in found] == [theirs, ours], "the node that is read comes first"
    assert found == first.pending(pair.coin.id) + second.pending(pair.coin.id)
    # A bundle that is pending in both is there once.
    for one in pair.moody:
        one.more = free(pair.coin, pay(NOWHERE, 97))
    found = pair.both.pending(pair.coin.id)
    assert len(found) == len({one.bundle for one in found}) == 3
    pair.moody[1].fails = "pool"
    assert [one.bundle for one in pair.both.pending(pair.coin.id)] == [theirs, pair.moody[0].more]
    pair.moody[0].fails = "pool"
    with pytest.raises(NodeError, match="ends every connection"):
        pair.both.pending(pair.coin.id)


def test_the_fee_rate_is_the_highest_of_the_nodes_that_answer(pair: Pair) -> None:
    assert pair.both.fee_rate() == 0
    for one, rate in zip(pair.moody, (3, 7), strict=True):
        one.rate = rate
    assert pair.both.fee_rate() == 7
    pair.moody[1].fails = "pool"
    assert pair.both.fee_rate() == 3
    # It reads the chain of the same node after that.
    before = pair.both.peak()
    pair.moody[0].fails = "pool"
    with pytest.raises(NodeError) as raised:
        pair.both.fee_rate()
    assert all(one.url in str(raised.value) for one in pair.moody)
    assert pair.both.peak() == before


def test_a_node_that_hangs_keeps_nobody_waiting_for_long(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several_nodes, "IN_TIME", 0.3)
    free_again = Event()
    bundle = free(pair.coin, pay(NOWHERE, 99))
    pair.chains[0].push(bundle)
    pair.moody[0].rate = 3
    pair.moody[1].hangs = free_again
    begun = time.monotonic()
    assert pair.both.fee_rate() == 3
    for _ in range(50):
        assert pair.both.fee_rate() == 3
        assert [one.bundle for one in pair.both.pending(pair.coin.id)] == [bundle]
    assert time.monotonic() - begun < GUARD / 2
    assert pair.moody[1].asked == 1, "it still owes the first answer"
    pair.moody[0].hangs = free_again
    with pytest.raises(NodeError, match="in time"):
        pair.both.fee_rate()
    free_again.set()
    pair.moody[1].rate = 9
    until = time.monotonic() + GUARD
    rate = 0
    while rate != 9:
        assert time.monotonic() < until
        with suppress(NodeError):
            rate = pair.both.fee_rate()


# --- their addresses -------------------------------------------------------------------------


def test_certificates_belong_to_the_nodes_with_https() -> None:
    urls = ["https://a:1", "http://b:2", "https://c:3"]
    files = [Path("/1"), Path("/2")]
    plain = NodeAddress("http://b:2")
    a, b, c = node_addresses(NodeOptions(node=urls, cert=files, key=files))
    assert (a.certificate, b, c.key) == ("/1", plain, "/2")
    a, b, c = node_addresses(NodeOptions(node=urls, cert=files[:1], key=files[:1]))
    assert (a.certificate, b, c.key) == ("/1", plain, "/1")
    assert node_addresses(NodeOptions(node=urls)) == tuple(map(NodeAddress, urls))
    assert node_addresses(NodeOptions(cert=[], key=[])) == ()


@pytest.mark.parametrize(
    ("urls", "certificates", "keys"), [(3, 2, 2), (1, 1, 0), (1, 0, 1), (1, 2, 1), (11, 0, 0)]
)
def test_what_does_not_fit_together_is_refused(urls: int, certificates: int, keys: int) -> None:
    files = [Path("/x")] * 3
    with pytest.raises(UsageError):
        node_addresses(
            NodeOptions(node=["https://a:1"] * urls, cert=files[:certificates], key=files[:keys])
        )


# --- while nodes are syncing -----------------------------------------------------------------


def test_a_command_waits_for_a_node_that_is_syncing_and_says_so_once(
    pair: Pair, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            pair.moody[1].fails = ""

    monkeypatch.setattr(nodes, "sleep", sleep)
    for one in pair.moody:
        one.fails = "syncing"
    nodes.wait_until_synced(pair.both)
    assert len(slept) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("is not synced; waiting for it")
    pair.moody[1].fails = "all"
    pair.moody[0].fails = "all"
    with pytest.raises(NodeError, match="cannot be reached"):
        nodes.wait_until_synced(pair.both)


@pytest.mark.parametrize(
    ("height", "tip", "share"),
    [(0, 200, "0 %"), (199, 200, "99 %"), (300, 200, "100 %"), (5, 0, ""), (5, None, "")],
)
def test_how_far_a_node_is_changes_its_line_at_most_a_hundred_times(
    height: int, tip: int | None, share: str
) -> None:
    sync = {"synced": False, "sync_tip_height": tip}
    state = {"blockchain_state": {"sync": sync, "peak": {"height": height, "weight": 9}}}
    with node(always(success(**state))) as url, RpcChain(url, patience=HASTY) as chain:
        with pytest.raises(NodeSyncing) as raised:
            chain.peak()
        expected = f": it has {share} of the blocks" if share else ""
        assert str(raised.value) == f"the node at {url} is not synced{expected}"
