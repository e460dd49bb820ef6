"""One seat: what it may do on each turn, what it sends, what it learns and when."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.games.choices import forced_action
from channelsim.games.contract import Action, Amount, Forced, Play, Player, Seat, Settle
from channelsim.games.errors import BadAdvisory, IllegalAction
from channelsim.games.spacepoker.player import KnownCards, SpacePokerPlayer
from channelsim.games.spacepoker.states import BeginRound, MidRound
from tests.games.table import GAME, Table, by_policy, by_script, sit_down

ALICE_OPENS, BOB_OPENS = "s2", "s1"


def cards_of(player: Player) -> KnownCards:
    assert isinstance(player, SpacePokerPlayer)
    return player.cards


def offers(table: Table) -> dict[str, tuple[int, int, bool]]:
    """Of each choice, by verb: the amounts that it takes, and whether it is forced."""
    choices = table.players[table.position.mover].choices()
    return {
        choice.verb: (choice.least, choice.most, False)
        if isinstance(choice, Amount)
        else (0, 0, isinstance(choice, Forced))
        for choice in choices
    }


def is_forced(table: Table) -> bool:
    return forced_action(table.players[table.position.mover].choices()) is not None


def whose_turn(table: Table) -> Seat:
    return table.position.mover


def play(table: Table, *actions: str) -> Table:
    """These actions, and the forced ones before and after."""
    decide = by_script(actions)
    for _ in actions:
        while is_forced(table):
            table.step(table.next_action())
        table.step(table.next_action(decide, decide))
    while table.payouts is None and is_forced(table):
        table.step(table.next_action())
    return table


def test_choices_through_a_hand() -> None:
    table = sit_down(BOB_OPENS)
    for verb in ("commit", "commit", "pong"):
        assert offers(table) == {verb: (0, 0, True)}
        table.step(Action(verb))
    assert whose_turn(table) is Seat.BOB
    assert offers(table) == {"check": (0, 0, False), "bet": (1, 900, False), "fold": (0, 0, False)}
    play(table, "bet 2")
    assert offers(table) == {"call": (0, 0, False), "raise": (1, 700, False), "fold": (0, 0, False)}
    play(table, "raise 300m")
    assert offers(table) == {"call": (0, 0, False), "raise": (1, 400, False), "fold": (0, 0, False)}
    play(table, "call")
    assert whose_turn(table) is Seat.ALICE  # who raised last opens the next street
    assert offers(table)["bet"] == (1, 400, False)
    play(table, "check", "check", "bet 400m")
    assert offers(table) == {"call": (0, 0, False), "fold": (0, 0, False)}
    play(table, "call")  # both are all-in: what is left plays itself
    assert table.payouts in ((0, 2000), (2000, 0), (1000, 1000))
    verbs = [step.action.verb for step in table.steps]
    assert verbs[-4:] == ["check", "call", "show", "accept"]


@pytest.mark.parametrize(
    ("actions", "kept"),
    [
        (["fold"], 900),
        (["check", "fold"], 900),
        (["bet 3", "fold"], 900),
        (["bet 3", "raise 1", "fold"], 600),
        (["bet 3", "call", "fold"], 600),
        (["bet 3", "call", "check", "bet 6", "fold"], 600),
    ],
)
def test_a_fold_keeps_the_rest_of_the_stack(actions: list[str], kept: int) -> None:
    table = play(sit_down(ALICE_OPENS), *actions)
    folder = table.steps[-1].seat
    assert table.payouts is not None
    assert table.payouts[folder] == kept
    assert table.players[folder].act(Action("fold")) == Settle()


def test_an_action_that_is_not_offered_is_refused_with_the_choices() -> None:
    table = sit_down(ALICE_OPENS).until("begin_round")
    alice, bob = table.players
    for action, reason in (
        (
            Action("call"),
            r"cannot call now; possible: check, bet 0.01 to 9 units \(1 to 900 mojos\)",
        ),
        (Action("bet"), "out of bounds"),
        (Action("bet", 901), r"bet 9.01 units \(901 mojos\) is out of bounds: bet 0.01 to 9 units"),
        (Action("bet", -1), "out of bounds"),
        (Action("check", 1), "check takes no amount"),
        (Action(""), "cannot"),
    ):
        with pytest.raises(IllegalAction, match=reason) as refused:
            alice.act(action)
        assert "\n" not in str(refused.value)
    with pytest.raises(IllegalAction, match="the other player's turn"):
        bob.act(Action("check"))


# --- what is seen, and when ------------------------------------------------------------------


def test_hole_cards_come_with_both_commitments() -> None:
    advised = sit_down(ALICE_OPENS).until("begin_round")
    assert all(cards_of(player).own is not None for player in advised.players)
    silent = sit_down(ALICE_OPENS, advise=False).until("begin_round")
    assert cards_of(silent.players[Seat.ALICE]).own == cards_of(advised.players[Seat.ALICE]).own
    assert cards_of(silent.players[Seat.BOB]).own is None
    silent.step(Action("check"))
    assert cards_of(silent.players[Seat.BOB]).own == cards_of(advised.players[Seat.BOB]).own


def test_the_caller_sees_the_street_early_only_by_the_advisory() -> None:
    silent = play(sit_down(ALICE_OPENS, advise=False), "check", "check")
    advised = play(sit_down(ALICE_OPENS), "check", "check")
    alice, bob = (cards_of(player).board for player in silent.players)
    assert (len(alice), len(bob)) == (3, 0)
    assert [cards_of(player).board for player in advised.players] == [alice, alice]
    play(silent, "check")
    assert cards_of(silent.players[Seat.BOB]).board == alice


@given(st.binary(max_size=8), st.booleans())
@settings(deadline=None)
def test_both_see_the_same_in_the_end(seed: bytes, advise: bool) -> None:
    table = sit_down(seed, advise=advise).play(*[by_policy("caller", "")] * 2)
    alice, bob = (cards_of(player) for player in table.players)
    assert alice.board == bob.board
    assert len(alice.board) == 5
    assert (alice.own, alice.other) == (bob.other, bob.own)


# --- early reveals ---------------------------------------------------------------------------


def test_when_an_advisory_is_due() -> None:
    table = sit_down(BOB_OPENS, advise=False)
    alice, bob = table.players
    assert isinstance(alice, SpacePokerPlayer)
    assert isinstance(bob, SpacePokerPlayer)
    due = []
    while table.payouts is None:
        due.append(tuple(player.advisory() for player in table.players))
        table.step(table.next_action(*[by_policy("caller", "")] * 2))
    a, b = alice.chain, bob.chain
    none = (None, None)
    assert due == [
        *(none, none),  # the commitments
        (a[4], None),  # Alice, before her pong
        *(none, none),  # Bob's value 4 was his commitment
        *((None, b[3]), none, (None, b[2]), none, (None, b[1]), none),
        *(none, none),  # nothing ahead of the showdown
    ]


def test_an_advisory_is_what_the_next_move_reveals_anyway() -> None:
    table = sit_down(BOB_OPENS, advise=False)
    while table.payouts is None:
        player = table.players[table.position.mover]
        ahead = player.advisory()
        action = table.next_action(*[by_policy("caller", "")] * 2)
        if ahead is not None:
            sent = player.act(action)
            assert isinstance(sent, Play)
            assert sent.move[:32] == ahead
        table.step(action)


def test_wrong_late_and_unasked_advisories_are_refused() -> None:
    table = sit_down(ALICE_OPENS, advise=False)
    with pytest.raises(BadAdvisory, match="no early reveal"):
        table.players[Seat.BOB].advised(bytes(32))
    table.until("begin_round")
    alice, bob = table.players
    good = alice.advisory()
    assert good is not None
    for data in (b"", bytes(32), good[:31], good + b"\0", b"x" * 10_000):
        with pytest.raises(BadAdvisory, match="does not open"):
            bob.advised(data)
    with pytest.raises(BadAdvisory, match="no early reveal"):
        alice.advised(good)
    advised = bob.advised(good)
    assert advised is not bob
    with pytest.raises(BadAdvisory, match="known already"):
        advised.advised(good)
    table.step(Action("check"))
    with pytest.raises(BadAdvisory):
        table.players[Seat.BOB].advised(good)


def test_after_a_pong_nothing_is_due_and_nothing_taken() -> None:
    table = sit_down(BOB_OPENS).until("begin_round")
    table.step(Action("pong"))
    alice, bob = table.players
    assert isinstance(bob, SpacePokerPlayer)
    assert bob.advisory() is None
    with pytest.raises(BadAdvisory, match="known already"):
        alice.advised(bob.chain[4])


# --- secrecy ---------------------------------------------------------------------------------


def with_hidden(player: Player, level: int) -> SpacePokerPlayer:
    """The same player with other values below this one: what is not revealed yet."""
    assert isinstance(player, SpacePokerPlayer)
    fake = tuple(bytes([7 + i]) * len(value) for i, value in enumerate(player.chain[:level]))
    return msgspec.structs.replace(player, chain=fake + player.chain[level:])


@given(st.binary(max_size=8), st.integers(1, 4), st.sampled_from(["caller", "random"]))
@settings(deadline=None)
def test_bytes_before_a_reveal_do_not_depend_on_it(seed: bytes, level: int, policy: str) -> None:
    table = sit_down(seed)
    shadows = [with_hidden(player, level) for player in table.players]
    decide = by_policy(policy, seed)
    while table.payouts is None:
        seat = table.position.mover
        action = table.next_action(decide, decide)
        sent, shadow = table.players[seat].act(action), shadows[seat]
        assert shadow.choices() == table.players[seat].choices()
        if isinstance(sent, Play):
            if lowest_revealed(table, action) < level:
                return
            assert shadow.act(action) == sent
            assert shadow.advisory() == table.players[seat].advisory()
        table.step(action)
        shadows = [one.moved(table.position) for one in shadows]


def lowest_revealed(table: Table, action: Action) -> int:
    """The lowest value of the mover's chain that this move needs, by the specification."""
    state = table.position.state
    match table.position.validator, state:
        case "commitA", _:
            return 5
        case "commitB", _:
            return 4
        case _, BeginRound(street=n):
            return n
        case _, MidRound(street=n):
            return n - 1 if action.verb == "call" else n
        case _:
            return 0


@given(st.binary(max_size=8), st.sampled_from(sorted(GAME.policies)))
@settings(deadline=None)
def test_nothing_is_sent_ahead_of_its_time(seed: bytes, policy: str) -> None:
    table = sit_down(seed)
    chains = []
    for player in table.players:
        assert isinstance(player, SpacePokerPlayer)
        chains.append(player.chain)
    lowest = [6, 6]
    while table.payouts is None:
        seat, action = table.position.mover, table.next_action(*[by_policy(policy, seed)] * 2)
        if action.verb not in ("fold", "accept"):
            lowest[seat] = min(lowest[seat], lowest_revealed(table, action))
        ahead = table.players[seat].advisory()
        sent = table.players[seat].act(action)
        table.step(action)
        hidden = chains[seat][: lowest[seat]]
        if isinstance(sent, Play):
            assert not any(value in sent.move for value in hidden)
        if ahead is not None and isinstance(sent, Play):
            assert ahead not in hidden
