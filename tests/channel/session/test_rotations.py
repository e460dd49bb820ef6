"""Sessions that alternate between games, betting structures, and antes that are carried over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import AcceptGames, CancelGames, Proposed
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Group
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.script import Script, ScriptedHand
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import (
    Chosen,
    HandEnded,
    HandStarted,
    NoMoreHands,
    SessionEvent,
)
from channelsim.channel.session.setup import ASK, Setup, check
from channelsim.channel.session.side_player import SidePlayer, by_policy, carried
from channelsim.channel.session.transcript import Comparer, Recorder, choices_of, of_lines, unbroken
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Parameters, Seat
from channelsim.games.errors import BadTerms
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.terms import stakes
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.rotations import ROTATIONS
from tests.channel.session.test_driver import OFFER
from tests.channel.table import ANN, BEN, sit

HORSE, CHOICE = ROTATIONS["horse"], ROTATIONS["dealers-choice"]
CHANCE = Chance(b"caller")
LIST = ("five-draw", "chinese", "holdem")


def setup(rotation: str | None, games: tuple[str, ...], hands: int) -> Setup:
    policies = "caller", "caller"
    return check(Setup(games, "rotations", hands, 100, 40, 40_000, policies, rotation=rotation))


def test_horse_is_five_fixed_limit_games_with_the_button_of_each_player_once_in_a_row() -> None:
    """ROT-1; all bets by one number (BET-14)."""
    one = setup("horse", HORSE.games, 20)
    legs = ["holdem", "omaha8", "razz", "seven-stud", "seven-stud8"]
    assert [one.game(hand) for hand in range(20)] == [game for game in legs for _ in "ab"] * 2
    for hand in range(20):
        game = registry.get(one.game(hand))
        alice = one.first(hand)
        assert (alice if game.button is Seat.ALICE else 1 - alice) == hand % 2
        money = stakes(VARIANTS[game.name], game.terms(one.parameters(game.name)))
        assert (money.structure, money.bet, money.cap) == (Structure.FIXED_LIMIT, 4, 3)
        assert money.small_blind in (0, 2)
        assert money.ante == money.bring_in == (0 if VARIANTS[game.name].blinds else 1)


@pytest.mark.parametrize(
    ("games", "buttons"),
    [
        (("holdem", "five-draw", "omaha"), [0, 1, 0, 1, 0, 1]),
        (("razz", "holdem", "omaha"), [0, 1, 0, 1, 0, 1]),
        (("holdem", "five-draw"), [0, 1, 1, 0, 0, 1]),
    ],
)
def test_the_button_passes_in_a_list_of_games(games: tuple[str, ...], buttons: list[int]) -> None:
    """GEN-1; with two games, each player has it in both of them."""
    one = setup(None, games, 6)
    held = []
    for hand in range(6):
        alice = one.first(hand)
        game = registry.get(one.game(hand))
        held.append(alice if game.button is Seat.ALICE else 1 - alice)
    assert [(who + held[0]) % 2 for who in held] == buttons


@pytest.mark.parametrize("game", VARIANTS)
def test_every_game_with_bets_is_played_with_every_structure(game: str) -> None:
    limits = registry.get(game).limits
    assert set(limits) == (set() if game == "chinese" else {"no", "pot", "fixed"})
    one = setup(None, (game,), 1)
    for limit, changes in limits.items():
        chosen = replace(one, limit=limit)
        assert check(chosen).parameters(game).items() >= changes.items()
    with pytest.raises(UsageError, match="--limit deep: " + game):
        check(replace(one, limit="deep"))


class Table:
    """A session of dealer's choice in which the initiator is a person."""

    def __init__(self, one: Setup, *picks: Pick | None) -> None:
        self.setup = one
        self.events: list[SessionEvent] = []
        self.lines: list[bytes] = []
        self.picks = iter(picks)
        self.peers: list[Peer] = []
        self.carried: list[tuple[int, ...]] = []

    def wrap(self, peer: Peer) -> Peer:
        self.peers.append(peer)
        return peer

    def follow(self, event: SessionEvent) -> None:
        self.events.append(event)
        if isinstance(event, HandEnded):
            self.carried.append(tuple(carried(peer.play.history) for peer in self.peers))

    def play(self, deciders: Deciders | None = None) -> None:
        recorder = Recorder(self.setup, self.lines.append)
        person = deciders or Deciders(
            self.setup,
            lambda game, player: registry.get(game).policies["caller"](player, CHANCE),
            person_chooses=lambda number: next(self.picks),
        )
        result = Session(
            person,
            [recorder, self.follow],
            wrap=self.wrap,
            simulated_dealer=True,
        ).run()
        recorder.finish(result)
        assert result.checks.python_clvm_agree
        assert result.checks.conserved

    def found(self, kind: type[SessionEvent]) -> Iterator[SessionEvent]:
        return (event for event in self.events if isinstance(event, kind))


def test_the_dealer_names_each_game_and_antes_of_hands_passed_out_go_on() -> None:
    """DC-1 to DC-3, DRAW-3: Chinese Poker skips the carried ante. A replay goes the same way."""
    hands = (
        ScriptedHand(),
        ScriptedHand(game="five-draw no", actions=("initiator check", "receiver check")),
        ScriptedHand(actions=("receiver fold",)),
        ScriptedHand(game="holdem fixed", actions=("receiver fold",)),
        ScriptedHand(actions=("initiator fold",)),
    )
    one = replace(setup("dealers-choice", LIST, 5), script=Script(hands), policies=(ASK, "folder"))
    table = Table(check(one), Pick("five-draw", "pot"), Pick("chinese"), Pick("holdem"))
    table.play()
    started = [event for event in table.found(HandStarted) if isinstance(event, HandStarted)]
    antes = [dict(event.hand.terms.parameters).get("ante") for event in started]
    assert [(event.game, ante) for event, ante in zip(started, antes, strict=True)] == [
        ("five-draw", 1),
        ("five-draw", 2),
        ("chinese", None),
        ("holdem", 2),
        ("holdem", None),
    ]
    # Each peer on its own finds the same in the states that it has.
    assert table.carried == [(mojos, mojos) for mojos in (100, 200, 200, 0, 0)]
    chosen = [event for event in table.found(Chosen) if isinstance(event, Chosen)]
    assert [event.player for event in chosen] == ["initiator", "receiver"] * 2 + ["initiator"]
    assert [event.limit for event in chosen] == ["pot", "no", None, "fixed", None]
    data = b"".join(table.lines)
    recorded = of_lines(Path("it"), *unbroken(Path("it"), data))
    again = Table(table.setup)
    again.play(Deciders(again.setup, recorded=choices_of(recorded, "initiator")))
    assert again.lines == table.lines
    comparer = Comparer(Path("it"), recorded.lines)
    for line in again.lines:
        comparer(line)
    comparer.finish()


@pytest.mark.parametrize(
    ("game", "limit", "stack", "reason"),
    [
        ("holdem", None, 40, ""),
        ("holdem", "pot", 40, ""),
        ("chinese", None, 40, ""),
        ("omaha", None, 40, "the next hand is one of five-draw or chinese or holdem"),
        ("holdem", "pot", 41, "other parameters than those agreed on"),
    ],
)
def test_a_dealer_names_any_game_of_the_list_and_nothing_else(
    game: str, limit: str | None, stack: int, reason: str
) -> None:
    """DC-1: with any of its betting structures, for the stakes agreed on."""
    one = setup("dealers-choice", LIST, 2)
    table = sit("choice", decks=one.agreement.decks, contributions=(40_000, 40_000)).open()
    receiver = SidePlayer(one, table.ends[BEN].peer, by_policy("caller", bytes(32)))
    parameters = replace(one, stack=stack).parameters(game, limit)
    first = one.first(0, game) == ANN
    offer = changed(OFFER, game=game, parameters=parameters, proposer_is_alice=first)
    answer = CancelGames(0, reason) if reason else AcceptGames(0)
    assert receiver.answer(Proposed(Group(ANN, (offer,)))) == answer


def test_a_dealer_that_names_no_game_closes_the_channel() -> None:
    """DC-2: no hand is played, and nothing is lost."""
    one = replace(setup("dealers-choice", LIST, 1), policies=(ASK, "caller"))
    table = Table(one, None)
    table.play()
    assert list(table.found(Chosen)) == [Chosen("initiator", 0, None, None)]
    assert list(table.found(NoMoreHands)) == [NoMoreHands("the initiator names no other game")]
    assert not list(table.found(HandStarted))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bridge", "script: hand 1, game: 'bridge' is not on the list: five-draw, chinese, holdem"),
        ("holdem deep", "script: hand 1, game: holdem has the limits no, pot, fixed, not 'deep'"),
        ("chinese no", "script: hand 1, game: chinese has no choice of a limit, not 'no'"),
    ],
)
def test_a_dealer_names_a_game_of_the_list(text: str, reason: str) -> None:
    one = setup("dealers-choice", LIST, 1)
    with pytest.raises(UsageError) as raised:
        Table(replace(one, script=Script((ScriptedHand(game=text),)))).play()
    assert str(raised.value) == reason


def test_an_ante_is_carried_as_far_as_the_stake_goes() -> None:
    """DRAW-3: the rest of the forced bets stay as they are."""
    game = registry.get("holdem")
    assert game.carry is not None
    usual = game.default_parameters(100, 10)
    for mojos, ante in ((0, None), (99, None), (100, 1), (800, 8), (900, 8)):
        more: Parameters = game.carry.add(usual, mojos)
        assert more.get("ante") == ante
        assert game.terms(more).amount == 2000
    with pytest.raises(BadTerms, match="PK-TERMS-5"):
        game.terms({**usual, "ante": 9})
