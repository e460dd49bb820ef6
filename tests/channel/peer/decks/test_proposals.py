"""Games that name a deck: what is accepted, what is refused, and when cards are opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    Command,
    DeckBurnt,
    DeckReady,
    Erase,
    GameSettled,
    GoOnChain,
    Ignored,
    NotProposed,
    PrepareDeck,
    ProposeGames,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    Cancel,
    DeckAbort,
    DeckStep,
    Message,
    Move,
    NamedDeck,
    Propose,
    decode,
)
from channelsim.channel.protocol.proposals import Wish, offer_of
from channelsim.channel.protocol.state import Side
from channelsim.games.contract import Action, Player
from tests.channel.peer.decks import high_card
from tests.channel.table import ANN, BEN, STAKE, TIMEOUT, Cheat, Table, sit, wish

SETTINGS = DeckSettings(4, 8, high_card.TOY, demonstration=True)


@pytest.fixture(autouse=True)
def _game() -> Iterator[None]:
    with high_card.registered():
        yield


def opened(seed: str = "decks") -> Table:
    return sit(seed, decks=SETTINGS).open()


def prepare(table: Table, decks: int = 1) -> Table:
    """Prepare decks, one after the other."""
    for _ in range(decks):
        table.command(BEN, PrepareDeck())
        while table.driver.finish_step() or table.mail:
            table.pump()
    return table


def high(*, alice: bool = True, deck: int | None = None) -> Wish:
    return Wish("highcard", {"amount": 2 * STAKE}, TIMEOUT, alice, deck)


def call(player: Player) -> Action:
    return Action(player.choices()[0].verb)


def sent(table: Table) -> list[tuple[int, Message]]:
    return [(sender, decode(blob)) for sender, blob in table.sent]


@pytest.mark.parametrize("proposer", [ANN, BEN])
@pytest.mark.parametrize("alice", [True, False])
def test_a_game_with_a_deck_is_played(proposer: Side, alice: bool) -> None:
    table = prepare(opened())
    table.propose(proposer, high(alice=alice)).go_on(call, call)
    table.farm().go_on(call, call)
    settled = [one for one in table.ends[ANN].news if isinstance(one, GameSettled)]
    assert len(settled) == 1
    assert {settled[0].ours, settled[0].theirs} == {0, 2 * STAKE}
    for end in table.ends:
        assert end.peer.phase is Phase.PLAYING
        assert not end.state.games


def test_every_deck_is_used_once() -> None:
    table = prepare(opened(), 3)
    for number in (1, 2, 3):
        table.propose(number % 2, high()).go_on(call, call)
        offers = [
            offer
            for _, message in sent(table)
            if isinstance(message, Batch)
            for action in message.actions
            if isinstance(action, Propose)
            for offer in action.offers
        ]
        named = offers[-1].deck
        assert named is not None
        assert named.number == number
    with pytest.raises(UsageError, match="no deck is ready"):
        table.propose(ANN, high())


def test_a_game_without_a_deck_names_none() -> None:
    table = prepare(opened())
    table.propose(ANN, wish()).go_on()
    assert [*table.ends[ANN].play.decks.ready] == [1]


def test_a_group_names_a_deck_for_each_game() -> None:
    table = prepare(opened(), 2)
    table.propose(ANN, high(), high(alice=False)).go_on(call, call)
    table.farm().go_on(call, call)
    assert len([one for one in table.ends[BEN].news if isinstance(one, GameSettled)]) == 2


# --- what is refused -----------------------------------------------------------------------------


def refusals(table: Table) -> list[str]:
    """The reasons of all cancellations that were sent."""
    batches = [message for _, message in sent(table) if isinstance(message, Batch)]
    actions = [action for batch in batches for action in batch.actions]
    return [action.reason for action in actions if isinstance(action, Cancel)]


def proposal(table: Table, *numbers: int, change: NamedDeck | None = None) -> list[str]:
    """Have Ann propose games with these decks, whatever her peer thinks; Ben's reasons against."""
    table.ask(ANN)
    cheat = Cheat(table, ANN)
    state = table.ends[ANN].state
    first = state.next_ids[ANN]
    channel = table.channel
    offers = tuple(
        offer_of(channel, ANN, first + 2 * at, high(deck=number))
        for at, number in enumerate(numbers)
    )
    if change is not None:
        offers = (replace(offers[0], deck=change),)
    table.receive(BEN, cheat.batch(Propose(offers)))
    assert table.ends[BEN].peer.phase is Phase.PLAYING, "it is cancelled, and no violation"
    return refusals(table)


def test_a_deck_that_is_named_twice_is_refused() -> None:
    """PD-9: with exchanged seats, two openings would show hidden cards."""
    assert proposal(prepare(opened()), 1, 1) == ["PD-9: deck 1 is named twice"]


def test_a_deck_that_an_earlier_proposal_named_is_refused() -> None:
    table = prepare(opened())
    table.propose(ANN, high()).until(lambda: bool(table.ends[BEN].offers))
    group = table.ends[BEN].offers.popitem()[0]
    channel = table.channel
    table.command(BEN, CancelGames(group, "not now"))
    table.pump()
    assert not table.ends[ANN].endpoint.decks
    offer = offer_of(channel, ANN, 2, high(deck=1))
    table.receive(BEN, Cheat(table, ANN).batch(Propose((offer,))))
    assert refusals(table) == ["not now", "PD-10: deck 1 is not ready, or has been used"]


def test_another_root_is_refused() -> None:
    table = prepare(opened())
    (reason,) = proposal(table, 1, change=NamedDeck(1, bytes(32)))
    assert reason == "PD-9: deck 1 has another root"


@pytest.mark.parametrize("number", [7, 1 << 31])
def test_an_unknown_deck_is_refused(number: int) -> None:
    table = prepare(opened())
    (reason,) = proposal(table, 1, change=NamedDeck(number, bytes(32)))
    assert reason == f"PD-9: deck {number} is unknown"


def test_a_number_that_was_named_before_its_deck_began_is_still_free() -> None:
    """PD-9: a refused proposal uses up nothing."""
    table = prepare(opened())
    assert proposal(table, 1, change=NamedDeck(2, bytes(32))) == ["PD-9: deck 2 is unknown"]
    table.command(BEN, PrepareDeck())
    assert [*table.ends[BEN].play.decks.decks] == [1, 2]


def test_a_deck_that_was_given_up_is_refused() -> None:
    table = prepare(opened())
    table.receive(BEN, DeckAbort(1))
    (reason,) = proposal(table, 1)
    assert reason == "PD-10: deck 1 is not ready, or has been used"


def test_a_game_with_a_deck_and_a_name_without_one_are_refused() -> None:
    table = prepare(opened())
    table.ask(ANN)
    offer = replace(offer_of(table.channel, ANN, 0, high(deck=1)), deck=None)
    table.receive(BEN, Cheat(table, ANN).batch(Propose((offer,))))
    assert "none is named" in refusals(table)[0]
    table = prepare(opened("other"))
    table.ask(ANN)
    offer = replace(offer_of(table.channel, ANN, 0, wish()), deck=NamedDeck(1, bytes(32)))
    table.receive(BEN, Cheat(table, ANN).batch(Propose((offer,))))
    assert "is played without a deck" in refusals(table)[0]


def test_a_proposal_whose_deck_was_named_in_the_meantime_is_never_sent() -> None:
    table = prepare(opened())
    assert table.holder() == BEN
    # Ben holds the potato, so that Ann's wish waits in her queue.
    table.command(ANN, ProposeGames((high(),)))
    table.take_mail()
    table.propose(BEN, high())
    table.pump()
    group = table.ends[ANN].offers.popitem()[0]
    table.command(ANN, AcceptGames(group))
    table.go_on(call, call)
    news = [one for one in table.ends[ANN].news if isinstance(one, NotProposed)]
    assert [one.reason for one in news] == ["no deck is ready for highcard"]
    assert not any(end.state.groups for end in table.ends)


# --- openings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("alice", [True, False])
def test_cards_are_opened_on_top_of_a_state_that_the_opener_can_complete(alice: bool) -> None:
    """PD-15: in the batch of the accept, the other side could look, and let the game vanish."""
    table = prepare(opened())
    table.propose(ANN, high(alice=alice)).go_on(call, call)
    table.farm().go_on(call, call)
    games: dict[int, int] = {}
    for sender, message in sent(table):
        match message:
            case Advisory(game_id):
                assert games[game_id] != sender
            case Batch(_, actions):
                for action in actions:
                    match action:
                        case Accept(group_id):
                            games[group_id] = sender
                        case Move(game_id) if games[game_id] == sender:
                            received = [
                                other
                                for who, other in sent(table)
                                if who != sender
                                and isinstance(other, Batch)
                                and other.number < message.number
                                and other.number > 2
                            ]
                            assert received, "the accept itself must have been answered"
                        case _:
                            pass
                accepts = any(isinstance(action, Accept) for action in actions)
                assert not (accepts and any(isinstance(action, Move) for action in actions))
            case _:
                pass


def test_the_acceptor_that_opens_asks_for_the_potato_at_once() -> None:
    """It needs no block in between."""
    table = prepare(opened())
    height = table.chain.peak()
    table.propose(ANN, high(alice=False)).go_on(call, call)
    assert [one for one in table.ends[ANN].news if isinstance(one, GameSettled)]
    assert table.chain.peak() == height


# --- secrets and records -------------------------------------------------------------------------


def test_locks_are_erased_when_the_game_is_final() -> None:
    """PD-16; the store is told so."""
    table = prepare(opened())
    table.propose(ANN, high()).until(lambda: bool(table.ends[BEN].state.games))
    for end in table.ends:
        assert [*end.endpoint.decks] == [1]
        assert not end.play.decks.ready
    table.go_on(call, call)
    table.propose(ANN, wish()).go_on()
    for end in table.ends:
        assert not end.endpoint.decks
        assert not end.endpoint.channel.decks
        assert end.effects.count(Erase(1)) == 1


def test_the_locks_of_a_deck_are_erased_with_the_cancellation_of_its_proposal() -> None:
    """PD-16: at once, also by the side that cancels, whatever follows."""
    table = prepare(opened())
    (reason,) = proposal(table, 1, change=NamedDeck(1, bytes(32)))
    assert reason == "PD-9: deck 1 has another root"
    assert not table.ends[BEN].endpoint.decks
    assert table.ends[BEN].effects.count(Erase(1)) == 1
    table = prepare(opened())
    table.propose(ANN, high()).until(lambda: bool(table.ends[BEN].offers))
    table.command(BEN, CancelGames(table.ends[BEN].offers.popitem()[0], "not now"))
    assert not table.ends[BEN].endpoint.decks
    assert table.ends[BEN].effects.count(Erase(1)) == 1


def test_the_other_side_never_has_our_locks() -> None:
    table = prepare(opened())
    for end, other in (table.ends, table.ends[::-1]):
        deck = end.endpoint.decks[1]
        assert len(deck.own_locks) == SETTINGS.positions
        assert other.endpoint.decks[1].own_locks != deck.own_locks
        assert end.endpoint.channel.decks[1].own_locks == ()
        said = b"".join(blob for _, blob in table.sent)
        for lock in deck.own_locks:
            assert lock.to_bytes(32, "big") not in said


def test_unused_decks_are_erased_when_play_ends() -> None:
    for ending in (Close(), GoOnChain()):
        table = prepare(opened(), 2)
        table.command(BEN, ending)
        table.pump()
        end = table.ends[BEN]
        assert end.peer.phase is not Phase.PLAYING
        assert not end.endpoint.decks
        assert not end.play.decks.decks
        assert {Erase(1), Erase(2)} <= {*end.effects}


@pytest.mark.parametrize("ending", [Close(), GoOnChain()])
def test_the_deck_of_an_open_proposal_is_erased_when_play_ends(ending: Command) -> None:
    table = prepare(opened())
    table.propose(ANN, high()).until(lambda: bool(table.ends[BEN].offers))
    end = table.ends[BEN]
    assert [*end.endpoint.decks] == [1]
    table.command(BEN, ending)
    table.ends[BEN].offers.clear()
    table.pump()
    assert end.peer.phase is not Phase.PLAYING
    assert not end.endpoint.decks
    assert Erase(1) in end.effects


# --- a fault is no violation ----------------------------------------------------------------------


def test_a_fault_in_a_preparation_leaves_the_channel_as_it_is() -> None:
    table = opened()
    table.command(BEN, PrepareDeck())
    table.driver.finish_step()
    step = decode(table.take_mail())
    assert isinstance(step, DeckStep)
    table.receive(ANN, DeckStep(1, 1, step.data[:-1]))
    table.driver.finish_step()
    burnt = [one for one in table.ends[ANN].news if isinstance(one, DeckBurnt)]
    assert [(one.number, one.rule, one.step) for one in burnt] == [(1, "PD-2", 1)]
    table.pump()
    prepare(table)
    assert DeckReady(2) in table.ends[ANN].news
    table.propose(ANN, high()).go_on(call, call)
    assert table.ends[BEN].news_of(GameSettled)


def test_a_preparation_changes_no_state_and_needs_no_potato() -> None:
    table = opened()
    states = [end.state for end in table.ends]
    assert table.holder() == BEN
    prepare(table)
    table.command(ANN, PrepareDeck())
    while table.driver.finish_step() or table.mail:
        table.pump()
    assert [*table.ends[ANN].play.decks.ready] == [1, 2]
    assert [end.state for end in table.ends] == states
    assert table.holder() == BEN


def test_decks_are_prepared_while_a_hand_is_played() -> None:
    table = prepare(opened())
    table.propose(ANN, high())
    table.command(BEN, PrepareDeck())
    while table.driver.finish_step() or table.step(call, call):
        pass
    table.propose(BEN, high()).go_on(call, call)
    table.farm().go_on(call, call)
    assert len(table.ends[ANN].news_of(GameSettled)) == 2


def test_a_repeat_of_a_step_between_other_messages_is_answered_again() -> None:
    table = opened()
    table.command(BEN, PrepareDeck())
    table.driver.finish_step()
    one = table.take_mail()
    table.receive(ANN, one)
    table.driver.finish_step()
    two = table.take_mail()
    table.receive(ANN, one)
    assert table.take_mail() == two
    assert not table.ends[ANN].news_of(Ignored)


def test_a_step_that_is_late_is_given_up_without_a_dispute() -> None:
    table = opened()
    table.command(BEN, PrepareDeck())
    table.driver.finish_step()
    table.take_mail()
    table.farm(15)
    assert [one.number for one in table.ends[BEN].news if isinstance(one, DeckBurnt)] == [1]
    assert table.ends[BEN].peer.phase is Phase.PLAYING


def test_a_step_that_comes_before_play_waits_for_it() -> None:
    table = sit("early", decks=SETTINGS)
    table.start().pump()
    step = DeckStep(1, 1, b"x")
    table.receive(ANN, step)
    table.receive(ANN, DeckStep(1, 1, b"y"))
    table.receive(ANN, DeckAbort(4))
    assert table.ends[ANN].peer.phase is Phase.FUNDING
    table.open() if table.mail else table.farm(7)
    assert table.ends[ANN].peer.phase is Phase.PLAYING
    table.driver.finish_step()
    burnt = [one for one in table.ends[ANN].news if isinstance(one, DeckBurnt)]
    assert [one.rule for one in burnt] == ["PD-2"]


def test_steps_during_the_shutdown_are_ignored() -> None:
    table = prepare(opened())
    table.command(BEN, PrepareDeck())
    table.command(BEN, Close())
    assert table.ends[BEN].peer.phase is Phase.CLOSING
    table.receive(BEN, DeckStep(0, 0, b""))
    table.receive(BEN, DeckAbort(1))
    table.driver.finish_step()
    assert table.ends[BEN].peer.phase is Phase.CLOSING
    table.pump().farm(6)
    assert all(end.peer.phase is Phase.CLOSED for end in table.ends)
