"""Spacing: each side multiplies the blocks in which something must get in, for itself."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.peer.interface import (
    AcceptGames,
    ChannelOpen,
    GameStarted,
    OpeningFailed,
    Push,
    Received,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.opening.failed_opening import can_be_funded
from channelsim.channel.protocol.messages import Batch, Funding, Hello, Launch, decode, encode
from channelsim.channel.protocol.messages import Cancel as CancelAction
from channelsim.channel.protocol.messages import Propose as ProposeAction
from tests.channel.peer.hostile import refuse
from tests.channel.peer.hostile_batches import offers
from tests.channel.peer.moments import at
from tests.channel.table import ANN, BEN, CONFIRMATIONS, Cheat, Table, by_policy, playing, sit, wish

LONG = 90


def spaced(first: int = 4, second: int = 4, chain: SimulatedChain | None = None) -> Table:
    return sit(spacings=(first, second), unroll_timeout=LONG, chain=chain)


@pytest.mark.parametrize("spacings", [(1, 1), (4, 4), (1, 4), (4, 1), (8, 4)])
def test_sides_with_any_spacings_open_a_channel_and_play(spacings: tuple[int, int]) -> None:
    table = spaced(*spacings).start()
    launch = at(Launch, BEN, table).message
    assert isinstance(launch, Launch)
    assert launch.deadline - table.chain.peak() == 20 * spacings[ANN]
    table.receive(BEN, launch)
    table.pump().farm(CONFIRMATIONS + 1)
    assert all(end.news_of(ChannelOpen) for end in table.ends)
    table.propose(BEN, wish(timeout=LONG)).pump()
    table.command(ANN, AcceptGames(1))
    table.go_on(by_policy("random", "x"), by_policy("random", "y"))
    assert playing(table)
    assert all(end.news_of(GameStarted) for end in table.ends)


@pytest.mark.parametrize(
    ("spacing", "least", "why"), [(1, 3, ""), (4, 12, " (spacing 4)"), (7, 21, " (spacing 7)")]
)
def test_the_receiver_leaves_the_funding_time_to_get_in(spacing: int, least: int, why: str) -> None:
    """CH-OPEN-7, with the spacing of the receiver, whatever the initiator has."""
    table = spaced(1, spacing)
    moment = at(Launch, BEN, table)
    peak = table.chain.peak()
    other = moment.table.fork()
    news = refuse(*moment.but(deadline=peak + least - 1), "CH-OPEN-7")
    wanted = f"from {peak + least} to {peak + 4608}{why}"
    assert news.blame.detail == f"deadline {peak + least - 1} at height {peak}, {wanted}"
    other.receive(BEN, replace(moment.message, deadline=peak + least))
    assert other.ends[BEN].peer.phase is Phase.OPENING


def test_a_deadline_that_follows_from_a_hostile_spacing_is_refused() -> None:
    moment = at(Launch, BEN, spaced())
    peak = moment.table.chain.peak()
    news = refuse(*moment.but(deadline=peak + 20 * 231), "CH-OPEN-7")
    wanted = f"from {peak + 12} to {peak + 4608} (spacing 4)"
    assert news.blame.detail == f"deadline {peak + 4620} at height {peak}, {wanted}"


@pytest.mark.parametrize(("spacing", "least"), [(1, 8), (4, 32), (7, 56)])
def test_an_unroll_timeout_has_room_for_the_spacing(spacing: int, least: int) -> None:
    """CH-OPEN-6: also where both sides were told the same short timeout."""
    short = sit(spacings=(1, spacing), unroll_timeout=least - 1)
    news = refuse(*at(Hello, BEN, short).but(), "CH-OPEN-6")
    why = f" (spacing {spacing})" if spacing > 1 else ""
    blocks = f"an unroll timeout of {least - 1} blocks"
    assert news.blame.detail == f"{blocks}, at least {least}{why}"
    sit(spacings=(spacing, spacing), unroll_timeout=least).open()


def test_another_unroll_timeout_than_the_agreed_one_is_named() -> None:
    news = refuse(*at(Hello, BEN, spaced()).but(unroll_timeout=15), "CH-OPEN-6")
    assert news.blame.detail == "an unroll timeout of 15 blocks, agreed 90"


def offered(spacing: int, timeout: int) -> Table:
    """Ben, who has no spacing, offers Ann a game that reveals with this timeout."""
    table = spaced(spacing, 1).open()
    ben = Cheat(table, BEN)
    (offer,) = offers(ben, 1).offers
    ben.send(ben.batch(ProposeAction((replace(offer, timeout=timeout),))))
    return table


@pytest.mark.parametrize(("spacing", "least"), [(1, 11), (4, 44)])
def test_a_game_has_room_for_the_spacing(spacing: int, least: int) -> None:
    short = offered(spacing, least - 1)
    answer = decode(short.take_mail())
    assert isinstance(answer, Batch)
    (cancel,) = answer.actions
    assert isinstance(cancel, CancelAction)
    why = f" (spacing {spacing})" if spacing > 1 else ""
    blocks = f"a timeout of {least - 1} blocks"
    assert cancel.reason == f"{blocks} is too short; at least {least}{why}"
    assert playing(short)
    assert [*offered(spacing, least).ends[ANN].offers] == [1]


@pytest.mark.parametrize("spacing", [1, 4])
def test_a_failed_opening_is_watched_for_as_long_as_the_funding_may_get_in(spacing: int) -> None:
    table = spaced(spacing, spacing).start().pump()
    peer = table.ends[ANN].peer
    opened = peer.state.opening.opened
    assert opened is not None
    end = opened.deadline + spacing * CONFIRMATIONS
    agreement = peer.config.agreement
    assert can_be_funded(opened, Block(end - 1), agreement)
    assert not can_be_funded(opened, Block(end), agreement)


GAP = 5
"""Blocks from the deadline on without transactions."""


def with_a_gap_at(height: int) -> SimulatedChain:
    """A chain whose blocks carry no transactions from this height on, and just before it."""
    for seed in range(10_000):
        chain = SimulatedChain(seed, NodeSettings(mixed=True))
        chain.farm(height + 2 * GAP)
        if not any(block and block.carries for block in map(chain.ledger.block, gap_at(height))):
            return SimulatedChain(seed, NodeSettings(mixed=True))
    raise AssertionError("no such chain")


def gap_at(height: int) -> range:
    return range(height - 1, height + GAP)


def test_a_funding_in_the_first_block_with_transactions_after_its_deadline_is_unrolled() -> None:
    """Locks count to the last block with transactions: the peak has passed the deadline before."""
    at_first = at(Launch, BEN, spaced()).message
    assert isinstance(at_first, Launch)
    table = spaced(chain=with_a_gap_at(at_first.deadline))
    funding = at(Funding, BEN, table).message
    ben = table.ends[BEN].peer
    completed = Peer(ben.config, ben.state).handle(Received(encode(funding)))
    (bundle,) = (effect.bundle for effect in completed if isinstance(effect, Push))
    ann = table.ends[ANN].peer
    opened = ann.state.opening.opened
    assert opened is not None
    assert opened.deadline == at_first.deadline
    while table.chain.peak() < opened.deadline + CONFIRMATIONS:
        table.farm()
    assert table.ends[ANN].news_of(OpeningFailed)
    assert not ann.is_over, "with a spacing of 1 it would not look any more"
    assert table.chain.push(bundle).benign
    while table.chain.coin(opened.channel.coin.id) is None:
        assert not ann.is_over
        table.farm()
    assert table.chain.peak() >= opened.deadline + GAP
    assert ann.phase is Phase.ON_CHAIN
