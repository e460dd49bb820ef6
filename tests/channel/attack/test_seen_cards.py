"""The cards that a player sees in news: those that are open, and the hand that ends a game."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from channelsim.channel.attack.seen_cards import wrong_cards
from channelsim.channel.peer.interface import Moved, Tell
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.judge import hashes_of, own_move, position_after
from channelsim.games.players import player_after
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import Begin, End, Mid
from channelsim.games.selfplay import turns

HOLDEM = registry.get("holdem")


def found(before: Any, player: PokerPlayer) -> list[str]:
    """Find mistakes in the news of the move that led from a position to this seat."""
    game = SimpleNamespace(id=4, position=player.position, before=SimpleNamespace(position=before))
    # The game is settled with the same event.
    links = [SimpleNamespace(state=SimpleNamespace(game=games.get)) for games in ({}, {4: game})]
    after: Any = SimpleNamespace(play=SimpleNamespace(history=links))
    return [*wrong_cards(after, [Tell(Moved(4, player.position, player, 1, ()))])]


def test_a_player_sees_the_board_and_the_hand_that_ends_the_game() -> None:
    policy = HOLDEM.policies["caller"]
    hashes, terms = hashes_of(HOLDEM), HOLDEM.terms(HOLDEM.default_parameters(1, 20))
    ends = boards = 0
    for turn in turns(HOLDEM, hashes, terms, (policy, policy), Chance(bytes(32))):
        step = own_move(HOLDEM, hashes, turn.before, terms.amount, turn.play)
        position = position_after(turn.before, step, turn.play.move, turn.play.share)
        player: Any = player_after(turn.receiver, position)
        assert found(turn.before, player) == []
        if isinstance(turn.before.state, End):
            ends += 1
            unseen = replace(player, cards=replace(player.cards, others=()))
            assert "does not see the hand" in found(turn.before, unseen)[0]
        elif isinstance(position.state, Begin | Mid) and position.state.known.board:
            boards += 1
            older = replace(player, cards=replace(player.cards, board=()))
            assert "sees the board ()" in found(turn.before, older)[0]
    assert ends == 1
    assert boards
