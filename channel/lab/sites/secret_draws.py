"""Draws of the secret behind a commitment, of which only the validator's run is made.

A hand costs hundreds of times more than a run. Here the arguments of one honest call are kept as
bytes, and a draw replaces the secret and the hashes that commit to it.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from chia_rs import LazyNode, run_chia_program

from channelsim.channel.lab.sites.openings import opening
from channelsim.channel.lab.sites.replays import Hash, Words, hash_of, hashes
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import atom_to_int, int_to_atom, is_minimal
from channelsim.clsp.run import STRICT

COST = 50_000_000
"""The cost limit of a draw's run."""

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
    """An honest call whose move opens a commitment of its state, prepared for other secrets."""

    site: Site
    program: bytes
    secret: bytes
    hashed: Hash
    arguments: bytes
    written: tuple[bytes, ...]

    def words(self, secret: bytes) -> Words:
        """What another secret replaces: itself, and the hashes of it."""
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
        """Secrets that nobody draws, but a player may choose.

        Numbers at the ends of what so many bytes hold; secrets that begin or end with zero bytes;
        and those that are equal or opposite to another atom of the state, so that a sum or a
        difference is rare.
        """
        size = len(self.secret)
        most = 1 << 8 * size
        numbers = [0, 1, 0x7F, 0x80, 0xFF, 1 << 15, 1 << 31, most // 2 - 1, most // 2]
        for atom in leaves(self.site.state):
            if len(atom) == size:
                numbers += (int.from_bytes(atom, "big"), most - 1 - int.from_bytes(atom, "big"))
        made = [(one % most).to_bytes(size, "big") for n in numbers for one in (n, -n)]
        for few in (1, 2, 4):
            made += (bytes(few) + self.secret[few:], self.secret[:-few] + bytes(few))
        return tuple(dict.fromkeys(made))


def secret_draws(target: Target, site: Site) -> SecretDraws | None:
    """Prepare a site for draws; None where its move opens no commitment."""
    move, atoms = site.play.move, frozenset(leaves(site.state))
    found = opening(move, atoms)
    if found is None:
        return None
    secret = move[slice(*found)]
    hashed = hash_of(secret, atoms)
    arguments = site.environment(move, site.play.share, site.play.evidence)
    every = tuple(hashes(secret, hashed))
    depth = max(at for at, one in enumerate(every) if one in arguments)
    program = target.programs[site.validator].serialized
    return SecretDraws(site, program, secret, hashed, arguments, every[: depth + 1])


def _encodings(root: LazyNode) -> tuple[Encoding, ...]:
    """The forms of the first atoms of a result, from left to right."""
    found: list[Encoding] = []
    waiting = [root]
    for _ in range(LONGEST):
        if not waiting:
            break
        node = waiting.pop()
        while (pair := node.pair) is not None and len(waiting) < LONGEST:
            node, rest = pair
            waiting.append(rest)
        if node.atom is not None:
            found.append(encoding(node.atom))
    return tuple(found)
