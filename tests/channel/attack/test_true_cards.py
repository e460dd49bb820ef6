"""The cards of a seat are those of its deck, and no others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from channelsim.channel.attack.true_cards import TrueCards
from channelsim.channel.peer.interface import Moved, Tell
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.deck.group import real_group
from channelsim.games.judge import hashes_of, own_move, position_after
from channelsim.games.players import player_after
from channelsim.games.poker.states import Begin
from channelsim.games.selfplay import turns

STUD = registry.get("five-stud")


def test_a_seat_sees_the_cards_of_its_positions() -> None:
    policy, cards = STUD.policies["caller"], TrueCards()
    hashes, terms = hashes_of(STUD), STUD.terms(STUD.default_parameters(1, 20))
    seen = 0
    for turn in turns(STUD, hashes, terms, (policy, policy), Chance(bytes(32))):
        step = own_move(STUD, hashes, turn.before, terms.amount, turn.play)
        position = position_after(turn.before, step, turn.play.move, turn.play.share)
        player: Any = player_after(turn.receiver, position)
        state = position.state
        if not isinstance(state, Begin) or not player.cards.own:
            continue
        # The deck, as either side holds it: that of a test is dealt in the open.
        table = state.table
        other: Any = turn.receiver
        sides = {turn.player.seat: turn.player, other.seat: other}
        for seat, holder in sides.items():
            is_initiator = (seat is position.mover) == bool(state.seats.initiator)
            holds: Any = holder
            locks = [int.from_bytes(lock, "big") for lock in holds.locks]
            deck: Any = SimpleNamespace(
                deck=table.deck_id,
                is_initiator=is_initiator,
                own_locks=locks,
                points=[lock.point for lock in table.locks],
                group=real_group(),
            )
            endpoint: Any = SimpleNamespace(decks={1: deck})
            cards.learn(endpoint)
        assert found(cards, player) == []
        seen += 1
        wrong = replace(player.cards, own=(*player.cards.own, 0))
        assert found(cards, replace(player, cards=wrong)) == ["its hand"]
        up = tuple((card + 1) % 52 for card in player.cards.others_up)
        if up:
            wrong = replace(player.cards, others_up=up)
            assert found(cards, replace(player, cards=wrong)) == ["the other hand"]
    assert seen


def found(cards: TrueCards, player: Any) -> list[str]:
    """The parts of a seat in news that it sees otherwise."""
    news = Tell(Moved(4, player.position, player, 1, ()))
    return [
        how.removeprefix("its player sees other cards than those of ").removesuffix(" in game 4")
        for how in cards.wrong([news])
    ]
