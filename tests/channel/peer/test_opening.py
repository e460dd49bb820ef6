"""The handshake of honest peers, and what comes of it when messages are lost or late."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, condition, signed_spend
from channelsim.channel.chain.interface import blocks_for
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.interface import (
    Act,
    BrokenOff,
    ChannelOpen,
    Connected,
    FundingSent,
    OpeningFailed,
    Push,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.opening.handshake import FUNDING_BLOCKS
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, unroll_coin
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    DeckStep,
    FirstHalves,
    Funded,
    Funding,
    Launch,
    Request,
    Shutdown,
    decode,
    encode,
)
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.session.peer_runner import is_over
from channelsim.clsp.values import to_list
from channelsim.games.contract import Action
from channelsim.games.referee import CREATE_COIN
from tests.channel.on_chain import received_states, restored_state, reward
from tests.channel.peer.hostile import Hostile, kinds, quiet, refuse
from tests.channel.peer.hostile_funding import completed, honest_completion, honest_part
from tests.channel.peer.hostile_shutdowns import shutdown_half
from tests.channel.peer.moments import STEPS, at
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    CONFIRMATIONS,
    TIMEOUT,
    Cheat,
    End,
    Table,
    accepted,
    broken_off,
    sit,
    wish,
)
from tests.sampling import one_in

# --- the honest one ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "contributions", [(BALANCE, BALANCE), (1000, 3000), (1, 0), (0, 1), (BALANCE, 0), (0, BALANCE)]
)
def test_both_ends_come_to_the_same_channel(contributions: tuple[int, int]) -> None:
    table = sit(contributions=contributions).open()
    ann, ben = table.ends
    assert ann.peer.state.endpoint is not None
    assert ben.peer.state.endpoint is not None
    channel = ann.peer.state.endpoint.channel
    assert channel == ben.peer.state.endpoint.channel
    assert channel.coin.amount == sum(contributions)
    assert ann.state == ChannelState(1, contributions) == ben.state
    assert ann.play.newest.state == ChannelState(0, contributions)
    assert ben.play.newest.state == ChannelState(1, contributions)
    assert (ann.play.potato, ben.play.potato) == (False, True)
    seen = table.chain.coin(channel.coin.id)
    assert seen is not None
    assert seen.spent is None
    for end in table.ends:
        assert [type(news) for news in end.news] == [FundingSent, ChannelOpen]
        accepted(end, "funding")


def test_the_wallets_pay_their_contributions_and_keep_the_rest() -> None:
    table = sit(contributions=(1000, 3000)).open()
    for end, contribution in zip(table.ends, (1000, 3000), strict=True):
        coin = end.peer.config.wallet.coin
        (left,) = table.chain.coins_at(coin.puzzle_hash)
        assert left.coin.amount == coin.amount - contribution


def test_play_begins_when_the_coin_is_deep_enough() -> None:
    table = sit().start().pump()
    assert [end.peer.phase for end in table.ends] == [Phase.FUNDING] * 2
    table.farm()
    born = table.chain.coin(table.channel.coin.id)
    assert born is not None
    for _ in range(CONFIRMATIONS - 1):
        table.farm()
        assert [end.peer.phase for end in table.ends] == [Phase.FUNDING] * 2
    table.farm()
    assert [end.peer.phase for end in table.ends] == [Phase.PLAYING] * 2
    assert table.chain.peak() - born.born == CONFIRMATIONS


def test_each_side_can_complete_one_state_of_the_opening() -> None:
    table = sit().start()
    for kind, victim in ((Launch, BEN), (Funding, BEN)):
        at(kind, victim, table)
        # Put it back: it is honest.
        table.mail.appendleft((victim, table.sent[-1][1]))
        table.deliver()
    table.pump()
    for index in range(2):
        assert received_states(table, index) == [index]
        for number in range(2):
            state = restored_state(table, index, number, received=number == index)
            coin = unroll_coin(table.channel, ChannelState(number, (BALANCE, BALANCE)))
            assert state.unroll_puzzle_hash == coin.puzzle_hash


def honest(build: Hostile) -> Table:
    table, victim, message = build
    table.receive(victim, message)
    assert table.ends[victim].peer.phase is Phase.FUNDING
    return table


def test_an_honest_part_and_completion_made_by_hand_are_accepted() -> None:
    honest(honest_part()).pump().farm(4)
    assert honest(honest_completion()).farm(4).ends[ANN].peer.phase is Phase.PLAYING


def test_a_wallet_may_pay_more_than_its_share_as_a_fee() -> None:
    table = honest(completed(lambda w: [w.change(-LEAST_RAISE), w.asserted(), w.until()]))
    assert accepted(table.ends[ANN], "funding")


def test_the_deadline_may_be_as_near_as_the_margin() -> None:
    moment = at(Launch, BEN)
    table, victim, message = moment.but(deadline=moment.table.chain.peak() + 3)
    table.receive(victim, message)
    assert table.ends[BEN].peer.phase is Phase.OPENING
    assert len(table.mail) == 1


# --- a funding that does not come ----------------------------------------------------------------


def test_a_funding_that_is_not_in_by_its_deadline_fails() -> None:
    # Ben never gets Ann's part, so nobody can publish it.
    table = at(Funding, BEN).table
    ann = table.ends[ANN]
    deadline = ann.peer.state.opening.deadline
    while table.chain.peak() < deadline - 1:
        table.farm()
    assert phase(ann) is Phase.OPENING
    table.farm()
    assert phase(ann) is Phase.FAILED
    assert ann.news_of(OpeningFailed) == [OpeningFailed(deadline)]
    with pytest.raises(UsageError, match="not now"):
        table.command(ANN, Act(0, Action("call")))


def withheld() -> tuple[Table, Bundle]:
    """A table at which Ann waits for the funding, which Ben has completed and keeps to himself."""
    moment = at(Funding, BEN)
    table = moment.table
    kept = table.fork().ends[BEN].peer.handle(Received(encode(moment.message)))
    (bundle,) = [one.bundle for one in kept if isinstance(one, Push)]
    return table, bundle


def until_failed(table: Table) -> int:
    """Farm up to the funding's deadline, which Ann misses; its height."""
    opened = table.ends[ANN].peer.state.opening.opened
    assert opened is not None
    table.farm(opened.deadline - table.chain.peak())
    assert phase(table.ends[ANN]) is Phase.FAILED
    return opened.deadline


def test_a_failed_opening_is_watched_until_the_peak_is_confirmations_above_the_deadline() -> None:
    table, _ = withheld()
    ann, deadline = table.ends[ANN].peer, until_failed(table)
    for height in range(deadline, deadline + CONFIRMATIONS):
        assert table.chain.peak() == height
        assert not is_over(ann)
        table.farm()
    assert is_over(ann)


@pytest.mark.parametrize("above", range(CONFIRMATIONS))
def test_a_funding_that_a_reorganisation_brings_in_after_its_deadline_is_unrolled(
    above: int,
) -> None:
    """As late as the block at the deadline can be replaced by one reorganisation."""
    table, bundle = withheld()
    ann, deadline = table.ends[ANN], until_failed(table)
    table.farm(above)
    assert not is_over(ann.peer)
    table.chain.reorganise(above + 1, above + 2, keep=True, bundle=bundle)
    coin = table.chain.coin(table.channel.coin.id)
    assert coin is not None
    assert coin.born <= deadline
    table.farm()
    assert phase(ann) is Phase.ON_CHAIN
    table.farm(2 + TIMEOUT + CONFIRMATIONS)
    assert [news.number for news in ann.news if isinstance(news, StateCounts)] == [0]
    assert is_over(ann.peer)
    assert [reward(table, index) for index in (ANN, BEN)] == [BALANCE, BALANCE]


@pytest.mark.parametrize("before", range(CONFIRMATIONS + 2))
def test_a_failed_opening_is_over_when_a_wallet_coin_is_spent_otherwise_as_deep(
    before: int,
) -> None:
    """It was spent so many blocks before the deadline."""
    table, bundle = withheld()
    ann = table.ends[ANN].peer
    opened = ann.state.opening.opened
    assert opened is not None
    table.farm(opened.deadline - before - 1 - table.chain.peak())
    wallet = ann.config.wallet
    back = to_list((condition(CREATE_COIN, wallet.coin.puzzle_hash, b"\x01"),))
    elsewhere = signed_spend(wallet.key, wallet.coin, back, ann.config.agg_sig_data)
    assert table.chain.push(elsewhere).benign
    deadline, over_at = until_failed(table), opened.deadline - before + CONFIRMATIONS
    while table.chain.peak() < max(over_at, deadline):
        assert not is_over(ann)
        table.farm()
    table.driver.report_peak_to(ANN)
    assert is_over(ann)
    table.chain.push(bundle)
    table.farm()
    assert table.chain.coin(table.channel.coin.id) is None


def test_an_opening_that_fails_before_anything_can_fund_it_is_over_at_once() -> None:
    table = at(FirstHalves, ANN).table
    for index in (ANN, BEN):
        table.receive(index, b"\xc1")
        assert phase(table.ends[index]) is Phase.FAILED
        assert table.ends[index].peer.is_over


def phase(end: End) -> Phase:
    return end.peer.phase


def is_funded(message: bytes) -> bool:
    return isinstance(decode(message), Funded)


def test_a_channel_opens_when_the_receiver_publishes_without_an_answer() -> None:
    table = sit().start()
    table.pump(lambda _, message: None if is_funded(message) else message)
    late = table.sent[-1][1]
    assert table.ends[ANN].peer.phase is Phase.OPENING
    table.farm(1 + CONFIRMATIONS)
    assert table.ends[ANN].peer.phase is Phase.PLAYING
    # It may still come.
    table.receive(ANN, late)
    assert table.ends[ANN].peer.phase is Phase.PLAYING
    table.propose(ANN).go_on()
    assert sum(table.ends[ANN].state.balances) == 2 * BALANCE


def test_a_channel_that_the_receiver_funds_alone_is_unrolled() -> None:
    """A receiver that refuses to answer E properly, and publishes the funding."""
    table = sit().start()
    table.pump(lambda _, message: b"\xc1" if is_funded(message) else message)
    assert broken_off(table.ends[ANN]).published == 0
    assert table.ends[ANN].pushed == []
    table.farm()
    bundle = accepted(table.ends[ANN], "unroll")
    assert bundle.spends[0].coin == table.channel.coin
    table.farm()
    unroll = unroll_coin(table.channel, ChannelState(0, (BALANCE, BALANCE)))
    assert table.chain.coin(unroll.id) is not None
    # Once the channel coin is spent there is nothing to push again.
    count = len(table.ends[ANN].pushed)
    table.farm(3)
    assert len(table.ends[ANN].pushed) == count


def test_after_breaking_off_the_initiator_waits_for_the_funding_deadline() -> None:
    table = at(Funding, BEN).table
    table.receive(ANN, b"\xc1")
    ann = table.ends[ANN]
    assert broken_off(ann).blame.rule == "CH-MSG-2"
    assert phase(ann) is Phase.ON_CHAIN
    table.farm(FUNDING_BLOCKS)
    assert phase(ann) is Phase.FAILED
    assert ann.news_of(OpeningFailed)


def test_breaking_off_with_a_pending_funding_publishes_once_it_is_mined() -> None:
    table = sit().start().pump()
    news = refuse(table, ANN, b"\xc1", "CH-MSG-2")
    assert news.published == 0
    table.farm(2)
    unroll = unroll_coin(table.channel, ChannelState(0, (BALANCE, BALANCE)))
    assert table.chain.coin(unroll.id) is not None


def test_messages_that_come_a_little_early_are_held() -> None:
    table = sit().start().pump()
    ben = table.ends[BEN]
    # Ben's chain is ahead of Ann's.
    ahead = sit().open()
    ahead.propose(BEN)
    batch = ahead.take_mail()
    table.receive(ANN, batch)
    assert table.ends[ANN].state.number == 1
    assert ben.peer.phase is Phase.FUNDING
    table.receive(ANN, batch)
    table.farm(1 + CONFIRMATIONS)
    assert table.ends[ANN].state.number == 2
    assert not table.ends[ANN].news_of(BrokenOff)


def test_a_held_request_that_follows_a_batch_is_answered_whatever_came_before_it() -> None:
    table = sit().start().pump()
    ahead = sit().open()
    ahead.propose(BEN)
    batch = ahead.take_mail()
    for message in (encode(Request()), batch, encode(Request()), encode(Request())):
        assert quiet(table.receive(ANN, message))
    table.farm(1 + CONFIRMATIONS)
    assert table.ends[ANN].state.number == 3
    assert not table.ends[ANN].peer.play.potato


@pytest.mark.parametrize("held", [(), (DeckStep(2, 1, b""),)])
def test_a_repeat_after_a_lost_connection_is_ignored_with_a_deck_begun(
    held: tuple[DeckStep, ...],
) -> None:
    """A step of a deck is no message that an answer is owed for: the one before it is repeated."""
    table = sit().start().pump()
    *_, funding = (blob for sender, blob in table.sent if sender == ANN)
    assert isinstance(decode(funding), Funding)
    for message in held:
        assert quiet(table.receive(BEN, message))
    table.handle(BEN, Connected())
    assert quiet(table.receive(BEN, funding))
    assert phase_of(table, BEN) is Phase.FUNDING


def test_only_messages_of_play_are_held_and_not_many() -> None:
    table = sit().start().pump()
    early = sit().open()
    early.propose(BEN)
    batch = early.take_mail()
    hello = table.sent[0][1]
    refuse(table.fork(), ANN, hello, "CH-MSG-3")
    refuse(table.fork(), ANN, Funded(Bundle((), NO_SIGNATURE)), "CH-MSG-3")
    for message in (batch, encode(Request()), batch, encode(Request()), encode(Advisory(1, b"x"))):
        assert quiet(table.receive(ANN, message))
    other = sit().open()
    other.propose(BEN, wish(), wish())
    refuse(table, ANN, other.take_mail(), "CH-MSG-3")


def test_a_repeat_of_the_last_message_of_the_opening_is_ignored() -> None:
    for kind, victim in STEPS:
        moment = at(kind, victim)
        table, message = moment.table, encode(moment.message)
        table.receive(victim, message)
        assert quiet(table.receive(victim, message)), kind
        table.pump()
        assert not any(end.news_of(BrokenOff) for end in table.ends), kind


def sent_before_depth(table: Table) -> list[bytes]:
    """Messages of a cheating receiver before the initiator's view of the chain lets it play."""
    cheat = Cheat(table, BEN)
    right = encode(cheat.batch())
    wrong = encode(replace(cheat.batch(), channel_half=NO_SIGNATURE))
    shutdown = encode(shutdown_half(cheat))
    return [right, wrong, encode(Request()), shutdown]


@pytest.mark.parametrize("victim", [ANN, BEN])
@pytest.mark.parametrize("count", one_in(2, [1, 2, 3]))
def test_held_messages_are_not_answered_after_breaking_off(victim: int, count: int) -> None:
    start = sit().start().pump()
    said = (
        sent_before_depth(start)
        if victim == ANN
        else [
            encode(Batch(2, (), NO_SIGNATURE, NO_SIGNATURE)),
            encode(Request()),
            encode(Shutdown(NO_SIGNATURE)),
        ]
    )
    for order in permutations(said, count):
        table = sit().start().pump()
        for message in order:
            table.receive(victim, message)
        while phase_of(table, victim) is Phase.FUNDING:
            table.chain.farm()
            for block in blocks_for(table.chain, table.ends[victim].watched):
                table.handle(victim, block)
        effects = table.ends[victim].effects
        broken = [
            number
            for number, effect in enumerate(effects)
            if isinstance(effect, Tell) and isinstance(effect.news, BrokenOff)
        ]
        assert len(broken) <= 1, order
        if broken:
            assert not [one for one in effects[broken[0] :] if isinstance(one, Send)], order
            assert "shutdown" not in kinds(effects), order


def phase_of(table: Table, index: int) -> Phase:
    return table.ends[index].peer.phase


def test_play_before_the_last_message_of_the_opening_is_held() -> None:
    """The completed bundle is lost, but the receiver has published it and sees it a block early."""
    table = sit().start()
    table.pump(lambda _, blob: None if isinstance(decode(blob), Funded) else blob)
    ann, ben = table.ends
    while phase_of(table, BEN) is not Phase.PLAYING:
        assert phase_of(table, ANN) is Phase.OPENING
        table.chain.farm()
        for block in blocks_for(table.chain, ben.watched):
            table.handle(BEN, block)
    table.propose(BEN, *(wish() for _ in range(100))).pump()
    for block in blocks_for(table.chain, ann.watched):
        table.handle(ANN, block)
    assert phase_of(table, ANN) is Phase.PLAYING
    assert ann.state.number == 2
    assert not ann.news_of(BrokenOff)


def test_the_deadline_block_itself_may_contain_the_funding() -> None:
    for late, opens in ((0, True), (1, False)):
        moment = at(Funding, BEN)
        table = moment.table
        deadline = table.ends[BEN].peer.state.opening.deadline
        table.chain.farm(deadline - 1 - table.chain.peak() + late)
        table.receive(BEN, moment.message)
        table.pump()
        table.farm()
        seen = table.chain.coin(table.channel.coin.id)
        assert (seen is not None) == opens
        if seen is not None:
            assert seen.born == deadline
        assert phase(table.ends[BEN]) is (Phase.FUNDING if opens else Phase.FAILED)
