"""Claims that are pushed out of the mempool, and deadlines to the block."""

from __future__ import annotations

import pytest

from channelsim.channel.chain.interface import Answer
from channelsim.channel.peer.chain_news import GamePaid, MovedOnChain
from channelsim.channel.protocol.game_spends import claim_bundle
from tests.channel.disputes import (
    at_message,
    facts,
    farm,
    hear,
    leave,
    live,
    rewards,
    settle,
    settled,
    sound,
)
from tests.channel.on_chain import reward
from tests.channel.session.test_two_games import decider
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    TIMEOUT,
    Table,
    bet_or_call,
    sit,
)


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
