"""Findings of the fuzzer: described, and tried again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.findings.finding import (
    DISAGREEMENT,
    GRIEFING,
    MOVER,
    OPPONENT,
    THEFT,
    UNSLASHABLE,
    Finding,
    Loss,
)
from channelsim.channel.lab.cases.case import SiteCase, differences, fields
from channelsim.channel.lab.cases.corpus import CaseRuns, wrong_cases
from channelsim.channel.lab.cases.describe import described_run, vector
from channelsim.channel.lab.cases.explanation import (
    compared,
    deciding,
    hands_met,
    is_endless,
    with_source,
)
from channelsim.channel.lab.cases.sides import Names, named, names_at
from channelsim.channel.lab.cases.trial import (
    FORGED,
    LEADS_ELSEWHERE,
    LEGAL_SLASHED,
    MISDECLARED,
    NOT_BOUND,
)
from channelsim.channel.lab.fuzz.case_records import read, record_of
from channelsim.channel.lab.fuzz.shrink import broken_by, case_of
from channelsim.channel.lab.laws import applies, laws_for
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.clsp.run import CostExceeded, ProgramSlash, ProgramValid, Raised, run_serialized
from channelsim.clsp.values import serialize
from channelsim.games.amounts import counted
from channelsim.games.contract import Slash
from channelsim.games.vectors import BadCase, Case, arguments, check_program
from channelsim.games.vectors import read as read_cases

RECORDED = "recorded cases"
"""The law whose findings are cases of a file."""

STORED = "stored cases"
"""The rule whose findings are cases of a corpus, which have to end as they expect."""

PROVED = "prove"
"""The rule of findings that break a claim of a proof, and no law at any place of play."""

IN_ANOTHER_STATE = "state: another commitment or hidden value than in recorded play"
"""The difference of a finding that a law shows in a state which it has made itself."""

REFEREES = frozenset(
    (
        *("timeout pays", "timeout pays nobody", FORGED, "slash path", MISDECLARED),
        "two encodings",
    )
)
"""Causes that lie in the referee."""


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


def root(finding: Finding) -> tuple[str, str]:
    """The key of one mistake: the validator, and the cause without its symptom."""
    validator, cause = root_of(finding.place, finding.cause)
    return validator, f"{cause}, order only" if finding.order_only else cause


def shrunk(
    target: Target, case: SiteCase, finding: Finding, before: int, follows: str = ""
) -> Finding:
    """A finding with its shrunk case; `before` is how many fields differed at first."""
    finding = finding.believable()
    judged = finding.place not in target.missing
    shown = _shown(target, case, finding)
    environment = case.arguments if shown is None else shown.arguments
    if shown is None and finding.vector is not None:
        elsewhere = msgspec.convert(finding.vector, Case)
        environment = arguments(elsewhere, target.name, target.programs)
    left = len(fields(shown or case))
    finding = _with_source(target, finding, environment)
    names = names_at(target, case.site)
    added = _sentences(target, shown, finding, names) if shown is not None else ()
    return described(
        target,
        msgspec.structs.replace(
            finding,
            text=" ".join(filter(None, (f"{finding.text}.", *added))),
            loss=named(names, _lost(shown, finding)) if shown is not None else finding.loss,
            brun=finding.brun or (_run(target, finding.place, environment) if judged else {}),
            differs=(IN_ANOTHER_STATE,) if shown is None else differences(shown),
            fields=(max(before, left), left),
            probe=record_of(target, case),
            follows=follows,
        ),
    )


def _shown(target: Target, case: SiteCase, finding: Finding) -> SiteCase | None:
    """The case with the call that a finding is about, which a law may have made itself; None if
    that is in another state than the case's."""
    if finding.call is None or finding.vector is None:
        return case
    shown = case_of(case.site, finding)
    here = msgspec.to_builtins(vector(target, case.site, shown.call, Slash(""), tag=""))
    same = all(here[key] == finding.vector.get(key) for key in ("validator", "amount", "state"))
    return shown if same else None


def recorded(target: Target, finding: Finding) -> Finding:
    """A case of the file of honest play that does not hold; there is nothing to shrink."""
    if finding.vector is None:
        raise InvariantError(f"{finding.rule}: a recorded case that the format cannot say")
    finding = finding.believable()
    case = msgspec.convert(finding.vector, Case)
    environment = arguments(case, target.name, target.programs)
    finding = _with_source(target, finding, environment)
    return described(
        target,
        msgspec.structs.replace(
            finding,
            text=f"{finding.text} (case {case.id}).",
            cause=f"{finding.cause} ({case.id})",
            brun=_run(target, case.validator, environment),
        ),
    )


def wrongly_stored(target: Target, folder: Path) -> Iterator[Finding]:
    """A finding for each stored case on which the program, or the rules, differ from what it
    expects. Raises `UsageError`, naming file and line."""
    for stored in wrong_cases(target, folder):
        finding = Finding(
            rule=STORED,
            place=stored.program,
            severity=DISAGREEMENT,
            text=f"the stored case {stored.id}: {stored.differs}",
            cause=f"stored: {stored.id}",
        )
        if stored.case is None:
            yield described(target, finding)
            continue
        vector = msgspec.to_builtins(stored.case)
        run = _run(target, stored.program, stored.arguments)
        shown = msgspec.structs.replace(finding, vector=vector, brun=run)
        yield described(target, with_source(target, shown))


def described(target: Target, finding: Finding) -> Finding:
    """A finding of the fuzzer with what follows from it: its mistake, its comparison, its test."""
    case = None if finding.vector is None else msgspec.convert(finding.vector, Case)
    validator, cause = root(finding)
    whole = msgspec.structs.replace(
        finding,
        target=target.name,
        source=target.source,
        mistake=f"{validator or REFEREE} {cause}",
        brun=finding.brun
        and {**finding.brun, "result": result_of_run(finding.brun, is_endless(finding))},
        compared=() if case is None else compared(target, case, is_endless(finding)),
    )
    return msgspec.structs.replace(whole, pytest=_pytest(target, whole))


def _run(target: Target, validator: str, environment: bytes) -> dict[str, str]:
    return described_run(target.programs[validator].serialized, environment)


def _with_source(target: Target, finding: Finding, environment: bytes) -> Finding:
    """A finding with the line of the validator's source that decides it, or the missing check.

    Where the cause lies in the referee, that is the line that decides the validator's own result.
    """
    if finding.place in target.missing:
        return finding
    validator, cause = root(finding)
    is_result = cause.partition(": ")[0] in (LEADS_ELSEWHERE, LEGAL_SLASHED)
    program = target.programs[finding.place].serialized
    endless = is_endless(finding)
    is_valid = not endless and isinstance(run_serialized(program, environment), ProgramValid)
    accepts = bool(validator) and is_valid and not is_result
    decision = deciding(target, finding.place, environment, accepts, finding.cause, endless)
    return decision.of(finding)


def _sentences(
    target: Target, case: SiteCase, finding: Finding, names: Names | None
) -> Iterator[str]:
    """The hands that meet in this case, and what it costs whom."""
    site = case.site
    if site.natural:
        evidence = reversed(site.evidence(case.move))
        calls = (case.call, *((case.move, case.share, value) for value in evidence))
        yield hands_met(target, site.before.state, calls)
    yield _money(case, finding, names)
    if finding.severity == GRIEFING:
        yield _consequence(case, finding)


def _consequence(case: SiteCase, finding: Finding) -> str:
    """A sentence on what follows from a finding by which neither side gains."""
    head, _, what = finding.cause.partition(": ")
    if head == "two encodings" and what == "the move":
        return "Who expects it in the other way has a wrong hash of what follows, and cannot go on."
    if head == "two encodings":
        return "The coin that it makes may be one that nobody can spend: its money stays locked."
    if head == "progress":
        return "The money of both sides stays locked for as long as that player likes."
    if head == "legal move refused":
        return "Its mover cannot make it on chain, and loses by the timeout what it would keep."
    amount, share = case.site.amount, case.share
    return (
        "The game stops there: after the timeout its opponent is paid the"
        f" {share:,} of {counted(amount, 'mojo')} that the move declares, and no more."
    )


def _money(case: SiteCase, finding: Finding, names: Names | None) -> str:
    """A sentence on who loses how much in this case; empty if the finding is not about money."""
    site = case.site
    if not site.natural or finding.severity not in (THEFT, UNSLASHABLE):
        return ""
    honest, declared, amount = site.play.share, case.share, site.amount
    whole = counted(amount, "mojo")
    mover, other = names or ("the mover", "the opponent")
    if finding.cause.startswith(LEGAL_SLASHED):
        due = amount - declared
        return (
            f"In the case shown {mover}, who keeps {due:,} of {whole} by the rules,"
            f" ends with 0 and {other} with {amount:,}."
        )
    if finding.cause.partition(":")[0] in REFEREES | {LEADS_ELSEWHERE}:
        return (
            f"In the case shown {finding.lost:,} of {whole} do not go to the side that"
            " they are due to."
        )
    if declared < honest:
        return (
            f"In the case shown {mover} keeps {amount - declared:,} of {whole}, where"
            f" honest play would leave {amount - honest:,}: {other} loses"
            f" {honest - declared:,}."
        )
    if declared > honest:
        return (
            f"In the case shown {mover} leaves {other} {declared:,} of {whole},"
            f" where honest play leaves {honest:,}; by the rules {other} may claim all, and"
            " cannot."
        )
    how = "Its slash fails" if finding.cause.endswith(": raise") else "The program accepts it"
    return (
        f"In the case shown {other} may claim all {whole} by the rules, since the move is illegal."
        f" {how}, so {other} gets no more than the {declared:,} of honest play."
    )


def _lost(case: SiteCase, finding: Finding) -> Loss | None:
    """The loss in this case: of an opponent that is declared less than honest play leaves it, the
    difference."""
    honest, declared = case.site.play.share, case.share
    if finding.severity != UNSLASHABLE or not case.site.natural or declared >= honest:
        return finding.loss
    return Loss(MOVER, OPPONENT, honest - declared)


def result_of_run(run: Mapping[str, str], endless: bool = False) -> str:
    """The result of a run in hex, as `described_run` writes it: of a raise with its reason.

    One that is known to be `endless` is not run again.
    """
    program, environment = (bytes.fromhex(run[key]) for key in ("program", "environment"))
    match CostExceeded() if endless else run_serialized(program, environment):
        case ProgramSlash():
            return "()"
        case Raised(error):
            return f"raises: {error}"
        case CostExceeded():
            return "costs more than a block"
        case outcome:
            return f"0x{serialize(outcome.value).hex()}"


def _pytest(target: Target, finding: Finding) -> str:
    """A test that fails as long as the cause is there."""
    slug = re.sub(r"[^a-z0-9]+", "_", f"{finding.place} {finding.cause}".lower()).strip("_")
    short = {"rule": finding.rule, "place": finding.place, "cause": finding.cause}
    of_file = finding.rule in (RECORDED, STORED)
    case: dict[str, object] = {} if of_file else {"probe": finding.probe}
    if of_file or target.rules is None:
        case["vector"] = finding.vector
    data = json.dumps({**short, **case}, sort_keys=True)
    comment = "\n".join(f"    # {line}" for line in wrap(finding.line, 90))
    return (
        f"def test_{slug[:70]}() -> None:\n{comment}\n"
        "    import json\n\n"
        "    from channelsim.channel.lab.fuzz.findings import still_broken\n"
        "    from channelsim.channel.lab.targets.loading import load\n\n"
        f"    finding = json.loads(\n        {data!r}\n    )\n"
        f"    assert still_broken(load({target.source!r}), finding) == []\n"
    )


def still_broken(target: Target, data: dict[str, Any]) -> list[str]:
    """The parts of a finding that still happen on this target, a line each; none once it is fixed.

    `data` has the keys `rule`, `cause` and `probe` of a finding, and `vector` where it has one.
    Tests that earlier versions wrote name the rule `law`. Raises `UsageError`.
    """
    name = data.get("rule", data.get("law"))
    if name == PROVED and data.get("vector") is None:
        return _run_differs(target, data)
    if name in (PROVED, RECORDED, STORED):
        return _case_broken(target, data.get("vector"), by_rules=name != PROVED)
    law = {law.name: law for law in laws_for(target)}.get(str(name))
    if law is None:
        raise UsageError(f"no law is called {name!r} for {target.name}")
    case = read(target, data.get("probe"))
    if not applies(law, target, case.site.validator):
        raise UsageError(f"{target.name} has no program of {case.site.validator}")
    cause = str(data.get("cause")).partition(":")[0]
    lines = [
        broken.line
        for broken in map(Finding.believable, broken_by(target, law, case))
        if broken.cause.partition(":")[0] == cause
    ]
    if lines or data.get("vector") is None or target.judge(case.site.validator) is not None:
        return lines
    # Without rules a law may make its call of other moves of the hand, which the probe lacks.
    return _case_broken(target, data["vector"], by_rules=False)


def _run_differs(target: Target, data: Mapping[str, Any]) -> list[str]:
    """A line if a target's program does not end as the run of a finding was expected to."""
    name, run = str(data.get("place")), data.get("brun")
    if name not in target.present:
        raise UsageError(f"{target.name} has no program of {name}")
    try:
        stored = msgspec.convert(run, dict[str, str])
        environment, expected = bytes.fromhex(stored["environment"]), stored["expected"]
    except (msgspec.ValidationError, KeyError, ValueError):
        raise UsageError("the finding's brun: not a run with its expected result") from None
    actual = result_of_run(described_run(target.programs[name].serialized, environment))
    both = [text.partition(":")[0] for text in (expected, actual)]  # the reason of a raise is free
    return [] if both[0] == both[1] else [f"expected {expected}, actual {actual}"]


def _case_broken(target: Target, vector: Any, *, by_rules: bool) -> list[str]:
    """What differs from a case: of the program, and of the rules, too (`by_rules`)."""
    try:
        (case,) = read_cases([msgspec.json.encode(vector)])
    except BadCase as error:
        raise UsageError(f"the finding's vector: {error}") from None
    if by_rules:
        return CaseRuns(target).differences(case) or []
    if case.validator not in target.present:
        raise UsageError(f"{target.name} has no program of {case.validator}")
    return check_program(case, target.name, target.family_programs)
