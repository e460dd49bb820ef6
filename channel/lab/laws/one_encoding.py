"""Law for targets without rules: the numbers of an honest move have one encoding."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import GRIEFING, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.commitments import in_value
from channelsim.channel.lab.sites.program_words import constants, lengths
from channelsim.channel.lab.sites.values import NUMBER, moved
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.contract import Slash
from channelsim.games.judge import result_value

LONGEST = 64
"""The most places at which a fill byte is inserted."""


TRIES = 6
"""The parts of the honest move that are tried with a number that differs by a constant."""

LEAST = 4
"""Shorter constants, in bytes, are not tried: numbers that differ by them are often both legal."""


class OneEncoding:
    """Inserts a fill byte into the honest move, at every place, and changes numbers in it by
    constants of the program."""

    name = "one encoding"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the site's honest move, unless it ends the game: all such moves lead to the same."""
        site = trial.site
        known, play = site.known, site.play
        if known is None or known.next is None:
            return
        trial.tally.tried[self.name] += 1
        for move in padded(play.move):
            if len(move) > site.before.max_move_size:
                continue
            outcome = trial.run(move, play.share, play.evidence)
            if not isinstance(outcome, ProgramValid):
                continue
            if alike(outcome.value, result_value(known.next, trial.target.hashes)):
                text = (
                    "a number in the move may be written in two ways: a fill byte in an honest move"
                    " changes no number that follows, and it cannot be slashed"
                )
                call = move, play.share, play.evidence
                cause = "two encodings: the move"
                yield trial.finding(self.name, GRIEFING, text, cause, call, Slash(""))
                return
        yield from self._congruent(trial, result_value(known.next, trial.target.hashes))

    def _congruent(self, trial: Trial, known: Value) -> Iterator[Finding]:
        """Report a part of the move that the program checks, but takes as well if the number in it
        is greater or less by a constant, such as the order of a group: all else stays the same."""
        play, chance = trial.site.play, trial.chance
        program = trial.target.programs[trial.site.validator]
        steps = [atom for atom in constants(program) if len(atom) >= LEAST]
        starts = (0, *lengths(program).cuts)
        for _ in range(TRIES if steps else 0):
            constant, start = chance.pick(steps), chance.pick(starts)
            end = start + len(constant)
            part, step = play.move[start:end], atom_to_int(constant) * chance.pick((1, -1))
            other = moved(part, step)
            if end > len(play.move) or atom_to_int(other) != atom_to_int(part) + step:
                continue
            trial.tally.tried[self.name] += 1
            moves = [
                play.move[:start] + changed + play.move[end:]
                for changed in (other, moved(part, 1), moved(part, -1), chance.bytes(len(part)))
            ]
            outcome, *others = (trial.run(move, play.share, play.evidence) for move in moves)
            if not isinstance(outcome, ProgramValid) or any(
                isinstance(result, ProgramValid) for result in others
            ):
                continue
            if in_value(outcome.value, {other: part}) == known:
                text = (
                    f"bytes {start} to {end - 1} of the move may be another number as well, which"
                    f" differs by 0x{constant.hex()}, and it cannot be slashed"
                )
                call = moves[0], play.share, play.evidence
                cause = "two encodings: the move"
                yield trial.finding(self.name, GRIEFING, text, cause, call, Slash(""))
                return


def alike(value: Value, other: Value) -> bool:
    """True if two values are equal except for the encoding of their numbers.

    >>> alike((b"\\x00\\x05", b""), (b"\\x05", b"")), alike(b"\\x06", b"\\x05")
    (True, False)
    """
    if isinstance(value, tuple) and isinstance(other, tuple):
        return alike(value[0], other[0]) and alike(value[1], other[1])
    if isinstance(value, tuple) or isinstance(other, tuple):
        return False
    if value == other:
        return True
    return max(len(value), len(other)) <= NUMBER and atom_to_int(value) == atom_to_int(other)


def padded(move: bytes) -> Iterator[bytes]:
    """Insert one sign byte (00 or ff) into the move, at every place; each result once.

    >>> [one.hex() for one in padded(b"\\x05")]
    ['0005', 'ff05', '0500', '05ff']
    """
    seen = {move}
    for at in range(min(len(move), LONGEST) + 1):
        for fill in (b"\x00", b"\xff"):
            longer = move[:at] + fill + move[at:]
            if longer not in seen:
                seen.add(longer)
                yield longer


LAW = OneEncoding()
