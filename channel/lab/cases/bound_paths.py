"""Moves that show something else than what a state commits to by trees and chains of hashes.

The hashes are those that the programs compute on honest play, also at other places of a hand: a
program that leaves one out is seen by the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.trial import NOT_BOUND, Trial
from channelsim.channel.lab.sites.hash_paths import (
    HASH,
    RECORDED,
    HashPath,
    Inputs,
    other_leaves,
    path_to,
    recorded_inputs,
    unopened,
)
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.contract import Slash

FEWEST, FEWEST_PLACES = 24, 4
"""The recorded moves, and the different leaves in them, from which it follows that the state says
which leaf is to be shown."""

MOST = 64
"""The most recorded moves of a validator that are looked at."""

LEAF = "another leaf with its branch"
"""The cause of findings in which the leaf is another than the state asks for."""


class ShownLeaf(NamedTuple):
    """A leaf of a tree that a move shows: from `start`, with its branch up to `end`, and its number
    in the tree; None for one that is in no tree."""

    part: bytes
    start: int
    end: int
    number: int | None


class Opened(NamedTuple):
    """One root of a state, what a move shows below it, where, and the leaves among that in their
    order."""

    root: bytes
    path: HashPath
    start: int
    end: int
    leaves: tuple[ShownLeaf, ...]


def unbound_paths(trial: Trial, law: str) -> Iterator[Finding]:
    """Change the bytes below a root in the site's honest move, their order, the root itself, and
    which leaf is shown: that of another root, or another one than the state asks for.

    Yields what the program takes, as findings of this law; nothing where no trees or chains of
    hashes lead from the move to the state.
    """
    site, target, chance = trial.site, trial.target, trial.chance
    inputs = recorded_inputs(target)
    opened = _opened(site, inputs)
    if opened is None or not _honest(target, site, inputs).all_open:
        return
    move = site.play.move
    where = f"bytes {opened.start} to {opened.end - 1}"
    text = (
        f"{where} of the move are not compared with what the state commits to, by hashes of"
        " hashes: the mover may show something else, and cannot be slashed"
    )
    part = chance.pick(opened.path.shown)
    at = move.index(part) + chance.below(len(part))
    changed = move[:at] + bytes([move[at] ^ 1 << chance.below(8)]) + move[at + 1 :]
    findings = list(_tried(trial, law, site, changed, text, where))
    if not findings:
        findings += _in_another_order(trial, law, opened, where)
    other = unopened(target, site, opened.root, chance)
    if other is not None and not findings:
        findings += _tried(trial, law, other, move, text, where)
    yield from findings
    if not findings:
        yield from _spliced(trial, law, opened, inputs)
        yield from _by_other_branches(trial, law, opened, inputs)


def _in_another_order(trial: Trial, law: str, opened: Opened, where: str) -> Iterator[Finding]:
    """Exchange two leaves that the move shows, or two halves of a subtree, and so on.

    It is only a finding if the program makes something else of that: a set may come in any order.
    """
    play, move = trial.site.play, trial.site.play.move
    places = sorted((move.index(part), len(part)) for part in opened.path.shown)
    size = places[0][1]
    count = 1 << trial.chance.below((len(places) or 1).bit_length())
    blocks = len(places) // count
    if blocks < 2 or places != [(places[0][0] + size * at, size) for at in range(len(places))]:
        return
    order = list(range(blocks))
    one, other = trial.chance.shuffled(order)[:2]
    order[one], order[other] = order[other], order[one]
    start, length = places[0][0], count * size
    shown = b"".join(move[start + at * length : start + (at + 1) * length] for at in order)
    changed = move[:start] + shown + move[start + blocks * length :]
    honestly = trial.run(*trial.honest)
    outcome = trial.run(changed, play.share, play.evidence)
    if not isinstance(honestly, ProgramValid) or not isinstance(outcome, ProgramValid):
        return
    if outcome.value == honestly.value:
        return
    text = (
        f"{where} of the move may come in another order than that of the tree to which the state"
        " commits, which leads elsewhere: the mover cannot be slashed"
    )
    yield from _tried(trial, law, trial.site, changed, text, f"{where}, in another order")


def _spliced(trial: Trial, law: str, opened: Opened, inputs: Inputs) -> Iterator[Finding]:
    """Try what other moves of the hand show in the same places: all of it, or one leaf."""
    site, move = trial.site, trial.site.play.move
    honest = _honest(trial.target, site, inputs)
    asked = {(leaf.start, leaf.end) for leaf in _asked_for(opened, honest)}
    whole = opened.start, opened.end
    places = (whole, *((leaf.start, leaf.end) for leaf in opened.leaves))
    for start, end in dict.fromkeys(places):
        where = f"bytes {start} to {end - 1}"
        for play in site.others:
            shown = play.move[start:end]
            if len(play.move) != len(move) or shown == move[start:end]:
                continue
            changed = move[:start] + shown + move[end:]
            other = _opened(_with_move(site, changed if (start, end) == whole else shown), inputs)
            if other is None:
                continue
            if other.root != opened.root:
                if _place(site.state, other.root) in honest.usual:
                    continue
                what = "another commitment of the state than the one that honest play opens"
                cause = f"{where}, {what}"
            elif (start, end) in asked and len(other.leaves) == 1:
                what, cause = "another leaf of the tree than the one that the state asks for", LEAF
            else:
                continue
            text = f"{where} of the move may show {what}: the mover cannot be slashed"
            yield from _tried(trial, law, site, changed, text, cause)


def _by_other_branches(trial: Trial, law: str, opened: Opened, inputs: Inputs) -> Iterator[Finding]:
    """Show other leaves of the tree, where the state asks for this one."""
    site = trial.site
    for leaf in _asked_for(opened, _honest(trial.target, site, inputs)):
        text = (
            f"bytes {leaf.start} to {leaf.end - 1} of the move may show another leaf of the tree"
            " than the one that the state asks for, with its branch: the mover cannot be slashed"
        )
        for changed in other_leaves(site, opened.root, leaf.part, leaf.start, inputs):
            yield from _tried(trial, law, site, changed, text, LEAF)


def _asked_for(opened: Opened, honest: _Honest) -> list[ShownLeaf]:
    """The leaves of a move that the state asks for."""
    return [leaf for at, leaf in enumerate(opened.leaves) if at in honest.asked]


def _with_move(site: Site, move: bytes) -> Site:
    return msgspec.structs.replace(site, play=msgspec.structs.replace(site.play, move=move))


def _tried(
    trial: Trial, law: str, site: Site, move: bytes, text: str, cause: str
) -> Iterator[Finding]:
    """Report the move if the program takes it, and slashes it with no evidence."""
    here, play = trial.at(site), trial.site.play
    trial.tally.tried[law] += 1
    known = (play.evidence, *trial.site.evidence(play.move))
    if any(here.slashes(move, play.share, evidence) for evidence in known):
        return
    if any(isinstance(here.run(move, play.share, value), ProgramValid) for value in known):
        call = move, play.share, play.evidence
        whole = f"{NOT_BOUND}: {cause}"
        yield here.finding(law, UNSLASHABLE, text, whole, call, Slash(""))


class _Honest(NamedTuple):
    """Honest moves of one validator and length: whether all open something, at which places of the
    state the roots are, and which of the leaves the state asks for."""

    all_open: bool
    usual: frozenset[str]
    asked: tuple[int, ...]


def _honest(target: Target, site: Site, inputs: Inputs) -> _Honest:
    if not _last or _last[0][0] is not target:
        _last[:] = [(target, {})]
    known, kind = _last[0][1], (site.validator, len(site.play.move))
    if kind not in known:
        alike = [
            other
            for other in recorded_sites(target)[:RECORDED]
            if (other.validator, len(other.play.move)) == kind
        ][:MOST]
        opened = [(other.state, _opened(other, inputs)) for other in alike]
        pairs = [(state, found) for state, found in opened if found is not None]
        usual = frozenset(_place(state, found.root) for state, found in pairs)
        known[kind] = _Honest(len(pairs) == len(opened), usual, tuple(_asked(pairs)))
    return known[kind]


_last: list[tuple[Target, dict[tuple[str, int], _Honest]]] = []
"""The last target's, since looking at its honest play takes longer than a case does."""


def _opened(site: Site, inputs: Inputs) -> Opened | None:
    """The one root that the site's move opens; None for nothing, or for several."""
    paths = []
    for root in dict.fromkeys(leaves(site.state)):
        if root in inputs and (path := path_to(site, inputs, (root,))) is not None:
            paths.append((root, path))
    if len(paths) != 1:
        return None
    ((root, path),) = paths
    move = site.play.move
    within = {*path.inputs, *path.shown}
    ends = [
        (at, at + len(part)) for part in within if len(part) > 1 and (at := move.find(part)) >= 0
    ]
    shown = [part for part in path.shown if part in move]
    if not shown:
        return None
    kept = HashPath(path.roots, tuple(shown), path.inputs)
    return Opened(root, kept, min(ends)[0], max(end for _, end in ends), _leaves_of(kept, move))


def _leaves_of(path: HashPath, move: bytes) -> tuple[ShownLeaf, ...]:
    """The leaves that a move shows, in its order; other hashes of their branches are none."""
    above = {part: output for output, parts in path.inputs.items() for part in parts}
    leaves_shown: list[ShownLeaf] = []
    for part in path.shown:
        output = above.get(part)
        if output is not None and len(part) == HASH and len(_sides(path.inputs[output])) == 2:
            continue
        number, branch = _climbed(part, path, above)
        whole = part + branch if part + branch in move else part
        start = move.find(whole)
        while start >= 0:
            leaves_shown.append(ShownLeaf(part, start, start + len(whole), number))
            start = move.find(whole, start + 1)
    return tuple(sorted(leaves_shown, key=lambda leaf: leaf.start))


def _climbed(part: bytes, path: HashPath, above: Mapping[bytes, bytes]) -> tuple[int | None, bytes]:
    """The number of a leaf in its tree, a bit for each level, 1 where it is on the right; and the
    other hashes on the way up."""
    number, level, branch = 0, 0, b""
    while part not in path.roots:
        if part not in above:
            return None, branch
        output = above[part]
        sides = _sides(path.inputs[output])
        if len(sides) == 2:
            number |= (sides[1] == part) << level
            branch += sides[sides[1] != part]
            level += 1
        part = output
    return number, branch


def _sides(parts: Sequence[bytes]) -> list[bytes]:
    return [side for side in parts if len(side) == HASH]


def _asked(moves: Sequence[tuple[Value, Opened]]) -> Iterator[int]:
    """The leaves whose number is, in all honest moves, a number at one place of the state."""
    counts = {len(opened.leaves) for _, opened in moves}
    if len(counts) != 1 or len(moves) < FEWEST:
        return
    for at in range(*counts):
        numbers = [opened.leaves[at].number for _, opened in moves]
        same: set[str] | None = None
        for (state, _), number in zip(moves, numbers, strict=True):
            places = {
                place
                for place, atom in _atoms(state).items()
                if len(atom) < 3 and atom_to_int(atom) == number
            }
            same = places if same is None else same & places
        if same and len(set(numbers)) >= FEWEST_PLACES:
            yield at


def _place(state: Value, atom: bytes) -> str:
    return next((place for place, other in _atoms(state).items() if other == atom), "")


def _atoms(value: Value, place: str = "") -> Mapping[str, bytes]:
    """The atoms of a value by their place in it: f for the first, r for the rest of a pair."""
    if isinstance(value, bytes):
        return {place: value}
    return {**_atoms(value[0], f"{place}f"), **_atoms(value[1], f"{place}r")}
