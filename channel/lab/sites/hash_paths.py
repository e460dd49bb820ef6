"""Hash paths: bytes of a move, or of evidence, to which a state commits by trees and chains of
hashes.

No form of a tree is known here. A run of the validator shows which hashes it computes, and of what;
where one of them is an atom of the state, the bytes below it can be replaced, and every hash on the
way with them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

import msgspec

from channelsim.channel.lab.sites.commitments import Words, hash_of, hashes, in_value, opening
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.sites.values import leaves, longer, numbers, transferred
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.operands import OperandLog
from channelsim.clsp.analysis.tracer import Tracer
from channelsim.clsp.values import atom_to_int, int_to_atom

STEPS = 50_000
"""The steps of a run after which no more of its hashes are looked at."""

SHA256 = b"\x0b"
"""The operator of CLVM that hashes."""

HASH = 32
"""The bytes of a hash."""

SHORTEST = 8
"""Fewer bytes are found in a move by chance."""

TOGETHER = 6
"""The most operands of one hash that are looked for as one part of a move."""

VAIN = 4
"""The moves of one validator and length that show no path, after which no more of them are run."""

LARGEST = 512
"""The most hashes of a tree that are looked at."""

RECORDED = 600
"""The most recorded places whose hashes are known."""

Inputs: TypeAlias = Mapping[bytes, tuple[bytes, ...]]
"""Hashes that a run computed, the first one first, each with the parts that were hashed."""


class ShortPart(NamedTuple):
    """A few bytes of a move, such as a number, that are operand `at` of a hash by themselves."""

    output: bytes
    at: int
    start: int
    end: int


@dataclass(frozen=True)
class HashPath:
    """The bytes that hashes lead to `roots`, which are atoms of a state.

    `shown` are parts of the move, or atoms of the evidence, that stand in no hash themselves, and
    `short` what may be others, found by their place between longer ones.
    """

    roots: tuple[bytes, ...]
    shown: tuple[bytes, ...]
    inputs: Inputs
    short: tuple[ShortPart, ...] = ()

    @property
    def is_tree(self) -> bool:
        """True if some hash is of two hashes."""
        return any(sum(len(part) == HASH for part in parts) == 2 for parts in self.inputs.values())

    def words(self, shown: Words) -> dict[bytes, bytes]:
        """The replacements that follow from those of some of the bytes shown."""
        words = dict(shown)
        for output, parts in self.inputs.items():
            if any(part in words for part in parts):
                words[output] = _hash(words.get(part, part) for part in parts)
        return words

    def words_of(self, short: ShortPart, new: bytes, move: bytes) -> dict[bytes, bytes]:
        """The replacements that follow from other bytes for a short part of this move; the first
        one is of the whole move, since its bytes may stand elsewhere as well."""
        words: dict[bytes, bytes] = {}
        for output, parts in self.inputs.items():
            if output == short.output:
                parts = (*parts[: short.at], new, *parts[short.at + 1 :])
            if output == short.output or any(part in words for part in parts):
                words[output] = _hash(words.get(part, part) for part in parts)
        changed = move[: short.start] + new + move[short.end :]
        return {move: rewritten(changed, words), **words}


class HashPaths:
    """The paths at places of one target."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._tracers: dict[str, tuple[Tracer, OperandLog]] = {}
        self._vain: Counter[tuple[str, int]] = Counter()
        programs = target.programs.items()
        self._hashing = {name for name, its in programs if SHA256 in set(leaves(its.value))}

    def at(self, site: Site) -> HashPath | None:
        """The path that the site's move shows; None where it shows none."""
        kind, move = (site.validator, len(site.play.move)), site.play.move
        programs = self._target.hashes.values()
        atoms = frozenset(leaves(site.state)).difference(programs)
        if not any(len(atom) == HASH for atom in atoms):
            return None
        if (opened := opening(move, atoms)) is not None:
            secret = move[slice(*opened)]
            chain = list(hashes(secret, hash_of(secret, atoms)))
            inputs = {output: (before,) for before, output in pairwise(chain)}
            return HashPath((chain[1],), (secret,), inputs)
        shown = (move, *leaves(site.play.evidence))
        if self._vain[kind] >= VAIN or max(map(len, shown)) < SHORTEST:
            return None
        if site.validator not in self._hashing:
            return None
        path = path_to(site, self.inputs(site))
        if path is None:
            self._vain[kind] += 1
        return path

    def inputs(self, site: Site) -> Inputs:
        """The hashes that the site's program computes of its move."""
        name, play = site.validator, site.play
        if name not in self._tracers:
            log = OperandLog()
            self._tracers[name] = self._target.tracer(name, log), log
        tracer, log = self._tracers[name]
        tracer.run(site.environment(play.move, play.share, play.evidence), STEPS)
        return dict(log.hashed)


def path_to(site: Site, inputs: Inputs, roots: Sequence[bytes] = ()) -> HashPath | None:
    """The path from the bytes of the site's move, or its evidence, to its state; None for none.

    `roots` are the atoms of the state to which it may lead, by default all.
    """
    known = roots or dict.fromkeys(leaves(site.state))
    roots = tuple(atom for atom in known if atom in inputs)
    below: set[bytes] = set()
    waiting = list(roots)
    while waiting:
        output = waiting.pop()
        if output not in below:
            below.add(output)
            waiting += [part for part in inputs[output] if part in inputs]
    atoms = frozenset(leaves(site.play.evidence))
    split = {
        output: tuple(_split(parts, inputs, site.play.move, atoms))
        for output, parts in inputs.items()
        if output in below
    }
    shown = dict.fromkeys(
        part
        for parts in split.values()
        for part in parts
        if part not in inputs and _is_shown(part, site.play.move, atoms)
    )
    if not shown:
        return None
    return HashPath(roots, tuple(shown), split, tuple(_short_parts(split, site.play.move)))


def _short_parts(inputs: Inputs, move: bytes) -> Iterator[ShortPart]:
    """Short operands of hashes that stand between the longer ones of a move, or at its end."""
    free = bytearray(b"\x01" * len(move))
    for part in {part for output, parts in inputs.items() for part in (output, *parts)}:
        if len(part) >= SHORTEST and (start := move.find(part)) >= 0:
            free[start : start + len(part)] = bytes(len(part))
    gaps = [(gap.start(), gap.end()) for gap in re.finditer(b"\x01+", free)]
    if not free.endswith(b"\x01"):
        gaps.append((len(move), len(move)))
    for output, parts in inputs.items():
        for at, part in enumerate(parts):
            for start, end in gaps if len(part) < SHORTEST else ():
                here = move[start:end]
                if part == here or (part and here.count(part) == 1):
                    start += here.index(part)
                    yield ShortPart(output, at, start, start + len(part))


def other_leaves(site: Site, root: bytes, shown: bytes, start: int, inputs: Inputs) -> list[bytes]:
    """The site's move with each other leaf of the tree below a root in the place of the one that is
    `shown` from `start`, and with its branch, which may be of another length.

    The leaves are those whose hashes are known: of other moves of the hand, or of one that shows
    the whole tree. None where the branch does not follow the leaf, from the bottom up.
    """
    move, below = site.play.move, dict(_leaves_below(root, inputs, len(shown)))
    branch = below.pop(shown, b"")
    end = start + len(shown + branch)
    if branch == b"" or move[start:end] != shown + branch:
        return []
    moves = [move[:start] + leaf + other + move[end:] for leaf, other in below.items()]
    return [other for other in moves if len(other) <= site.before.max_move_size]


def _leaves_below(root: bytes, inputs: Inputs, size: int) -> Iterator[tuple[bytes, bytes]]:
    """The leaves of this length below a root, each with its branch."""
    waiting = [(root, b"")]
    for _ in range(LARGEST):
        if not waiting:
            return
        output, branch = waiting.pop()
        parts = inputs[output]
        sides = [part for part in parts if len(part) == HASH]
        if len(sides) == 2:
            pairs = zip(sides, reversed(sides), strict=True)
            waiting += [(side, other + branch) for side, other in pairs if side in inputs]
        elif not any(part in inputs for part in parts):
            yield b"".join(parts)[-size:], branch


def recorded_inputs(target: Target) -> Inputs:
    """The hashes that the programs compute on recorded honest play, each place by itself."""
    if not _last or _last[0][0] is not target:
        paths = HashPaths(target)
        inputs: dict[bytes, tuple[bytes, ...]] = {}
        for site in recorded_sites(target)[:RECORDED]:
            inputs.update(paths.inputs(site))
        _last[:] = [(target, inputs)]
    return _last[0][1]


_last: list[tuple[Target, Inputs]] = []
"""The last target's, since running its honest play takes longer than a case does."""


def _split(
    parts: Sequence[bytes], inputs: Inputs, move: bytes, atoms: Collection[bytes]
) -> Iterator[bytes]:
    """The operands of a hash, those that stand together in the move as one."""
    left = list(parts)
    ends = combinations(range(len(left) + 1), 2)
    longest_first = sorted(ends, key=lambda end: end[0] - end[1])
    for start, end in longest_first:
        if end - start > TOGETHER or any(part in inputs for part in left[start:end]):
            continue
        joined = b"".join(left[start:end])
        if _is_shown(joined, move, atoms):
            yield from _split(left[:start], inputs, move, ())
            yield joined
            yield from _split(left[end:], inputs, move, ())
            return
    yield from left


def _is_shown(part: bytes, move: bytes, atoms: Collection[bytes]) -> bool:
    return len(part) >= SHORTEST and (part in move or part in atoms)


def _hash(parts: Iterator[bytes]) -> bytes:
    return sha256(b"".join(parts)).digest()


# --- replaced ----------------------------------------------------------------------------------


def rehashed(target: Target, site: Site, path: HashPath, chance: FastChance) -> Site | None:
    """The site with other bytes behind its commitment, and the hashes that follow from them.

    Or with a commitment that nothing opens, one bit away from the right one.
    """
    play = site.play
    if chance.random() < 0.1:
        return unopened(target, site, chance.pick(path.roots), chance)
    words = other_words(site, path, chance)
    proof = in_value(play.evidence, words)
    changed = msgspec.structs.replace(play, move=rewritten(play.move, words), evidence=proof)
    state = in_value(site.state, words)
    if len(changed.move) > site.before.max_move_size or state == site.state:
        return None
    return elsewhere(target, site, state, site.amount, changed, natural=True)


def unopened(target: Target, site: Site, root: bytes, chance: FastChance) -> Site | None:
    """The site with a commitment that nothing opens, one bit away from the right one."""
    bit = 1 << chance.below(8 * len(root))
    nothing = (int.from_bytes(root, "big") ^ bit).to_bytes(len(root), "big")
    state = in_value(site.state, {root: nothing})
    return elsewhere(target, site, state, site.amount, site.play, natural=True)


def other_words(site: Site, path: HashPath, chance: FastChance) -> dict[bytes, bytes]:
    """The replacements that follow from other bytes behind the commitment that a move opens."""
    if not path.short or chance.random() < 0.5:
        return path.words(other_bytes(path.shown, chance))
    short, move = chance.pick(path.short), site.play.move
    old = move[short.start : short.end]
    lot = chance.random()
    if lot < 0.3:
        known = [leaf for leaf in leaves(site.state) if len(leaf) < SHORTEST] or [old]
        near = atom_to_int(chance.pick(known)) + chance.pick((1, -1, 1, -1, 0))
        new = int_to_atom(near)
    elif lot < 0.5:
        new = int_to_atom(chance.pick(numbers(site.state, site.amount, atom_to_int(old))))
    else:
        byte = chance.bytes(1)
        new = chance.pick((b"", b"\x00", b"\x80", b"\xff", byte, longer(old, 1), old + byte))
    return path.words_of(short, new, move)


def other_bytes(shown: Sequence[bytes], chance: FastChance) -> dict[bytes, bytes]:
    """Other bytes for some of those shown: one changed, one like another, or the same sum."""
    below = [part for part in shown if len(part) != HASH] or list(shown)
    old = chance.pick(below)
    match chance.below(8):
        case 0 | 1 | 2:
            changed = transferred(b"".join(below), chance)
            words, at = {}, 0
            for part in below:
                words[part] = changed[at : at + len(part)]
                at += len(part)
            return {part: new for part, new in words.items() if new != part}
        case 3:
            return {old: chance.bytes(len(old))}
        case 4:
            return {old: chance.pick(below)}
        case 5:
            longer = old + chance.bytes(1 + chance.below(4))
            return {old: chance.pick((longer, old[:-1], old[1:]))}
        case _:
            at, byte = chance.below(len(old)), chance.below(256)
            near = (old[at] + chance.pick((1, -1))) % 256
            new = chance.pick((0, 1, 2, near, 255, byte))
            return {old: old[:at] + bytes([new]) + old[at + 1 :]}


def rewritten(data: bytes, words: Words) -> bytes:
    """The data with these words replaced wherever they stand in it."""
    for old, new in words.items():
        data = data.replace(old, new)
    return data
