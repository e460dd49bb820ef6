"""Two games in one channel: in turn, and live at once, each with its own turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Act, GameSettled, GameStarted, Moved, News, YourTurn
from channelsim.channel.protocol.messages import Batch, Move, decode
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.identity import secret_of
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import HandStarted, Sent, SessionEvent, StepMade
from channelsim.channel.session.setup import Setup, check
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Player
from tests.channel.table import ANN, BEN, TIMEOUT, Table, sit

NAMES = ("spacepoker", "calpoker")


def wish(name: str, *, alice: bool = True) -> Wish:
    parameters = registry.get(name).default_parameters(100, 10)
    return Wish(name, parameters, TIMEOUT, alice)


def decider(seed: str) -> Callable[[Player], Action]:
    """Plays any game by its first policy."""
    chance = Chance(seed.encode())

    def decide(player: Player) -> Action:
        game = registry.get(player.terms.game)  # type: ignore[attr-defined]
        return next(iter(game.policies.values()))(player, chance)

    return decide


def news(table: Table, index: int, kind: type[News]) -> list[News]:
    return [one for one in table.ends[index].news if isinstance(one, kind)]


def finish(table: Table) -> None:
    table.go_on(decider("ann"), decider("ben"))
    for index in (ANN, BEN):
        assert len(news(table, index, GameSettled)) == 2
        assert table.ends[index].state.games == ()
        disagreements = [m.disagreements for m in news(table, index, Moved) if isinstance(m, Moved)]
        assert disagreements
        assert set(disagreements) == {()}
    assert sum(table.ends[0].state.balances) == table.channel.coin.amount


@pytest.mark.parametrize("ben_is_alice", [False, True])
def test_a_group_of_two_different_games(ben_is_alice: bool) -> None:
    table = sit("a group").open()
    table.propose(ANN, wish("spacepoker"), wish("calpoker", alice=not ben_is_alice))
    both_live = 0
    decide = decider("ann"), decider("ben")
    while table.step(*decide):
        both_live += len(table.ends[0].state.games) == 2
    assert both_live
    started = [one for one in table.ends[BEN].news if isinstance(one, GameStarted)]
    assert sorted(one.game.terms.game for one in started) == sorted(NAMES)
    finish(table)


def test_two_proposals_accepted_one_after_the_other() -> None:
    table = sit("two proposals").open()
    table.propose(ANN, wish("calpoker"))
    table.until(lambda: bool(table.ends[0].state.games), decider("a"), decider("b"))
    table.propose(BEN, wish("spacepoker"))
    table.until(lambda: len(table.ends[0].state.games) == 2, decider("a"), decider("b"))
    games = {game.terms.game for game in table.ends[0].state.games}
    assert games == set(NAMES)
    finish(table)


def test_a_turn_in_one_game_is_not_a_turn_in_the_other() -> None:
    """With Ann first in one and Ben first in the other: both are asked in both, one by one,
    and a batch carries moves in both."""
    table = sit("turns").open()
    table.propose(ANN, wish("spacepoker"), wish("calpoker", alice=False))
    in_one_batch = 0
    decide = decider("ann"), decider("ben")
    while table.step(*decide):
        if table.mail and isinstance(batch := decode(table.mail[0][1]), Batch):
            in_one_batch = max(in_one_batch, sum(isinstance(a, Move) for a in batch.actions))
    assert in_one_batch == 2
    for end in table.ends:
        asked = [turn.game_id for turn in end.news if isinstance(turn, YourTurn)]
        assert set(asked) == {0, 2}
        assert asked.count(2) == 1
    finish(table)


def test_an_action_of_one_game_is_refused_in_the_other() -> None:
    table = sit("mixed up").open()
    table.propose(ANN, wish("calpoker"))
    end = table.ends[ANN]
    table.until(lambda: bool(end.turns), decider("a"), decider("b"))
    with pytest.raises(UsageError, match="cannot bet now; possible: discard"):
        table.command(ANN, Act(min(end.turns), Action("bet", 100)))
    table.go_on(decider("a"), decider("b"))


# --- games in turn -----------------------------------------------------------------------------


def played(
    games: tuple[str, ...], hands: int, policies: tuple[str, str], seed: str
) -> list[SessionEvent]:
    setup = check(Setup(games, seed, hands, 100, 10, 1000 * hands, policies))
    events: list[SessionEvent] = []
    result = Session(Deciders(setup), [events.append]).run()
    assert result.checks.python_clvm_agree
    assert result.checks.conserved
    assert len(result.hands) == hands
    return events


@pytest.mark.parametrize("games", [("calpoker",), NAMES, NAMES[::-1]])
def test_roles_alternate_fairly_in_every_game(games: tuple[str, ...]) -> None:
    events = played(games, 4, ("random", "random"), "roles")
    starts = [event for event in events if isinstance(event, HandStarted)]
    assert [event.game for event in starts] == [games[i % len(games)] for i in range(4)]
    assert [event.proposer for event in starts] == ["initiator", "receiver"] * 2
    for game in games:
        first = [event.hand.names[0] for event in starts if event.game == game]
        assert sorted(first) == sorted(["initiator", "receiver"] * (len(first) // 2))


def test_a_policy_of_one_game_leaves_the_other_to_its_first() -> None:
    events = played(NAMES, 2, ("aggressive", "greedy"), "mixed")
    verbs = {
        event.game: [step.action.verb for step in event.hand.steps]
        for event in events
        if isinstance(event, StepMade)
    }
    assert "bet" in verbs["spacepoker"] or "raise" in verbs["spacepoker"]
    assert verbs["calpoker"] == ["commit", "seed", "discard", "discard", "reveal", "accept"]


def test_no_message_before_the_reveal_has_a_byte_of_the_salt() -> None:
    """On the wire: the salt of each Alice comes with her reveal, in no message before it."""
    events = played(("calpoker",), 2, ("best-response", "greedy"), "wire")
    for number, side in enumerate(Side):
        channel = derive(secret_of(b"wire", side), "channel", 0)
        salt = derive(channel, "game", number, length=64)[16:32]
        messages = [event.message for event in events if isinstance(event, Sent)]
        with_salt = [i for i, message in enumerate(messages) if salt in message]
        assert with_salt
        before = b"".join(messages[: with_salt[0]])
        assert not any(salt[i : i + 5] in before for i in range(12))
