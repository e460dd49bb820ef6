"""Ask the prover about mutants that survived: equal to their originals, or an input that differs.

Each mutant is one shard with the same work, so the answers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from time import thread_time

import msgspec
import z3

from channelsim.channel import __version__
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.job import Counts, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.mutants.equivalence import Reads
from channelsim.channel.lab.mutants.expressions import Module
from channelsim.channel.lab.mutants.hunt import MutantResult
from channelsim.channel.lab.mutants.report import MutantProof
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.counterexample import Counterexample
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.modular.mutant import Original, is_equal
from channelsim.channel.prove.modular.state import Unsupported
from channelsim.channel.prove.proof import Proof, Question, compare, prove
from channelsim.channel.prove.shapes import shapes_of
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.programs import Program, with_symbols
from channelsim.clsp.values import Value, tree_hash

MUTANT = "the mutant"

MOST = 3
"""Reasons that are told of a mutant that is undecided."""


@dataclass(frozen=True)
class SurvivorProofs:
    """The campaign: so many seconds of work for each mutant, a validator and its program.

    `questions` ask whether each validator's program is equal to itself, in states of each shape;
    mutants take its place.
    """

    target: Target
    configuration: Configuration
    mutants: tuple[tuple[str, bytes], ...]
    questions: Mapping[str, tuple[Question, ...]]

    returns_early = False
    unit, units = "survivor", "survivors"

    @property
    def plan(self) -> Plan:
        """A shard for each mutant."""
        return Plan(self.configuration.digest, len(self.mutants), unit=1)

    def worker(self) -> ShardWork:
        """Check that the target here is that of the command. Raises `UsageError`."""
        check_inputs(self.target, self.configuration.inputs)
        return partial(self._prove, originals={})

    def _prove(self, shard: Shard, originals: dict[str, Original]) -> bytes:
        name, program = self.mutants[shard.first]
        if name not in originals:
            originals[name] = original_of(self.target, name)
        seconds = self.configuration.options["seconds"]
        proof = answer(self.questions[name], originals[name], Program(program), seconds)
        return msgspec.json.encode(proof)

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
    """Ask whether a program is equal to the first one of a question.

    Only lemmas whose functions the mutant leaves as they are are used: such a function is the same
    unknown one on both sides, without a comparison of anything.
    """
    target, name = question.target, question.validator
    original = with_symbols(question.programs[0])
    mutant = named(original, program)
    changed = replace(target, programs={**target.programs, name: mutant})
    lemmas = tuple(
        lemma for lemma in lemmas_of(target.rules) if is_left(lemma.function, original, mutant)
    )
    claim = Equal((target.name, MUTANT), (original, mutant), lemmas)
    return replace(question, claim=claim, targets=(target, changed))


def original_of(target: Target, name: str) -> Original:
    """A validator's program, whose mutants are compared with it in states of its form."""
    form = None if target.rules is None else target.game.validators[name].form
    return Original(with_symbols(target.programs[name]), form)


def answer(
    questions: Sequence[Question], original: Original, program: Program, seconds: float
) -> MutantProof:
    """The answer about a mutant, with so many seconds of work: it is equal only if it is so in
    states of each shape. Raises `KeyboardInterrupt`.

    Up to half of the time goes to a proof function by function, in states of any shape; that of
    what reaches each function is not counted.
    """
    reason = by_functions(original, program, seconds / 2)
    if reason:
        return MutantProof("equal", (reason,))
    deadline = thread_time() + seconds
    told = MutantProof("undecided", ())
    for question in questions:
        proof = prove(mutant_question(question, program), max(0.0, deadline - thread_time()))
        if proof.interrupted:
            raise KeyboardInterrupt
        told = _told(proof)
        if not told.is_equal:
            break
    return told


def by_functions(original: Original, program: Program, seconds: float) -> str:
    """Why a mutant is equal to its original, function by function; "" where it may not be."""
    if seconds <= 0 or original.analysis_fails:
        return ""
    try:
        return is_equal(original, program, thread_time() + seconds)
    except Unsupported:
        return ""


def named(original: Program, mutant: Program) -> Program:
    """The mutant with the names of the functions, also of the one that was changed."""
    names = dict(original.symbols)
    waiting = [(original.value, mutant.value)]
    while waiting:
        old, new = waiting.pop()
        if old == new:
            continue
        name = names.get(tree_hash(old).hex())
        if name is not None:
            names.setdefault(tree_hash(new).hex(), name)
        if isinstance(old, tuple) and isinstance(new, tuple):
            waiting += zip(old, new, strict=True)
    return replace(mutant, symbols=names)


def is_left(function: str, original: Program, mutant: Program) -> bool:
    """True if a mutant leaves the functions of this name, and all that they call, as they are."""
    module = Module(original.value, original.symbols)
    reads, trees = Reads(module), module.code.trees
    changed = Code(mutant.value, mutant.symbols)
    bodies = [body.body for body in module.bodies.values() if body.name == function]
    if bodies != [body.body for body in changed.functions if body.name == function]:
        return False
    if len(trees) != len(changed.trees):
        return False
    starts = [start for start, body in module.bodies.items() if body.name == function]
    return all(
        way and (way[0] != "f" or _part(old, way[1:]) == _part(new, way[1:]))
        for start in starts
        for way in reads.of[start]
        for old, new in zip(trees, changed.trees, strict=True)
    )


def _part(tree: Value, way: str) -> Value:
    """The part of a tree at a way, or the atom at which the way ends."""
    for step in way:
        if not isinstance(tree, tuple):
            break
        tree = tree[step == "r"]
    return tree


def survivor_proofs(
    target: Target, results: Iterable[MutantResult], seconds: float
) -> tuple[SurvivorProofs | None, Sequence[int]]:
    """The campaign about these mutants, and the place of each among all that were hunted.

    Those of the referee are left out, which judges no move; None where none is left.
    """
    asked: list[MutantResult] = []
    questions: dict[str, tuple[Question, ...]] = {}
    for result in results:
        name = result.mutant.validator
        if name == REFEREE:
            continue
        if name not in questions:
            try:
                questions[name] = tuple(
                    compare(target, target, name, shape=shape)
                    for shape in shapes_of(target, name) or (None,)
                )
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
