"""Old states, illegal moves, reorganisations and full mempools: an honest side keeps its due."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import msgspec
import pytest

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.crypto import bls
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    IllegalOnChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnknownSpend,
)
from channelsim.channel.peer.interface import Act
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol.game_spends import move_bundle
from channelsim.channel.protocol.half_signed import preempt, time_out
from channelsim.channel.protocol.messages import Batch, Move
from channelsim.clsp.values import serialize
from channelsim.games.referee import GameCoin, payout_message, timeout_solution
from tests.channel.disputes import (
    SEED,
    at_message,
    at_move,
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
)
from tests.channel.on_chain import exists
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    CONFIRMATIONS,
    STAKE,
    TIMEOUT,
    Cheat,
    Table,
    by_policy,
    sit,
)
from tests.sampling import one_in

# --- old states ----------------------------------------------------------------------------------


@pytest.mark.parametrize("thief", [ANN, BEN])
@pytest.mark.parametrize("seed", one_in(2, ["one", "two"]))
def test_any_old_state_is_preempted(thief: int, seed: str) -> None:
    """Two hands are played; the loser of the first would rather have the state before it."""

    def play() -> Table:
        decide = by_policy("random", seed), by_policy("aggressive", seed)
        table = sit(seed).open().propose(ANN).go_on(*decide).propose(BEN)
        for _ in range(12):
            table.step(*decide)
        return table

    every = received(play(), thief)
    for number in sorted({every[0], every[1], every[len(every) // 2], every[-2]}):
        table = play()
        table.mail.clear()
        victim = table.ends[1 - thief]
        publish_old(table, thief, number)
        farm(table)
        newest = victim.play.newest.state.number
        assert number < newest
        settle(table, by_policy("random"), by_policy("aggressive"))
        sound(table)
        (counts,) = facts(victim, StateCounts)
        assert isinstance(counts, StateCounts)
        assert (counts.number, counts.preempted, counts.stale) == (newest, True, False)


def test_what_a_peer_has_looked_up_makes_no_difference_to_its_state() -> None:
    """A restarted peer, which has looked up nothing yet, equals one that was never stopped."""
    table = at_message(10_000)
    victim = table.ends[BEN]
    publish_old(table, ANN, received(table, ANN)[2])
    farm(table)
    dispute = victim.peer.state.dispute
    assert dispute is not None
    signed = dispute.signed_games
    assert signed == SignedGames.of(signed.endpoint, signed.history)


@pytest.mark.parametrize("thief", [ANN, BEN])
def test_a_stale_state_without_a_preemption_is_played_on(thief: int) -> None:
    """The victim sleeps for too long: the coins are what they are, and its games go on."""
    for number in range(3):
        table = at_message(10_000).propose(1 - thief)
        for _ in range(9):
            table.step()
        table.mail.clear()
        old = received(table, thief)[2 + number]
        publish_old(table, thief, old)
        table.chain.farm(TIMEOUT + 1)
        state = next(
            link.state for link in table.ends[thief].play.history if link.state.number == old
        )
        assert table.chain.push(time_out(table.channel, state)).answer is Answer.ACCEPTED
        table.chain.farm()
        settle(table)
        sound(table)
        victim = table.ends[1 - thief]
        (counts,) = facts(victim, StateCounts)
        assert isinstance(counts, StateCounts)
        assert (counts.number, counts.stale) == (old, True)
        assert rewards(table)[0] + rewards(table)[1] == 2 * BALANCE
        # The hand that both had played to its end ends as it did.
        assert rewards(table) == table.ends[0].state.balances or facts(victim, GameVoid)


def test_we_do_not_preempt_our_own_stale_state() -> None:
    table = at_message(10_000).propose(ANN).go_on()
    old = received(table, ANN)[1]
    publish_old(table, ANN, old)
    table.chain.farm()
    settle(table, dead=(BEN,))
    (counts,) = facts(table.ends[ANN], StateCounts)
    assert isinstance(counts, StateCounts)
    assert (counts.number, counts.preempted, counts.stale) == (old, False, True)
    assert not [name for name, _, _ in table.ends[ANN].pushed if name == "preempt"]


def test_the_counterparty_may_complete_the_state_that_we_sent() -> None:
    """S = F + 1: our newest, sent and never answered, is published by the other side."""
    for preempts in (False, True):
        table = at_move(16)
        sender = 1 - table.mail[0][0]
        table.deliver()
        table.mail.clear()
        ours, other = table.ends[sender], table.ends[1 - sender]
        newest = other.play.newest
        assert newest.state.number == ours.play.newest.state.number + 1
        leave(table, sender if preempts else 1 - sender)
        if not preempts:
            farm(table)
        settle(table)
        sound(table)
        for end in table.ends:
            (counts,) = facts(end, StateCounts)
            assert isinstance(counts, StateCounts)
            assert (counts.number, counts.preempted) == (newest.state.number, preempts)


def test_an_unanswered_move_is_made_again_on_chain_byte_for_byte() -> None:
    """The other side never saw it, or will not have seen it: the coin is as it was sent."""
    table = at_move(16)
    receiver, _ = table.mail[0]
    sender = table.ends[1 - receiver]
    (sent,) = sender.state.games
    table.mail.clear()
    leave(table, 1 - receiver)
    settle(table)
    sound(table)
    moves = [move for end in table.ends for move in facts(end, MovedOnChain)]
    first = min(moves, key=lambda move: move.height if isinstance(move, MovedOnChain) else 0)
    assert isinstance(first, MovedOnChain)
    assert first.coin.puzzle_hash == sent.coin.puzzle_hash()
    assert "redo" in [name for name, _, _ in sender.pushed]


def test_a_game_that_we_settled_is_not_moved_on_chain() -> None:
    """Folded by message, not answered: on chain the game is not moved any more."""
    from channelsim.games.contract import Action

    table = at_message(15)
    table.until(lambda: any(end.turns for end in table.ends))
    index = next(i for i, end in enumerate(table.ends) if end.turns)
    table.mail.clear()
    table.command(index, Act(0, Action("fold")))
    table.mail.clear()
    shares = table.ends[1 - index].state.games[0].shares()
    balances = table.ends[1 - index].state.balances
    leave(table, index)
    settle(table)
    sound(table)
    assert rewards(table) == tuple(b + s for b, s in zip(balances, shares, strict=True))
    assert not facts(table.ends[index], MovedOnChain)
    # It was reported as settled when it was; it does not end again.
    assert not facts(table.ends[index], GameEnded)
    assert len(facts(table.ends[1 - index], GameEnded)) == 1


@pytest.mark.parametrize("thief", [ANN, BEN])
def test_a_share_paid_to_another_address_is_reported_with_its_coin(thief: int) -> None:
    """Each referee key may sign for any address: the reported coin is the one on chain."""
    table = at_message(16)
    table.mail.clear()
    victim = table.ends[1 - thief]
    elsewhere = bytes([7]) * 32
    addresses, signatures = [*table.channel.rewards], [*table.channel.payout_signatures]
    addresses[thief] = elsewhere
    signatures[thief] = bls.sign(Cheat(table, thief).keys.referee, payout_message(elsewhere))
    leave(table, 1 - thief)
    while victim.peer.phase is not Phase.CLOSED:
        live(table, dead=(thief,))
        table.chain.farm()
        dispute = victim.peer.state.dispute
        for tracked in dispute.tracked.values() if dispute else ():
            game = tracked.game
            to = addresses[game.mover], addresses[game.mover.other]
            solution = serialize(timeout_solution(game.coin, *to))
            spend = Spend(tracked.coin, game.coin.puzzle().serialized, solution)
            table.chain.push(Bundle((spend,), bls.add(*signatures)))
        hear(table, dead=(thief,))
    (paid,) = facts(victim, GamePaid)
    assert isinstance(paid, GamePaid)
    assert paid.ours is not None
    assert paid.theirs is not None
    assert paid.theirs.puzzle_hash == elsewhere
    assert exists(table, paid.ours)
    assert exists(table, paid.theirs)


def test_a_state_that_was_never_signed_is_reported() -> None:
    """Only with our keys: both sign a state that neither has sent."""
    from channelsim.channel.protocol.half_signed import SignedState, publish

    table = at_message(10_000)
    state = msgspec.structs.replace(table.ends[0].state, number=1000)
    signed = SignedState(state, table.channel.on_chain(state), Cheat(table, BEN).halves(state))
    table.chain.push(publish(table.channel, Cheat(table, ANN).keys, signed))
    farm(table)
    for end in table.ends:
        assert [type(news) for news in facts(end, UnknownSpend)] == [UnknownSpend]
        assert end.peer.phase is Phase.ON_CHAIN


def test_a_preemption_by_a_state_that_was_never_signed_is_reported() -> None:
    from channelsim.channel.protocol.half_signed import SignedState

    table = at_message(10_000)
    leave(table, ANN)
    table.chain.farm()
    newest = table.ends[ANN].play.newest.state
    state = msgspec.structs.replace(newest, number=newest.number + 1001)
    signed = SignedState(state, table.channel.on_chain(state), Cheat(table, BEN).halves(state))
    bundle = preempt(table.channel, Cheat(table, ANN).keys, signed, newest)
    table.chain.push(bundle)
    farm(table)
    assert len(facts(table.ends[ANN], UnknownSpend)) == 1


# --- illegal moves -------------------------------------------------------------------------------


def illegal_batch(table: Table, sender: int, **changes: object) -> tuple[Batch, int]:
    """The next batch with a move, with something about the move changed and signed again."""
    from channelsim.channel.protocol.messages import decode

    while True:
        if table.mail and table.mail[0][0] != sender:
            message = decode(table.mail[0][1])
            if isinstance(message, Batch):
                moves = [act for act in message.actions if isinstance(act, Move)]
                if moves:
                    table.mail.clear()
                    bad = msgspec.structs.replace(moves[0], **changes)
                    others = [act for act in message.actions if act is not moves[0]]
                    return Cheat(table, sender).batch(*others, bad), moves[0].game_id
        assert table.step()


@pytest.mark.parametrize("thief", [ANN, BEN])
def test_an_illegal_move_in_a_batch_is_slashed(thief: int) -> None:
    for steps in (0, 4, 9):
        table = at_message(12 + steps)
        batch, game_id = illegal_batch(table, thief, commitment=bytes(32))
        table.receive(1 - thief, batch)
        settle(table, dead=(thief,))
        victim = table.ends[1 - thief]
        sound(table, dead=(thief,))
        (paid,) = facts(victim, GamePaid)
        assert isinstance(paid, GamePaid)
        assert (paid.game_id, paid.slashed, paid.theirs) == (game_id, "us", None)
        assert len(facts(victim, IllegalOnChain)) == 1
        assert settled(victim).ours == BALANCE + STAKE


@pytest.mark.parametrize("thief", [ANN, BEN])
def test_an_illegal_move_on_chain_is_slashed_at_once(thief: int) -> None:
    for wrong in ("commitment", "share", "size"):
        table = at_message(14)
        table.mail.clear()
        leave(table, ANN)
        peer = table.ends[thief].peer
        while True:
            live(table, dead=())
            pushes = [p for p in table.ends[thief].pushed if p[0] in ("move", "redo")]
            farm(table)
            assert peer.state.dispute is not None
            if pushes:
                break
        # The honest move is in; its next one is made by hand, and wrongly.
        while not (waiting := _decided(table, thief)):
            live(table)
            farm(table)
        coin, before, after = waiting
        bad = {
            "commitment": msgspec.structs.replace(after, infohash_b=bytes(32)),
            "share": msgspec.structs.replace(after, mover_share=after.mover_share - 1),
            "size": msgspec.structs.replace(after, max_move_size=after.max_move_size + 1),
        }[wrong]
        bundle = move_bundle(table.channel, Cheat(table, thief).keys, coin, before, bad)
        assert table.chain.push(bundle).answer is Answer.ACCEPTED
        settle(table, dead=(thief,))
        victim = table.ends[1 - thief]
        paid = facts(victim, GamePaid)
        assert isinstance(paid[0], GamePaid)
        assert paid[0].slashed == "us"
        assert settled(victim).ours == BALANCE + STAKE


def _decided(table: Table, index: int) -> tuple[Coin, GameCoin, GameCoin] | None:
    """A game coin at which this side has decided and must wait, and the coin it will make."""
    dispute = table.ends[index].peer.state.dispute
    assert dispute is not None
    for tracked in dispute.tracked.values():
        seen = table.chain.coin(tracked.coin.id)
        after = dispute.decided.get(tracked.game.coin)
        if seen and seen.spent is None and after and table.chain.peak() - seen.born < 2:
            return tracked.coin, tracked.game.coin, after.coin
    return None


# --- reorganisations -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(3, range(6)))
def test_reorganisations_at_any_time_change_nothing_in_the_end(seed: int) -> None:
    """Up to `confirmations` blocks, again and again, with and without the old bundles."""
    plain = at_message(10_000)
    balances = plain.ends[ANN].state.balances
    random = Random(seed)
    table = at_message(random.randrange(13, 26))
    if random.random() < 0.5:
        table.mail.clear()
    leave(table, random.randrange(2))

    def shake(_: int) -> None:
        if random.random() < 0.3 and table.chain.peak() > 12:
            back = random.randrange(1, CONFIRMATIONS + 1)
            keep = random.random() < 0.5
            table.chain.reorganise(back, back + random.randrange(1, 3), keep=keep)
            hear(table)

    settle(table, before=shake, limit=400)
    sound(table)
    assert rewards(table) == balances
    assert any(end.news_of(Undone) for end in table.ends)


def test_a_player_is_asked_again_after_a_reorganisation() -> None:
    table = at_message(14)
    table.mail.clear()
    leave(table, ANN)
    moved = 0
    for _ in range(60):
        for end in table.ends:
            # Nobody decides while the coin that the question was about is gone.
            if end.turns and facts(end, MovedOnChain):
                moved += 1
                table.chain.reorganise(1, 2, keep=False)
                hear(table)
                end.turns.clear()
                break
        else:
            live(table)
        farm(table)
        if moved > 2:
            break
    assert moved > 2
    settle(table)
    sound(table)
    assert rewards(table) == at_message(10_000).ends[ANN].state.balances


def test_final_facts_are_undone_by_a_deeper_reorganisation() -> None:
    table = at_message(20)
    leave(table, ANN)
    settle(table)
    before = rewards(table)
    table.chain.reorganise(20, 21, keep=False)
    hear(table)
    assert any(end.peer.phase is Phase.ON_CHAIN for end in table.ends)
    assert any(end.news_of(Undone) for end in table.ends)
    settle(table)
    sound(table)
    assert rewards(table) == before


def test_what_is_final_stays_final_on_a_node_that_shows_an_older_tip() -> None:
    table = at_message(20)
    leave(table, ANN)
    ann = table.ends[ANN]
    while not facts(ann, ChannelSettled):
        farm(table)
    newest = ann.peer.state.block
    for back in range(1, CONFIRMATIONS + 1):
        table.handle(ANN, msgspec.structs.replace(newest, peak=newest.peak - back))
    table.handle(ANN, newest)
    assert not ann.news_of(Undone)
    assert len(facts(ann, ChannelSettled)) == 1
    settle(table)


def test_a_game_that_is_given_up_has_ended_when_its_deadline_is_deep() -> None:
    """Until then a reorganisation can take the time back, and the last move be in after all."""
    table = sit(SEED).open().propose(ANN, any_wish("calpoker"))
    ann = table.ends[ANN]
    table.until(lambda: bool(ann.turns))
    leave(table, ANN)
    while not facts(ann, GameEnded):
        # She never decides what to give away, and has no share before that.
        table.mail.clear()
        farm(table, dead=(BEN,))
    (given,) = facts(ann, Forfeited)
    assert isinstance(given, Forfeited)
    seen = table.chain.coin(given.coin.id)
    assert seen is not None
    assert table.chain.peak() == seen.born + TIMEOUT + CONFIRMATIONS
    settle(table, dead=(BEN,))


def test_a_reveal_waits_until_the_move_before_it_is_deep() -> None:
    table = at_message(14)
    table.mail.clear()
    leave(table, ANN)
    settle(table)
    heights = sorted(
        {
            move.height
            for end in table.ends
            for move in facts(end, MovedOnChain)
            if isinstance(move, MovedOnChain)
        }
    )
    assert len(heights) > 4
    gaps = [later - earlier for earlier, later in pairwise(heights)]
    assert set(gaps[1:]) == {CONFIRMATIONS + 1}
    assert not any(end.news_of(RevealAtRisk) for end in table.ends)


def test_a_reveal_that_cannot_wait_is_made_and_reported() -> None:
    """A full chain has eaten the time: the deadline comes first, and the player is notified."""
    table = at_message(14)
    for end in table.ends:
        # As if it wanted far more confirmations than the game's timeout leaves room for.
        assert end.peer.state.endpoint is not None
        endpoint = replace(end.peer.state.endpoint, confirmations=TIMEOUT + 5)
        end.peer.state = msgspec.structs.replace(end.peer.state, endpoint=endpoint)
    table.mail.clear()
    leave(table, ANN)
    settle(table, limit=600)
    assert any(end.news_of(RevealAtRisk) for end in table.ends)
    assert rewards(table) == at_message(10_000).ends[0].state.balances
