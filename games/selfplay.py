"""Games between two policies without a channel, as a source of validator calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from channelsim.clsp.values import NIL, Value
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Game,
    Hashes,
    Play,
    Player,
    Policy,
    Position,
    Seat,
    Terms,
)
from channelsim.games.dealing import deal
from channelsim.games.evidence import as_evidence
from channelsim.games.hidden import seated
from channelsim.games.judge import own_move, position_after
from channelsim.games.players import player_after


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A legal move made at `before`, with the player that makes it and the opponent that receives
    and judges it."""

    before: Position
    play: Play
    amount: int
    player: Player
    receiver: Player


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a validator: a move made at `before`, judged with this evidence."""

    before: Position
    move: bytes
    share: int
    amount: int
    evidence: Value


def turns(
    game: Game, hashes: Hashes, terms: Terms, policies: tuple[Policy, Policy], chance: Chance
) -> Iterator[PlayedMove]:
    """Play one game and yield its moves in order, up to the settlement.

    Raises `IllegalMove` for a game whose player and rules, or whose rules and readers, differ.
    """
    terms, entropy = deal(game, terms, chance)
    yield from turns_of(game, hashes, terms, entropy, policies, chance)


def turns_of(
    game: Game,
    hashes: Hashes,
    terms: Terms,
    entropy: tuple[bytes, bytes],
    policies: tuple[Policy, Policy],
    chance: Chance,
) -> Iterator[PlayedMove]:
    """As `turns`, for a hand that is dealt: its terms with the deck, and both secret bytes."""
    position = game.initial(terms).position
    players = [seated(game, seat, terms, entropy[seat]) for seat in Seat]
    while not position.over:
        seat = position.mover
        play = players[seat].act(policies[seat](players[seat], chance))
        if not isinstance(play, Play):
            return
        yield PlayedMove(position, play, terms.amount, players[seat], players[seat.other])
        step = own_move(game, hashes, position, terms.amount, play)
        position = position_after(position, step, play.move, play.share)
        players = [
            player_after(player, position, play.memory if player.seat is seat else b"")
            for player in players
        ]


def calls(
    game: Game, hashes: Hashes, terms: Terms, policies: tuple[Policy, Policy], chance: Chance
) -> Iterator[Call]:
    """Play one game and yield the validator calls of the receivers of its moves, in order.

    Each receiver tries `()` first and then its own evidence, as on chain.
    """
    for turn in turns(game, hashes, terms, policies, chance):
        play = turn.play
        for candidate in (NIL, *turn.receiver.evidence(turn.before, play.move)):
            evidence = as_evidence(candidate).value
            yield Call(turn.before, play.move, play.share, turn.amount, evidence)
