"""One fuzzer: mutates hands and the cases that reached new code, and tries every law.

A fuzzer depends only on its seed, its number and its corpus. Its budget is counted in units of
work, so that it ends at the same place on any machine that is fast enough; on others a clock stops
it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from channelsim.channel.campaign.job import Counts
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.findings.finding import DISAGREEMENT, PLAYED, Finding
from channelsim.channel.lab.cases.case import SiteCase, fields, make_case
from channelsim.channel.lab.cases.copies import copied_states, copies, with_same_point
from channelsim.channel.lab.cases.deal_search import DealSearch
from channelsim.channel.lab.cases.mutator import GuidedMutator, Mutator
from channelsim.channel.lab.cases.runs import A_CASE, COST
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.fuzz.findings import RECORDED, recorded, shrunk
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart, corpus_case
from channelsim.channel.lab.fuzz.grouping import followed
from channelsim.channel.lab.fuzz.searches import BranchSearch, DuelSearch, OperandSearch, RareSearch
from channelsim.channel.lab.fuzz.shrink import Shrinker, broken_by, case_of
from channelsim.channel.lab.fuzz.worst import worst_variant
from channelsim.channel.lab.laws import Law, laws_for, tried
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.borders import Borders
from channelsim.channel.lab.sites.extremes import Extremes
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.hash_paths import HashPaths
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.program_words import constants
from channelsim.channel.lab.sites.recorded_extremes import RecordedExtremes
from channelsim.channel.lab.sites.site import Call, Site, make_site, recommitted
from channelsim.channel.lab.sites.state_changes import disturbed
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.clsp.analysis.operands import OperandLog
from channelsim.clsp.analysis.tracer import Coverage, Tracer
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.clsp.values import NIL, serialize

TRACED = 40
"""The work of tracing a run, as a multiple of the run itself."""

TRACING = 0.25
"""The largest share of the work that goes into tracing."""

FRESH = 32
"""Cases at a site of a hand."""

DUELLING = 0.4
"""The largest share of the work that goes into duels, where a target has any."""

STACKING, DEALING, DEALT_ALL = 0.4, 0.2, 0.05
"""The largest shares of the work that go into rare deals, where a target has any: with stacked
decks, instead of duels; otherwise as long as some are wanted that are more than other kickers, and
after that."""

BORDERING = 0.04
"""The largest share of the work that goes into borders, where a target has any."""

RARE_CASES = 12
"""Cases at a place that a rare secret leads to."""

DRAWING = 0.15
"""The largest share of the work that goes into secrets that lead to rare states."""

AROUND = 48
"""Mutations of a case that reached something new."""

COPIES = 128
"""The calls of a case in the corpus that are made by copying operands that its run compared."""

COPIED_FIRST = 64
"""Those that are tried as soon as the case joins the corpus; the others are mutated later on."""

COPIED_STATES = 4
"""The states with a copied operand that are tried then."""

COPYING = 0.1
"""The largest share of the work that goes into cases with copied operands as they stand."""

BRANCHING = 0.02
"""The largest share of the work that goes into other leaves of trees, where a move shows one."""

REPLAYING = 0.06
"""The largest share of the work that goes into hands with copied operands in earlier moves."""

IN_VAIN = 10
"""The work of a search that had no place to offer."""

WAITING = 400
"""The most runs of a validator that wait to be traced; the oldest are dropped."""

HANDS_FIRST = 60
"""Sites of hands before cases of the corpus are mutated."""

COSTLIER = 1.05
"""A case that costs this many times more than any before it joins the corpus."""

PLAIN = 400
"""The number of turns of plain hands that are searched for sites to show findings at."""

ENOUGH = 6
"""The sites of each validator that are enough for that."""

STEERING = 0.08
"""The largest share of the work that goes into hands that are steered to extremes."""

Search: TypeAlias = (
    DuelSearch
    | DealSearch
    | Borders
    | Extremes
    | RecordedExtremes
    | RareSearch
    | OperandSearch
    | BranchSearch
)
"""A search with an account of its own."""

Cause: TypeAlias = tuple[str, str, str]
"""A law, a validator and a cause."""

Found: TypeAlias = tuple[Law, SiteCase, Finding, int]
"""The law that is broken, a case by which it is, the finding, and how many fields differed."""


def _harm(finding: Finding) -> tuple[bool, int, bool, bool]:
    """A key by which the worse of two findings with one cause comes first, of equally bad ones that
    which needs no lie."""
    return finding.order_only, finding.rank, not finding.lost, finding.reach != PLAYED


@dataclass
class Fuzzer:
    """A search for findings of one target; `number` distinguishes the fuzzers of one seed.

    `corpus` has the cases of each validator that reached something new, and `coverage` what all
    runs have reached.
    """

    target: Target
    seed: str
    number: int = 0
    stored: Sequence[SiteCase] = ()
    tally: LabTally = field(default_factory=LabTally)
    corpus: dict[str, list[SiteCase]] = field(default_factory=lambda: defaultdict(list))
    coverage: dict[str, Coverage] = field(default_factory=lambda: defaultdict(Coverage))
    referee: Coverage = field(default_factory=Coverage)

    def __post_init__(self) -> None:
        secret = derive(self.seed.encode(), "fuzz", self.number)
        self._chance = FastChance(secret)
        self._hands = generate_sites(
            self.target, secret, self._chance, self.target.strict, HashPaths(self.target)
        )
        self._laws = laws_for(self.target)
        self._first: dict[Cause, Found] = {}
        self._tracers: dict[str, Tracer] = {}
        self._queues: dict[str, deque[SiteCase]] = {}
        self._alone: set[str] = set()  # validators without a program that were tried
        deals = derive(self.seed.encode(), "deals", self.number)
        self._duels = DuelSearch(self.target, deals, self._chance)
        chosen = derive(self.seed.encode(), "rare deals", self.number)
        self._deals = DealSearch(self.target, chosen)
        self._borders = Borders(self.target, derive(self.seed.encode(), "borders", self.number))
        steered = derive(self.seed.encode(), "extremes", self.number)
        has_rules = self.target.rules is not None
        self._extremes: Extremes | RecordedExtremes
        self._extremes = (Extremes if has_rules else RecordedExtremes)(self.target, steered)
        self._rare = RareSearch(self.target, self._chance)
        played = derive(self.seed.encode(), "operands", self.number)
        self._operands = OperandSearch(self.target, played, self._chance)
        shown = derive(self.seed.encode(), "branches", self.number)
        self._branches = BranchSearch(self.target, shown)
        self._searched: Counter[str] = Counter()
        self._logs: defaultdict[str, OperandLog] = defaultdict(OperandLog)
        self._copies: dict[bytes, list[Call]] = {}
        self._uncopied: deque[Trial] = deque()
        self._copied = 0.0
        self._scalars: dict[str, dict[int, None]] = {}  # where moves have them
        self._costliest: dict[str, int] = {}
        self._referee_ends: set[tuple[str, int]] = set()
        self._reading = True
        self._traced: defaultdict[str, float] = defaultdict(float)
        self.work = 0.0
        self.runs = 0

    # --- the loop ----------------------------------------------------------------------------

    def run(self, budget: float) -> Iterator[None]:
        """Work until the budget is used up; yield after each round before the last."""
        for trial in self._trials():
            self._round(trial)
            if self.work >= budget:
                return
            yield

    def part(self, stopped: bool = False, failed: str = "") -> FuzzPart:
        """The result so far, its findings shrunk; `stopped` before its work was done, and why the
        author's functions `failed`, if they did."""
        coverage = {**self.coverage, REFEREE: self.referee}
        return FuzzPart(
            runs=self.runs,
            stopped=stopped,
            # Its coverage is traced already, so that there is no need of samples.
            tally=msgspec.structs.replace(self.tally, samples={}),
            findings=self.findings(),
            corpus=[
                corpus_case(self.target, case) for cases in self.corpus.values() for case in cases
            ],
            coverage={name: coverage[name] for name in self.target.traceable if name in coverage},
            failed=failed,
        )

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        return {
            "runs": self.runs,
            "nodes": sum(len(covered.nodes) for covered in self.coverage.values()),
            "branches": sum(len(covered.branches) for covered in self.coverage.values()),
            "findings": len({(name, cause) for _, name, cause in self._first}),
        }

    def _trials(self) -> Iterator[Trial]:
        """Trials without end: stored cases, then hands, then mostly mutations of the corpus.

        Without rules, the first fuzzer begins with a look at each line of recorded play.
        """
        for case in self.stored:
            yield self._trial(case.site, [case])
        if self.target.rules is None and self.number == 0:
            for site in recorded_sites(self.target):
                yield self._trial(site, [])
        self._reading = False
        rounds = 0
        while True:
            rounds += 1
            reached = [name for name, cases in self.corpus.items() if cases]
            if self._due(self._duels, DUELLING):
                yield from self._on_account_of(self._duels, self._called(self._duels, "duel"))
            elif self._due(self._deals, self._dealing):
                yield from self._on_account_of(self._deals, self._called(self._deals, "deal"))
            elif rounds > HANDS_FIRST and self._due(self._borders, BORDERING):
                yield from self._on_account_of(self._borders, self._called(self._borders, "border"))
            elif rounds > HANDS_FIRST and self._due(self._extremes, STEERING):
                yield from self._on_account_of(self._extremes, self._steered())
            elif rounds > HANDS_FIRST and self._due(self._branches, BRANCHING):
                calls = self._called(self._branches, "branch")
                yield from self._on_account_of(self._branches, calls)
            elif self._due(self._rare, DRAWING):
                yield from self._on_account_of(self._rare, self._drawn(self._rare))
            elif rounds > HANDS_FIRST and self._due(self._operands, REPLAYING):
                yield from self._on_account_of(self._operands, self._drawn(self._operands))
            elif self._uncopied and self._copied < COPYING * self.work:
                start = self.work
                yield self._uncopied.popleft()
                self._copied += self.work - start
            elif rounds <= HANDS_FIRST or not reached or self._chance.random() < 0.4:
                site = next(self._hands)
                judged = site.validator in self.target.present
                if judged and site.natural and not site.guessed:
                    self._duels.remember(site)
                    self._deals.remember(site)
                    self._rare.remember(site)
                yield self._trial(site, self._mutated(site))
            else:
                yield self._around(self._chance.pick(reached))

    def _mutated(self, site: Site, number: int = FRESH) -> list[SiteCase]:
        cases = Mutator(self.target, site, self._chance).cases(number)
        for move in with_same_point(site.play.move, self._scalars.get(site.validator, ())):
            cases.append(make_case(site, "scalar", move, site.play.share, NIL))
        return cases

    # --- searches ----------------------------------------------------------------------------

    def _called(
        self, search: DuelSearch | DealSearch | Borders | BranchSearch, tag: str
    ) -> Iterator[Trial]:
        for site, calls in search.calls():
            yield self._trial(site, [make_case(site, tag, *call) for call in calls])

    def _drawn(self, search: RareSearch | OperandSearch) -> Iterator[Trial]:
        for site in search.places():
            yield self._trial(site, self._mutated(site, RARE_CASES))

    def _steered(self) -> Iterator[Trial]:
        for site, cases in self._extremes.places():
            yield self._trial(site, self._mutated(site, cases))

    @property
    def _dealing(self) -> float:
        """The largest share of the work that goes into rare deals now."""
        if self._deals.stacks:
            return STACKING
        return DEALING if self._deals.eager else DEALT_ALL

    def _due(self, search: Search, share: float) -> bool:
        return search.ready and self._searched[type(search).__name__] < share * self.work

    def _on_account_of(self, search: Search, trials: Iterator[Trial]) -> Iterator[Trial]:
        """The trials of a search; all their work and its own count for it."""
        start, before = self.work, search.work
        yield from trials
        self.work += search.work - before
        if self.work == start:
            self.work += IN_VAIN  # else a search that never has a place would go on for ever
        self._searched[type(search).__name__] += int(self.work - start)

    def _around(self, name: str) -> Trial:
        cases = self.corpus[name]
        # The newest as often as all the others together: they are the most promising.
        last = cases[-8:]
        case = self._chance.pick(last if self._chance.random() < 0.5 else cases)
        site, lot = case.site, self._chance.random()
        other: Site | None = None
        if self.target.rules is not None and lot < 0.2:
            other = recommitted(self.target, site, self._chance)
        elif self.target.strict and lot < 0.4:
            other = disturbed(self.target, site, self._chance)
        copied = () if other else self._copies.get(case.arguments, ())
        site = other or site
        guided = GuidedMutator(self.target, site, self._chance, case, last, copied)
        return self._trial(site, guided.cases(AROUND))

    def _trial(self, site: Site, cases: list[SiteCase]) -> Trial:
        return Trial(self.target, RefereeRunner(self.target), site, cases, self._chance, self.tally)

    def _round(self, trial: Trial) -> None:
        site, before = trial.site, self.tally.spent
        judged = site.validator in self.target.present
        begun = site.validator in (self._tracers if judged else self._alone)
        first = bool(trial.cases) and site.natural and not site.guessed and not begun
        if not judged:
            self._alone.add(site.validator)
        # A look at a place without cases is a short one.
        laws = self._laws if trial.cases else [law for law in self._laws if law.every == 1]

        def often() -> int:
            """The rate at which expensive laws are tried: more where something new happened."""
            return (32 if trial.fresh else 8) if len(trial.cases) >= FRESH else 1

        for law, finding in tried(trial, laws, self._chance, often, first=first):
            self._found(trial, law, finding)
        cases = len(trial.cases)
        self.runs += cases if judged else 0
        self.work += cases * A_CASE + (self.tally.spent - before + trial.runner.spent) / COST
        self._trace(trial)
        self._trace_referee(trial.runner)

    def _found(self, trial: Trial, law: Law, finding: Finding) -> None:
        self.tally.found(finding)
        cause = (finding.rule, finding.place, finding.cause)
        first = self._first.get(cause)
        if first is None or _harm(finding) < _harm(first[2]):
            case = case_of(trial.site, finding)
            self._first[cause] = law, case, finding, len(fields(case))

    # --- coverage ----------------------------------------------------------------------------

    def _tracer(self, name: str) -> Tracer:
        if name not in self._tracers:
            self._tracers[name] = self.target.tracer(name, self._logs[name])
        return self._tracers[name]

    def _trace(self, trial: Trial) -> None:
        """Queue the runs that ended in a new way, and trace as many as the budget allows."""
        name = trial.site.validator
        if name in self.tally.runaway:
            return
        queue = self._queues.setdefault(name, deque(maxlen=WAITING))
        queue += trial.fresh
        while queue and (self._reading or self._may_trace(name)):
            self._keep_if_new(name, queue.popleft())

    def _may_trace(self, name: str) -> bool:
        """True if the program has tracing budget left; each program has an equal part."""
        if not self.corpus.get(name) and name in self.target.programs:
            return True
        return self._traced[name] < TRACING * self.work / len(self.target.traceable)

    def _keep_if_new(self, name: str, case: SiteCase) -> None:
        """Add a case to the corpus that reaches something new or costs more than any before."""
        arguments = case.arguments
        outcome = run_serialized(self.target.programs[name].serialized, arguments)
        cost = outcome.cost if isinstance(outcome, ProgramValid | ProgramSlash) else COST
        self._charge(name, TRACED * (A_CASE + cost / COST))
        reach = self._tracer(name).reach(arguments)
        costliest = self._costliest.get(name, 0)
        if self.coverage[name].add(reach) or cost > costliest * COSTLIER:
            self._costliest[name] = max(cost, costliest)
            self.corpus[name].append(case)
            self._copy_operands(name, case)

    def _copy_operands(self, name: str, case: SiteCase) -> None:
        """Prepare cases near a new one of the corpus, by the operands of its run, the last one."""
        operands, chance = self._logs[name].operands, self._chance
        known = constants(self.target.programs[name])
        places = (case.move.find(scalar) for scalar in operands.scalars)
        self._scalars.setdefault(name, {}).update((at, None) for at in places if at >= 0)
        calls = copies(case, operands, chance, COPIES, known)
        self._copies[case.arguments] = calls
        cases = [make_case(case.site, "copy", *call) for call in calls[:COPIED_FIRST]]
        if cases:
            self._uncopied.append(self._trial(case.site, cases))
        for other in copied_states(self.target, case, operands, chance, COPIED_STATES):
            self._uncopied.append(self._trial(other.site, [other]))

    def _trace_referee(self, runner: RefereeRunner) -> None:
        if not self._may_trace(REFEREE):
            return
        for how, (curried, solution) in runner.seen.items():
            if how in self._referee_ends or len(self._referee_ends) > WAITING:
                continue
            self._referee_ends.add(how)
            self._charge(REFEREE, TRACED * how[1] / COST)
            environment = b"\xff" + serialize(curried) + solution
            self.referee.add(self._tracer(REFEREE).reach(environment))

    def _charge(self, name: str, work: float) -> None:
        self.work += work
        self._traced[name] += work

    # --- findings ----------------------------------------------------------------------------

    def findings(self) -> list[Finding]:
        """Shrink each cause once, and describe its worst finding."""
        plain = self._plain() if self._first else {}
        findings = []
        for law, case, finding, before in (*self._first.values(), *self._worse(plain)):
            if law.name == RECORDED:
                findings.append(recorded(self.target, finding))
                continue
            smaller = Shrinker(
                self.target,
                law,
                finding,
                plain.get(finding.place, ()),
                self.tally.runaway,
            ).shrink(case)
            tally = LabTally(runaway=set(self.tally.runaway))
            same = [
                other
                for other in broken_by(self.target, law, smaller, tally)
                if other.cause == finding.cause
            ]
            if not same:
                smaller, same = case, [finding]
            worst = min(same, key=lambda other: (other.rank, -other.lost))
            follows = followed(self.target, law, smaller, worst.cause, tally)
            findings.append(shrunk(self.target, smaller, worst, before, follows))
        return findings

    def _worse(self, plain: dict[str, list[Site]]) -> Iterator[Found]:
        """Variants by which somebody loses, of rules that only harmless findings are about."""
        harmful = {
            (place, word)
            for (_, place, cause), (_, _, finding, _) in self._first.items()
            for word in cause.split(": ")
            if finding.believable().severity != DISAGREEMENT
        }
        for law, case, finding, _ in list(self._first.values()):
            rule = finding.place, finding.cause.partition(": ")[0]
            if finding.severity != DISAGREEMENT or law.every > 1 or rule in harmful:
                continue
            worse = worst_variant(self.target, law, case, finding, plain.get(finding.place, ()))
            if worse is not None:
                harmful.add(rule)
                yield law, worse.case, worse.finding, len(fields(worse.case))

    def _plain(self) -> dict[str, list[Site]]:
        """Sites of plain hands, by validator."""
        sites: dict[str, list[Site]] = {name: [] for name in self.target.programs}
        if self.target.rules is None:
            for site in sorted(recorded_sites(self.target), key=lambda site: site.amount):
                sites[site.validator].append(site)
            return {name: some[:ENOUGH] for name, some in sites.items()}
        for number, turn in enumerate(plain_hands(self.target, b"plain")):
            name = turn.before.validator
            if name is not None and len(sites[name]) < ENOUGH:
                site = make_site(self.target, turn.before, turn.play, turn.amount, turn.receiver)
                sites[name].append(site)
            if number >= PLAIN or all(len(some) == ENOUGH for some in sites.values()):
                break
        return sites
