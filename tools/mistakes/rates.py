"""The rate at which random play shows a mistake, over very many cases.

Cases are those of `crosscheck`, in chunks which depend on the seed and their number alone; so
parts of the work add up. Only cases of the mistake's validator count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chia_rs import run_chia_program

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.crosscheck.chunks import AT_A_SITE, CHUNK
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets import loading
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, STRICT, TooLarge, to_value
from channelsim.clsp.values import Value
from tools.mistakes.listed import Measured, Mistake
from tools.mistakes.planting import wrong_program

SEED = b"random play"


@dataclass
class Rate:
    """The count so far of one mistake; `next_chunk` is the first one that was not counted."""

    mistake: Mistake
    program: bytes
    cases: int = 0
    differing: int = 0
    next_chunk: int = 0

    @property
    def measured(self) -> Measured:
        """The count, as lists have it."""
        return Measured(self.cases, self.differing)


def counted_chunks(mistakes: list[Mistake], cases: int, first: int = 0) -> list[Rate]:
    """Count over so many cases at least, from this chunk on.

    All mistakes are in one validator of one game, and are tried on the same cases.
    """
    counts = [Rate(mistake, wrong_program(mistake).serialized) for mistake in mistakes]
    target = loading.load(mistakes[0].game)
    chunk = first
    while counts[0].cases < cases:
        _count(target, mistakes[0].validator, counts, chunk)
        chunk += 1
    for rate in counts:
        rate.next_chunk = chunk
    return counts


def _count(target: Target, validator: str, counts: list[Rate], chunk: int) -> None:
    """Run right and wrong programs on one more chunk of cases."""
    right = target.programs[validator].serialized
    secret = derive(SEED, "chunk", chunk)
    chance = FastChance(secret)
    left = CHUNK
    for site in _sites(target, validator, secret, chance):
        cases = Mutator(target, site, chance).cases(min(left, AT_A_SITE))
        for case in cases:
            end = _end(right, case.arguments)
            for rate in counts:
                rate.differing += _end(rate.program, case.arguments) != end
        for rate in counts:
            rate.cases += len(cases)
        left -= len(cases)
        if not left:
            return


def _sites(target: Target, validator: str, secret: bytes, chance: FastChance) -> Iterator[Site]:
    for site in generate_sites(target, secret, chance, target.strict):
        if site.validator == validator:
            yield site


def _end(program: bytes, arguments: bytes) -> Value | None:
    """The result of a run; None for one that raises."""
    try:
        return to_value(run_chia_program(program, arguments, MAX_COST, STRICT)[1])
    except (ValueError, TooLarge):
        return None
