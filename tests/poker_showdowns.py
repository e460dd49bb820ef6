"""Showdowns between hands of every class in every ranking, which chance hardly ever deals.

All cards but one are open, so that a run opens one lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.ranking import ACE_TO_FIVE, EIGHT_LOW
from channelsim.games.poker.states import End, Seats, Showdown
from tests.games.poker.hands import ROWS, Hand, stakes_of
from tests.poker_cases import Call, least_share, light, openings, relocked
from tests.poker_rows import near, row_of

GAMES = ("five-draw", "seven-stud8", "omaha8")
"""A game of each size of selections."""


def showdowns(seed: str, count: int) -> Iterator[Call]:
    """Honest and dishonest ends of so many hands."""
    chance = FastChance(seed.encode())
    ends = [_end(game) for game in GAMES]
    for _ in range(count):
        size = chance.below(3)
        ranking = chance.below(4)
        lows = bool(size and chance.below(2))
        left = set(range(52))
        mine = row_of(5, sorted(left), chance, low=bool(lows or ranking))
        low = chance.pick((EIGHT_LOW, EIGHT_LOW, 10, ACE_TO_FIVE.key(mine) + 1)) if lows else 0
        left -= set(mine)
        theirs = near(mine, left, chance) if chance.below(3) else None
        theirs = theirs or row_of(5, sorted(left), chance, low=bool(lows or ranking))
        left -= set(theirs)
        rest = chance.shuffled(sorted(left))
        showdown = Showdown(size, ranking, low)
        call = _shown(ends[size], showdown, mine, theirs, rest, chance)
        yield msgspec.structs.replace(call, share=call.amount)
        yield from least_share(call)
        if size and chance.below(3) == 0:
            yield from _odd_masks(call, size, chance)


def _odd_masks(call: Call, size: int, chance: FastChance) -> Iterator[Call]:
    """Selections of too many, too few and other cards, on both sides."""
    masks = (0x8F, 0x1F, 0x3F, 0x0F, 0xF8) if size == 1 else (0x8033, 0x0233, 0x0137, 0x01F0, 0x17)
    evidence = call.evidence
    assert isinstance(evidence, bytes)
    mine, theirs = call.move[33:], evidence
    for at in range(0, len(mine), size):
        odd = chance.pick(masks).to_bytes(size, "big")
        for one, other in (
            (mine[:at] + odd + mine[at + size :], theirs),
            (mine, theirs[:at] + odd + theirs[at + size :]),
            (mine, theirs + bytes(size)),
        ):
            yield msgspec.structs.replace(
                call, move=call.move[:33] + one, evidence=other, share=call.amount
            )


def _end(game: str) -> Call:
    """The end of some hand, with one lock."""
    hand = Hand(f"showdown {game}", stakes_of(ROWS[game], Structure.NO_LIMIT), ROWS[game])
    turn = next(one for one in hand.turns() if isinstance(one.state, End))
    amount = 2 * hand.stakes.unit * hand.stakes.stake
    call = light(
        Call(game, turn.validator, turn.state, turn.move, turn.share, amount, turn.evidence)
    )
    assert call is not None
    return call


def _shown(
    call: Call,
    showdown: Showdown,
    mine: Sequence[int],
    theirs: Sequence[int],
    rest: Sequence[int],
    chance: FastChance,
) -> Call:
    """The call with these hands selected; `rest` are other cards, in random order."""
    size = showdown.mask_size
    board: tuple[int, ...] = ()
    if size == 0:
        own, other, masks = [*mine], [*theirs], (b"", b"")
    elif size == 1:
        own, ours = _mixed([*mine], rest[:2], chance)
        other, others = _mixed([*theirs], rest[2:4], chance)
        masks = ours, others
    else:
        board = (*mine[2:], *rest[:2])
        own, ours = _mixed([*mine[:2]], rest[2:4], chance)
        other, others = _mixed([*theirs[:2]], rest[4:6], chance)
        shared = (7, chance.pick((7, 11, 19, 14, 28)))
        masks = (
            (ours[0] | shared[0] << 4).to_bytes(2, "big"),
            (others[0] | shared[1] << 4).to_bytes(2, "big"),
        )
    if showdown.low:
        masks = masks[0] + _low(masks[0], chance), masks[1] + _low(masks[1], chance)
    state = call.state
    assert isinstance(state, End)
    table = msgspec.structs.replace(state.table, showdown=showdown)
    state = msgspec.structs.replace(
        state,
        table=table,
        put=chance.below(state.table.stake + 1),
        open=tuple(own[1:]),
        shown=tuple(other),
        board=board,
        seats=Seats(chance.below(2), state.seats.initiator),
    )
    call = msgspec.structs.replace(
        call, state=state, move=call.move[:33] + masks[0], evidence=masks[1]
    )
    return relocked(call, openings(call)[0], 5, 5, own[0])


def _mixed(hand: Sequence[int], rest: Sequence[int], chance: FastChance) -> tuple[list[int], bytes]:
    """The cards among others, and the mask that selects them."""
    cards = chance.shuffled([*hand, *rest])
    return cards, bytes([sum(1 << at for at, card in enumerate(cards) if card in hand)])


def _low(high: bytes, chance: FastChance) -> bytes:
    """A selection for the low hand: none, the same, or nearly so."""
    match chance.below(4):
        case 0:
            return bytes(len(high))
        case 1:
            changed = bytearray(high)
            changed[-1] ^= 1 << chance.below(7)
            changed[-1] ^= 1 << chance.below(7)
            return bytes(changed)
    return high


CHOSEN = (
    # A straight flush against quads, a straight against a flush, quads against a full house.
    (0, "2c3c4c5c6c", "AcAdAhAsKd"),
    (0, "AcKdQhJsTc", "7d5d4d3d2d"),
    (0, "2c2d2h2sKc", "AcAdAhKdKh"),
    # A straight of six against one of five, which is none in the order deuce to seven.
    (0, "6c5d4h3s2c", "Ac5c4d3h2s"),
    (1, "Ac5c4d3h2s", "7c7d4h3s2c"),
)
"""Rankings and two hands."""

TIED_LOWS = "2c3c4d6h8sKcKd", "2d3h4s6d8cQcQd"
"""Seven cards of both, whose first five are lows of equal ranks."""


def chosen_showdowns() -> Iterator[Call]:
    """Hands next to each other in a ranking, and an odd chip."""
    chance = FastChance(b"chosen")
    five, seven = _end(GAMES[0]), _end(GAMES[1])
    for ranking, one, other in CHOSEN:
        for mine, theirs in ((one, other), (other, one)):
            hands = _cards(mine), _cards(theirs)
            yield from least_share(_shown(five, Showdown(0, ranking, 0), *hands, (), chance))
    state = seven.state
    assert isinstance(state, End)
    table = msgspec.structs.replace(state.table, showdown=Showdown(1, 0, EIGHT_LOW))
    masks = bytes((0b1111100, 0b0011111))
    for one, other in (TIED_LOWS, TIED_LOWS[::-1]):
        own, shown = _cards(one), _cards(other)
        for button in (0, 1):
            changed = msgspec.structs.replace(
                state,
                table=table,
                put=3,
                open=own[1:],
                shown=shown,
                board=(),
                seats=Seats(button, state.seats.initiator),
            )
            call = msgspec.structs.replace(
                seven, state=changed, move=seven.move[:33] + masks, evidence=masks
            )
            yield from least_share(relocked(call, openings(call)[0], 5, 5, own[0]))


def _cards(text: str) -> tuple[int, ...]:
    return tuple(
        4 * "23456789TJQKA".index(text[at]) + "cdhs".index(text[at + 1])
        for at in range(0, len(text), 2)
    )
