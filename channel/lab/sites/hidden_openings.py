"""Openings of hidden values in recorded hands: one move shows the whole value, or each of several
moves shows a part of it, as behind a chain of hashes.

Nothing says where a value is: bytes at one place of the moves are taken for it if they have all
traits of legal values, in each recorded hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from channelsim.channel.lab.sites.commitments import Words
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hash_paths import SHORTEST, HashPaths, Inputs, rewritten
from channelsim.channel.lab.sites.hidden_traits import Traits, traits_of
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.replays import RecordedHands
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.hidden import Hidden, legal_value, possible_value

HANDS = 64
"""The most recorded hands in which values are looked for."""

DRAWS = 64
"""The values of a cheat that show which places of a value it may change."""

FEWEST = 4
"""The hands in which moves must show a value part by part, before they are taken to do so."""

LONGEST = 64
"""The most hashes above the bytes of a value."""


@dataclass(frozen=True)
class Opening:
    """A recorded hand to its end, and the place in it where all of an honest value is shown.

    `pieces` are the bytes of the value that hashes are of, each with its start in the value, and
    `inputs` the hashes that lead from them to the commitments.
    """

    hand: tuple[Site, ...]
    at: int
    value: bytes
    pieces: tuple[tuple[int, bytes], ...]
    inputs: Inputs
    hidden: Hidden
    traits: Traits
    varied: tuple[int, ...]

    def words(self, lie: bytes) -> Words:
        """The replacements in the hand that hide another value of the same length; none where some
        bytes that differ are not committed to."""
        left = {place for place, byte in enumerate(self.value) if byte != lie[place]}
        words = {}
        for start, piece in self.pieces:
            end = start + len(piece)
            left -= set(range(start, end))
            if lie[start:end] != piece:
                words[piece] = lie[start:end]
        return {} if left else with_hashes(words, self.inputs)


def with_hashes(words: Words, inputs: Inputs) -> dict[bytes, bytes]:
    """These replacements, and those of all hashes that follow from them.

    >>> leaf, root = sha256(b"leaf").digest(), sha256(sha256(b"leaf").digest() + b"x").digest()
    >>> changed = with_hashes({b"leaf": b"lie!"}, {root: (leaf, b"x"), leaf: (b"leaf",)})
    >>> changed[leaf] == sha256(b"lie!").digest()
    True
    >>> changed[root] == sha256(changed[leaf] + b"x").digest()
    True
    """
    known = {**words}
    for _ in range(LONGEST):
        above = {}
        for output, parts in inputs.items():
            data = b"".join(parts)
            changed = rewritten(data, known)
            if changed != data and known.get(output) != (image := sha256(changed).digest()):
                above[output] = image
        if not above:
            break
        known |= above
    return known


def openings(target: Target) -> Sequence[Opening]:
    """The openings of hidden values in recorded hands that come to their end."""
    if not _last or _last[0][0] is not target:
        known = traits_of(target)
        _last[:] = [(target, tuple(_found(target, known)) if known else ())]
    return _last[0][1]


_last: list[tuple[Target, Sequence[Opening]]] = []
"""The last target's, since finding them takes longer than a case does."""


def _found(target: Target, known: Sequence[tuple[Hidden, Traits]]) -> Iterator[Opening]:
    recorded, paths = RecordedHands(recorded_sites(target)), HashPaths(target)
    picked = (recorded.pick(FastChance(number.to_bytes(2, "big"))) for number in range(HANDS))
    ended = [tuple(hand) for hand in picked if _is_ended(hand)]
    for hidden, traits in known:
        varied = _varied(target, hidden, traits)
        if not varied:
            continue
        whole = [
            Opening(hand, at, value, pieces, inputs, hidden, traits, varied)
            for hand in ended
            for at, value, pieces, inputs in _whole(target, hand, traits, paths)
        ]
        yield from whole
        if whole:
            continue
        for hand, numbers, parts in _in_parts(target, ended, traits):
            inputs: dict[bytes, tuple[bytes, ...]] = {}
            for site in hand:
                if site.validator in target.present:
                    inputs.update(paths.inputs(site))
            size, value = len(parts[0]), b"".join(parts)
            pieces = tuple((number * size, part) for number, part in enumerate(parts))
            yield Opening(hand, max(numbers), value, pieces, inputs, hidden, traits, varied)


def _is_ended(hand: Sequence[Site]) -> bool:
    last = hand[-1].known
    return last is not None and last.next is None


def _whole(
    target: Target, hand: Sequence[Site], traits: Traits, paths: HashPaths
) -> Iterator[tuple[int, bytes, tuple[tuple[int, bytes], ...], Inputs]]:
    """The moves of a hand that show a whole value, with its pieces and their hashes."""
    for at, site in enumerate(hand):
        move = site.play.move
        if target.judge(site.validator) is not None or len(move) < traits.size:
            continue
        if (path := paths.at(site)) is None:
            continue
        places = [(move.find(part), part) for part in path.shown if move.count(part) == 1]
        start = min((place for place, _ in places), default=len(move))
        value = move[start : start + traits.size]
        if len(value) == traits.size and not traits.broken(value):
            pieces = tuple(
                (place - start, part)
                for place, part in places
                if place - start + len(part) <= traits.size
            )
            yield at, value, pieces, path.inputs


def _in_parts(
    target: Target, hands: Sequence[tuple[Site, ...]], traits: Traits
) -> Iterator[tuple[tuple[Site, ...], list[int], list[bytes]]]:
    """The hands in which moves of one player and length show one part of a value each, at the same
    place; with the numbers of these moves and the parts, in the order of the value."""
    shown: dict[tuple[int, int, int, int], list[tuple[int, list[int], list[bytes]]]]
    shown = defaultdict(list)
    for number, hand in enumerate(hands):
        for (seat, size), moves in _alike(target, hand).items():
            length, rest = divmod(traits.size, len(moves))
            if rest or len(moves) < 2 or not SHORTEST <= length <= size:
                continue
            for start in range(size - length + 1):
                for step in (1, -1):
                    ordered = moves[::step]
                    parts = [hand[at].play.move[start : start + length] for at in ordered]
                    if not traits.broken(b"".join(parts)):
                        shown[seat, size, start, step].append((number, ordered, parts))
    for seat, size in sorted({key[:2] for key in shown}):
        fitting = [
            places
            for key, places in sorted(shown.items(), key=lambda item: -item[0][-1])
            if key[:2] == (seat, size) and len(places) == len(hands) >= FEWEST
        ]
        # Where the order of the parts does not matter, the first one comes first.
        for number, ordered, parts in fitting[0] if fitting else ():
            yield hands[number], ordered, parts


def _alike(target: Target, hand: Sequence[Site]) -> dict[tuple[int, int], list[int]]:
    """The numbers of the moves of a hand that nobody has rules for, by their player and length."""
    alike = defaultdict(list)
    for at, site in enumerate(hand):
        if target.judge(site.validator) is None:
            alike[at % 2, len(site.play.move)].append(at)
    return alike


def _varied(target: Target, hidden: Hidden, traits: Traits) -> tuple[int, ...]:
    """The places of a value that a cheat changes, of those where all legal values are alike."""
    places = set[int]()
    for number in range(DRAWS):
        chance = Chance(number.to_bytes(2, "big"))
        value = legal_value(target.name, hidden, chance)
        lie = possible_value(target.name, hidden, chance, value)
        if len(lie) == traits.size:
            places |= {place for place in traits.places if lie[place] != value[place]}
    return tuple(sorted(places))
