"""Ask the prover about mutants that survived: equal to their originals, or an input that differs.

Each mutant is one shard with the same work, so the answers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import msgspec
import z3

from channelsim.channel import __version__
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.job import Counts, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.mutants.hunt import MutantResult
from channelsim.channel.lab.mutants.report import MutantProof
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.counterexample import Counterexample
from channelsim.channel.prove.proof import Proof, Question, compare, prove
from channelsim.clsp.programs import Program

MUTANT = "the mutant"

MOST = 3
"""Reasons that are told of a mutant that is undecided."""


@dataclass(frozen=True)
class SurvivorProofs:
    """The campaign: so many seconds of work for each mutant, a validator and its program.

    `questions` ask whether each validator's program is equal to itself; mutants take its place.
    """

    target: Target
    configuration: Configuration
    mutants: tuple[tuple[str, bytes], ...]
    questions: Mapping[str, Question]

    returns_early = False
    unit, units = "survivor", "survivors"

    @property
    def plan(self) -> Plan:
        """A shard for each mutant."""
        return Plan(self.configuration.digest, len(self.mutants), unit=1)

    def worker(self) -> ShardWork:
        """Check that the target here is that of the command. Raises `UsageError`."""
        check_inputs(self.target, self.configuration.inputs)
        return self._prove

    def _prove(self, shard: Shard) -> bytes:
        name, program = self.mutants[shard.first]
        seconds = self.configuration.options["seconds"]
        proof = prove(mutant_question(self.questions[name], Program(program)), seconds)
        if proof.interrupted:
            raise KeyboardInterrupt
        return msgspec.json.encode(_told(proof))

    def decode(self, data: bytes) -> MutantProof:
        """The answer about a mutant."""
        return msgspec.json.decode(data, type=MutantProof)

    def run(self, place: Place) -> tuple[dict[int, MutantProof], bool]:
        """The answers by the place of the mutant, and whether an interrupt left some out."""
        proved = 0

        def count(shard: Shard, proof: MutantProof) -> Counts:
            """Count the mutants that are proved equal."""
            nonlocal proved
            proved += proof.is_equal
            return {"proved": proved}

        run = engine.run(self, self.plan, place.workers(), place.directory, count, place.on_status)
        return {shard.first: proof for shard, proof in run.results.items()}, run.interrupted


def mutant_question(question: Question, program: Program) -> Question:
    """Ask whether a program is equal to the first one of a question."""
    target, name = question.target, question.validator
    changed = replace(target, programs={**target.programs, name: program})
    claim = Equal((target.name, MUTANT), (question.programs[0], program))
    return replace(question, claim=claim, targets=(target, changed))


def survivor_proofs(
    target: Target, results: Iterable[MutantResult], seconds: float
) -> tuple[SurvivorProofs | None, Sequence[int]]:
    """The campaign about these mutants, and the place of each among all that were hunted.

    Those of the referee are left out, which judges no move; None where none is left.
    """
    asked: list[MutantResult] = []
    questions: dict[str, Question] = {}
    for result in results:
        name = result.mutant.validator
        if name == REFEREE:
            continue
        if name not in questions:
            try:
                questions[name] = compare(target, target, name)
            except UsageError:  # no play reaches it
                continue
        asked.append(result)
    if not asked:
        return None, ()
    mutants = tuple((result.mutant.validator, result.mutant.program) for result in asked)
    digest = sha256(b"".join(sha256(program).digest() for _, program in mutants))
    inputs = {**target_inputs(target), "survivors": digest.hexdigest()}
    options = {"seconds": seconds, "z3": z3.get_version_string()}
    configuration = Configuration("mutants", __version__, target.name, "", inputs, options)
    campaign = SurvivorProofs(target, configuration, mutants, questions)
    return campaign, [result.place for result in asked]


def _told(proof: Proof) -> MutantProof:
    """The answer as plain data: the input that differs, or the reasons why it is undecided."""
    lines: list[str] = []
    if proof.broken:
        lines = list(Counterexample.of(proof).described())
    elif proof.undecided:
        lines = [gap.line for gap in proof.undecided[:MOST]]
    verdict = proof.verdict
    assert verdict in ("equal", "different", "undecided")
    return MutantProof(verdict, tuple(lines))
