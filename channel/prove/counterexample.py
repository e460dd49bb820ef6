"""An input that tells two programs apart, as a finding with a conformance vector."""

from __future__ import annotations

import msgspec

from channelsim.channel.findings.finding import DISAGREEMENT, ComparedPart, Finding
from channelsim.channel.lab.cases.describe import described_call, described_run, described_value
from channelsim.channel.lab.sites.honest_play import legal_result
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import (
    AMOUNT,
    COIN,
    EVIDENCE,
    LIMIT,
    MOVE,
    SHARE,
    STATE,
    part,
)
from channelsim.channel.prove.concrete_runs import differ, outcomes
from channelsim.channel.prove.proof import Question
from channelsim.channel.prove.shrinking import shrunk
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid, outcome_word, run_serialized
from channelsim.clsp.values import Value, from_list, serialize
from channelsim.games.amounts import counted
from channelsim.games.vectors import BadCase, Case, NextRecord, arguments, check_program

SHOWN = 64
"""A result is cut after this many hex digits where it is only shown."""


def counterexample(question: Question, environment: Value) -> Finding:
    """The finding of an input on which both programs differ in real runs, shrunk."""
    environment = shrunk(question, environment)
    coin = from_list(part(environment, COIN))
    state, evidence = part(environment, STATE), part(environment, EVIDENCE)
    amount, share = (atom_to_int(_atom(coin[at])) for at in (AMOUNT, SHARE))
    left, right = outcomes(question.programs, environment)
    plain = _case(question, coin, state, evidence)
    limit = max(question.longest, len(plain.move) // 2)
    case = _vector(question, msgspec.structs.replace(plain, max_move_size=limit))
    if case is None:
        case = _vector(question, plain)  # the difference may depend on this limit
    target = question.target
    words = outcome_word(left), outcome_word(right)
    text = f"{words[0]} in {target.name}, {words[1]} in {question.targets[-1].name}"
    if words[0] == words[1]:
        text = f"{words[0]} in both, with other results"
    return Finding(
        rule="prove",
        place=question.validator,
        severity=DISAGREEMENT,
        text=text,
        reach="nobody knows",
        target=target.name,
        source=target.source,
        vector=None if case is None else msgspec.to_builtins(case),
        call=described_call((_atom(coin[MOVE]), share, evidence)),
        brun=described_run(question.programs[0].serialized, serialize(environment)),
        compared=(ComparedPart("result", _shown(left), _shown(right)),),
        differs=(
            f"move: {counted(len(_atom(coin[MOVE])), 'byte')}: 0x{_atom(coin[MOVE]).hex()}",
            f"share: {share:,} of {amount:,}",
            f"state: {_described(state, target)}",
            f"evidence: {_described(evidence, target)}",
        ),
    )


def _atom(value: Value) -> bytes:
    if isinstance(value, bytes):
        return value
    raise TypeError("a field of a coin that is a pair")


def _described(value: Value, target: Target) -> str:
    return msgspec.json.encode(described_value(value, target)).decode()


def _shown(outcome: Outcome) -> str:
    if not isinstance(outcome, ProgramValid):
        return outcome_word(outcome)
    text = serialize(outcome.value).hex()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _case(question: Question, coin: list[Value], state: Value, evidence: Value) -> Case:
    """The input as a case, with an expectation that is still to be filled in."""
    target = question.target
    return Case(
        id=f"{target.name}-{question.validator}-00000",
        tag="prove",
        game=target.rules or target.name,
        validator=question.validator,
        amount=atom_to_int(_atom(coin[AMOUNT])),
        mover_share=atom_to_int(_atom(coin[SHARE])),
        max_move_size=atom_to_int(_atom(coin[LIMIT])),
        move=_atom(coin[MOVE]).hex(),
        state=described_value(state, target),
        evidence=described_value(evidence, target),
        expect="slash",
    )


def _vector(question: Question, case: Case) -> Case | None:
    """The case with what the first program says; None if the other one says the same there.

    A case leaves out some fields of the coin, on which the difference may depend.
    """
    target = question.target
    try:
        environment = arguments(case, target.name, target.programs)
        left = run_serialized(question.programs[0].serialized, environment)
        if isinstance(left, ProgramValid):
            verdict = legal_result(target, left.value)
            if verdict is None:
                return None
            record = None
            if verdict.next is not None:
                following = verdict.next
                record = NextRecord(
                    following.validator,
                    described_value(following.state.value(), target),
                    following.max_move_size,
                )
            conditions = [described_value(value, target) for value in verdict.conditions]
            case = msgspec.structs.replace(case, expect="valid", next=record, conditions=conditions)
        elif not isinstance(left, ProgramSlash):
            case = msgspec.structs.replace(case, expect="raise")
        environment = arguments(case, target.name, target.programs)
        both = [run_serialized(program.serialized, environment) for program in question.programs]
        if not differ(*both) or check_program(case, target.name, target.programs):
            return None
    except BadCase:
        return None
    return case
