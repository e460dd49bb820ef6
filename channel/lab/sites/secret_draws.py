"""Draws of the secret behind a commitment, of which only the validator's run is made.

A hand costs hundreds of times more than a run. Here the arguments of one honest call are kept as
bytes, and a draw replaces the secret and the hashes that commit to it.
"""

from __future__ import annotations

import msgspec
from chia_rs import LazyNode, run_chia_program

from channelsim.channel.lab.sites.openings import opening
from channelsim.channel.lab.sites.replays import Hash, Words, hash_of, hashes
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.target.target import Target
from channelsim.clsp.run import STRICT

COST = 50_000_000
"""The cost limit of a draw's run."""

LONGEST = 64
"""The most atoms that are read of a result."""


class Draw(msgspec.Struct, frozen=True, gc=False):
    """A secret, with the cost of the run and the atoms of its result; 0 and none if it raises."""

    secret: bytes
    cost: int
    atoms: tuple[bytes, ...]


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
        return Draw(secret, cost, _atoms(result))

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


def _atoms(root: LazyNode) -> tuple[bytes, ...]:
    """The first atoms of a result, from left to right."""
    atoms: list[bytes] = []
    waiting = [root]
    for _ in range(LONGEST):
        if not waiting:
            break
        node = waiting.pop()
        while (pair := node.pair) is not None and len(waiting) < LONGEST:
            node, rest = pair
            waiting.append(rest)
        if node.atom is not None:
            atoms.append(node.atom)
    return tuple(atoms)
