"""Full mempools, fees and pins; claims that are pushed out; deadlines to the block."""

from __future__ import annotations

import pytest

from channelsim.channel.chain.coins import (
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    signed_spend,
)
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.chain_news import GamePaid, MovedOnChain, StateCounts
from channelsim.channel.peer.fees import Fees, change_of, left_of
from channelsim.channel.peer.interface import Pinned, Push
from channelsim.channel.peer.onchain.scan import scan
from channelsim.channel.protocol.game_spends import claim_bundle
from channelsim.channel.protocol.half_signed import preempt
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import serialize, to_list
from tests.channel.disputes import (
    at_message,
    facts,
    farm,
    hear,
    leave,
    live,
    publish_old,
    received,
    rewards,
    settle,
    settled,
    sound,
    with_config,
)
from tests.channel.on_chain import reward
from tests.channel.session.test_two_games import decider
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    CONFIRMATIONS,
    TIMEOUT,
    Cheat,
    Table,
    bet_or_call,
    sit,
)

RAISE = 2 * LEAST_RAISE


def fee_wallet(table: Table, index: int, amount: int = 1_000_000) -> Wallet:
    """A wallet coin of its own for this side."""
    secret = derive(b"wallet", "player", index)
    key = wallet_key(secret, "fees")
    return Wallet(key, table.chain.give(address_of(key), amount))


def paying(
    table: Table, index: int, first: int = RAISE, step: int = RAISE, most: int = 10 * RAISE
) -> Fees:
    fees = Fees(fee_wallet(table, index), first, step, most)
    with_config(table, index, fees=fees)
    table.ends[index].watched.append(fees.wallet.coin)
    hear(table)
    return fees


def pinned_by(bundle: Bundle, other: Bundle) -> Pinned:
    """The report that this other bundle is pending in the place of ours."""
    return Pinned(bundle, (PendingBundle(other, 1, 1),))


def only_pending(table: Table, bundle: Bundle) -> Bundle:
    """The only bundle in the mempool that spends the first coin of this one."""
    (pending,) = table.chain.pending(bundle.spends[0].coin.id)
    return pending.bundle


def left(table: Table, fees: Fees) -> int:
    """The coins at the wallet's address."""
    return sum(seen.coin.amount for seen in table.chain.coins_at(fees.wallet.coin.puzzle_hash))


def pay(wallet: Wallet, coin: Coin, fee: int, table: Table) -> Bundle:
    """A spend of this wallet's coin, to itself, that leaves a fee."""
    conditions = to_list([condition(51, coin.puzzle_hash, int_to_atom(coin.amount - fee))])
    return signed_spend(wallet.key, coin, conditions, table.channel.agg_sig_data)


# --- fees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [ANN, BEN])
def test_fees_come_from_a_wallet_coin_and_nothing_of_the_channels(index: int) -> None:
    table = at_message(16)
    fees = paying(table, index)
    before = left(table, fees)
    leave(table, index)
    settle(table)
    sound(table)
    assert rewards(table) == at_message(10_000).ends[0].state.balances
    names = [name for name, _, result in table.ends[index].pushed if result.answer is TAKEN]
    paid = before - left(table, fees)
    assert paid > 0
    assert "unroll+fee" in names
    assert any(name in names for name in ("move+fee", "redo+fee", "preempt+fee"))


TAKEN = Answer.ACCEPTED


def test_a_fee_is_raised_with_the_same_coin_while_nothing_gets_in() -> None:
    table = at_message(16)
    fees = paying(table, ANN, first=0, step=3, most=10)
    leave(table, ANN)
    (start,) = {table.chain.peak()}
    # A chain whose blocks are full of others: our peer hears of blocks that have nothing of it.
    seen = table.chain.coin(table.channel.coin.id)
    assert seen is not None
    wallet = CoinSeen(fees.wallet.coin, 1, None)
    for waited in range(6):
        effects = table.ends[ANN].peer.handle(Block(start + waited, (seen, wallet)))
        pushes = {effect.name: effect.bundle for effect in effects if isinstance(effect, Push)}
        assert "unroll" in pushes
        fee = min(3 * waited, 10)
        assert ("unroll+fee" in pushes) == (fee > 0)
        if fee:
            spend = pushes["unroll+fee"].spends[-1]
            assert spend.coin == fees.wallet.coin
            change = change_of(spend.coin, spend.solution)
            assert change is not None
            assert change.amount == fees.wallet.coin.amount - fee
            result = table.chain.push(pushes["unroll+fee"])
            assert result.benign, result


@pytest.mark.parametrize("index", [ANN, BEN])
def test_a_reorganisation_that_takes_a_fee_back_does_not_end_the_paying(index: int) -> None:
    """The change of the spend that is gone is gone too: the coin before it pays again."""
    table = at_message(16)
    fees = paying(table, index)
    leave(table, index)
    farm(table)
    assert left(table, fees) < fees.wallet.coin.amount
    table.chain.reorganise(1, 2, keep=False)
    assert left(table, fees) == fees.wallet.coin.amount
    pushed = table.ends[index].pushed
    before = len(pushed)
    hear(table)
    again = {name: (bundle, result.answer) for name, bundle, result in pushed[before:]}
    bundle, answer = again["unroll+fee"]
    assert answer is TAKEN
    assert fees.wallet.coin in {spend.coin for spend in bundle.spends}
    settle(table)
    sound(table)


def test_a_spend_that_is_not_a_wallets_has_no_change() -> None:
    coin = Coin(bytes(32), bytes([1]) * 32, 5)
    for solution in (b"", b"\xff", serialize(b"abc"), serialize(to_list([b"", b"", b""]))):
        assert change_of(coin, solution) is None


def test_one_fee_coin_pays_for_several_games() -> None:
    table = sit("several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    fees = paying(table, ANN)
    other = paying(table, BEN)
    leave(table, ANN)
    settle(table, decider("a"), decider("b"), limit=400)
    sound(table)
    several = [
        bundle
        for end in table.ends
        for name, bundle, result in end.pushed
        if name.endswith("+fee") and len(bundle.spends) > 2 and result.answer is TAKEN
    ]
    assert several
    assert left(table, fees) < fees.wallet.coin.amount
    assert left(table, other) < other.wallet.coin.amount


# --- pins ----------------------------------------------------------------------------------------


def test_a_preemption_that_lies_in_the_mempool_with_a_low_fee_is_paid_for() -> None:
    """The thief takes our preemption into a bundle with a coin of his own; we extend that."""
    table = at_message(10_000)
    fees = paying(table, BEN)
    thief = fee_wallet(table, ANN)
    publish_old(table, ANN, received(table, ANN)[0])
    table.chain.farm()
    newest = table.ends[BEN].play.newest
    old = next(link.state for link in table.ends[ANN].peer.play.history if link.state.number == 0)
    bundle = preempt(table.channel, Cheat(table, BEN).keys, newest, old)
    pinned = joined(bundle, pay(thief, thief.coin, 1, table))
    assert table.chain.push(pinned).answer is TAKEN
    hear(table)
    names = [name for name, _, result in table.ends[BEN].pushed if result.answer is TAKEN]
    assert "unpin" in names
    pending = only_pending(table, bundle)
    assert {spend.coin for spend in pending.spends} >= {thief.coin, fees.wallet.coin}
    settle(table)
    sound(table, dead=(ANN,))
    (counts,) = facts(table.ends[BEN], StateCounts)
    assert isinstance(counts, StateCounts)
    assert (counts.number, counts.stale) == (newest.state.number, False)


def test_a_fee_for_pinned_spends_rises_with_every_block() -> None:
    """Paid for once, it would lie there until its deadline: the change pays more and more."""
    table = at_message(10_000)
    fees = paying(table, BEN, first=0, step=RAISE, most=4 * RAISE)
    thief = fee_wallet(table, ANN)
    publish_old(table, ANN, received(table, ANN)[0])
    table.chain.farm()
    newest = table.ends[BEN].play.newest
    old = next(link.state for link in table.ends[ANN].peer.play.history if link.state.number == 0)
    bundle = preempt(table.channel, Cheat(table, BEN).keys, newest, old)
    assert table.chain.push(joined(bundle, pay(thief, thief.coin, 1, table))).answer is TAKEN
    hear(table)
    peak = table.chain.peak()
    for waited in range(5):
        # Blocks that are full of others: what is pending stays so.
        coins = [table.chain.coin(coin.id) for coin in table.ends[BEN].watched]
        table.handle(BEN, Block(peak + waited, tuple(coin for coin in coins if coin)))
        pending = only_pending(table, bundle)
        spent = left_of(fees.wallet.coin, pending)
        assert spent is not None
        assert spent[1] == RAISE * waited, "one mojo, at first, replaces nothing"
    before = left(table, fees)
    farm(table)
    assert before - left(table, fees) == 4 * RAISE
    settle(table)
    sound(table, dead=(ANN,))


def test_a_pinned_spend_does_not_block_the_others() -> None:
    """All spends are in one bundle again: otherwise the fee coin would pay for one game a block."""
    table = sit("several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    paying(table, ANN)
    thief = fee_wallet(table, BEN)
    leave(table, ANN)
    pushed = table.ends[ANN].pushed

    def paid_together() -> list[Bundle]:
        fee = [bundle for name, bundle, _ in pushed if name.endswith("+fee")]
        return [bundle for bundle in fee if len(bundle.spends) > 2]

    while not paid_together():
        live(table, decider("a"), decider("b"), dead=(BEN,))
        farm(table, dead=(BEN,))
    together = paid_together()[-1]
    coins = {spend.coin for spend in together.spends}
    plain = {bundle.spends[0].coin: bundle for _, bundle, _ in pushed if len(bundle.spends) == 1}
    one = next(plain[coin] for coin in coins if coin in plain)
    pin = pay(thief, thief.coin, 1, table)
    (effect,) = table.ends[ANN].peer.handle(pinned_by(together, joined(one, pin)))
    assert isinstance(effect, Push)
    assert {spend.coin for spend in effect.bundle.spends} == coins | {thief.coin}
    # What contradicts a spend of ours cannot be in it, and what pays for all already need not.
    wrong = Spend(one.spends[0].coin, one.spends[0].puzzle, b"\x80")
    other = Bundle((wrong, *pin.spends), pin.signature)
    (effect,) = table.ends[ANN].peer.handle(pinned_by(together, other))
    assert isinstance(effect, Push)
    assert {spend.coin for spend in effect.bundle.spends} == coins - {wrong.coin}
    assert table.ends[ANN].peer.handle(pinned_by(together, together)) == []
    assert table.ends[ANN].peer.handle(pinned_by(effect.bundle, joined(one, pin))) == []
    settle(table, decider("a"), decider("b"), dead=(BEN,))
    sound(table, dead=(BEN,))


def test_spends_with_a_fee_are_pushed_before_those_without() -> None:
    """A spend that lies open without a fee can be put into a bundle with a coin of a thief's."""
    table = sit("several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    fees = paying(table, ANN)
    leave(table, ANN)
    seen = 0
    for _ in range(30):
        live(table, decider("a"), decider("b"), dead=(BEN,))
        farm(table, dead=(BEN,))
        end = table.ends[ANN]
        pushes = [one for one in end.peer.handle(end.peer.state.block) if isinstance(one, Push)]
        names = [push.name for push in pushes]
        with_fee = [name.endswith("+fee") for name in names]
        assert with_fee == sorted(with_fee, reverse=True), names
        if len(names) > 3:
            seen += 1
            first = pushes[0].bundle
            spent = left_of(first.spends[-1].coin, first)
            assert spent is not None
            assert spent[0].puzzle_hash == fees.wallet.coin.puzzle_hash
            # Each of them has its own fee, so that one more replaces the bundle without it.
            assert spent[1] >= fees.first * (len(first.spends) - 1)
    assert seen


def test_a_pin_without_our_spend_is_not_paid_for() -> None:
    table = at_message(10_000)
    paying(table, BEN)
    thief = fee_wallet(table, ANN)
    leave(table, BEN)
    farm(table)
    bundle = table.ends[BEN].pushed[0][1]
    other = pay(thief, thief.coin, 1, table)
    assert table.handle(BEN, pinned_by(bundle, other)) == []
    assert table.handle(ANN, pinned_by(bundle, joined(bundle, other))) == []


def test_a_bundle_that_pays_already_is_not_paid_for_again() -> None:
    """Or two peers that both pay would outbid themselves for ever."""
    table = at_message(10_000)
    fees = paying(table, BEN)
    thief = fee_wallet(table, ANN)
    leave(table, BEN)
    plain = next(bundle for name, bundle, _ in table.ends[BEN].pushed if name == "unroll")
    paid = next(bundle for name, bundle, _ in table.ends[BEN].pushed if name == "unroll+fee")
    pinned = joined(plain, pay(thief, thief.coin, 1, table))
    (effect,) = table.ends[BEN].peer.handle(pinned_by(plain, pinned))
    assert isinstance(effect, Push)
    assert fees.wallet.coin in {spend.coin for spend in effect.bundle.spends}
    assert table.ends[BEN].peer.handle(pinned_by(paid, pinned)) == []
    assert table.ends[BEN].peer.handle(pinned_by(effect.bundle, pinned)) == []
    settle(table)


def test_a_claim_that_was_pushed_out_is_sent_again() -> None:
    """With the same spend in another bundle, which then comes to nothing."""
    table = at_message(16)
    table.mail.clear()
    leave(table, ANN)
    claims = 0

    def lose(_: int) -> None:
        nonlocal claims
        pushed = [name for end in table.ends for name, _, _ in end.pushed if name == "claim"]
        if len(pushed) > claims and claims < 3:
            claims = len(pushed)
            # What was pending is dropped, with the block that would have had it.
            table.chain.reorganise(1, 2, keep=False)
            hear(table)

    settle(table, bet_or_call, bet_or_call, before=lose)
    sound(table)
    assert claims


@pytest.mark.parametrize("most", [40, 100_000])
def test_a_claim_that_a_full_chain_delays_is_paid_for(most: int) -> None:
    """A claim and an unroll's timeout cost nothing at first, and never more than they bring."""
    table = at_message(16)
    table.mail.clear()
    paying(table, ANN, first=10, step=most, most=most)
    leave(table, ANN)
    table.ends[ANN].turns.clear()
    dead = (BEN,)
    paid: dict[str, list[int]] = {}
    for _ in range(100):
        live(table, dead=dead)
        farm(table, dead=dead)
        peer = table.ends[ANN].peer
        if not peer.state.dispute or peer.phase.value != "the chain":
            break
        peaks = [peer.state.block.peak + more for more in range(8)]
        for waited, peak in enumerate(peaks):
            # The same block some blocks later: nothing of ours got in.
            _, effects = scan(peer.state.dispute, Block(peak, peer.state.block.coins))
            for push in effects:
                if isinstance(push, Push) and push.name in ("claim+fee", "unroll-timeout+fee"):
                    wallet = push.bundle.spends[-1]
                    change = change_of(wallet.coin, wallet.solution)
                    left_over = change.amount if change else 0
                    paid.setdefault(push.name, []).append(wallet.coin.amount - left_over)
                    assert waited >= CONFIRMATIONS
                    assert wallet.coin.amount - left_over < push.bundle.spends[0].coin.amount
    names = {name for name, _, _ in table.ends[ANN].pushed}
    assert {"claim", "unroll-timeout"} <= names
    assert not names & {"claim+fee", "unroll-timeout+fee"}
    assert set(paid) == {"claim+fee", "unroll-timeout+fee"}
    assert max(paid["claim+fee"]) <= most


# --- to the block --------------------------------------------------------------------------------


def on_turn(table: Table, *, late: int) -> tuple[Table, int, int]:
    """On chain, with a player whose move is held back until its coin is so many blocks old.

    Gives the table, the late side, and the moves that the other side saw on chain.
    """
    table.mail.clear()
    leave(table, ANN)
    for end in table.ends:
        end.turns.clear()
    while not any(end.turns for end in table.ends):
        table.farm()
    index = next(i for i, end in enumerate(table.ends) if end.turns)
    dispute = table.ends[index].peer.state.dispute
    assert dispute is not None
    (tracked,) = dispute.undecided.values()
    born = table.chain.coin(tracked.coin.id)
    assert born is not None
    while table.chain.peak() - born.born < late:
        table.farm()
    live(table)
    table.farm()
    return table, index, len(facts(table.ends[1 - index], MovedOnChain))


def test_a_move_is_in_time_in_the_last_block_and_not_after_it() -> None:
    moves = [on_turn(at_message(16), late=late)[2] for late in (TIMEOUT - 1, TIMEOUT)]
    assert moves[0] == moves[1] + 1


def test_a_claim_is_made_at_its_timeout_by_the_side_that_gains() -> None:
    table = at_message(16)
    table.mail.clear()
    leave(table, ANN)
    for end in table.ends:
        end.turns.clear()
    while not any(end.turns for end in table.ends):
        table.farm()
    index = next(i for i, end in enumerate(table.ends) if end.turns)
    dispute = table.ends[index].peer.state.dispute
    assert dispute is not None
    (tracked,) = dispute.undecided.values()
    seen = table.chain.coin(tracked.coin.id)
    assert seen is not None
    early = claim_bundle(table.channel, tracked.coin, tracked.game)
    while table.chain.peak() - seen.born < TIMEOUT - 1:
        assert table.chain.push(early).answer is Answer.TOO_EARLY
        farm(table, dead=(index,))
    assert not [name for name, _, _ in table.ends[1 - index].pushed if name == "claim"]
    farm(table, dead=(index,))
    assert [name for name, _, _ in table.ends[1 - index].pushed if name == "claim"]
    settle(table, dead=(index,))
    (paid,) = facts(table.ends[1 - index], GamePaid)
    assert isinstance(paid, GamePaid)
    assert paid.slashed == ""
    assert paid.ours
    assert paid.theirs
    shares = tracked.game.shares()
    assert (paid.theirs.amount, paid.ours.amount) == (shares[index], shares[1 - index])


# --- several games -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_games_in_different_phases_all_end_as_they_should(seed: str) -> None:
    table = sit(seed).open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker", alice=False))
    for _ in range(15):
        table.step(decider("a"), decider("b"))
    table.propose(BEN, any_wish("calpoker"))
    for _ in range(7):
        table.step(decider("a"), decider("b"))
    table.mail.clear()
    leave(table, ANN)
    settle(table, decider("c"), decider("d"), limit=400)
    sound(table)
    assert sum(rewards(table)) <= 2 * BALANCE
    assert settled(table.ends[ANN]).ours == settled(table.ends[BEN]).theirs
    assert reward(table, ANN) == settled(table.ends[ANN]).ours
