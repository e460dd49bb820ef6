"""Prove that two programs of targets are equal on every input, or show one that tells them apart.

The sizes of the move are compared one by one, in several processes. Nothing is equal while a size,
a path or a shape was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.comparison import SizeReport, compare_size
from channelsim.channel.prove.executor import SymbolicProgram
from channelsim.channel.prove.inputs import ATOM, PAIRS, Domain
from channelsim.channel.prove.result import Undecidable, Verdict
from channelsim.channel.system.process_executor import GONE, ProcessExecutor, WorkerDied
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.programs import Program, symbols
from channelsim.clsp.values import Value
from channelsim.games.errors import BadState
from channelsim.games.names import nearest_or_all

HANDS = 40
"""The hands that are played to learn how long moves may be."""

ROOM = 80
"""The text of an expression is cut after this many characters."""

UNPLAYED = "no move ends valid within these bounds"
UNSLASHED = "no move is slashed within these bounds"


@dataclass(frozen=True)
class Question:
    """Two programs of a validator, and the domain: two targets and the longest move in bytes."""

    left: Target
    right: Target
    validator: str
    longest: int
    played: tuple[int, ...] = ()
    """The sizes of moves in play: these are compared first."""
    pairs: int = PAIRS
    atom: int = ATOM
    """The bounds of evidence: pairs inside each other, and bytes of an atom."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every size of the move, up to one more than the longest."""
        return tuple(dict.fromkeys((*self.played, *range(self.longest + 2))))

    @property
    def programs(self) -> tuple[Program, Program]:
        """Both programs."""
        return self.left.programs[self.validator], self.right.programs[self.validator]

    @property
    def _ruled(self) -> Target | None:
        """The target whose rules say which states there are; None if neither has rules."""
        return next((each for each in (self.left, self.right) if each.rules is not None), None)

    def domain(self) -> Domain:
        """The inputs on which they are compared."""
        names = {**self.left.hashes, **self.right.hashes}
        left, right = self.programs
        ruled = self._ruled
        return Domain(
            own=(left.hash, right.hash),
            form=None if ruled is None else ruled.game.validators[self.validator].form,
            longest=self.longest,
            pairs=self.pairs,
            atom=self.atom,
            hashes={
                name: tuple(
                    target.hashes[name]
                    for target in (self.left, self.right)
                    if name in target.hashes
                )
                for name in names
            },
            program=left.value,
        )

    def is_read(self, state: Value) -> bool:
        """True if the reader of the state takes it, with the hashes of either target."""
        ruled = self._ruled
        if ruled is None:
            return True
        read = ruled.game.validators[self.validator].read_state
        for hashes in (self.left.hashes, self.right.hashes):
            try:
                read(state, hashes)
            except BadState:
                continue
            return True
        return False


@dataclass
class Proof:
    """The result of a comparison. `difference` is an environment on which the programs differ.

    `paths` are pairs of paths; `confirmed` of them were run for real, for the `unconfirmed` no
    input was found, and on the `bounded` a program looks at values of which larger ones are left
    out. `samples` are inputs that were drawn and run besides.
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
    difference: Value | None = None
    undecided: tuple[Undecidable, ...] = ()
    interrupted: bool = False

    @property
    def differs(self) -> bool:
        """True if an input tells the programs apart."""
        return self.difference is not None

    @property
    def verdict(self) -> Verdict:
        """Equal only if nothing was left out."""
        if self.differs:
            return "different"
        done = set(self.sizes) == set(self.question.sizes)
        return "equal" if done and not self.undecided and not self.interrupted else "undecided"


def make_question(
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
    for target in (left, right):
        if validator not in target.present:
            near = nearest_or_all(validator, target.present)
            raise UsageError(f"{target.name}: has no program of {validator!r}{near}")
    limits, played = _played(left, validator)
    if longest is None:
        longest = max(limits, default=None)
    if longest is None:
        raise UsageError(
            f"{left.name}: no play reaches {validator}, so the longest move is not known; name it"
            " with --move-bytes N"
        )
    allowed = sorted(size for size in played if size <= longest)
    return Question(left, right, validator, longest, tuple(allowed), pairs, atom)


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
    """Compare two programs within this time; `on_size` hears of each size that is done.

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
                if proof.differs:
                    break
    except KeyboardInterrupt:
        proof.interrupted = True
    if not proof.differs and not gaps and not proof.interrupted:
        gaps.update({(UNPLAYED, ""): 1} if not endings["valid"] else {})
        gaps.update({(UNSLASHED, ""): 1} if not endings["slash"] else {})
    proof.undecided = tuple(
        Undecidable(reason, place, times) for (reason, place), times in gaps.most_common()
    )
    proof.seconds = monotonic() - start
    return proof


@contextmanager
def _results(question: Question, deadline: float, jobs: int) -> Iterator[Iterator[_SizeResult]]:
    """The result of each size as it comes, from so many processes; one needs none of its own."""
    sizes = question.sizes
    if jobs == 1:
        yield (_compare(question, size, deadline) for size in sizes)
        return
    executor = ProcessExecutor(jobs)
    try:
        futures = {executor.submit(_compare, question, size, deadline): size for size in sizes}
        yield (_result(future, futures[future]) for future in as_completed(futures))
    finally:
        executor.kill()


def _result(future: Future[_SizeResult], size: int) -> _SizeResult:
    """The result of a size; undecided if its process was killed."""
    try:
        return future.result()
    except WorkerDied:
        return _SizeResult(SizeReport(size), Counter({(GONE, ""): 1}))


@dataclass(frozen=True)
class _SizeResult:
    """A report, with the places of what is undecided as text."""

    report: SizeReport
    gaps: Counter[tuple[str, str]]


def _compare(question: Question, size: int, deadline: float) -> _SizeResult:
    """Compare one size, in any process."""
    left, right = question.programs
    first, second = question.left.name, question.right.name
    if first == second:
        first, second = f"{first}, first", f"{second}, second"
    programs = SymbolicProgram(first, left), SymbolicProgram(second, right)
    with deep():
        report = compare_size(programs, question.domain(), size, deadline, question.is_read)
        gaps: Counter[tuple[str, str]] = Counter()
        for gap, times in report.gaps.items():
            place = ""
            for program in programs:
                if program.name == gap.program and gap.node:
                    place = f"{program.name}: {_text(program, gap.node)}"
            gaps[gap.reason, place] += times
    report.gaps = Counter()
    return _SizeResult(report, gaps)


def _text(program: SymbolicProgram, node: Value) -> str:
    """An expression of a program with its function, as text."""
    code = Code(program.value, symbols(program.program))
    place = code.place_of(node)
    if place is None:
        return value_text(node, ROOM)
    return f"{place.function.name}: {Disassembly(code).text(node, ROOM)}"


def _add(
    proof: Proof,
    result: _SizeResult,
    gaps: Counter[tuple[str, str]],
    endings: Counter[str],
) -> None:
    report = result.report
    proof.paths += report.paths
    proof.confirmed += report.confirmed
    proof.unconfirmed += report.unconfirmed
    proof.bounded += report.bounded
    proof.samples += report.samples
    proof.sizes.append(report.size)
    proof.difference = report.difference
    gaps.update(result.gaps)
    endings.update(report.endings)
