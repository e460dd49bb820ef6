"""Adversaries that change one of their moves and sign the batch again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from msgspec.structs import replace

from channelsim.channel.adversaries.base import BatchChanger, F, by_method
from channelsim.channel.protocol.messages import Batch, Move
from channelsim.channel.protocol.state import ChannelState, LiveGame
from channelsim.clsp.values import int_to_atom
from channelsim.games.chance import Chance
from channelsim.games.choices import forced_action
from channelsim.games.contract import Action, Amount, Game, OneOf, any_action
from channelsim.games.judge import hashes_of
from channelsim.games.selfplay import PlayedMove, turns

HANDS = 8
"""Hands of random actions that show whether a game has bets: each with bets offers one in the first
two."""

UNIT, STACK = 100, 10
"""The stakes of these hands: room for several bets."""


class MoveChanger(BatchChanger):
    """Replaces the first move that it can, once it is due."""

    def change_batch(self, batch: Batch, before: ChannelState) -> list[bytes] | None:
        """The batch with that move replaced, signed again."""
        for at, action in enumerate(batch.actions):
            game = before.game(action.game_id) if isinstance(action, Move) else None
            if not isinstance(action, Move) or game is None:
                continue
            other = self.change_move(action, game)
            if other is not None and other != action:
                actions = (*batch.actions[:at], other, *batch.actions[at + 1 :])
                return [self.batch(before, actions)]
        return None

    def change_move(self, move: Move, game: LiveGame) -> Move | None:
        """The move to make instead; None to leave this one as it is."""
        return None


def _changes_move(name: str, about: str) -> Callable[[F], F]:
    """Register an adversary that changes one move, by its `MoveChanger.change_move`."""
    return by_method(MoveChanger, "change_move", name, about)


@_changes_move("wrong-commitment", "commits to another state than its move leads to")
def _wrong_commitment(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    return replace(move, commitment=changer.plan.chance.bytes(32))


@_changes_move("wrong-size", "sets another size limit for the answer than its move leads to")
def _wrong_size(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    size = changer.plan.chance.pick((0, move.max_move_size + 1, max(0, move.max_move_size - 1)))
    return replace(move, max_move_size=size)


@_changes_move("wrong-terminal", "declares a move to be the last that is not, or the reverse")
def _wrong_terminal(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    return replace(move, commitment=b"" if move.commitment else bytes([1]) * 32)


@_changes_move("wrong-reveal", "reveals another value than it committed to")
def _wrong_reveal(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    if not move.move:
        return None
    blob = bytearray(move.move)
    blob[changer.plan.chance.below(min(len(blob), 16))] ^= 1 + changer.plan.chance.below(255)
    return replace(move, move=bytes(blob))


@_changes_move("cut", "sends a move that is cut short")
def _cut(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    if not move.move:
        return None
    return replace(move, move=move.move[: changer.plan.chance.below(len(move.move))])


@_changes_move("padded", "appends bytes to a move, up to its size limit and beyond")
def _padded(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    room = max(0, game.coin.max_move_size - len(move.move))
    more = changer.plan.chance.pick((1, max(1, room), room + 1, room + 1000))
    return replace(move, move=move.move + changer.plan.chance.bytes(more))


@_changes_move("generous", "declares a larger share for the opponent than is due")
def _generous(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    # Some moves allow that.
    if move.share >= game.coin.amount:
        return None
    return replace(move, share=move.share + 1)


@_changes_move("greedy-share", "declares a smaller share for the opponent than is due")
def _greedy_share(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    if not move.share:
        return None
    return replace(move, share=changer.plan.chance.below(move.share))


@_changes_move("overshare", "declares a share above the amount of the game coin")
def _overshare(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    # Then no side could claim a timeout.
    amount = game.coin.amount
    share = changer.plan.chance.pick((amount + 1, 2 * amount + 1, (1 << 63) - 1))
    return replace(move, share=share)


@_changes_move("bad-selection", "selects other cards than the best, too many, or cards not dealt")
def _bad_selection(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    # The last byte of such a move says which cards are shown or given away.
    seat = changer.seat(game)
    selects = seat is not None and any(isinstance(choice, OneOf) for choice in seat.choices())
    if not move.move or (move.commitment and not selects):
        return None
    chance, right = changer.plan.chance, move.move[-1]
    last = chance.below(256)
    if chance.chance(50):
        # As many cards as it has to select: only evidence shows that there are better ones.
        last = chance.pick([n for n in range(256) if n.bit_count() == right.bit_count()])
    return replace(move, move=move.move[:-1] + bytes([last]))


def without_bets(kind: type[MoveChanger], games: Sequence[Game]) -> str:
    """The reason against an adversary that changes a bet, if no game has any."""
    if any(map(offers_bets, games)):
        return ""
    return (
        f"{' or '.join(game.name for game in games)}: no game in which a player chooses an amount"
    )


def without_room(kind: type[MoveChanger], games: Sequence[Game]) -> str:
    """The reason against an adversary that bets in a forced move, if none can take an amount."""
    if any(offers_bets(game) or leaves_room(game) for game in games):
        return ""
    return (
        f"{' or '.join(game.name for game in games)}: no game with a forced move that can be longer"
    )


@cache
def offers_bets(game: Game) -> bool:
    """True if a player of this game chooses an amount in one of a few hands of random actions."""
    return any(
        isinstance(choice, Amount) for turn in _turns(game) for choice in turn.player.choices()
    )


@cache
def leaves_room(game: Game) -> bool:
    """True if a forced move in one of a few hands of random actions is shorter than its limit."""
    return any(
        forced_action(turn.player.choices()) is not None
        and len(turn.play.move) < turn.before.max_move_size
        for turn in _turns(game)
    )


def _turns(game: Game) -> Iterator[PlayedMove]:
    hashes, chance = hashes_of(game), Chance(game.name.encode())
    terms = game.terms(game.default_parameters(UNIT, STACK))
    for _ in range(HANDS):
        yield from turns(game, hashes, terms, (any_action, any_action), chance)


@by_method(
    MoveChanger,
    "change_move",
    "no-pong",
    "bets in a move that leaves nothing to decide",
    reason_against=classmethod(without_room),
)
def _no_pong(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    seat = changer.seat(game)
    forced = seat is not None and forced_action(seat.choices()) is not None
    room = game.coin.max_move_size - len(move.move)
    if not forced or room < 1:
        return None
    stake = game.coin.amount // 2
    amount = int_to_atom(changer.plan.chance.pick((1, max(1, game.terms.unit), stake, -1)))
    return replace(move, move=move.move + amount[:room])


@by_method(
    MoveChanger,
    "change_move",
    "overraise",
    "bets one mojo more than its stack covers, far more, or less than zero",
    reason_against=classmethod(without_bets),
)
def _overraise(changer: MoveChanger, move: Move, game: LiveGame) -> Move | None:
    bet = legal_bet(changer, game)
    if bet is None:
        return None
    room = game.coin.max_move_size - len(bet.head)
    largest = (1 << (8 * room - 1)) - 1
    amounts = (bet.most + 1, 2 * bet.most, game.coin.amount, 1000 * bet.most, largest)
    negative = (-1, -bet.most, -largest)
    amount = changer.plan.chance.pick((*amounts, *negative))
    return replace(bet.wire, move=bet.head + int_to_atom(amount))


@dataclass(frozen=True, slots=True)
class Bet:
    """A legal move that ends with an amount, from `least` to `most` mojos.

    `wire` is the move for `most`; `head` is what precedes the amount.
    """

    wire: Move
    head: bytes
    least: int
    most: int


def legal_bet(changer: MoveChanger, game: LiveGame) -> Bet | None:
    """A bet that would be legal here, in any game; None where there is none.

    The place of the amount is found by making the move for the least and for the largest one.
    """
    seat = changer.seat(game)
    if seat is None:
        return None
    for choice in seat.choices():
        if not isinstance(choice, Amount):
            continue
        ends = (choice.least, choice.most)
        endpoint = changer.peer.endpoint
        wires = [
            endpoint.own_action(game, seat, Action(choice.verb, amount)).wire for amount in ends
        ]
        heads = [
            wire.move.removesuffix(int_to_atom(amount))
            for wire, amount in zip(wires, ends, strict=True)
            if isinstance(wire, Move)
        ]
        last = wires[-1]
        if isinstance(last, Move) and len(heads) == 2 and heads[0] == heads[1]:
            return Bet(last, heads[0], choice.least, choice.most)
    return None
