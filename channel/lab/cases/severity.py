"""The severity of a difference between program and rules: who loses, and how much.

A difference does harm when play can reach it: the referee lets the move through, and the
opponent, with the evidence that its own logic holds, is worse off (or the honest mover is).
"""

from __future__ import annotations

from typing import NamedTuple

from channelsim.channel.findings.finding import (
    DISAGREEMENT,
    GRIEFING,
    NOBODY_KNOWS,
    OWN_CHOICE,
    THEFT,
    UNSLASHABLE,
    Reach,
)
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.runs import EXCEEDED, RAISE, SLASH, VALID
from channelsim.channel.lab.cases.trial import LEADS_ELSEWHERE, LEGAL_SLASHED, Trial
from channelsim.channel.lab.referee.referee_runs import Commitment
from channelsim.channel.lab.sites.own_choice import is_own_choice
from channelsim.channel.lab.sites.site import Call
from channelsim.clsp.run import ProgramValid, Raised
from channelsim.clsp.values import NIL, Value, from_list, int_to_atom
from channelsim.games.contract import Raise, Slash, Valid, Verdict
from channelsim.games.evidence import for_challenger
from channelsim.games.judge import result_value

CONDITIONS = "the extra conditions"

_STRANGE: tuple[Value, ...] = ((NIL, NIL), b"\xff" * 33)
"""Evidence of no game: a pair, and more bytes than a hash has."""

_DOES = {
    VALID: "accepts it",
    SLASH: "slashes it",
    RAISE: "raises",
    EXCEEDED: "costs more than a block holds",
}
"""The verb for a program that ends so."""

_RULES_DO: dict[type, str] = {Valid: "accept it", Slash: "slash it", Raise: "raise"}

RECORD = 3
"""The items of a result before its extra conditions."""


class Assessment(NamedTuple):
    """The severity of a difference, its description, and its cause.

    `order_only`: program and rules look at the evidence and the rules in another order, by which
    no side loses. `reach` says how play comes to the case, where the site does not know.
    """

    severity: str
    text: str
    cause: str
    order_only: bool = False
    reach: Reach | None = None


def assess(trial: Trial, case: SiteCase, verdict: Verdict, outcome: str) -> Assessment | None:
    """Assess a difference; None for a state that no play reaches, or a move that the rules allow
    and the referee refuses, with a share above the amount for example.

    `verdict` is the rules' and `outcome` the program's, of the same call.
    """
    if not trial.site.natural:
        if not trial.target.strict:
            trial.tally.unreached += 1
            return None
        return _elsewhere(trial, case, verdict, outcome)
    ruling, _ = trial.site.ruling(trial.target, case.move, case.share)
    said = _for_the_opponent(trial, case, verdict)
    if isinstance(said, Slash):
        ruling = said
    if isinstance(ruling, Slash):
        return _cheat(trial, case, ruling.rule, verdict, outcome)
    if not trial.site.fits(case.move, case.share):
        return None  # the rules need not forbid what no referee lets through
    if outcome in (SLASH, VALID) and trial.slashes(*case.call):
        return _legal_slashed(trial, case, verdict)
    if isinstance(verdict, Valid):
        if outcome == VALID:
            what = difference(trial, case.call, verdict)
            if what == CONDITIONS:
                text = "on a legal move, rules and program have different extra conditions"
                return Assessment(DISAGREEMENT, text, f"legal: {CONDITIONS}")
            text = (
                f"a legal move leads elsewhere: {what}; its honest mover is slashed,"
                " or the game goes on wrongly"
            )
            return Assessment(THEFT, text, f"{LEADS_ELSEWHERE}: {what}")
        evidence = trial.site.evidence(case.move)
        ended = {type(trial.run(case.move, case.share, value)) for value in evidence}
        if ProgramValid in ended:
            text = f"on a legal move, with evidence that fits, the program {_DOES[outcome]}"
            return Assessment(DISAGREEMENT, text, f"legal: {outcome}", outcome == RAISE)
        text = f"on a legal move the program {_DOES[outcome]}; its opponent cannot go on"
        return Assessment(GRIEFING, text, f"legal: {outcome}")
    rule = getattr(verdict, "rule", "")
    text = f"by evidence that {trial.rule(rule)} refuses, the program {_DOES[outcome]}"
    if outcome == VALID and isinstance(ruling, Valid) and not difference(trial, case.call, ruling):
        if _ignores_evidence(trial, case):
            return Assessment(DISAGREEMENT, text, f"{rule}: {outcome}", order_only=True)
        text += "; on another move the program may slash honest play by it"
    return Assessment(DISAGREEMENT, text, f"{rule}: {outcome}")


def _ignores_evidence(trial: Trial, case: SiteCase) -> bool:
    """True if the program accepts a move whatever the evidence is."""
    outcomes = (trial.run(case.move, case.share, value) for value in _STRANGE)
    return all(isinstance(outcome, ProgramValid) for outcome in outcomes)


def _for_the_opponent(trial: Trial, case: SiteCase, verdict: Verdict) -> Verdict:
    """The verdict for an opponent with every known signature."""
    conditions = getattr(verdict, "conditions", ())
    for signature in trial.site.signatures(case.move) if conditions else ():
        if isinstance(said := for_challenger(verdict, signature), Slash):
            return said
    return verdict


def passes(trial: Trial, case: SiteCase) -> bool:
    """True if the referee accepts the move with the best declaration for a cheat."""
    site, runner = trial.site, trial.runner
    declared = Commitment(NIL, NIL)
    if site.validator not in trial.tally.runaway:
        declared = runner.best_cheat(site, case.arguments)
    return runner.passes(site, runner.after(site, case.move, int_to_atom(case.share), declared))


def _legal_slashed(trial: Trial, case: SiteCase, verdict: Verdict) -> Assessment:
    text = "a legal move is slashed: its honest mover loses everything"
    if isinstance(verdict, Valid):
        return Assessment(THEFT, text, LEGAL_SLASHED)
    rule = getattr(verdict, "rule", "")
    text += f", by evidence that {trial.rule(rule)} refuses"
    return Assessment(THEFT, text, f"{LEGAL_SLASHED}: {rule}")


def _cheat(trial: Trial, case: SiteCase, rule: str, verdict: Verdict, outcome: str) -> Assessment:
    """Assess a difference on an illegal move: whether a slash still pays for it."""
    what = trial.rule(rule)
    evidence = trial.site.evidence(case.move)
    said = [type(trial.run(case.move, case.share, value)) for value in evidence]
    if any(trial.slashes(case.move, case.share, value) for value in evidence):
        text = (
            f"on a move that {what} forbids, the program {_DOES[outcome]} where the rules"
            f" {_RULES_DO[type(verdict)]}; its opponent's own evidence still slashes it"
        )
        # A slash by evidence that the rules refuse, and by nothing less, may hit honest moves too.
        refused = isinstance(verdict, Raise) and outcome == SLASH
        order_only = not refused or trial.slashes(case.move, case.share, NIL)
        return Assessment(DISAGREEMENT, text, f"{rule}: {outcome}", order_only)
    if not passes(trial, case):
        text = (
            f"on a move that {what} forbids, the program {_DOES[outcome]}; only the referee's"
            " limits stop it"
        )
        return Assessment(DISAGREEMENT, text, f"{rule}: {outcome}, stopped")
    if ProgramValid in said:
        text = f"the program accepts a move that {what} forbids, so it cannot be slashed"
        return Assessment(UNSLASHABLE, text, rule)
    if Raised in said:
        text = f"a move that {what} forbids makes the program raise: its slash fails"
        return Assessment(THEFT, text, f"{rule}: {RAISE}")
    text = f"a move that {what} forbids costs more than a block to judge: it cannot be slashed"
    return Assessment(THEFT, text, f"{rule}: {EXCEEDED}")


def _elsewhere(trial: Trial, case: SiteCase, verdict: Verdict, outcome: str) -> Assessment:
    """A difference in a state that no hand leads to, as it was played."""
    match verdict:
        case Slash(rule):
            text = f"on a move that {trial.rule(rule)} forbids, the program {_DOES[outcome]}"
            cause = f"{rule}: {outcome}"
        case Valid():
            text, cause = f"on a legal move the program {_DOES[outcome]}", f"legal: {outcome}"
            if outcome == VALID:
                what = difference(trial, case.call, verdict)
                text, cause = f"a legal move leads elsewhere: {what}", f"{LEADS_ELSEWHERE}: {what}"
        case _:
            what = trial.rule(verdict.rule)
            text = f"by evidence that {what} refuses, the program {_DOES[outcome]}"
            cause = f"{verdict.rule}: {outcome}"
    if is_own_choice(trial.target, trial.site):
        where, reach = "in a state that one player can bring about", OWN_CHOICE
    else:
        where, reach = "in a state that no play is known to reach", NOBODY_KNOWS
    return Assessment(DISAGREEMENT, f"{text}, {where}", cause, reach=reach)


def difference(trial: Trial, call: Call, legal: Valid) -> str:
    """Name the parts of the result in which the program differs, and where it leads.

    Empty where it does not differ.
    """
    outcome = trial.run(*call)
    if not isinstance(outcome, ProgramValid):
        return "its result is too large to read"
    try:
        got = from_list(outcome.value)
    except ValueError:
        return "its result is not a list"
    step, names = legal.next, {known: name for name, known in trial.target.hashes.items()}
    expected = from_list(result_value(step, trial.target.hashes, legal.conditions))
    got += [NIL] * (RECORD - len(got))
    parts = []
    if got[0] != expected[0]:
        program = "an unknown program"
        if isinstance(got[0], bytes):
            program = names.get(got[0], program) if got[0] else "the end"
        parts.append(f"to {program} instead of {'the end' if step is None else step.validator}")
    whose = "at the end" if step is None else f"of {step.validator}"
    for at, part in enumerate(("the state", "the size limit"), 1):
        if expected[at] != got[at]:
            parts.append(f"{part} {whose}")
    if expected[RECORD:] != got[RECORD:]:
        parts.append(CONDITIONS)
    return ", ".join(parts)
