"""Parts of moves that a program reads as one: filled with one byte, or moved by a constant.

A program may take five equal marks for an answer, and a number for another one that is greater by
the order of a group, or less: no single byte leads there, and chance does not either.
"""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.program_words import constants, cuts
from channelsim.channel.lab.sites.values import NUMBER
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import atom_to_int, int_to_atom

OWN = 0.7
"""The share of parts that are filled with one of their own bytes; others with one of the state."""

LONGEST = 40
"""A longer atom, in bytes, is no number."""


class Parts:
    """The parts of moves of one validator, by the places at which its program cuts.

    `atoms` are those of a state: numbers that a part is moved by, and bytes that one is filled
    with.
    """

    def __init__(self, target: Target, validator: str, atoms: Sequence[bytes]) -> None:
        program = target.programs[validator]
        self._cuts = cuts(program)
        self._numbers = tuple(
            tuple(by_length.values())
            for by_length in (_by_length(constants(program)), _by_length(atoms))
            if by_length
        )
        self._bytes = b"".join(atoms)

    def changed(self, data: bytes, chance: FastChance) -> bytes:
        """The data with one of its parts filled, or moved by a number of the program or state."""
        ends = sorted({0, len(data), *(cut for cut in self._cuts if cut < len(data))})
        if len(ends) < 2:
            return data
        start, stop = sorted(chance.shuffled(ends)[:2])
        if chance.random() < 0.5:
            if chance.random() < 0.5:
                start, stop = 0, len(data)
            part = data[start:stop]
            known = part if chance.random() < OWN or not self._bytes else self._bytes
            return data[:start] + filled(part, chance.pick(known)) + data[stop:]
        word = self._number(chance)
        if chance.random() < 0.5 and start + len(word) <= len(data):
            stop = start + len(word)
        step = atom_to_int(word) * chance.pick((1, -1))
        part = data[start:stop]
        if stop == len(data) and len(part) <= NUMBER and chance.random() < 0.5:
            return data[:start] + int_to_atom(atom_to_int(part) + step)
        return data[:start] + moved(part, step) + data[stop:]

    def _number(self, chance: FastChance) -> bytes:
        """A constant of the program, or as often a number of the state; of each length as often."""
        if not self._numbers:
            return b"\x01"
        return chance.pick(chance.pick(chance.pick(self._numbers)))


def _by_length(atoms: Sequence[bytes]) -> dict[int, list[bytes]]:
    lengths: dict[int, list[bytes]] = {}
    for atom in dict.fromkeys(atoms):
        if 0 < len(atom) <= LONGEST:
            lengths.setdefault(len(atom), []).append(atom)
    return lengths


def filled(part: bytes, byte: int) -> bytes:
    r"""As many bytes, all of them this one.

    >>> filled(b"=..~", 0x3D)
    b'===='
    """
    return bytes([byte]) * len(part)


def moved(part: bytes, step: int) -> bytes:
    r"""The number in these bytes and so much more, in as many bytes; in two's complement below 0.

    >>> moved(b"\x00\xff", 1), moved(b"\x05", -7)
    (b'\x01\x00', b'\xfe')
    """
    size = len(part)
    return ((int.from_bytes(part, "big") + step) % (1 << 8 * size)).to_bytes(size, "big")
