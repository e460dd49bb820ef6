"""The report of a hunt: counts by validator and by kind of mutation, and every survivor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from statistics import median_low
from types import MappingProxyType
from typing import Literal

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import OpenPlace, here
from channelsim.channel.campaign.shards import Configuration
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Figure
from channelsim.channel.lab.mutants.hunt import Hunt, MutantResult, StoredCases, hunt
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.kinds import mutants as mutants_of
from channelsim.channel.lab.mutants.reasons import Reasons, stored_reasons
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.lab.targets.target_inputs import target_inputs
from channelsim.games.amounts import counted
from channelsim.games.names import LONGEST, nearest


class MutantProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer of the prover about a mutant: equal to its original or not, on every input.

    `lines` are the input on which they differ, or the reasons why it is undecided.
    """

    verdict: Literal["equal", "different", "undecided"]
    lines: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """True if no input tells the mutant from its original."""
        return self.verdict == "equal"

    @property
    def text(self) -> str:
        """The answer in words.

        >>> MutantProof("different", ("share: 1 of 2",)).text
        'an input shows it: share: 1 of 2'
        """
        head = {"equal": "equivalent, proved", "different": "an input shows it"}
        return ": ".join((head.get(self.verdict, "the prover cannot tell"), *self._said))

    @property
    def _said(self) -> tuple[str, ...]:
        return ("; ".join(self.lines),) if self.lines else ()


class Count(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of mutants: made, killed, alive with a stored reason, and alive; the share killed.

    `proved` are alive and equal to their originals, with a stored reason or without.
    `median_runs` is the median number of runs of a kill; None without a kill.
    """

    made: Figure
    killed: Figure
    argued: Figure
    open: Figure
    median_runs: Figure | None
    share: float = 1.0
    proved: Figure = 0

    def __post_init__(self) -> None:
        """Compute the share of the killed; 1 if there are none."""
        share = round(self.killed / self.made, 4) if self.made else 1.0
        msgspec.structs.force_setattr(self, "share", share)


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutant that was not killed: where it is, what was changed into what, in which
    expression, how many runs and seconds of work it was given, the reason if one is stored, and
    the answer of the prover if it was asked."""

    validator: str
    function: str
    expression: int
    kind: str
    old: str
    new: str
    within: str
    runs: int
    seconds: float
    reason: str | None
    proof: MutantProof | None = None

    @property
    def is_open(self) -> bool:
        """True if neither a reason nor a proof says that it is equivalent."""
        return self.reason is None and not (self.proof is not None and self.proof.is_equal)

    @property
    def change(self) -> str:
        """The place inside the program, and what was changed there."""
        inside = f" in {self.within}" if self.within else ""
        runs = counted(self.runs, "run")
        return (
            f"{self.function}, expression {self.expression}: {self.old} -> {self.new}{inside}"
            f" ({self.kind}; {runs})"
        )


@dataclass(frozen=True)
class MutantReport:
    """A hunt's result; `proofs` are the prover's answers, by the place of the mutant."""

    target: Target
    seed: str
    hunt: Hunt
    argued: Reasons
    proofs: Mapping[int, MutantProof] = field(default_factory=dict)

    def is_open(self, result: MutantResult) -> bool:
        """True if a mutant is alive, and neither a reason nor a proof says why."""
        proof = self.proofs.get(result.place)
        proved = proof is not None and proof.is_equal
        return not result.killed and not proved and self.argued.reason(result.mutant) is None

    @property
    def validators(self) -> list[str]:
        """The programs that were changed."""
        return list(dict.fromkeys(result.mutant.validator for result in self.hunt.results))

    def count(self, validator: str | None = None, kind: str | None = None) -> Count:
        """Count all mutants, or those of one validator or one kind."""
        return self._count(
            result
            for result in self.hunt.results
            if validator in (None, result.mutant.validator) and kind in (None, result.mutant.kind)
        )

    def _count(self, some: Iterable[MutantResult]) -> Count:
        results = list(some)
        runs = [result.runs for result in results if result.killed]
        alive = [result for result in results if not result.killed]
        left = sum(map(self.is_open, alive))
        answers = [self.proofs.get(result.place) for result in alive]
        proved = sum(proof is not None and proof.is_equal for proof in answers)
        middle = median_low(runs) if runs else None
        argued = len(alive) - proved - left
        return Count(len(results), len(runs), argued, left, middle, proved=proved)

    @cached_property
    def survivors(self) -> list[Survivor]:
        """Every surviving mutant, those without a reason or a proof first."""
        survivors = [
            Survivor(
                *(mutant.validator, mutant.function, mutant.number, mutant.kind),
                *(mutant.old, mutant.new, mutant.within),
                *(result.runs, round(result.seconds, 1), self.argued.reason(mutant)),
                self.proofs.get(result.place),
            )
            for result in self.hunt.alive
            for mutant in (result.mutant,)
        ]
        return sorted(survivors, key=lambda survivor: not survivor.is_open)

    def failed(self, seconds: float) -> bool:
        """True if a mutant without a reason survived; after an interrupt, a hunt of this many
        seconds of work."""
        return any(
            self.is_open(result)
            for result in self.hunt.alive
            if not self.hunt.interrupted or result.seconds >= seconds
        )


def all_mutants(target: Target, validator: str | None = None) -> list[Mutant]:
    """The mutants of a target's validators, or of one program. Raises `UsageError`."""
    if validator == REFEREE:
        return mutants_of(REFEREE, target.referee, target.symbols.get(REFEREE))
    if validator is not None and validator not in target.programs:
        known = (*target.programs, REFEREE)
        raise UsageError(
            f"--validator {validator[:LONGEST]}{nearest(validator, known)}: {target.name} has no"
            f" such; it has {', '.join(known)}"
        )
    return [
        mutant
        for name, program in target.programs.items()
        if validator in (None, name)
        for mutant in mutants_of(name, program, target.symbols.get(name))
    ]


def hunt_configuration(
    target: Target,
    mutants: Sequence[Mutant],
    seed: str,
    seconds: float,
    *,
    argued_too: bool = False,
    chunks: int | None = None,
    stored: StoredCases = MappingProxyType({}),
) -> Configuration:
    """What decides on the results of a hunt."""
    programs = b"".join(sha256(mutant.program).digest() for mutant in mutants)
    inputs = {**target_inputs(target), "mutants": sha256(programs).hexdigest()}
    if stored:
        cases = [(name, case.arguments) for name, some in sorted(stored.items()) for case in some]
        inputs["corpus"] = sha256(msgspec.json.encode(cases)).hexdigest()
    options = {"seconds": seconds, "argued": argued_too, "chunks": chunks}
    return Configuration("mutants", __version__, target.name, seed, inputs, options)


def hunted(
    target: Target,
    mutants: Sequence[Mutant],
    *,
    seed: str,
    seconds: float,
    jobs: int = 1,
    argued_too: bool = False,
    chunks: int | None = None,
    stored: StoredCases = MappingProxyType({}),
    open_place: OpenPlace | None = None,
) -> MutantReport:
    """Hunt these mutants, in so many processes (`jobs`) if no places are opened for it.

    Those that are argued meet only the prepared cases, unless `argued_too`; `chunks` ends the hunt
    at this many chunks of fresh cases, whatever the work. Every mutant meets the `stored` cases of
    its program first.
    """
    known = Reasons({}) if target.rules is None else stored_reasons(target)
    configuration = hunt_configuration(
        target, mutants, seed, seconds, argued_too=argued_too, chunks=chunks, stored=stored
    )
    done = hunt(
        target,
        mutants,
        configuration,
        seconds,
        open_place or (lambda work, folder: nullcontext(here(work, jobs))),
        lambda mutant: not argued_too and known.reason(mutant) is not None,
        chunks,
        stored,
    )
    return MutantReport(target, seed, done, known)
