"""Whole hands of Hold'em between players; every move is judged by the rules and the programs."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from channelsim.clsp.values import NIL
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.choices import forced_action, least_action
from channelsim.games.contract import Action, Amount, Forced, Player, Seat, Slash, Valid
from channelsim.games.errors import BadAdvisory, IllegalAction
from channelsim.games.poker.known_cards import KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.policies import sampled_equity
from channelsim.games.poker.states import Begin
from channelsim.games.poker.variants import VARIANTS
from tests.games.table import Table, ask_rules, by_policy, sit_down

GAME = registry.get("holdem")
POLICIES = tuple(GAME.policies)


def table(seed: str, stack: int = 40, **options: bool) -> Table:
    return sit_down(seed, 100, stack, GAME, **options)


def cards(player: Player) -> KnownCards:
    assert isinstance(player, PokerPlayer)
    return player.cards


def played(seed: str, *actions: str, stack: int = 40) -> Table:
    left = list(actions)

    def decide(player: Player) -> Action:
        return GAME.read_action(player, left.pop(0))

    found = table(seed, stack)
    while left:
        found.step(found.next_action(decide, decide))
    return found


@pytest.mark.parametrize("names", [*product(POLICIES[1:], repeat=2)][::3], ids="-".join)
def test_policies_play_to_the_end(names: tuple[str, str]) -> None:
    for number, stack in enumerate((2, 7, 60)):
        seed = f"{names} {number}"
        decide = [by_policy(name, f"{seed} {name}", GAME) for name in names]
        hand = table(seed, stack).play(*decide)
        assert hand.payouts is not None
        assert sum(hand.payouts) == hand.terms.amount
        assert min(hand.payouts) >= 0


def test_a_checked_hand_is_decided_by_the_cards() -> None:
    endings: Counter[str] = Counter()
    for seed in range(6):
        hand = table(f"check {seed}").play(*[by_policy("caller", "", GAME)] * 2)
        names = [turn.before.validator for turn in hand.steps[:-1]]
        assert names[:3] == ["deal", "begin", "mid"]
        assert names[-2:] == ["show", "end"]
        result = GAME.summary(hand.hand, None)["result"]
        assert hand.payouts is not None
        endings[result["kind"]] += 1
        winner = {"ann": (4200, 3800), "ben": (3800, 4200), None: (4000, 4000)}[result["winner"]]
        assert hand.payouts == winner
    assert endings["showdown"] > 2


def test_a_player_learns_its_cards_when_the_opponent_opens_them() -> None:
    one = table("learn", advise=False)
    alice, bob = one.players
    assert cards(alice) == cards(bob) == KnownCards()
    one.step(Action("deal"))
    assert len(cards(one.players[Seat.BOB]).own) == 2
    assert cards(one.players[Seat.ALICE]) == KnownCards()
    one.step(Action("call"))
    assert len(cards(one.players[Seat.ALICE]).own) == 2
    one.step(Action("check"))
    # The caller has opened its locks of the flop; its opponent is the first to know it.
    assert one.position.mover is Seat.BOB
    assert [len(cards(player).board) for player in one.players] == [0, 3]
    one.step(Action("pong"))
    assert [cards(player).board for player in one.players] == [cards(one.players[1]).board] * 2
    assert not set(cards(one.players[0]).own) & set(cards(one.players[1]).own)
    assert cards(one.players[0]).others == ()


def test_an_early_reveal_shows_what_the_next_move_opens() -> None:
    one = table("early", advise=False)
    one.step(Action("deal"))
    bob, alice = one.players[Seat.BOB], one.players[Seat.ALICE]
    data = bob.advisory()
    assert data is not None
    assert len(cards(alice.advised(data)).own) == 2
    assert alice.advisory() is None
    for wrong in (data[:-1], data[::-1], data[32:] + data[:32], b""):
        with pytest.raises(BadAdvisory):
            alice.advised(wrong)
    with pytest.raises(BadAdvisory):
        bob.advised(data)
    one.step(Action("call"))
    with pytest.raises(BadAdvisory):
        one.players[Seat.BOB].advised(data)


def test_an_early_reveal_of_the_board_claims_its_cards() -> None:
    one = table("early board", advise=False)
    for verb in ("deal", "call", "raise", "call"):
        mover = one.players[one.position.mover]
        choice = next(choice for choice in mover.choices() if choice.verb == verb)
        one.step(least_action(choice))
    alice, bob = one.players
    data = alice.advisory()
    assert data is not None
    assert len(data) == 3 * 33
    assert cards(bob.advised(data)).board == cards(alice).board
    with pytest.raises(BadAdvisory):
        bob.advised(data[:-1] + bytes((data[-1] ^ 1,)))


def test_the_first_player_to_act_after_the_flop_has_no_button() -> None:
    one = played("order", "call", "check")
    one.step(Action("pong"))
    assert one.position.mover is Seat.ALICE
    assert {choice.verb for choice in one.players[0].choices()} == {"check", "bet", "fold"}


def test_the_big_blind_may_raise_a_call() -> None:
    one = played("option", "call")
    verbs = [choice.verb for choice in one.players[one.position.mover].choices()]
    assert verbs == ["check", "raise", "fold"]


def test_bets_are_whole_chips_within_the_limits() -> None:
    one = played("limits")
    one.step(Action("deal"))
    (raises,) = (c for c in one.players[1].choices() if isinstance(c, Amount))
    assert (raises.least, raises.most, raises.step) == (200, 3800, 100)
    for amount in (100, 250, 3900):
        with pytest.raises(IllegalAction):
            one.players[1].act(Action("raise", amount))
    one.step(Action("raise", 500))
    (raises,) = (c for c in one.players[0].choices() if isinstance(c, Amount))
    assert (raises.least, raises.most) == (500, 3300)


def test_all_in_runs_the_board_out() -> None:
    one = played("all-in", "all-in", "call")
    assert one.position.validator == "show"
    assert len(one.position.move) == 1 + 32 * 5
    one.play(*[by_policy("caller", "", GAME)] * 2)
    assert [step.action.verb for step in one.steps[-3:-1]] == ["show", "show"]
    assert set(one.payouts or ()) in ({0, 8000}, {4000})


def test_a_blind_for_the_whole_stake_is_only_called() -> None:
    one = table("short", stack=2)
    one.step(Action("deal"))
    assert [choice.verb for choice in one.players[1].choices()] == ["call", "fold"]
    one.step(Action("call"))
    assert one.players[0].choices() == (Forced("check", hint="both players are all-in"),)
    one.play(*[by_policy("caller", "", GAME)] * 2)


def test_a_fold_leaves_the_pot_to_the_opponent() -> None:
    one = played("fold", "raise 4", "fold")
    assert one.payouts == (4000 - 200, 4000 + 200)
    one = played("fold", "fold")
    assert one.payouts == (4000 + 100, 4000 - 100)


def test_a_losing_hand_may_be_shown_or_mucked_for_the_same_share() -> None:
    for seed in range(20):
        one = table(f"muck {seed}").until("end", *[by_policy("caller", "", GAME)] * 2)
        choices = one.players[one.position.mover].choices()
        if forced_action(choices) is None:
            break
    assert [choice.verb for choice in choices] == ["show", "muck"]
    play = one.players[one.position.mover].act(Action("show"))
    share = one.terms.amount - one.position.mover_share
    assert getattr(play, "share", None) == share
    one.step(Action("muck"))
    assert one.payouts is not None
    assert one.payouts[one.position.mover] == one.terms.amount - share


def test_a_false_showdown_is_slashed_with_the_opponents_evidence() -> None:
    slashed = 0
    for seed in range(3):
        one = table(f"false {seed}").until("end", *[by_policy("caller", "", GAME)] * 2)
        before, mover = one.position, one.position.mover
        play = one.players[mover].act(Action("show"))
        (evidence,) = one.players[mover.other].evidence(before, play.move)  # type: ignore[union-attr]
        move, share = play.move, play.share  # type: ignore[union-attr]
        amount = one.terms.amount
        judged = ask_rules(before, move, share, amount, evidence, GAME)  # type: ignore[arg-type]
        assert isinstance(judged, Valid)
        judged = ask_rules(before, move, share - 1, amount, evidence, GAME)  # type: ignore[arg-type]
        assert judged == Slash("PK-END-6")
        slashed += 1
        assert one.players[mover].evidence(before, move) == ()
    assert slashed == 3
    assert table("none").players[0].evidence(one.steps[0].before, NIL) == ()


def test_all_in_is_the_highest_raise_or_else_the_call() -> None:
    one = played("words", "all-in")
    assert GAME.read_action(one.players[0], "All in") == Action("call")
    with pytest.raises(IllegalAction):
        GAME.read_action(one.players[0], "raise 2")
    one = played("words")
    with pytest.raises(IllegalAction):
        GAME.read_action(one.players[0], "all-in")


def test_equity_is_that_of_the_cards() -> None:
    rules = VARIANTS["holdem"].showdown
    chance = Chance(b"equity")
    aces = sampled_equity(rules, KnownCards(own=(51, 50)), chance, 60)
    weak = sampled_equity(rules, KnownCards(own=(0, 21)), chance, 60)
    # Quad aces on the board with a king: nobody can win more than half.
    tie = sampled_equity(rules, KnownCards(own=(0, 5), board=(48, 49, 50, 51, 47)), chance, 20)
    assert weak < 0.55 < 0.7 < aces
    assert tie == 0.5


def test_states_of_a_street_name_it() -> None:
    one = table("parts").play(*[by_policy("caller", "", GAME)] * 2)
    assert tuple(dict.fromkeys(GAME.part(step.before) for step in one.steps)) == GAME.parts
    # The big blind closes the first street, so that the button pongs on the second one.
    assert sum(isinstance(step.before.state, Begin) for step in one.steps) == 4 + 1
