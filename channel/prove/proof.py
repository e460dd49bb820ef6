"""Prove a claim about a validator's programs on every input, or show an input that breaks it.

The sizes of the move are examined one by one, in several processes. Nothing is proved while a size,
a path or a shape was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.claims import Claim, Equal
from channelsim.channel.prove.comparison import Refuses, SizeReport, examine_size
from channelsim.channel.prove.inputs import ATOM, PAIRS, Domain
from channelsim.channel.prove.result import Undecidable, Verdict
from channelsim.channel.prove.rules.reading import Reading
from channelsim.channel.system.process_executor import GONE, ProcessExecutor, WorkerDied
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value
from channelsim.games.errors import BadState
from channelsim.games.names import nearest_or_all

HANDS = 40
"""The hands that are played to learn how long moves may be."""

UNPLAYED = "no move ends valid within these bounds"
UNSLASHED = "no move is slashed within these bounds"


@dataclass(frozen=True)
class Question:
    """A claim about a validator's programs in targets, and the domain: the longest move in bytes.

    The first target is the one that is judged.
    """

    claim: Claim
    targets: tuple[Target, ...]
    validator: str
    longest: int
    played: tuple[int, ...] = ()
    """The sizes of moves in play: these are examined first."""
    pairs: int = PAIRS
    atom: int = ATOM
    """The bounds of evidence: pairs inside each other, and bytes of an atom."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every size of the move, up to one more than the longest."""
        return tuple(dict.fromkeys((*self.played, *range(self.longest + 2))))

    @property
    def target(self) -> Target:
        """The target that is judged."""
        return self.targets[0]

    @property
    def programs(self) -> tuple[Program, ...]:
        """The program of each target."""
        return tuple(target.programs[self.validator] for target in self.targets)

    @property
    def _ruled(self) -> Target | None:
        """The target whose rules say which states there are; None if none has rules."""
        return next((each for each in self.targets if each.rules is not None), None)

    def domain(self) -> Domain:
        """The inputs on which the claim is examined."""
        names = {name for target in self.targets for name in target.hashes}
        ruled = self._ruled
        return Domain(
            own=tuple(program.hash for program in self.programs),
            form=None if ruled is None else ruled.game.validators[self.validator].form,
            longest=self.longest,
            pairs=self.pairs,
            atom=self.atom,
            hashes={
                name: tuple(target.hashes[name] for target in self.targets if name in target.hashes)
                for name in sorted(names)
            },
            program=self.programs[0].value,
        )

    def is_read(self, state: Value) -> bool:
        """True if the reader of the state takes it, with the hashes of any target."""
        ruled = self._ruled
        if ruled is None:
            return True
        read = ruled.game.validators[self.validator].read_state
        for target in self.targets:
            try:
                read(state, target.hashes)
            except BadState:
                continue
            return True
        return False

    @property
    def refuses(self) -> Refuses:
        """Says where the reader of the state refuses it, if one has rules."""
        ruled = self._ruled
        if ruled is None:
            return lambda path, environment: False
        return Reading(ruled, self.validator).refuses


@dataclass
class Proof:
    """The result for a claim. `counterexample` is an environment that breaks it.

    `paths` are those of all sides together; `confirmed` of them were run for real, for the
    `unconfirmed` no input was found, and on the `bounded` a side looks at values of which larger
    ones are left out. `samples` are inputs that were drawn and run besides.
    """

    question: Question
    bounds: tuple[str, ...]
    paths: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    bounded: int = 0
    samples: int = 0
    seconds: float = 0.0
    sizes: list[int] = field(default_factory=list)
    counterexample: Value | None = None
    undecided: tuple[Undecidable, ...] = ()
    interrupted: bool = False

    @property
    def broken(self) -> bool:
        """True if an input breaks the claim."""
        return self.counterexample is not None

    @property
    def verdict(self) -> Verdict:
        """Proved only if nothing was left out."""
        proved, refuted = self.question.claim.verdicts
        if self.broken:
            return refuted
        done = set(self.sizes) == set(self.question.sizes)
        return proved if done and not self.undecided and not self.interrupted else "undecided"


def compare(
    left: Target,
    right: Target,
    validator: str,
    longest: int | None = None,
    pairs: int = PAIRS,
    atom: int = ATOM,
) -> Question:
    """Ask whether two programs are equal; by default for moves of the sizes that play allows.

    Raises `UsageError`.
    """
    targets = (left, right)
    check_programs(targets, validator)
    programs = left.programs[validator], right.programs[validator]
    return make_question(
        Equal((left.name, right.name), programs), targets, validator, longest, pairs, atom
    )


def check_programs(targets: Iterable[Target], validator: str) -> None:
    """Check that each target has a program of a validator. Raises `UsageError`."""
    for target in targets:
        if validator not in target.present:
            near = nearest_or_all(validator, target.present)
            raise UsageError(f"{target.name}: has no program of {validator!r}{near}")


def make_question(
    claim: Claim,
    targets: tuple[Target, ...],
    validator: str,
    longest: int | None = None,
    pairs: int = PAIRS,
    atom: int = ATOM,
) -> Question:
    """Ask whether a claim is true; by default for moves of the sizes that play allows.

    Raises `UsageError`.
    """
    target = targets[0]
    limits, played = _played(target, validator)
    if longest is None:
        longest = max(limits, default=None)
    if longest is None:
        raise UsageError(
            f"{target.name}: no play reaches {validator}, so the longest move is not known; name"
            " it with --move-bytes N"
        )
    allowed = sorted(size for size in played if size <= longest)
    return Question(claim, targets, validator, longest, tuple(allowed), pairs, atom)


def _played(target: Target, validator: str) -> tuple[set[int], set[int]]:
    """The size limits of a validator's moves in play, and the sizes of these moves, in bytes."""
    limits: set[int] = set()
    sizes: set[int] = set()
    if target.rules is None:
        for case in target.honest:
            if case.validator == validator:
                limits.add(case.max_move_size)
                sizes.add(len(case.move) // 2)
        return limits, sizes
    for _, hand in zip(range(HANDS), hands(target, b"prove"), strict=False):
        for turn in hand:
            if turn.before.validator == validator:
                limits.add(turn.before.max_move_size)
                sizes.add(len(turn.play.move))
    return limits, sizes


def prove(
    question: Question,
    seconds: float,
    jobs: int = 1,
    on_size: Callable[[int, int], None] = lambda done, total: None,
) -> Proof:
    """Examine a claim within this time; `on_size` hears of each size that is done.

    An interrupt ends it with what is known. Raises `WrongModel`.
    """
    start = monotonic()
    proof = Proof(question, question.domain().bounds)
    gaps: Counter[tuple[str, str]] = Counter()
    endings: Counter[str] = Counter()
    total = len(question.sizes)
    try:
        with _results(question, start + seconds, min(jobs, total)) as results:
            for result in results:
                _add(proof, result, gaps, endings)
                on_size(len(proof.sizes), total)
                if proof.broken:
                    break
    except KeyboardInterrupt:
        proof.interrupted = True
    if not proof.broken and not gaps and not proof.interrupted:
        gaps.update({(UNPLAYED, ""): 1} if not endings["valid"] else {})
        gaps.update({(UNSLASHED, ""): 1} if not endings["slash"] else {})
    proof.undecided = tuple(
        Undecidable(reason, place, times) for (reason, place), times in gaps.most_common()
    )
    proof.seconds = monotonic() - start
    return proof


@contextmanager
def _results(question: Question, deadline: float, jobs: int) -> Iterator[Iterator[SizeReport]]:
    """The report of each size as it comes, from so many processes; one needs none of its own."""
    sizes = question.sizes
    if jobs == 1:
        yield (_examine(question, size, deadline) for size in sizes)
        return
    executor = ProcessExecutor(jobs)
    try:
        futures = {executor.submit(_examine, question, size, deadline): size for size in sizes}
        yield (_result(future, futures[future]) for future in as_completed(futures))
    finally:
        executor.kill()


def _result(future: Future[SizeReport], size: int) -> SizeReport:
    """The report of a size; undecided if its process was killed."""
    try:
        return future.result()
    except WorkerDied:
        return SizeReport(size, undecided=Counter({(GONE, ""): 1}))


def _examine(question: Question, size: int, deadline: float) -> SizeReport:
    """Examine one size, in any process."""
    with deep():
        report = examine_size(
            *(question.claim, question.domain(), size, deadline),
            is_read=question.is_read,
            refuses=question.refuses,
        )
    report.gaps = Counter()  # parts of programs, which can be nested too deep to be sent
    return report


def _add(
    proof: Proof, report: SizeReport, gaps: Counter[tuple[str, str]], endings: Counter[str]
) -> None:
    proof.paths += report.paths
    proof.confirmed += report.confirmed
    proof.unconfirmed += report.unconfirmed
    proof.bounded += report.bounded
    proof.samples += report.samples
    proof.sizes.append(report.size)
    proof.counterexample = report.counterexample
    gaps.update(report.undecided)
    endings.update(report.endings)
