"""What a deal compares is what a hand with that deck stacked comes to."""

from __future__ import annotations

from itertools import islice

import pytest

from channelsim.channel.lab.sites.stacked_hands import stays
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Slash, Valid
from channelsim.games.dealing import StackedDealer
from channelsim.games.judge import hashes_of
from channelsim.games.poker.comparisons import ROW_NAMES, showdown
from channelsim.games.poker.games import GAMES
from channelsim.games.poker.states import Begin, End, Score
from channelsim.games.selfplay import PlayedMove, turns_of

HANDS = 6


def played(name: str, cards: tuple[int, ...], chance: Chance) -> list[PlayedMove]:
    """A hand with these cards that comes to its last validator."""
    game = GAMES[name]
    hashes, dealer = hashes_of(game), StackedDealer(game, Chance(b"dealer"))
    for _ in range(100):
        terms = game.terms(game.default_parameters(1, 40))
        terms, entropy = dealer.deal(terms, cards, chance)
        hand = list(islice(turns_of(game, hashes, terms, entropy, (stays, stays), chance), 200))
        if hand[-1].before.validator == list(game.validators)[-1]:
            return hand
    raise AssertionError("no hand comes to its end")


@pytest.mark.parametrize("name", [name for name in GAMES if name != "chinese"])
def test_a_stacked_hand_ends_with_the_hands_that_its_deal_compares(name: str) -> None:
    chance, game = Chance(name.encode()), GAMES[name]
    assert game.pack is not None
    for _ in range(HANDS):
        cards = chance.draw(range(52), game.deck_positions)
        compared = game.pack.compared(cards)
        last = played(name, cards, chance)[-1]
        state = last.before.state
        assert isinstance(state, End)
        ranks = showdown(state, last.play.move, last.play.evidence)
        # The other seat's hand comes first; the mover is the button or that seat.
        assert ranks == (compared["hand"][:: -1 if state.seats.button else 1])
        # The ranks decide as the rules do.
        won = last.amount // 2 - last.play.share + state.put * state.table.unit
        best = ranks is not None and (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
        if "low" not in compared:
            assert won == (1 + best) * state.put * state.table.unit


@pytest.mark.parametrize("name", ["seven-stud", "razz", "five-stud"])
def test_boards_say_who_acts_first(name: str) -> None:
    chance, game = Chance(name.encode()), GAMES[name]
    assert game.pack is not None
    assert set(game.pack.judged.values()) == {"begin"}
    cards = chance.draw(range(52), game.deck_positions)
    compared = game.pack.compared(cards)
    assert "hand" in compared
    assert set(compared) - {"hand"} <= set(game.pack.judged)
    boards = [
        turn.before.state.known
        for turn in played(name, cards, chance)
        if isinstance(turn.before.state, Begin) and turn.before.state.known.movers_up
    ]
    shown = {card for known in boards for _, card in (*known.movers_up, *known.waiters_up)}
    assert shown
    assert shown <= set(cards)


def test_rows_are_compared_unless_one_is_foul() -> None:
    game = GAMES["chinese"]
    assert game.pack is not None
    assert game.showdown is None
    # A pair of twos above a pair of threes above a pair of fours, and the same of higher ranks.
    mine = (0, 1, 20, 4, 5, 25, 29, 33, 8, 9, 26, 30, 34)
    theirs = (12, 13, 37, 16, 17, 38, 42, 46, 48, 49, 39, 43, 47)
    compared = game.pack.compared((*mine, *theirs))
    assert tuple(compared) == ROW_NAMES
    assert all(first < second for first, second in compared.values())
    foul = game.pack.compared((*mine[:3], *mine[8:], *mine[3:8], *theirs))
    assert foul == {"foul": (((0,), ()), ((1,), ()))}
    last = played("chinese", (*mine, *theirs), Chance(b"rows"))[-1]
    assert isinstance(last.before.state, Score)
    assert set(last.before.state.shown) in (set(mine), set(theirs))


def test_nothing_is_compared_without_an_end_and_legal_selections() -> None:
    game = registry.get("holdem")
    cards = tuple(range(game.deck_positions))
    hand = played("holdem", cards, Chance(b"end"))
    move, evidence = hand[-1].play.move, hand[-1].play.evidence
    state = hand[-1].before.state
    assert state is not None
    assert hand[0].before.state is not None
    assert showdown(state, move, evidence) is not None
    assert showdown(state, move, b"") is None
    assert showdown(state, move, (b"", b"")) is None
    assert showdown(state, b"", evidence) is None
    assert showdown(state, move[:-1] + b"\xff", evidence) is None
    assert showdown(hand[0].before.state, move, evidence) is None


@pytest.mark.parametrize("name", ["holdem", "omaha", "omaha8", "seven-stud8", "five-draw"])
def test_the_selections_of_a_game_are_legal(name: str) -> None:
    game = GAMES[name]
    assert game.pack is not None
    last = played(name, tuple(range(51, 51 - game.deck_positions, -1)), Chance(b"all"))[-1]
    state, judge = last.before.state, game.validators["end"].judge
    size = len(game.pack.selections[0])
    verdicts = [
        judge(
            *(state, last.play.move[: len(last.play.move) - size] + selection, last.amount),
            *(last.amount, last.play.evidence, hashes_of(game)),
        )
        for selection in game.pack.selections[:24]
    ]
    assert all(isinstance(verdict, Valid | Slash) for verdict in verdicts)
    assert sum(isinstance(verdict, Valid) for verdict in verdicts) >= min(len(verdicts), 2)
