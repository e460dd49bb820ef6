"""Prove the argued mutants of games, group by group.

`python -m scripts.tools.mutant_groups GAME ...` prints a line for each group.

A group is a reason in `mutants.toml`. It is proved if each of its mutants is equal to its original
on every input, and refuted if an input tells one apart. Programs that games share are examined in
the first game named that has them. With `--seconds 0`, only function by function.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import thread_time

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.mutants.report import MutantProof, all_mutants
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.modular.mutant import Original
from channelsim.channel.prove.proof import Question, compare
from channelsim.channel.prove.shapes import shapes_of
from channelsim.channel.prove.survivors import answer, by_functions, original_of
from channelsim.clsp.programs import Program
from channelsim.games.amounts import counted

UNDECIDED = "undecided"
SHOWDOWNS = ("end", "score", "show", "rows", "e")
"""The validators that end a game, which are checked and not proved."""

BY_FUNCTIONS = 10.0
"""Seconds of work for a proof function by function, if nothing else is asked."""


@dataclass(frozen=True)
class Group:
    """Mutants of a function with the same argued reason."""

    reason: str
    mutants: tuple[Mutant, ...]


def groups(target: Target, name: str) -> Iterator[Group]:
    """The groups of a validator's mutants, in the order of the program."""
    known = stored_reasons(target)
    argued = [(known.reason(mutant), mutant) for mutant in all_mutants(target, name)]
    pairs = [(mutant.function, reason, mutant) for reason, mutant in argued if reason is not None]
    pairs.sort(key=lambda each: each[:2])
    for (_, reason), members in groupby(pairs, key=lambda each: each[:2]):
        yield Group(reason, tuple(mutant for _, _, mutant in members))


def told(
    group: Group, original: Original, seconds: float, questions: Sequence[Question]
) -> Iterator[MutantProof]:
    """The answers about the mutants of a group, until one is not equal."""
    for mutant in group.mutants:
        program = Program(mutant.program)
        if seconds:
            proof = answer(questions, original, program, seconds)
        else:
            reason = by_functions(original, program, BY_FUNCTIONS)
            proof = MutantProof("equal", (reason,)) if reason else MutantProof("undecided")
        yield proof
        if not proof.is_equal:
            return


def main(given: Sequence[str]) -> None:
    """Print a line for each group, and their number."""
    parser = ArgumentParser(prog="python -m scripts.tools.mutant_groups", description=__doc__)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--validator", action="append")
    options = parser.parse_args(given)
    done: set[bytes] = set()
    verdicts: list[str] = []
    for name in options.games:
        target = load(name)
        for validator, program in target.programs.items():
            chosen = options.validator is None or validator in options.validator
            if not chosen or validator in SHOWDOWNS or program.hash in done:
                continue
            done.add(program.hash)
            verdicts += examined(target, validator, options.seconds)
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts)]
    print(f"{counted(len(verdicts), 'group')}: {', '.join(counts)}")


def examined(target: Target, validator: str, seconds: float) -> Iterator[str]:
    """Examine the groups of a validator, and print a line for each; the results."""
    questions: tuple[Question, ...] = ()
    original = original_of(target, validator)
    for group in groups(target, validator):
        if seconds and not questions:
            shapes = shapes_of(target, validator) or (None,)
            questions = tuple(compare(target, target, validator, shape=shape) for shape in shapes)
        start = thread_time()
        proofs = list(told(group, original, seconds, questions))
        last = proofs[-1]
        verdict = {"equal": "proved", "different": "refuted"}.get(last.verdict, UNDECIDED)
        equal = sum(proof.is_equal for proof in proofs)
        print(
            f"{verdict}: {target.name}, {validator}, {group.mutants[0].function}:"
            f" {equal} of {counted(len(group.mutants), 'mutant')},"
            f" {thread_time() - start:.1f} s: {last.text}: {group.reason}",
            flush=True,
        )
        yield verdict


if __name__ == "__main__":
    main(sys.argv[1:])
