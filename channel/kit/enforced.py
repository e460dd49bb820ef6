"""The check that every rule is enforced: by some case, and by each of its tests in the program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec

from channelsim.channel.campaign.campaign import here
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.findings.finding import Finding
from channelsim.channel.kit.conformance import Subject, failed_check
from channelsim.channel.kit.proofs import SOLVER
from channelsim.channel.lab.mutants.broken_rules import named_rules, unread_rules
from channelsim.channel.lab.mutants.enforcement import Enforcement
from channelsim.channel.lab.mutants.hunt import MutantResult
from channelsim.channel.lab.mutants.reasons import rule_reasons
from channelsim.channel.lab.targets.target import Target
from channelsim.games.amounts import counted

ENFORCED = "every rule is enforced"
"""The name of the check."""

NEEDS_RULES = "needs rules: without them, nobody knows what a dropped test should have refused"

PROVING, MOST_PROOFS = 40.0, 8
"""The seconds of work in all for proofs that tests which nothing misses are needless, and the most
such proofs."""


def enforced(subject: Subject) -> CheckResult:
    """Every rule decides some case, and something notices when a test in a program is dropped."""
    target = subject.target
    judged = [name for name in target.programs if target.judge(name) is not None]
    if not judged:
        return CheckResult(ENFORCED, unchecked=NEEDS_RULES)
    if not any(name in target.present for name in judged):
        missing = ", ".join(name for name in judged if name not in target.present)
        return CheckResult(ENFORCED, unchecked=f"needs a program of {missing}")
    result = subject.enforced
    rules = named_rules(target)
    argued = rule_reasons(target)
    never = [rule for rule in rules if rule not in subject.broken_rules and rule not in argued]
    needless = _needless(target, result.open)
    failures = [
        *(_unbroken(target, rule, rules[rule]) for rule in never),
        *(_unnoticed(target, change) for change in result.open if change.place not in needless),
    ]
    unread = unread_rules(target, subject.broken_rules)
    parts = list(_tried(subject, result, len(rules), len(never), needless, judged))
    if unread:
        parts.append(f"not checked: {', '.join(unread)}, which no judge is seen to name")
    tried = "; ".join(parts)
    if (result.left or subject.cut_off or unread) and not failures:
        return CheckResult(ENFORCED, unchecked=tried)
    return CheckResult(ENFORCED, tried, tuple(failures))


def _tried(
    subject: Subject,
    result: Enforcement,
    rules: int,
    never: int,
    needless: Collection[int],
    judged: list[str],
) -> Iterator[str]:
    """The parts of the row's text."""
    target = subject.target
    yield f"{rules - never} of {counted(rules, 'rule')} broken by a case"
    yield f"{counted(result.tried, 'dropped test')}, {result.noticed} noticed"
    if result.argued:
        yield f"{result.argued} argued"
    if needless:
        yield f"{len(needless)} needless, by a proof"
    if result.left:
        left = ", ".join(f"{count} of {name}" for name, count in result.left.items())
        yield f"not tried: {left} (more --seconds try more)"
    if subject.cut_off:
        yield f"not those of {', '.join(sorted(subject.cut_off))}, of which a run was cut off"
    out = [name for name in target.programs if name not in judged]
    if out:
        yield f"not those of {', '.join(out)}, of which there are no rules"
    missing = [name for name in judged if name in target.missing]
    if missing:
        yield f"not those of {', '.join(missing)}, of which there are no programs"


def _needless(target: Target, changes: Sequence[MutantResult]) -> Collection[int]:
    """The places of those changes that make no difference in any state, as the prover says."""
    if not changes or find_spec(SOLVER) is None:
        return ()
    from channelsim.channel.prove.survivors import survivor_proofs

    asked = changes[:MOST_PROOFS]
    campaign, places = survivor_proofs(target, asked, PROVING / len(asked))
    if campaign is None:
        return ()
    proofs, interrupted = campaign.run(here(campaign))
    if interrupted:
        raise KeyboardInterrupt
    return {places[number] for number, proof in proofs.items() if proof.is_equal}


def _unbroken(target: Target, rule: str, validator: str) -> Finding:
    """A rule that no case breaks."""
    text = f"no case breaks {_with_sentence(target, rule)}: nothing shows that it is enforced"
    return failed_check(ENFORCED, text, validator, target.rule_line(validator, rule))


def _unnoticed(target: Target, change: MutantResult) -> Finding:
    """A test whose absence nothing notices."""
    mutant = change.mutant
    line = target.source_line(mutant.validator, mutant.function, mutant.old)
    rule = target.rule_at(mutant.validator, line)
    about = f", by {_with_sentence(target, rule)}" if rule else ""
    always = "false" if mutant.new == "()" else "true"
    inside = f" in {mutant.within}" if mutant.within else ""
    text = (
        f"nothing notices if this test is always {always}{about}: {mutant.function}: {mutant.old}"
        f"{inside} ({counted(change.runs, 'run')})"
    )
    return failed_check(ENFORCED, text, mutant.validator, line)


def _with_sentence(target: Target, rule: str) -> str:
    sentence = target.sentence(rule)
    return f"{rule} ({sentence})" if sentence else rule
