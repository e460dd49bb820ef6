"""Adds cases that kill mutants to the stored corpus: ``python -m tests.poker_kills SEED``.

Names of programs may follow the seed.

Of calls in rare places, those are kept that kill a mutant of a poker program which no stored case
kills. It goes on until it is interrupted, which keeps what it has found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count

import msgspec

from channelsim.channel.lab.cases.corpus import CaseRuns
from channelsim.channel.lab.mutants.judged_cases import (
    COST_FACTOR,
    JudgedCase,
    cost_of,
    differs,
    stored,
)
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL
from channelsim.games.contract import Raise, Valid
from channelsim.games.judge import result_value
from tests.games.poker.hands import HASHES
from tests.poker_cases import Call, calls, case_of, said, target_of
from tests.poker_corpus import FOLDER
from tests.poker_crafted import crafted
from tests.poker_rows import last_turn
from tests.poker_showdowns import chosen_showdowns, showdowns
from tests.poker_states import chosen_states, other_states

BATCH = 20
"""Hands of each kind in turn."""

LEAST_LIMIT = 20_000_000
"""The least cost up to which a mutant is run."""


def targets() -> dict[str, Target]:
    """A game for each poker program."""
    found: dict[str, Target] = {}
    for name in ("holdem", "five-draw", "chinese"):
        target = target_of(name)
        found |= {program: target for program in target.programs if program not in found}
    return found


def survivors(program: str) -> list[Mutant]:
    """The mutants of a program that no stored case kills and no stored reason explains."""
    target = targets()[program]
    known, original = stored_reasons(target), target.programs[program].serialized
    cases = stored(target, FOLDER)[program]
    limit = COST_FACTOR * max(cost_of(original, case.arguments) for case in cases)
    return [
        mutant
        for mutant in all_mutants(target, program)
        if known.reason(mutant) is None
        and not any(differs(mutant.program, case, limit) for case in cases)
    ]


def main(seed: str, *programs: str) -> None:
    left = {name: survivors(name) for name in programs or targets()}
    for number, call in enumerate(_stream(seed)):
        name = call.validator
        if not left.get(name):
            continue
        prepared = _prepared(call)
        if prepared is None:
            continue
        original = target_of(call.game).family_programs[name].serialized
        limit = max(LEAST_LIMIT, COST_FACTOR * cost_of(original, prepared.arguments))
        alive = [one for one in left[name] if not differs(one.program, prepared, limit)]
        if len(alive) < len(left[name]):
            left[name] = alive
            verdict = said(call)
            if verdict is not None:
                line = msgspec.json.encode(case_of(call, verdict, f"{seed}-{number}")) + b"\n"
                with (FOLDER / f"{name}.jsonl").open("ab") as file:
                    file.write(line)
            print(name, len(alive), "left", flush=True)


def _stream(seed: str) -> Iterator[Call]:
    yield from crafted()
    yield from chosen_states()
    yield from chosen_showdowns()
    chance = FastChance(seed.encode())
    for turn in count():
        part = f"{seed} {turn}"
        yield from other_states(part, BATCH)
        yield from showdowns(part, BATCH)
        for number in range(BATCH):
            last = last_turn(f"{part} {number}", chance)
            table = last.state.table
            amount = 2 * table.unit * table.stake
            yield Call("chinese", "score", last.state, last.move, last.share, amount, NIL)
        yield from calls(part, 1)


def _prepared(call: Call) -> JudgedCase | None:
    """The call with what the rules say; None where the program differs, in a state that is none."""
    verdict = said(call)
    if verdict is None:
        return None
    target = target_of(call.game)
    entry = CaseRuns(target).stored(case_of(call, verdict, "tried"))
    if entry.differs is not None:
        return None
    if isinstance(verdict, Valid):
        result = result_value(verdict.next, HASHES, verdict.conditions)
        return JudgedCase(entry.arguments, result, verdict.next is None)
    return JudgedCase(entry.arguments, None if isinstance(verdict, Raise) else NIL)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m tests.poker_kills SEED [PROGRAM…]")
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(130) from None
