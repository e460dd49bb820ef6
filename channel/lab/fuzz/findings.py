"""Findings as documents: described, and tried again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import msgspec

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.lab.cases.comparison import ComparedPart, compared
from channelsim.channel.lab.cases.decision import deciding_line
from channelsim.channel.lab.cases.fields import Probe, differences, fields
from channelsim.channel.lab.cases.loss import (
    FORGED,
    LEADS_ELSEWHERE,
    LEGAL_SLASHED,
    MISDECLARED,
    NOT_BOUND,
)
from channelsim.channel.lab.cases.trial import THEFT, UNSLASHABLE, LabFinding
from channelsim.channel.lab.fuzz.probes import read, written
from channelsim.channel.lab.fuzz.shrink import broken_by
from channelsim.channel.lab.laws import applies, laws_for
from channelsim.channel.lab.target.target import REFEREE, Target
from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.run import CostExceeded, ProgramSlash, Raised, run_serialized
from channelsim.clsp.values import serialize
from channelsim.games.amounts import counted
from channelsim.games.vectors import BadCase, Case, arguments, check_program
from channelsim.games.vectors import read as read_cases

FORMAT = "channelsim finding 1"

RECORDED = "recorded cases"
"""The law whose findings are cases of a file."""

REFEREES = frozenset(
    (
        *("timeout pays", "timeout pays nobody", FORGED, "slash path", MISDECLARED),
        "two encodings",
    )
)
"""Causes that lie in the referee."""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding, as it is written.

    `target` is the target's name, and `source` the game or file that it was.
    `text` says who loses what; `differs` in what the case is not honest play, a line each;
    `fields` how many fields were not, before and after shrinking. `compared` is the expected and
    the actual result of the case; `source_line` the `file:line` of the author's Chialisp that
    decides it. `also` are the findings that come from the same mistake. `brun` is the deciding run:
    program and environment in hex, and its result; empty where the validator has no program.
    `pytest` is a test function that fails until this is fixed. `loss` is what one side loses in
    the case shown, in mojos. `order_only`: no side loses, because only the order differs in which
    evidence and rules are looked at. `follows` is the cause, if any, from which this one follows.
    """

    format: str
    target: str
    source: str
    law: str
    validator: str
    severity: str
    cause: str
    text: str
    differs: tuple[str, ...]
    fields: tuple[int, int]
    also: tuple[str, ...]
    vector: dict[str, Any] | None
    probe: dict[str, Any]
    brun: dict[str, str]
    pytest: str
    loss: int = 0
    compared: tuple[ComparedPart, ...] = ()
    source_line: str = ""
    order_only: bool = False
    follows: str = ""

    @property
    def root(self) -> tuple[str, str]:
        """The key of one mistake: the validator, and the cause without its symptom."""
        validator, cause = root_of(self.validator, self.cause)
        return validator, f"{cause}, order only" if self.order_only else cause

    @property
    def file_name(self) -> str:
        """The name of the file in which it is stored: the same for the same cause."""
        validator, root = self.root
        slug = re.sub(r"[^a-z0-9]+", "-", f"{validator or 'referee'} {root}".lower()).strip("-")
        digest = sha256(f"{validator}\0{root}".encode()).hexdigest()[:8]
        return f"{slug[:60]}-{digest}.json"


def root_of(validator: str, cause: str) -> tuple[str, str]:
    """The validator and the cause of a mistake, without what shows it.

    What the referee does wrong, it does wrong at every validator.

    >>> root_of("end", "SP-END-2: raise"), root_of("end", "two encodings: the share as a pair")
    (('end', 'SP-END-2'), ('', 'two encodings: the share'))
    """
    head, _, _ = cause.partition(": ")
    if head in REFEREES:
        return "", cause.partition(" as ")[0]
    named = head in (LEADS_ELSEWHERE, LEGAL_SLASHED, NOT_BOUND)
    return validator, cause if named else head


def document(
    target: Target, probe: Probe, finding: LabFinding, before: int, follows: str = ""
) -> Document:
    """A finding with its shrunk probe; `before` is how many fields differed at first."""
    finding = finding.believable()
    judged = finding.validator not in target.missing
    program = target.programs[finding.validator].serialized
    left = len(fields(probe))
    return _made(
        target,
        msgspec.structs.replace(finding, loss=_lost(probe, finding)),
        finding.run or ((program, probe.case.arguments) if judged else None),
        text=f"{finding.validator}: {finding.text}. {_money(probe, finding)}".strip(),
        differs=differences(probe),
        fields=(max(before, left), left),
        probe=written(target, probe),
        source_line=_source_line(target, finding, probe.case.arguments),
        follows=follows,
    )


def recorded(target: Target, finding: LabFinding) -> Document:
    """A case of the file of honest play that does not hold; there is nothing to shrink."""
    if finding.vector is None:
        raise InvariantError(f"{finding.law}: a recorded case that the format cannot say")
    finding = finding.believable()
    case = msgspec.convert(finding.vector, Case)
    program = target.programs[case.validator].serialized
    environment = arguments(case, target.name, target.programs)
    return _made(
        target,
        msgspec.structs.replace(finding, cause=f"{finding.cause} ({case.id})"),
        (program, environment),
        text=f"{finding.validator}: {finding.text} (case {case.id}).",
        source_line=_source_line(target, finding, environment),
    )


def _made(
    target: Target,
    finding: LabFinding,
    run: tuple[bytes, bytes] | None,
    *,
    text: str,
    differs: tuple[str, ...] = (),
    fields: tuple[int, int] = (0, 0),
    probe: Mapping[str, Any] = MappingProxyType({}),
    source_line: str = "",
    follows: str = "",
) -> Document:
    case = None if finding.vector is None else msgspec.convert(finding.vector, Case)
    made = Document(
        format=FORMAT,
        target=target.name,
        source=target.source,
        law=finding.law,
        validator=finding.validator,
        severity=finding.severity,
        cause=finding.cause,
        text=text,
        differs=differs,
        fields=fields,
        also=(),
        vector=finding.vector,
        probe=dict(probe),
        brun={} if run is None else _brun(*run),
        pytest="",
        loss=finding.loss,
        compared=() if case is None else compared(target, case),
        source_line=source_line,
        order_only=finding.order_only,
        follows=follows,
    )
    return msgspec.structs.replace(made, pytest=_pytest(target, made))


def _brun(program: bytes, environment: bytes) -> dict[str, str]:
    """A run in hex, with its result."""
    return {
        "program": program.hex(),
        "environment": environment.hex(),
        "result": _result(program, environment),
    }


def _source_line(target: Target, finding: LabFinding, environment: bytes) -> str:
    """The deciding line of the author's source: the validator's, or the referee's."""
    if not root_of(finding.validator, finding.cause)[0]:
        return target.source_line(REFEREE, MAIN)
    # Where the program accepts the move, no expression decides: a check is missing or wrong.
    line = target.rule_line(finding.validator, finding.cause)
    return line or deciding_line(target, finding.validator, environment)


def _money(probe: Probe, finding: LabFinding) -> str:
    """A sentence on who loses how much in this case; empty if the finding is not about money."""
    site = probe.site
    if not site.natural or finding.severity not in (THEFT, UNSLASHABLE):
        return ""
    honest, declared, amount = site.play.share, finding.share, site.amount
    whole = counted(amount, "mojo", ",")
    if finding.cause.startswith(LEGAL_SLASHED):
        due = amount - declared
        return (
            f"In the case shown the mover, who keeps {due:,} of {whole} by the rules,"
            f" ends with 0 and its opponent with {amount:,}."
        )
    if finding.cause.partition(":")[0] in REFEREES | {LEADS_ELSEWHERE}:
        return (
            f"In the case shown {finding.loss:,} of {whole} do not go to the side that"
            " they are due to."
        )
    if declared < honest:
        return (
            f"In the case shown the mover keeps {amount - declared:,} of {whole}, where"
            f" honest play would leave it {amount - honest:,}: its opponent loses"
            f" {honest - declared:,}."
        )
    if declared > honest:
        return (
            f"In the case shown the mover leaves its opponent {declared:,} of {whole},"
            f" where honest play leaves {honest:,}; by the rules the opponent may claim all, and"
            " cannot."
        )
    return (
        f"In the case shown the opponent may claim all {whole} by the rules, and cannot:"
        f" it keeps the {declared:,} that honest play leaves it, and the cheat goes on."
    )


def _lost(probe: Probe, finding: LabFinding) -> int:
    """The loss in this case, in mojos: of an opponent that is declared less than honest play
    leaves it, the difference."""
    honest, declared = probe.site.play.share, finding.share
    if finding.severity != UNSLASHABLE or not probe.site.natural or declared >= honest:
        return finding.loss
    return honest - declared


def _result(program: bytes, environment: bytes) -> str:
    match run_serialized(program, environment):
        case ProgramSlash():
            return "()"
        case Raised(error):
            return f"raises: {error}"
        case CostExceeded():
            return "costs more than a block"
        case outcome:
            return f"0x{serialize(outcome.value).hex()}"


def _pytest(target: Target, made: Document) -> str:
    """A test that fails as long as the cause is there."""
    slug = re.sub(r"[^a-z0-9]+", "_", f"{made.validator} {made.cause}".lower()).strip("_")
    short = {"law": made.law, "validator": made.validator, "cause": made.cause}
    shown = {"vector": made.vector} if made.law == RECORDED else {"probe": made.probe}
    data = json.dumps({**short, **shown}, sort_keys=True)
    comment = "\n".join(f"    # {line}" for line in wrap(f"{made.severity}: {made.text}", 90))
    return (
        f"def test_{slug[:70]}() -> None:\n{comment}\n"
        "    import json\n\n"
        "    from channelsim.channel.lab.fuzz.findings import still_broken\n"
        "    from channelsim.channel.lab.target.loading import load\n\n"
        f"    finding = json.loads(\n        {data!r}\n    )\n"
        f"    assert still_broken(load({target.source!r}), finding) == []\n"
    )


def still_broken(target: Target, data: dict[str, Any]) -> list[str]:
    """The parts of a finding that still happen on this target, a line each; none once it is fixed.

    `data` has the keys `law`, `cause` and `probe` of a document (`vector`, of a recorded case).
    Raises `UsageError`.
    """
    known = {law.name: law for law in laws_for(target)}
    law = known.get(str(data.get("law")))
    if law is None:
        raise UsageError(f"no law is called {data.get('law')!r} for {target.name}")
    if law.name == RECORDED:
        return _case_broken(target, data.get("vector"))
    probe = read(target, data.get("probe"))
    if not applies(law, target, probe.site.validator):
        raise UsageError(f"{target.name} has no program of {probe.site.validator}")
    cause = str(data.get("cause")).partition(":")[0]
    return [
        f"{one.severity}: {one.validator}: {one.text}"
        for one in map(LabFinding.believable, broken_by(target, law, probe))
        if one.cause.partition(":")[0] == cause
    ]


def _case_broken(target: Target, vector: Any) -> list[str]:
    try:
        (case,) = read_cases([msgspec.json.encode(vector)])
    except BadCase as error:
        raise UsageError(f"the finding's vector: {error}") from None
    return check_program(case, target.name, target.programs)
