"""Parts of moves that a program reads as one: filled with one byte, or moved by a constant.

A program may take five equal marks for an answer, and a number for another one that is greater by
the order of a group, or less: no single byte leads there, and chance does not either.
"""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.program_words import constants, lengths
from channelsim.channel.lab.sites.values import NUMBER, moved
from channelsim.clsp.programs import Program
from channelsim.clsp.values import atom_to_int, int_to_atom

OWN = 0.7
"""The share of parts that are filled with one of their own bytes; others with one of the state."""

LONGEST = 40
"""A longer atom, in bytes, is no number."""


def with_changed_part(
    move: bytes, program: Program, atoms: Sequence[bytes], chance: FastChance
) -> bytes:
    """The move with one of its parts filled, or moved by a constant of the program or a number of
    the state.

    Parts lie between the places at which the program cuts. `atoms` are those of the state.
    """
    ends = sorted({0, len(move), *(cut for cut in lengths(program).cuts if cut < len(move))})
    if len(ends) < 2:
        return move
    start, stop = sorted(chance.shuffled(ends)[:2])
    if chance.random() < 0.5:
        if chance.random() < 0.5:
            start, stop = 0, len(move)
        part = move[start:stop]
        known = b"" if chance.random() < OWN else b"".join(atoms)
        return move[:start] + bytes([chance.pick(known or part)]) * len(part) + move[stop:]
    numbers = constants(program) if chance.random() < 0.5 else atoms
    numbers = [atom for atom in numbers if 0 < len(atom) <= LONGEST] or [b"\x01"]
    # Mostly those that are as long as the part.
    alike = [atom for atom in numbers if len(atom) == stop - start]
    word = chance.pick(alike if alike and chance.random() < 0.7 else numbers)
    if chance.random() < 0.5 and start + len(word) <= len(move):
        stop = start + len(word)
    part, step = move[start:stop], atom_to_int(word) * chance.pick((1, -1))
    if stop == len(move) and len(part) <= NUMBER and chance.random() < 0.5:
        return move[:start] + int_to_atom(atom_to_int(part) + step)
    return move[:start] + moved(part, step) + move[stop:]
