"""Calls of the poker validators that hardly any search finds."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import msgspec

from channelsim.clsp.values import NIL
from channelsim.games.contract import Valid
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.states import Begin, Commit, End, Rows, Score, Show
from channelsim.games.poker.terms import Stakes
from tests.games.poker.hands import ROWS, Hand, stakes_of
from tests.poker_cases import Call, least_share, light, openings, relocked, said

LONG_SHARE = 128
"""The first number that needs a second byte."""

NO_PAIRS = (
    "7c5d4sAhKdQcJs8hAsKhQdJc9s",
    "8c5c3hAcKsQhJd6cAdKcQsJh7d",
)
"""Two arrangements without a pair, a straight or a flush."""

BOARDS = "KcQcKdQdAs3c Ad3d9s2c8s2dJcTc"
"""A pack for seven card stud: in the end one player has an open pair of aces, which two open pairs
of the other one beat."""


def crafted() -> Iterator[Call]:
    """All of them."""
    for score in (_score(NO_PAIRS), _score(NO_PAIRS[::-1])):
        yield from least_share(score)
        yield from _long_salt(score)
        yield from _long_share(score)
        # A lock with the scalar 0 and a share that covers whatever card is behind it.
        whole = msgspec.structs.replace(score, share=score.amount)
        yield relocked(whole, openings(whole)[0], 0, 0, 0)
    yield from _open_boards()
    for game in ("chinese", "omaha", "five-draw", "seven-stud"):
        hand = Hand(f"crafted {game}", _stakes(game), ROWS[game])
        for turn in hand.turns():
            if not isinstance(turn.state, Commit | End | Rows | Score | Show):
                continue
            amount = 2 * hand.stakes.unit * hand.stakes.stake
            call = Call(
                *(game, turn.validator, turn.state, turn.move, turn.share, amount, turn.evidence)
            )
            small = light(call) or call
            for place in openings(small)[:1]:
                # A lock with the scalar 0, which opens nothing.
                yield relocked(small, place, 0, 0, 0)
            for start, _, theirs in openings(call)[1:] if openings(call) else ():
                if theirs:
                    move = bytearray(call.move)
                    move[start + 32] = (move[start + 32] + 1) % 52
                    yield msgspec.structs.replace(call, move=bytes(move))


def _stakes(game: str) -> Stakes:
    return stakes_of(ROWS[game], Structure.NO_LIMIT)


def _cards(text: str) -> tuple[int, ...]:
    return tuple(
        4 * "23456789TJQKA".index(text[at]) + "cdhs".index(text[at + 1])
        for at in range(0, len(text), 2)
    )


def _open_boards() -> Iterator[Call]:
    """The first moves of streets in which open boards decide who acts first."""
    variant = ROWS["seven-stud"]
    deck = _cards(BOARDS.replace(" ", ""))
    hand = Hand("boards", stakes_of(variant, Structure.FIXED_LIMIT), variant, deck=deck)
    amount = 2 * hand.stakes.unit * hand.stakes.stake
    for turn in hand.turns():
        if isinstance(turn.state, Begin):
            yield Call(
                *("seven-stud", turn.validator, turn.state, turn.move, turn.share, amount, NIL)
            )


def _score(hands: tuple[str, ...]) -> Call:
    cards = _cards("".join(hands))
    hand = Hand("crafted", _stakes("chinese"), ROWS["chinese"], deck=cards, rows=cards)
    turn = next(one for one in hand.turns() if isinstance(one.state, Score))
    amount = 2 * hand.stakes.unit * hand.stakes.stake
    return Call("chinese", "score", turn.state, turn.move, turn.share, amount, NIL)


def _long_salt(call: Call) -> Iterator[Call]:
    """A commitment to more bytes than it may have."""
    state = call.state
    assert isinstance(state, Score)
    move = call.move + b"\x00"
    commitment = sha256(b"arrange" + move[13 * 33 :]).digest()
    yield msgspec.structs.replace(
        call, state=msgspec.structs.replace(state, commitment=commitment), move=move
    )


def _long_share(call: Call) -> Iterator[Call]:
    """A stake with which the least share is `LONG_SHARE`, and the share below it."""
    table = call.state.table
    for stake in range(LONG_SHARE - 30, LONG_SHARE + 30):
        changed = msgspec.structs.replace(table, unit=1, stake=stake)
        state = msgspec.structs.replace(call.state, table=changed)
        one = msgspec.structs.replace(call, state=state, amount=2 * stake, share=LONG_SHARE)
        below = msgspec.structs.replace(one, share=LONG_SHARE - 1)
        if isinstance(said(one), Valid) and not isinstance(said(below), Valid):
            yield from (one, below)
            return
