"""An input that breaks a claim, as a finding: shrunk, with a vector and the source line.

The program to blame is that of the last target: of two programs the second, which differs from the
first; of a single target its own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from channelsim.channel.findings.finding import DISAGREEMENT, NOBODY_KNOWS, ComparedPart, Finding
from channelsim.channel.lab.cases.describe import (
    described_call,
    described_run,
    described_value,
    vector,
)
from channelsim.channel.lab.cases.explanation import compared, deciding
from channelsim.channel.lab.fuzz.findings import PROVED, result_of_run
from channelsim.channel.lab.sites.honest_play import Recorded, legal_result
from channelsim.channel.lab.sites.site import Call, make_site, typed
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import (
    AMOUNT,
    EVIDENCE,
    LIMIT,
    MORE,
    MOVE,
    SHARE,
    STATE,
    coin_field,
    part,
    replaced,
)
from channelsim.channel.prove.laws import LawClaim
from channelsim.channel.prove.proof import Proof, Question
from channelsim.channel.prove.shrinking import shrunk
from channelsim.clsp.run import (
    Outcome,
    ProgramSlash,
    ProgramValid,
    outcome_word,
    run_serialized,
)
from channelsim.clsp.values import NIL, Value, atom_to_int, serialize
from channelsim.games.amounts import counted
from channelsim.games.contract import Play, Position, Seat, Slash, Verdict
from channelsim.games.contract import Raise as RuleRaise
from channelsim.games.vectors import BadCase, Case, arguments, check_program

SHOWN = 64
"""A result is cut after this many hex digits where it is only shown."""


class Counterexample:
    """An environment that breaks a claim, shrunk, and what can be said of it."""

    def __init__(self, question: Question, environment: Value) -> None:
        self.question = question
        self.environment = shrunk(question, environment)

    @classmethod
    def of(cls, proof: Proof) -> Counterexample:
        """The counterexample of a proof that has one."""
        assert proof.counterexample is not None
        return cls(proof.question, proof.counterexample)

    @property
    def blamed(self) -> Target:
        """The target whose program is to blame."""
        return self.question.targets[-1]

    @property
    def call(self) -> Call:
        """The move, the share that it declares, and the evidence against it."""
        return call_of(self.environment)

    @property
    def state(self) -> Value:
        """The state in which it is judged."""
        state: Value = part(self.environment, STATE)
        return state

    @property
    def amount(self) -> int:
        """The mojos of the coin."""
        return atom_to_int(_coin(self.environment, AMOUNT))

    @property
    def arguments(self) -> bytes:
        """The serialized arguments of a validator, without further inputs of the claim."""
        return serialize(replaced(self.environment, MORE, NIL))

    def finding(self) -> Finding:
        """The finding, whatever leads to the state: nobody knows how play gets there."""
        question, blamed = self.question, self.blamed
        case = self._case()
        sides = question.claim.sides()
        outcomes = [side.real(self.environment) for side in sides]
        words = list(map(outcome_word, outcomes))
        names = [side.name for side in sides]
        text = ", ".join(f"{word} in {name}" for word, name in zip(words, names, strict=True))
        if len(sides) == 1:
            # The claim `holds`: its only side asks the state that the rules lead to.
            text = "a legal move leads to a state of which it is false"
        elif len(set(words)) == 1:
            text = f"{words[0]} in all, with other results"
        severity, lines, reach = DISAGREEMENT, self.described(), NOBODY_KNOWS
        text = f"not {question.claim.name}: {text}"
        if isinstance(question.claim, LawClaim):
            severity, reach = question.claim.severity, question.claim.reach
            text, *more = question.claim.explained(self.environment)
            lines = (*lines, *more)
        parts = () if case is None else compared(blamed, case)
        program, claim = blamed.programs[question.validator], question.claim.name
        finding = Finding(
            rule=PROVED,
            place=question.validator,
            severity=severity,
            text=text,
            cause=claim,
            reach=reach,
            mistake=f"{question.validator} {claim}",
            target=blamed.name,
            source=blamed.source,
            vector=None if case is None else msgspec.to_builtins(case),
            call=described_call(self.call),
            brun=described_run(program.serialized, self.arguments) | self._tried_again_by(),
            compared=parts or tuple(_parts(names, outcomes)),
            differs=lines,
        )
        accepts = case is not None and case.expect != "valid" and _is_valid(blamed, case)
        return deciding(blamed, question.validator, self.arguments, accepts).of(finding)

    def _tried_again_by(self) -> dict[str, str]:
        """What a replay needs: the result of the first of two programs, or all inputs of a claim
        about one."""
        if len(self.question.targets) == 1:
            return {"inputs": serialize(self.environment).hex()}
        first = described_run(self.question.programs[0].serialized, self.arguments)
        return {"expected": result_of_run(first)}

    def described(self) -> tuple[str, ...]:
        """The parts of the input, a line each."""
        move, share, evidence = self.call
        more: Any = part(self.environment, MORE)
        lines = (
            f"move: {counted(len(move), 'byte')}: 0x{move.hex()}",
            f"share: {share:,} of {self.amount:,}",
            f"state: {self._text(self.state)}",
            f"evidence: {self._text(evidence)}",
        )
        return lines if more == NIL else (*lines, f"further inputs: {self._text(more)}")

    def _text(self, value: Value) -> str:
        return msgspec.json.encode(described_value(value, self.question.target)).decode()

    # --- the vector ---------------------------------------------------------------------------

    def _case(self) -> Case | None:
        """The input as a case that the program to blame fails; None where no case says it.

        It expects what the first of two programs says, or the rules. A case leaves out some fields
        of the coin, on which the difference may depend.
        """
        given = atom_to_int(_coin(self.environment, LIMIT))
        limits = (max(self.question.longest, len(self.call[0])), given)
        try:
            cases = (self._expecting(limit) for limit in limits)
            return next(filter(None, cases), None)
        except BadCase:
            return None

    def _expecting(self, limit: int) -> Case | None:
        """The case with this size limit, if the program to blame fails it. Raises `BadCase`."""
        question, target = self.question, self.question.target
        state = typed(target, question.validator, self.state)
        if state is None:
            return None
        move, share, evidence = self.call
        position = Position(question.validator, state, Seat.ALICE, share, limit)
        play = Play(move, share, evidence)
        site = make_site(target, position, play, self.amount, Recorded(position, ()), natural=False)
        plain = vector(target, site, self.call, Slash(""), tag="prove")
        verdict = self._expected(arguments(plain, target.name, target.programs))
        if verdict is None:
            return None
        case = vector(target, site, self.call, verdict, tag="prove")
        blamed = self.blamed
        return case if check_program(case, blamed.name, blamed.programs) else None

    def _expected(self, environment: bytes) -> Verdict | None:
        """The verdict of the first of two programs, or of the rules; None where there is neither,
        or where it is no verdict."""
        question, target = self.question, self.question.target
        if len(question.targets) > 1:
            outcome = run_serialized(question.programs[0].serialized, environment)
            if isinstance(outcome, ProgramValid):
                return legal_result(target, outcome.value)
            return Slash("") if isinstance(outcome, ProgramSlash) else RuleRaise("")
        judge, state = target.judge(question.validator), None
        if judge is not None:
            state = typed(target, question.validator, self.state)
        if judge is None or state is None:
            return None
        move, share, evidence = self.call
        try:
            return judge(state, move, share, self.amount, evidence, target.hashes)
        except Exception:  # rules that raise are the finding
            return None


def call_of(environment: Value) -> Call:
    """The move, the share and the evidence among the arguments of a validator."""
    move, share = _coin(environment, MOVE), atom_to_int(_coin(environment, SHARE))
    return move, share, part(environment, EVIDENCE)


def _coin(environment: Value, number: int) -> bytes:
    field = part(environment, coin_field(number))
    assert isinstance(field, bytes)
    return field


def _is_valid(target: Target, case: Case) -> bool:
    environment = arguments(case, target.name, target.programs)
    program = target.programs[case.validator].serialized
    return isinstance(run_serialized(program, environment), ProgramValid)


def _parts(names: list[str], outcomes: list[Outcome]) -> list[ComparedPart]:
    """The results of two sides side by side; nothing for other numbers of sides."""
    if len(names) != 2:
        return []
    return [ComparedPart("result", *map(_shown, outcomes))]


def _shown(outcome: Outcome) -> str:
    if not isinstance(outcome, ProgramValid):
        return outcome_word(outcome)
    text = serialize(outcome.value).hex()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
