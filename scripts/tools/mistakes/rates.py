"""The rate at which random play shows a mistake, over very many cases.

Players choose at random. Cases are their moves, and these with one random change: nothing that the
lab's search does to find mistakes. A chunk of cases depends on its number alone, so parts of the
work add up. Only cases of the mistake's validator count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chia_rs import run_chia_program

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets import loading
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, STRICT, TooLarge, to_value
from channelsim.clsp.values import Value
from scripts.tools.mistakes.listed import Measured, Mistake
from scripts.tools.mistakes.planting import OPENINGS, program_of

SEED = b"random play"

CHUNK = 4096
"""The cases of a chunk."""

AT_A_PLACE = 32
"""The most cases at one place of a hand."""

LONGEST_EVIDENCE = 40
"""The most bytes of random evidence."""


@dataclass
class Rate:
    """The count so far of one mistake; `next_chunk` is the first one that was not counted.

    `quick` are the wrong and the right program without the locks of a deck; where these agree, so
    do the whole ones, because a lock that does not open ends both alike. A mistake in the locks
    themselves has the whole programs there.
    """

    mistake: Mistake
    programs: tuple[bytes, bytes]
    quick: tuple[bytes, bytes]
    cases: int = 0
    differing: int = 0
    next_chunk: int = 0

    @property
    def measured(self) -> Measured:
        """The count, as lists have it."""
        return Measured(self.cases, self.differing)

    def count(self, arguments: list[bytes], ends: dict[bytes, list[Value | None]]) -> None:
        """Count cases by their arguments; `ends` are those of right programs that ran before."""
        wrong, right = self.quick
        if right not in ends:
            ends[right] = [_end(right, case) for case in arguments]
        self.cases += len(arguments)
        for case, end in zip(arguments, ends[right], strict=True):
            if _end(wrong, case) != end:
                self.differing += _end(self.programs[0], case) != _end(self.programs[1], case)


def counted_chunks(mistakes: list[Mistake], cases: int, first: int = 0) -> list[Rate]:
    """Count over so many cases at least, from this chunk on.

    All mistakes are in one validator of one game, and are tried on the same cases.
    """
    counts = [_rate(mistake) for mistake in mistakes]
    target = loading.load(mistakes[0].game)
    chunk = first
    while counts[0].cases < cases:
        for arguments in _cases(target, mistakes[0].validator, chunk):
            ends: dict[bytes, list[Value | None]] = {}
            for rate in counts:
                rate.count(arguments, ends)
        chunk += 1
    for rate in counts:
        rate.next_chunk = chunk
    return counts


def _rate(mistake: Mistake) -> Rate:
    wrong, right, quick_wrong, quick_right = (
        program_of(mistake.game, mistake.validator, planted, quick).serialized
        for quick in (False, True)
        for planted in (mistake, None)
    )
    if mistake.file.endswith(OPENINGS):
        quick_wrong, quick_right = wrong, right
    return Rate(mistake, (wrong, right), (quick_wrong, quick_right))


def _cases(target: Target, validator: str, chunk: int) -> Iterator[list[bytes]]:
    """The arguments of the cases of one chunk, of each place together."""
    secret = derive(SEED, "chunk", chunk)
    chance, left = FastChance(secret), CHUNK
    for hand in hands(target, secret):
        for turn in hand:
            if turn.before.validator != validator:
                continue
            site = site_of(target, turn)
            count = min(left, AT_A_PLACE)
            yield [site.environment(*_call(site, chance)) for _ in range(count)]
            left -= count
            if not left:
                return


def _call(site: Site, chance: FastChance) -> Call:
    """The move of a place with evidence against it; mostly with one random change."""
    play, evidence = site.play, chance.pick(site.held)
    move, share = play.move, play.share
    match chance.below(5):
        case 0 if move:
            at = chance.below(len(move))
            move = move[:at] + chance.bytes(1) + move[at + 1 :]
        case 1:
            move = chance.bytes(len(move))
        case 2:
            share = chance.below(site.amount + 1)
        case 3:
            evidence = chance.bytes(chance.below(LONGEST_EVIDENCE + 1))
    return move, share, evidence


def _end(program: bytes, arguments: bytes) -> Value | None:
    """The result of a run; None for one that raises."""
    try:
        return to_value(run_chia_program(program, arguments, MAX_COST, STRICT)[1])
    except (ValueError, TooLarge):
        return None
