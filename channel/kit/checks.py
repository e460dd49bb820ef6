"""The checks of a game's conformance, in order; each is a function of a subject.

Where a target lacks what a check needs, the result says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

import msgspec

from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.findings.finding import Finding
from channelsim.channel.kit.conformance import Check, Subject, failed_check
from channelsim.channel.kit.enforced import ENFORCED, enforced
from channelsim.channel.kit.proofs import PROOFS, proofs
from channelsim.channel.kit.secrets import SECRETS, secrets
from channelsim.channel.lab.cases.corpus import StoredCase, not_run
from channelsim.channel.lab.cases.explanation import broken_rule, happens, with_source
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.costs import bundles, costs, snapshot
from channelsim.channel.lab.costs.costs import share_of_block
from channelsim.channel.lab.costs.snapshot import Snapshot
from channelsim.channel.lab.coverage.coverage import (
    ProgramCoverage,
    corpus_coverage,
    stored_reasons,
    unexplained,
)
from channelsim.channel.lab.coverage.gathered import gathered
from channelsim.channel.lab.crosscheck.chunks import chunks
from channelsim.channel.lab.crosscheck.crosscheck import findings
from channelsim.channel.lab.crosscheck.vectors import Disagreement, make
from channelsim.channel.lab.laws import laws_for
from channelsim.channel.lab.laws.progress import LAW as PROGRESS
from channelsim.channel.lab.laws.verdicts_agree import VerdictsAgree
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.simulation.sweep_campaign import findings as dispute_findings
from channelsim.clsp.run import MAX_COST
from channelsim.games.amounts import counted
from channelsim.games.vectors import Case, read

AGREE = VerdictsAgree.name
SECRECY = "secrecy"

GAMES = 64
"""The number of games that are played against a stalling player."""

HANDS = 3
"""Hands of the session that is played twice."""

HASH_SEEDS = ("1", "2")
"""Seeds of Python's hashes: they order its sets, on which no result may depend."""

NEEDS_RULES = "needs rules: whether a changed move is legal is unknown"
NEEDS_GAME = "needs an installed game, whose own programs its players play with"


def vectors(subject: Subject) -> CheckResult:
    """Generated conformance cases, those of honest play and stored ones hold for the programs, and
    for the rules."""
    target, effort = subject.target, subject.effort
    cases = list(target.honest)
    failures: list[Finding] = []
    if target.rules is not None:
        generated = make(target, max(1, effort.cases // 10), effort.seed)
        try:
            cases += read(msgspec.json.encode(case) for case in generated)
        except Disagreement as found:
            failures.append(_of_case(target, found.case, str(found)))
    judged = [case for case in cases if case.validator not in target.missing]
    if cases and not judged:
        return CheckResult("vectors", unchecked=_lacks_programs(subject))
    stopped = Counter[str]()
    for case in judged:
        differences = subject.case_runs.differences(case)
        if differences is None:
            stopped[case.validator] += 1
        elif differences:
            what = happens(target, case)
            text = f"{case.id} ({case.tag}): {'; '.join(differences)}"
            failures.append(_of_case(target, case, f"{what} (case {case.id})" if what else text))
    for line in subject.stored:
        if line.stopped:
            stopped[line.program] += 1
        elif line.differs is not None:
            failures.append(_of_stored(target, line))
    tried = counted(len(judged), "case")
    tried += f" and {counted(len(subject.stored), 'stored one')}" if subject.stored else ""
    tried += f"; not run to the end: {not_run(stopped)}" if stopped else ""
    return CheckResult("vectors", tried + _left_out(subject), tuple(failures))


def rules(subject: Subject) -> CheckResult:
    """Rules and programs give the same verdict on every generated case."""
    target = subject.target
    unjudged = [name for name in target.programs if target.judge(name) is None]
    if len(unjudged) == len(target.programs):
        return CheckResult("rules", unchecked=NEEDS_RULES)
    if not target.present:
        return CheckResult("rules", unchecked=_lacks_programs(subject))
    report = subject.crosschecked
    tried = f"{counted(report.compared, 'case')} by rules and programs"
    if unjudged:
        tried += f"; not those of {', '.join(unjudged)}, of which there are no rules"
    return CheckResult(
        "rules",
        tried + _left_out(subject),
        _with_lines(target, report.findings, lambda law: law == AGREE),
    )


def laws(subject: Subject) -> CheckResult:
    """No generated case breaks another law, and each validator is reached."""
    target, report = subject.target, subject.crosschecked
    names = {law.name for law in laws_for(target) if report.tally.tried[law.name]} - {AGREE}
    tried = f"{counted(report.cases, 'case')}, {counted(len(names), 'law')}"
    missed = [name for name in target.present if name not in report.tally.outcomes]
    broken = _with_lines(subject.target, report.findings, lambda law: law != AGREE)
    never = (failed_check("laws", "never tried", name) for name in missed)
    return CheckResult("laws", tried, (*broken, *never))


def fuzz(subject: Subject) -> CheckResult:
    """The fuzzer finds nothing."""
    report = subject.fuzzed
    tried = counted(report.runs, "run") + _left_out(subject)
    if not report.runs:
        tried = f"{counted(len(report.tally.tried), 'law')} that need no program"
    return CheckResult("fuzz", tried, tuple(report.findings))


def coverage(subject: Subject) -> CheckResult:
    """The fuzzer, stored cases, other games of its family, or else hands of honest play reach every
    branch of each program."""
    if not subject.target.present:
        return CheckResult("coverage", unchecked=_lacks_programs(subject))
    target, effort, report = subject.target, subject.effort, subject.fuzzed
    entries = [
        StoredCase(case.tag, case.validator, case.arguments, None)
        for case in report.corpus
        if case.validator not in report.tally.runaway
    ]
    entries += [
        case
        for case in subject.stored
        if case.differs is None or case.program not in report.tally.runaway
    ]
    entries += _of_family(subject)
    programs = corpus_coverage(target, entries)
    reasons = stored_reasons(target)
    if any(unexplained(programs[name], reasons) for name in target.present):
        # A short search traces few of its runs, and late moves come last.
        for case in (case for source in gathered(target, ()) for case in source.cases):
            if case.program in programs and case.program not in report.tally.runaway:
                programs[case.program].add(case)
    failures = [
        failure
        for name in target.present
        for failure in _unreached(
            programs[name], unexplained(programs[name], reasons), effort.coverage
        )
    ]
    total = sum(programs[name].total.branches for name in target.present)
    reached = sum(programs[name].total.branches_reached for name in target.present)
    tried = f"branches reached: {reached:,} of {total:,}{_left_out(subject)}"
    return CheckResult("coverage", tried, tuple(failures))


def _of_family(subject: Subject) -> Iterator[StoredCase]:
    """Generated cases of the other games that share programs with the target, a few of each."""
    target, effort = subject.target, subject.effort
    others = target.family[1:]
    for other in others:
        generated = (
            StoredCase(case.tag, trial.site.validator, case.arguments, None)
            for trial in chunks(other, effort.seed)
            for case in trial.cases
        )
        for entry in islice(generated, max(1, effort.cases // 10 // len(others))):
            if (
                entry.program in target.present
                and entry.program not in subject.fuzzed.tally.runaway
            ):
                yield entry


def _unreached(
    program: ProgramCoverage, places: Sequence[tuple[str, str]], percent: int
) -> Iterator[Finding]:
    """Describe the code that no case reached, unless enough was reached, or a reason is stored for
    all of it."""
    total = program.total
    if not places or 100 * total.branches_reached >= percent * total.branches:
        return
    text = f"branches reached: {total.branches_reached} of {total.branches}"
    yield failed_check("coverage", text, program.name)
    for function, code in places:
        line = program.line_of_place(function, code)
        yield failed_check("coverage", f"never reached, in {function}: {code}", program.name, line)


def cost(subject: Subject) -> CheckResult:
    """Every move, timeout and slash fits into a block, and costs no more than is stored."""
    if lacking := _lacks_programs(subject):
        return CheckResult("cost", unchecked=lacking)
    target, effort = subject.target, subject.effort
    stored = snapshot.read(effort.costs) if effort.costs else None
    cases = stored.cases if stored else effort.cases
    seed = stored.seed if stored else effort.seed
    measured = costs.measure(target, cases, seed)
    spends = bundles.measure(measured)
    if spends.interrupted:
        raise KeyboardInterrupt
    now = Snapshot(target.name, cases, seed, measured.figures(), spends.costs)
    totals = {
        **{
            f"{name} {path}": figures.most
            for name, paths in now.validators.items()
            for path, figures in paths.items()
        },
        **{name: bundle.total for name, bundle in now.bundles.items()},
    }
    failures = [
        failed_check("cost", "more than a block holds", name)
        for name in totals
        if totals[name] >= MAX_COST
    ]
    failures += [
        failed_check("cost", f"refused by the node: {name}: {why}")
        for name, why in spends.refused.items()
    ]
    against = "; none stored to compare with"
    if stored:
        changes = snapshot.compare(stored, now, 0)
        failures += [
            failed_check("cost", f"higher than stored: {change}") for change in changes.risen
        ]
        failures += [
            failed_check("cost", f"stored, and no longer measured: {name}") for name in changes.gone
        ]
        against = f", against {effort.costs}"
    most = max(totals, key=lambda name: totals[name])
    share = f"{most} is {share_of_block(totals[most]):.2%} of a block"
    return CheckResult("cost", f"{counted(cases, 'case')}: {share}{against}", tuple(failures))


def determinism(subject: Subject) -> CheckResult:
    """A session is the same to the byte in another process, whatever Python's hash seed."""
    if not subject.own_game:
        return CheckResult("determinism", unchecked=NEEDS_GAME)
    digests, failures = set(), list[Finding]()
    for hash_seed in HASH_SEEDS:
        ended = _session(subject, hash_seed)
        if ended.returncode:
            text = f"the session ends with {ended.returncode}: {ended.stderr}"
            failures.append(failed_check("determinism", text))
        digests.add(ended.stdout.strip())
    if len(digests) > 1:
        text = f"one seed gives the sessions {', '.join(sorted(digests))}"
        failures.append(failed_check("determinism", text))
    return CheckResult("determinism", f"2 sessions of {HANDS} hands", tuple(failures))


def _session(subject: Subject, hash_seed: str) -> subprocess.CompletedProcess[str]:
    """Play a session in a process of its own, which prints its digest."""
    command = "from channelsim.channel.cli import main; main()"
    options = ("--hands", str(HANDS), "--seed", subject.effort.seed, "--quiet", "--text")
    path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
    return subprocess.run(
        [sys.executable, "-P", "-c", command, "play", subject.target.name, *options],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def progress(subject: Subject) -> CheckResult:
    """No player alone can prolong a game for ever."""
    tally = LabTally()
    trials = chunks(subject.target, subject.effort.seed)
    for trial in islice(trials, GAMES):
        for finding in PROGRESS.check(trial):
            tally.found(finding)
    failures = _with_lines(subject.target, findings(subject.target, tally))
    return CheckResult("progress", f"{GAMES} games against a player that stalls", failures)


def secrecy(subject: Subject) -> CheckResult:
    """No message or spend holds a key, a seed, or a value before the move that reveals it."""
    return _promises("secrecy", subject, lambda promise: promise == SECRECY)


def disputes(subject: Subject) -> CheckResult:
    """An honest peer gets what it is due from every adversary, in bounded time."""
    return _promises("disputes", subject, lambda promise: promise != SECRECY)


def _promises(check: str, subject: Subject, of: Callable[[str], bool]) -> CheckResult:
    """The broken promises of the disputes, of those names for which `of` is true."""
    if not subject.own_game:
        return CheckResult(check, unchecked=NEEDS_GAME)
    if lacking := _lacks_programs(subject):
        return CheckResult(check, unchecked=lacking)
    if not subject.effort.disputes:
        return CheckResult(check, unchecked="no disputes were asked for")
    totals = subject.disputed
    failures = [finding for finding in dispute_findings(totals.found) if of(finding.rule)]
    deviated = totals.runs - totals.idle
    adversaries = counted(len(totals.matrix), "adversary")
    tried = f"{counted(deviated, 'dispute')} with {adversaries}"
    return CheckResult(check, tried, tuple(failures))


def _lacks_programs(subject: Subject) -> str:
    """The reason why a check that runs every program cannot be made; empty if none is missing."""
    missing = subject.target.missing
    return f"needs a program of {', '.join(missing)}" if missing else ""


def _left_out(subject: Subject) -> str:
    """The validators that a check leaves out because they have no program; empty for none."""
    missing = subject.target.missing
    return f"; not those of {', '.join(missing)}, of which there are no programs" if missing else ""


def _with_lines(
    target: Target, causes: Iterable[Finding], of: Callable[[str], bool] = lambda law: True
) -> tuple[Finding, ...]:
    """The findings of the laws for which `of` is true, each with the line that decides its case."""
    return tuple(with_source(target, finding) for finding in causes if of(finding.rule))


def _of_case(target: Target, case: Case, text: str) -> Finding:
    """A case that does not hold."""
    return with_source(
        target,
        msgspec.structs.replace(
            failed_check("vectors", text, case.validator),
            cause=broken_rule(target, case),
            vector=msgspec.to_builtins(case),
        ),
    )


def _of_stored(target: Target, line: StoredCase) -> Finding:
    """A line of a corpus that does not hold."""
    text = f"the stored case {line.id}: {line.differs}"
    if line.case is None:
        return failed_check("vectors", text, line.program)
    what = happens(target, line.case)
    return _of_case(target, line.case, f"{what} (stored case {line.id})" if what else text)


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        **{check.__name__: check for check in (vectors, rules, laws, fuzz, coverage)},
        ENFORCED: enforced,
        SECRETS: secrets,
        PROOFS: proofs,
        **{check.__name__: check for check in (cost, determinism, secrecy, progress, disputes)},
    }
)
"""Every check by its name, in the order in which they are run."""
