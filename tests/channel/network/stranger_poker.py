"""The rules of Space Poker as the stranger has them, written from its page alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from typing import Any

from chia_rs import Program

from tests.channel.network.stranger import tree_hash

UNIT, STAKE = 100, 1000
"""The ante and the stake of each in mojos."""

FIRST_JUDGE = b"\x78"
"""What judges the move of a game's first coin."""


def as_int(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def as_bytes(value: int) -> bytes:
    """The fewest bytes of a CLVM integer."""
    spare = value.bit_length() if value >= 0 else (-value - 1).bit_length()
    return value.to_bytes(spare // 8 + 1, "big", signed=True) if value else b""


def chain_of(preimage: bytes) -> tuple[bytes, ...]:
    """A player's values 0 to 5."""
    values = [preimage]
    while len(values) < 6:
        values.append(sha256(values[-1]).digest())
    return tuple(values)


# --- cards ---


def mixed(x: bytes, y: bytes) -> int:
    return as_int(sha256(as_bytes(as_int(x) ^ as_int(y))).digest())


def drawn(x: bytes, y: bytes, count: int) -> list[int]:
    ranks, value = [], mixed(x, y)
    for _ in range(count):
        value, rank = divmod(value, 13)
        ranks.append(2 + rank)
    return ranks


def seven(own: bytes, others: bytes) -> tuple[list[int], int]:
    """The seven cards and the boost of the player with the first of these preimages."""
    a, b = chain_of(own), chain_of(others)
    board = drawn(a[3], b[3], 3) + drawn(a[2], b[2], 1) + drawn(a[1], b[1], 1)
    return drawn(a[0], b[4], 2) + board, int(mixed(a[0], b[4]) % 3 == 0)


def worth(five: list[int], boost: int) -> list[int]:
    """Five cards as a list that compares as the hands do."""
    counts = sorted(((count, rank) for rank, count in Counter(five).items()), reverse=True)
    ranks = [rank for _, rank in counts]
    if len(ranks) == 5 and ranks[0] - ranks[-1] == 4:
        return [3, 3, boost, ranks[0]]
    return [*(count for count, _ in counts), boost, *ranks]


def best(cards: list[int], boost: int) -> tuple[list[int], int]:
    """The best five of seven, and their mask."""
    return max(
        (worth([cards[i] for i in chosen], boost), sum(1 << i for i in chosen))
        for chosen in combinations(range(7), 5)
    )


# --- a hand ---


@dataclass(frozen=True)
class Position:
    """A game coin: whose turn it is, what judges the next move, and the fields of the coin.

    `validator` is None once the game is over; `share` is what the mover gets if it stops here.
    """

    ours: bool
    validator: str | None
    state: Any
    size: int
    share: int
    move: bytes = b""
    judge: bytes = FIRST_JUDGE


@dataclass(frozen=True)
class Rules:
    """`programs` are the compiled validators by name."""

    programs: Mapping[str, bytes]

    def first(self, *, ours: bool) -> Position:
        """The first coin, which waits for Alice's commitment."""
        return Position(ours, "commitA", UNIT, 32, 0)

    def infohash(self, position: Position) -> bytes:
        """What judges the next move; empty once the game is over."""
        if position.validator is None:
            return b""
        validator = Program.from_bytes(self.programs[position.validator])
        return sha256(tree_hash(validator) + tree_hash(position.state)).digest()

    def after(self, before: Position, move: bytes) -> Position:
        """The coin after a move, which has to be legal."""
        validator, state, size, share = self._judged(before, move)
        judge = self.infohash(before)
        return Position(not before.ours, validator, state, size, share, move, judge)

    def _judged(self, before: Position, move: bytes) -> tuple[str | None, Any, int, int]:
        """The next validator, its state and size limit, and what the other side keeps."""
        match before.validator, before.state:
            case "commitA", unit:
                assert len(move) == 32
                return "commitB", [unit, move], 32, STAKE
            case "commitB", [unit, image]:
                assert len(move) == 32
                state = [unit, unit, image, move, 4, self._mid_round]
                return "begin_round", state, 42, STAKE - unit
            case "begin_round", [unit, pot, mover, waiter, street, _]:
                image, amount = move[:32], move[32:]
                assert sha256(image).digest() == mover
                if not opens(before.state, image):
                    assert not amount
                    last = [unit, pot, sha256(waiter).digest(), image, street, self._mid_round]
                    return "begin_round", last, 42, STAKE - pot
                bet = as_int(amount)
                assert amount == as_bytes(bet)
                assert 0 <= bet <= STAKE - pot
                return "mid_round", [unit, pot, bet, waiter, image, street], 42, STAKE - pot
            case "mid_round", [unit, pot, last, mover, waiter, street]:
                pot, bet = pot + last, as_int(move[32:])
                if bet:
                    assert move[32:] == as_bytes(bet)
                    assert 0 < bet <= STAKE - pot
                    return "mid_round", [unit, pot, bet, waiter, mover, street], 42, STAKE - pot
                assert len(move) == (32 if street > 1 else 16)
                assert sha256(move).digest() == mover
                if street == 1:
                    return "end", [pot, waiter, move], 17, STAKE - pot
                state = [unit, pot, waiter, move, street - 1, self._mid_round]
                return "begin_round", state, 42, STAKE - pot
            case "end", [pot, image, theirs]:
                own, mask = move[:16], move[16]
                assert len(move) == 17
                assert sha256(own).digest() == image
                cards, boost = seven(own, theirs)
                shown = [card for i, card in enumerate(cards) if mask >> i & 1]
                assert (len(shown), mask >> 7) == (5, 0)
                other = best(*seven(theirs, own))[0]
                value = worth(shown, boost)
                return None, b"", 0, STAKE + pot * ((other > value) - (other < value))
        raise AssertionError(before)

    @property
    def _mid_round(self) -> bytes:
        return tree_hash(Program.from_bytes(self.programs["mid_round"]))


def opens(state: list[Any], image: bytes) -> bool:
    """True if the mover of a street opens it; the first street is tossed for."""
    waiter, street = state[3], state[4]
    if street < 4:
        return True
    own, other = as_int(image), as_int(waiter)
    return (own > other) == bool((own ^ other) & 1)


def chosen_move(before: Position, chain: tuple[bytes, ...]) -> bytes:
    """Our move: one unit to open, a raise of as much after a check, and else a call."""
    match before.validator, before.state:
        case "commitA", _:
            return chain[5]
        case "commitB", _:
            return chain[4]
        case "begin_round", [unit, pot, mover, _, _, _]:
            image = below(chain, mover)
            amount = as_bytes(min(unit, STAKE - pot)) if opens(before.state, image) else b""
            return image + amount
        case "mid_round", [unit, pot, last, mover, _, _]:
            raised = last == 0 and unit <= STAKE - pot
            return bytes(32) + as_bytes(unit) if raised else below(chain, mover)
        case "end", [_, image, theirs]:
            own = below(chain, image)
            return own + bytes([best(*seven(own, theirs))[1]])
    raise AssertionError(before)


def below(chain: tuple[bytes, ...], image: bytes) -> bytes:
    """Our value whose hash this is."""
    return chain[chain.index(image) - 1]
