"""Rare states: those with an atom that is hardly ever written in such a way.

A number that is zero is the empty atom, one whose highest bit is set has a zero byte in front or
is negative, and the sum of two secrets may be shorter than either. Programs are wrong about these
long before anybody sees it, since hands with them come once in thousands.

Here a player's secret is drawn again and again, and the state that it leads to is looked at. A
hand costs hundreds of times more than a run, so the arguments of one honest case are kept as
bytes, and a draw replaces the secret and the hashes that commit to it. Values that stay inside of
a program show in the cost of its run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec
from chia_rs import LazyNode, run_chia_program

from channelsim.channel.lab.sites.commitments import (
    Hash,
    Words,
    hash_of,
    hashes,
    in_bytes,
    in_value,
    opening,
    secrets_of_other_lengths,
    special_secrets,
)
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import HELD, Recorded
from channelsim.channel.lab.sites.replays import COST, program_step
from channelsim.channel.lab.sites.site import Site, elsewhere, make_site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import STRICT
from channelsim.clsp.values import Value, atom_to_int, int_to_atom, is_minimal, serialize
from channelsim.games.chance import Chance
from channelsim.games.contract import Play, any_action
from channelsim.games.errors import IllegalAction
from channelsim.games.judge import position_after

LONGEST = 64
"""The most atoms that are read of a result."""


Encoding: TypeAlias = tuple[int, int, str]
"""The form of an atom: its length, its length without padding, and the kind of number that its
first byte shows."""


class Draw(msgspec.Struct, frozen=True, gc=False):
    """A secret, with the cost of the run and the first atoms of its result, of which only the form
    is kept: they may be long. 0 and none if it raises."""

    secret: bytes
    cost: int
    encodings: tuple[Encoding, ...]


def encoding(atom: bytes) -> Encoding:
    """The lengths of an atom, as it is and in the fewest bytes, and how it is written as a number.

    Padded: in more bytes than needed. Signed: with a zero byte for the sign in front.

    >>> [encoding(atom) for atom in (b"", b"\\x05", b"\\x00\\x80", b"\\x80", b"\\xff\\x7f")]
    [(0, 0, ''), (1, 1, ''), (2, 2, 'signed'), (1, 1, 'least'), (2, 2, 'negative')]
    >>> encoding(b"\\x00\\x7f"), encoding(b"\\x00\\x00"), encoding(b"\\xff\\x80")
    ((2, 1, 'padded'), (2, 0, 'padded'), (2, 1, 'padded'))
    """
    size = len(atom)
    if not atom or (0 < atom[0] < 0x80):
        return size, size, ""
    if not is_minimal(atom):
        return size, len(int_to_atom(atom_to_int(atom))), "padded"
    if not atom[0]:
        return size, size, "signed"
    return size, size, "least" if atom[0] == 0x80 and not any(atom[1:]) else "negative"


class SecretDraws(msgspec.Struct, frozen=True):
    """An honest case whose move opens a commitment of its state, prepared for other secrets."""

    site: Site
    program: bytes
    secret: bytes
    hashed: Hash
    arguments: bytes
    written: tuple[bytes, ...]

    def words(self, secret: bytes) -> Words:
        """The parts that another secret replaces: itself, and the hashes of it."""
        return dict(zip(hashes(self.secret, self.hashed), hashes(secret, self.hashed), strict=True))

    def draw(self, secret: bytes) -> Draw:
        """Run the validator with another secret of the same length."""
        arguments = self.arguments
        for old, new in zip(self.written, hashes(secret, self.hashed), strict=False):
            arguments = arguments.replace(old, new)
        try:
            cost, result = run_chia_program(self.program, arguments, COST, STRICT)
        except ValueError:
            return Draw(secret, 0, ())
        return Draw(secret, cost, _encodings(result))

    def special(self) -> tuple[bytes, ...]:
        """Secrets that nobody draws, but a player may choose."""
        return special_secrets(self.secret, tuple(leaves(self.site.state)))

    def of_other_lengths(self) -> tuple[bytes, ...]:
        """Secrets of other lengths with which the move is not too long."""
        rest = len(self.site.play.move) - len(self.secret)
        return secrets_of_other_lengths(self.secret, self.site.before.max_move_size - rest)


def secret_draws(target: Target, site: Site) -> SecretDraws | None:
    """Prepare a site for draws; None where its move opens no commitment."""
    move, atoms = site.play.move, frozenset(leaves(site.state))
    opened = opening(move, atoms)
    if opened is None:
        return None
    secret = move[slice(*opened)]
    hashed = hash_of(secret, atoms)
    arguments = site.environment(move, site.play.share, site.play.evidence)
    written = tuple(hashes(secret, hashed))
    depth = max(at for at, part in enumerate(written) if part in arguments)
    program = target.programs[site.validator].serialized
    return SecretDraws(site, program, secret, hashed, arguments, written[: depth + 1])


def _encodings(root: LazyNode) -> tuple[Encoding, ...]:
    """The forms of the first atoms of a result, from left to right."""
    encodings: list[Encoding] = []
    waiting = [root]
    for _ in range(LONGEST):
        if not waiting:
            break
        node = waiting.pop()
        while (pair := node.pair) is not None and len(waiting) < LONGEST:
            node, rest = pair
            waiting.append(rest)
        if node.atom is not None:
            encodings.append(encoding(node.atom))
    return tuple(encodings)


RARE = 1 / 64
"""An encoding is rare if it has no larger share of the draws of a validator."""

SELDOM = 2
"""The draws with one rare encoding that are tried."""

CHOSEN = 2
"""The most draws of one site that are tried."""

VARIED = 0.1
"""The most different costs, as a share of the draws, of which one that is rare tells something."""

Key: TypeAlias = tuple[str, str, int, int, str]
"""A validator, an atom of its result (or the secret, or the cost), and its encoding."""


class RareStates:
    """The encodings of the atoms in the states that were looked at, by validator and atom.

    Of the player whose secret is drawn again nothing is known: it is assumed to hold the evidence
    that the opponents of other hands held at the same validator (`learn`).
    """

    def __init__(self) -> None:
        self._seen: Counter[Key] = Counter()
        self._tried: Counter[Key] = Counter()
        self._drawn: Counter[str] = Counter()
        self._held: dict[str, dict[bytes, Value]] = {}

    def learn(self, site: Site) -> None:
        """Remember the evidence of the opponent at a place of a hand, the newest `HELD` pieces."""
        newest = self._held.setdefault(site.validator, {})
        for evidence in site.held:
            written = serialize(evidence)
            newest.pop(written, None)
            newest[written] = evidence
        for oldest in list(newest)[:-HELD]:
            del newest[oldest]

    def rare(self, validator: str, draws: Sequence[Draw]) -> list[Draw]:
        """Of the draws at one site, the `CHOSEN` with the rarest encoding in the result.

        The cost counts as an encoding where it hardly ever differs from the usual one there.
        """
        costs = Counter(draw.cost for draw in draws)
        usual = costs.most_common(1)[0][0]
        regular = len(costs) <= len(draws) * VARIED
        keyed = []
        for draw in draws:
            keys = [(validator, f"{at}", *form) for at, form in enumerate(draw.encodings)]
            keys.append((validator, "secret", *encoding(draw.secret)))
            if regular:
                keys.append((validator, "cost", draw.cost - usual, 0, ""))
            self._seen.update(keys)
            keyed.append((draw, keys))
        self._drawn[validator] += len(draws)
        most = self._drawn[validator] * RARE
        rare: list[tuple[int, int]] = []
        for number, (_, keys) in enumerate(keyed):
            times = [self._seen[key] for key in keys if self._tried[key] < SELDOM]
            if times and min(times) <= most:
                rare.append((min(times), number))
        chosen = [keyed[number] for _, number in sorted(rare)[:CHOSEN]]
        for _, keys in chosen:
            self._tried.update(keys)
        return [draw for draw, _ in chosen]

    def places(
        self, target: Target, draws: SecretDraws, secret: bytes, chance: FastChance
    ) -> Iterator[Site]:
        """The site with this secret, and the place after it, where the opponent plays on, unless
        it settles."""
        words = draws.words(secret)
        site = draws.site
        play = msgspec.structs.replace(site.play, move=in_bytes(site.play.move, words))
        state = in_value(site.state, words)
        other = elsewhere(target, site, state, site.amount, play, natural=True)
        if other is None:
            return
        yield other
        step = program_step(target, other)
        if step is None or step.validator not in self._held:
            return  # nothing is known yet of what an opponent holds there
        after = position_after(other.before, step, play.move, play.share)
        player = other.receiver.moved(after)
        if not player.choices():
            return
        try:
            answer = player.act(any_action(player, Chance(chance.bytes(16))))
        except IllegalAction:
            return
        if isinstance(answer, Play):
            held = (answer.evidence, *self._held[step.validator].values())
            receiver = Recorded(after, held, after.mover.other)
            yield make_site(target, after, answer, site.amount, receiver, guessed=True)
