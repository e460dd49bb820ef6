"""Cases with one side of a comparison copied into the place that the other side stems from.

A run that compares a part of the move with a constant, an atom of the state or anything else that
it computes goes on only if the two are equal: chance does not find a value of five bytes. The
operands of a run say what is compared; where one of them occurs in the move, the share or the
evidence, the other takes its place, whole or in part, or with a number one more or less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.program_words import GROUP_ORDER
from channelsim.channel.lab.sites.site import Call, elsewhere
from channelsim.channel.lab.sites.values import NUMBER, leaves, moved, with_leaf
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.operands import Operands
from channelsim.clsp.values import Value, atom_to_int, int_to_atom

PARTS = (1, 2, 4, 8)
"""The lengths in bytes of parts that are copied without the rest."""

VARIED = 3
"""The most parts and neighbours that are looked for, as a multiple of the calls that are made."""

PLACES = 4
"""The most places of one operand in a move or in evidence that are tried."""

FILLED = 4
"""The bytes of a part that it is filled with, at most."""

EXCHANGED = 6
"""The lengths of which two parts of a move are exchanged, at most."""

LONGER = 128
"""A length is raised by at most this many bytes."""

HEADS = (0, 1, 16, 17, 32, 33)
"""The lengths in bytes of what may stand before a number in a move."""

SPECIAL = tuple(
    map(int_to_atom, (0, 1, -1, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, -0x80, -0x81, 1 << 31))
)
"""Numbers with a special atom: empty, of one byte, or with the highest bit set."""

Copy: TypeAlias = tuple[bytes, bytes]
"""An operand, and what takes its place."""


def copies(
    base: SiteCase,
    operands: Operands,
    chance: FastChance,
    most: int,
    constants: Sequence[bytes] = (),
) -> list[Call]:
    """Calls near the base's, at most so many, any of all that the operands of its run suggest.

    First come whole operands in each other's places, then parts, neighbours, numbers that make a
    computed one special, parts of the move filled with one byte or moved by one of the program's
    `constants`, and two parts of the move in each other's places. Before all of them come scalars
    that multiply a point alike, since no other search finds one.
    """
    alike = dict.fromkeys(
        call
        for scalar in operands.scalars
        for _, new in _moved_by_constants(scalar, [GROUP_ORDER])
        for call in _literally(base.call, scalar, new)
    )
    whole: dict[Call, None] = {}
    for old, new in _whole(operands):
        whole.update(dict.fromkeys(_copied(base.call, old, new, operands)))
    varied: dict[Call, None] = {}
    for old, new in chance.shuffled(list(_varied(operands, chance)))[: VARIED * most]:
        varied.update(dict.fromkeys(_literally(base.call, old, new)))
    aimed = [(old, new) for old in operands.computed for new in SPECIAL]
    others: dict[Call, None] = {}
    for old, new in chance.shuffled(aimed)[:most]:
        others.update(dict.fromkeys(_moved_by(base.call, old, new)))
    read = {part for part in (*operands.parts, *chain(*operands.compared)) if part in base.move}
    for old, new in chance.shuffled(list(_changed_parts(sorted(read), constants)))[:most]:
        others.update(dict.fromkeys(_literally(base.call, old, new)))
    exchanged = dict.fromkeys(_exchanged(base.call, sorted(read), chance))
    # The second half of the whole ones comes after as many of the others.
    kinds = whole, varied, others, exchanged
    first, *later = (chance.shuffled(list(calls)) for calls in kinds)
    half = -(-most // 2)
    rest = chance.shuffled([call for calls in later for call in calls[:half]])
    chosen = dict.fromkeys((*alike, *first[:half], *rest, *first[half:]))
    return [call for call in chosen if call != base.call][:most]


def with_same_point(move: bytes, places: Collection[int]) -> Iterator[bytes]:
    """The moves with a scalar at one of these places that is greater by the order of the group, and
    still above 0 as a signed number: one in ten is small enough.

    >>> small, great = bytes(31) + b"\\5", b"\\x70" + bytes(31)
    >>> [other[-1] for other in with_same_point(great + small, {0, 32})]
    [6]
    """
    for at in places:
        scalar = move[at : at + len(GROUP_ORDER)]
        other = moved(scalar, atom_to_int(GROUP_ORDER))
        if len(scalar) == len(GROUP_ORDER) and scalar < other and not other[0] & 0x80:
            yield move[:at] + other + move[at + len(other) :]


def copied_states(
    target: Target, base: SiteCase, operands: Operands, chance: FastChance, most: int
) -> Iterator[SiteCase]:
    """The base's call in states, at most so many, with an operand copied over an atom of them.

    Only where differences in states that no play reaches count.
    """
    if not target.strict:
        return
    state = base.site.state
    atoms = list(leaves(state))
    pairs = (*_whole(operands), *_varied(operands, chance))
    copied = tuple((old, new) for old, new in pairs if old in atoms)
    for old, new in chance.shuffled(copied)[:most]:
        other = with_leaf(state, atoms.index(old), new)
        site = elsewhere(target, base.site, other, base.site.amount, base.site.play, natural=False)
        if site is not None:
            yield make_case(site, "copy", *base.call)


def words(
    operands: Operands, chance: FastChance, constants: Sequence[bytes] = ()
) -> Iterator[Copy]:
    """The operands that may take each other's places in moves made earlier, in any order: whole,
    or with some bytes that are equal and the rest not. And numbers among them that are greater or
    less by one of the program's `constants`."""
    read = dict.fromkeys((*operands.parts, *chain(*operands.compared)))
    numbers = [copy for part in read for copy in _moved_by_constants(part, constants)]
    pairs = [copy for copy in _whole(operands) if copy[0] != copy[1]]
    for old, new in chance.shuffled([*pairs, *numbers]):
        yield old, new
        size = chance.pick(PARTS)
        if size < min(len(old), len(new)):
            yield old, new[:size] + old[size:]


def _exchanged(call: Call, parts: Sequence[bytes], chance: FastChance) -> Iterator[Call]:
    """The call with two parts of the move exchanged, of each of the greatest lengths that two have:
    the subtrees of a tree, or the items of a list, in another order."""
    move, share, evidence = call
    by_length: dict[int, list[bytes]] = {}
    for part in parts:
        if len(part) > 1:
            by_length.setdefault(len(part), []).append(part)
    lengths = sorted((size for size, alike in by_length.items() if len(alike) > 1), reverse=True)
    for size in lengths[:EXCHANGED]:
        one, other = sorted(map(move.index, chance.shuffled(by_length[size])[:2]))
        if one + size <= other:
            before, between, after = move[:one], move[one + size : other], move[other + size :]
            first, second = move[one : one + size], move[other : other + size]
            yield before + second + between + first + after, share, evidence


def _changed_parts(parts: Sequence[bytes], constants: Sequence[bytes]) -> Iterator[Copy]:
    """Parts that are read as one: filled with one of their bytes, or as numbers greater or less by
    a constant of the same length."""
    for part in parts:
        if len(part) > 1:
            for byte in dict.fromkeys(part[:FILLED]):
                yield part, bytes([byte]) * len(part)
            yield from _moved_by_constants(part, constants)


def _moved_by_constants(part: bytes, constants: Sequence[bytes]) -> Iterator[Copy]:
    for constant in constants:
        if len(constant) == len(part):
            for sign in (1, -1):
                yield part, moved(part, sign * atom_to_int(constant))


def _whole(operands: Operands) -> Iterator[Copy]:
    """Each operand, with the other one in its place."""
    for left, right in operands.compared:
        yield left, right
        yield right, left


def _varied(operands: Operands, chance: FastChance) -> Iterator[Copy]:
    """Each operand, with a number next to the other one in its place, or with a part of it."""
    for old, new in _whole(operands):
        if len(old) <= NUMBER and len(new) <= NUMBER:
            number = atom_to_int(new)
            yield from ((old, int_to_atom(number + step)) for step in (-1, 1))
        rest = old if old != new else chance.bytes(len(old))
        for size in PARTS:
            if size < min(len(old), len(new)):
                yield old, new[:size] + rest[size:]
                yield old, rest[:-size] + new[-size:]


def _copied(call: Call, old: bytes, new: bytes, operands: Operands) -> Iterator[Call]:
    """The call with the operand replaced where it stands, or where it is computed from."""
    literal = tuple(_literally(call, old, new))
    yield from literal
    if len(old) <= NUMBER and len(new) <= NUMBER:
        yield from _resized(call, old, new, operands)
        if not literal:
            yield from _moved_by(call, old, new)


def _literally(call: Call, old: bytes, new: bytes) -> Iterator[Call]:
    """The call with the operand replaced, at each of its places."""
    move, share, evidence = call
    for part in _replaced(move, old, new):
        yield part, share, evidence
    if len(new) <= NUMBER and int_to_atom(share) == old:
        yield move, atom_to_int(new), evidence
    for value in _in_leaves(evidence, old, new):
        yield move, share, value


def _replaced(data: bytes, old: bytes, new: bytes) -> Iterator[bytes]:
    """The data with one occurrence replaced; what is empty stands at the end."""
    if not old:
        yield data + new
        return
    at = -1
    for _ in range(PLACES):
        at = data.find(old, at + 1)
        if at < 0:
            return
        yield data[:at] + new + data[at + len(old) :]


def _in_leaves(value: Value, old: bytes, new: bytes) -> Iterator[Value]:
    """The value with an atom replaced, or a part of one."""
    for number, leaf in enumerate(leaves(value)):
        if leaf == old and (old or not isinstance(value, tuple)):
            yield with_leaf(value, number, new)
        elif len(old) > 1:
            for atom in _replaced(leaf, old, new):
                yield with_leaf(value, number, atom)


def _resized(call: Call, old: bytes, new: bytes, operands: Operands) -> Iterator[Call]:
    """The call with a part of another length, where the operand is the length of a part."""
    move, share, evidence = call
    length, other = atom_to_int(old), atom_to_int(new)
    if not 0 <= other <= length + LONGER:
        return
    for atom in operands.lengths.get(length, ())[:PLACES]:
        size = atom[:other] + b"\x1f" * (other - length)
        if atom == evidence:
            yield move, share, size
        elif atom:
            for part in _replaced(move, atom, size):
                yield part, share, evidence


def _moved_by(call: Call, old: bytes, new: bytes) -> Iterator[Call]:
    """The call with its share, or a number behind the head of its move, moved by the difference."""
    if len(old) > NUMBER or len(new) > NUMBER:
        return
    move, share, evidence = call
    step = atom_to_int(new) - atom_to_int(old)
    if not step:
        return
    for by in (step, -step):
        yield move, share + by, evidence
        for head in dict.fromkeys((*HEADS, max(0, len(move) - 1))):
            tail = move[head:]
            if head <= len(move) and len(tail) <= NUMBER:
                yield move[:head] + int_to_atom(atom_to_int(tail) + by), share, evidence
