"""Hands are counted by accepted games; what the other side proposes besides changes no count."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    Command,
    PrepareDeck,
    Proposed,
    ProposeGames,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.play.play_state import Refusal
from channelsim.channel.protocol.messages import Cancel, Propose
from channelsim.channel.protocol.proposals import Wish, offer_of
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import HandCounter, account_of
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import PATIENCE, SidePlayer, by_policy
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from tests.channel.peer.decks import high_card
from tests.channel.peer.decks.test_proposals import SETTINGS, prepare
from tests.channel.table import ANN, BALANCE, BEN, STACK, STAKE, UNIT, Cheat, Table, fold, sit, wish


def agreed(hands: int, game: str = "spacepoker") -> Setup:
    return Setup((game,), "", hands, UNIT, STACK, BALANCE, ("caller", "caller"))


def player(table: Table, side: Side, hands: int = 3, game: str = "spacepoker") -> SidePlayer:
    """A player that knows nothing but its peer, as after a restart."""
    return SidePlayer(agreed(hands, game), table.ends[side].peer, by_policy("caller", bytes(32)))


def played(table: Table, hands: int) -> Table:
    """Hands that are agreed on, and folded by whoever moves first."""
    for number in range(hands):
        table.propose(number % 2, wish(alice=True)).go_on(fold, fold)
    return table


def propose(table: Table, *wishes: Wish, skipped: int = 0) -> list[Command | None]:
    """Have Ann propose these games one by one, whatever her peer thinks; Ben's answers."""
    if table.ends[BEN].play.potato:
        table.ask(ANN)
    first = table.ends[ANN].state.next_ids[ANN] + 2 * skipped
    offers = [offer_of(table.channel, ANN, first + 2 * at, wish) for at, wish in enumerate(wishes)]
    table.receive(BEN, Cheat(table, ANN).batch(*(Propose((offer,)) for offer in offers)))
    answers: list[Command | None] = []
    for group in table.ends[BEN].state.groups:
        answers.append(player(table, BEN).answer(Proposed(group)))
        assert answers[-1] is not None
        table.command(BEN, answers[-1])
    return answers


def account(table: Table, side: Side, hands: int = 3, game: str = "spacepoker") -> tuple[str, bool]:
    found = account_of(agreed(hands, game), table.ends[side].peer.state, side)
    return str(found), found.failed


def test_hands_are_counted_by_games_and_each_state_once() -> None:
    table = played(sit("count").open(), 2)
    history = table.ends[BEN].play.history
    counter = HandCounter()
    begun = counter.begun(history)
    assert (begun.hands, begun.number) == (2, history.state.number)
    assert counter.begun(history) is begun
    older = history.older
    assert older is not None
    assert older.older is not None
    assert counter.begun(older.older).number < begun.number, "another history is counted anew"
    assert counter.begun(history) == begun


def test_of_two_proposals_one_is_a_hand() -> None:
    """Both are asked about before the first one is accepted."""
    table = sit("two").open()
    assert propose(table, wish(), wish()) == [
        AcceptGames(0),
        CancelGames(2, "one hand at a time"),
    ]
    table.pump()
    assert len(table.ends[BEN].state.games) == 1
    assert HandCounter().begun(table.ends[BEN].play.history).hands == 1


def test_a_side_cannot_propose_out_of_turn_or_past_the_last_hand() -> None:
    table = played(sit("turn").open(), 1)
    assert propose(table, wish()) == [CancelGames(2, "it is the other side's turn to propose")]
    assert account(table, BEN)[1], "hands remain, and nobody declined"
    table = played(sit("past").open(), 3)
    ends = table.fork()
    assert player(ends, BEN).next_command() == Close()
    assert account(ends, BEN) == ("3 of 3 hands played", False)
    assert propose(table, wish()) == [CancelGames(4, "all hands are played")]


def test_ids_that_are_skipped_count_no_hands() -> None:
    table = sit("skip").open()
    assert propose(table, wish(), skipped=3) == [AcceptGames(6)]
    begun = HandCounter().begun(table.ends[BEN].play.history)
    assert (begun.hands, begun.next_ids) == (1, (8, 1))


def test_a_hand_that_was_refused_is_refused_again_and_not_for_ever() -> None:
    """Each wrong proposal is cancelled; after some the player asks for the shutdown."""
    table = sit("again").open()
    for number in range(5):
        assert player(table, BEN).next_command() != Close()
        table.propose(ANN, wish(alice=number > 0)).until(lambda: bool(table.ends[BEN].offers))
        table.ends[BEN].offers.clear()
        (group,) = table.ends[BEN].state.groups
        answer = player(table, BEN).answer(Proposed(group))
        reason = "other seats than those agreed on"
        if number == 4:
            reason = "more than 4 ids were used for hand 1"
        assert answer == CancelGames(2 * number, reason)
        table.command(BEN, answer)
        table.pump()
    assert player(table, BEN).next_command() == Close()
    assert account(table, BEN) == (
        "0 of 3 hands played: the initiator did not propose hand 1 as agreed:"
        " more than 4 ids were used for hand 1",
        True,
    )


def test_a_proposal_that_nobody_answers_ends_in_a_shutdown() -> None:
    """No rule makes the other side answer it: it could hold the money for ever."""
    table = sit("unanswered").open()
    table.propose(ANN, wish()).until(lambda: bool(table.ends[BEN].offers))
    ann, ben = player(table, ANN), player(table, BEN)
    assert ann.next_command() is None
    table.farm(PATIENCE)
    assert (ann.next_command(), ben.next_command()) == (None, None)
    table.farm()
    assert (ann.next_command(), ben.next_command()) == (Close(), None)
    table.command(ANN, Close())
    table.pump()
    table.farm(4)
    assert table.ends[ANN].peer.state.closed is not None


def test_a_declined_hand_is_the_last_one_also_after_a_restart() -> None:
    table = sit("decline").open()
    table.propose(ANN, wish()).until(lambda: bool(table.ends[BEN].offers))
    ben = SidePlayer(
        agreed(3), table.ends[BEN].peer, by_policy("caller", bytes(32)), lambda number: False
    )
    (group,) = table.ends[BEN].state.groups
    answer = ben.answer(Proposed(group))
    assert answer == CancelGames(0, "receiver declines")
    table.command(BEN, answer)
    table.pump()
    ann = player(table, ANN)
    assert (ann.next_command(), player(table, BEN).next_command()) == (None, Close())
    table.farm()
    assert ann.next_command() == Close(), "if the side that declined does not"
    for side in (ANN, BEN):
        assert account(table, side) == (
            "0 of 3 hands played: the receiver declined hand 1",
            False,
        )


def test_a_balance_that_does_not_cover_a_hand_excuses_it() -> None:
    table = sit("poor", contributions=(STAKE, STAKE)).open()
    table.propose(ANN, wish()).go_on(fold, fold)
    state = table.ends[ANN].state
    poor = Side(state.balances.index(min(state.balances)))
    if min(state.balances) < STAKE:
        assert player(table, BEN).next_command() == Close()
        text, failed = account(table, ANN)
        name = ("initiator", "receiver")[poor]
        assert text.startswith(f"1 of 3 hands played: the {name}'s balance of ")
        assert not failed


def lost_deck(table: Table, proposer: Side) -> None:
    """Have this side propose with a deck that the other one has lost."""
    other = table.ends[proposer.other].peer
    play = other.play
    number = min(play.decks.ready)
    decks = {n: deck for n, deck in play.decks.decks.items() if n != number}
    pool = other.play.decks
    other.state = replace(other.state, play=replace(play, decks=changed(pool, decks=decks)))
    command = player(table, proposer, game="highcard").next_command()
    assert isinstance(command, ProposeGames)
    table.command(proposer, command)
    table.pump()


def test_a_hand_whose_deck_was_lost_is_proposed_three_times_more() -> None:
    with high_card.registered():
        table = sit("lost", decks=SETTINGS).open()
        for number in range(1, 5):
            assert player(table, BEN, game="highcard").next_command() == PrepareDeck()
            prepare(table)
            lost_deck(table, ANN)
            for side in (ANN, BEN):
                refusal = table.ends[side].play.refusal
                reason = f"PD-10: deck {number} is not ready, or has been used"
                assert refusal == Refusal(ANN, BEN, reason, deck_lost=True)
        assert player(table, ANN, game="highcard").next_command() == Close()
        assert player(table, BEN, game="highcard").next_command() is None
        for side in (ANN, BEN):
            assert account(table, side, game="highcard") == (
                "0 of 3 hands played: hand 1 was proposed 4 times, and its deck was lost",
                True,
            )


def test_a_hand_whose_deck_was_lost_is_played_with_the_next_one() -> None:
    with high_card.registered():
        table = prepare(sit("found", decks=SETTINGS).open())
        lost_deck(table, ANN)
        prepare(table)
        command = player(table, ANN, game="highcard").next_command()
        assert isinstance(command, ProposeGames)
        table.command(ANN, command)
        table.pump()
        (group,) = table.ends[BEN].state.groups
        assert player(table, BEN, game="highcard").answer(Proposed(group)) == AcceptGames(2)
        table.command(BEN, AcceptGames(2))
        table.pump()
        for side in (ANN, BEN):
            assert table.ends[side].play.refusal is None
            assert HandCounter().begun(table.ends[side].play.history).hands == 1


@pytest.mark.parametrize("reason", ["PD-10: no deck is named", "declined"])
def test_a_reason_that_names_a_deck_counts_only_if_the_proposal_does(reason: str) -> None:
    """The text is the other side's: without a deck, it declines."""
    table = sit("text").open()
    table.propose(ANN, wish()).pump()
    table.receive(ANN, Cheat(table, BEN).batch(Cancel(0, reason)))
    assert table.ends[ANN].play.refusal == Refusal(ANN, BEN, reason, deck_lost=False)
    assert player(table, ANN).next_command() == Close()


@pytest.mark.parametrize("events_per_snapshot", [1, 1000])
def test_a_refusal_outlives_the_process(events_per_snapshot: int) -> None:
    table = sit("outlives")
    store = MemoryStore()
    end = table.ends[BEN]
    end.driven.actor = DurablePeer(end.peer, store, events_per_snapshot)
    table.open()
    propose(table, wish(alice=False))
    table.pump()
    for index in range(3):
        table.farm(index)
    again = Peer(end.peer.config)
    DurablePeer(again, store, events_per_snapshot)
    assert again.play.refusal == end.play.refusal
    assert again.play.refusal is not None
