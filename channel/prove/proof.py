"""Prove a claim about a validator's programs on every input, or show an input that breaks it.

The sizes of the move are examined one by one; `campaign` does it in several processes. Nothing is
proved while a size, a path or a shape was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic, thread_time

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import STATE
from channelsim.channel.prove.arguments import part as part_of
from channelsim.channel.prove.checked import Checked
from channelsim.channel.prove.claims import Claim, Equal, lemmas_used
from channelsim.channel.prove.comparison import examine_size
from channelsim.channel.prove.inputs import ATOM, PAIRS, Domain
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.move_sizes import sizes_in_play
from channelsim.channel.prove.result import ProofResult, Undecidable, Verdict
from channelsim.channel.prove.rules.own_reading import OwnReading, has_own_rules
from channelsim.channel.prove.rules.reading import Reading
from channelsim.channel.prove.shapes import Shape
from channelsim.channel.prove.sides import side_digests
from channelsim.channel.prove.solver import LATE
from channelsim.channel.system.process_executor import GONE
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, deserialize, serialize
from channelsim.games.names import nearest_or_all

UNPLAYED = "no move ends valid within these bounds"
UNSLASHED = "no move is slashed within these bounds"
MANY, FEW = 24, 3
"""The longest move from which ranges of sizes are examined at once, in states of any shape, and the
sizes below which each is examined by itself."""

AMOUNT = 12
"""More bytes than an amount has: a range ends where a move of play has that many behind it."""

MISSING = {"valid": UNPLAYED, "slash": UNSLASHED}


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
    shape: Shape | None = None
    """The only shape of the state; None for every one."""

    @cached_property
    def ranges(self) -> Mapping[int, int]:
        """The sizes of the move, up to one more than the longest, as ranges: the first size of
        each, and the last one. Of short moves, each size is a range of its own."""
        if isinstance(self.claim, Checked):
            return {number: number for number in range(self.claim.batches)}
        ranges = {size: size for size in self.played}
        cuts = {size + AMOUNT for size in (0, *self.played) if size + 1 not in self.played}
        first = None
        for size in range(self.longest + 2):
            first = None if size in cuts else first
            if size in self.alone:
                ranges.setdefault(size, size)
                first = None
                continue
            first = size if first is None else first
            ranges[first] = size
        return ranges

    @cached_property
    def alone(self) -> frozenset[int]:
        """The sizes that are examined by themselves."""
        if isinstance(self.claim, Checked):
            return frozenset(self.ranges)
        sizes = range(self.longest + 2)
        if not self.has_ranges:
            return frozenset(sizes)
        return frozenset({*range(FEW), *self.played, sizes[-1]}.intersection(sizes))

    def last_of(self, size: int) -> int | None:
        """The last size of a range of long moves; None for a size that is examined by itself."""
        return None if size in self.alone else self.ranges[size]

    @property
    def has_ranges(self) -> bool:
        """True if moves are so long, or the questions about states of a shape so hard, that not
        each of their sizes is examined by itself."""
        some = self.longest >= MANY or self.shape is not None
        return some and getattr(self.claim, "takes_ranges", False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The first size of each range, those of moves in play before all others."""
        return tuple(self.ranges)

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

    @property
    def _reader(self) -> Reading | OwnReading | None:
        ruled = self._ruled
        if ruled is not None:
            return Reading(ruled, self.validator)
        own = (each for each in self.targets if has_own_rules(each, self.validator))
        return next((OwnReading(each, self.validator) for each in own), None)

    def domain(self) -> Domain:
        """The inputs on which the claim is examined."""
        names = {name for target in self.targets for name in target.hashes}
        reading = self._reader
        return Domain(
            own=tuple(program.hash for program in self.programs),
            form=None if reading is None else reading.form,
            longest=self.longest,
            pairs=self.pairs,
            atom=self.atom,
            hashes={
                name: tuple(target.hashes[name] for target in self.targets if name in target.hashes)
                for name in sorted(names)
            },
            program=self.programs[0].value,
            like=None if self.shape is None else self.shape.example,
            by_hand=getattr(self.claim, "by_hand", False),
        )

    def is_read(self, state: Value) -> bool:
        """True if the reader of the state takes it, with the hashes of any target."""
        reading = self._reader
        if reading is None:
            return True
        return any(reading.takes(state, target.hashes) for target in self.targets)

    def takes(self, environment: Value) -> bool:
        """True if the reader takes the state among the arguments, and its `holds` is true."""
        if not self.about_moves:
            return True
        if not self.is_read(part_of(environment, STATE)):
            return False
        reading = self.reading
        return reading is None or reading.really_holds(environment)

    @property
    def reading(self) -> Reading | OwnReading | None:
        """The reader of the state, on stand-ins; None if there is nothing to read."""
        return self._reader if self.about_moves else None

    @property
    def about_moves(self) -> bool:
        """False for a claim about other arguments than those of the validator."""
        return getattr(self.claim, "about_moves", True)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The inputs in words."""
        if self.about_moves and not isinstance(self.claim, Checked):
            return self.domain().bounds
        own: tuple[str, ...] = self.claim.bounds  # type: ignore[attr-defined]
        return own


class PartResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result for one size of the move, as it travels: the fields of a `SizeReport`.

    `counterexample` is a serialized environment in hex that breaks the claim, or "". `undecided`
    are reasons, places, and on how many paths. `left_out`: it was not examined, because the claim
    was broken before. `seconds` are those of processor time that it took.
    """

    size: int
    paths: int = 0
    cost: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    bounded: int = 0
    samples: int = 0
    counterexample: str = ""
    undecided: tuple[tuple[str, str, int], ...] = ()
    endings: dict[str, int] = {}
    left_out: bool = False
    seconds: float = 0.0


@dataclass
class Proof:
    """The results for the sizes of a claim, and what follows from them.

    `lost`: the process of a size that was to be examined ended. `seconds` is how long it took.
    """

    question: Question
    parts: list[PartResult] = field(default_factory=list)
    interrupted: bool = False
    lost: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The claim and the validator, with the shape of its state if it is about one."""
        name = f"{self.question.claim.name}: {self.question.validator}"
        return name if self.question.shape is None else f"{name}, {self.question.shape.name}"

    @property
    def examined(self) -> list[PartResult]:
        """The parts that were examined, in the order of the question's sizes."""
        order = {size: at for at, size in enumerate(self.question.sizes)}
        examined = [part for part in self.parts if not part.left_out]
        return sorted(examined, key=lambda part: order[part.size])

    @property
    def work(self) -> float:
        """The seconds of processor time that the parts took."""
        return sum(part.seconds for part in self.parts)

    @property
    def counterexample(self) -> Value | None:
        """An environment that breaks the claim: the first one, in the order of the sizes."""
        shown = (part.counterexample for part in self.examined if part.counterexample)
        return next((deserialize(bytes.fromhex(text)) for text in shown), None)

    @property
    def broken(self) -> bool:
        """True if an input breaks the claim."""
        return any(part.counterexample for part in self.examined)

    @property
    def is_whole(self) -> bool:
        """True if every size was examined."""
        return {part.size for part in self.examined} == set(self.question.sizes)

    @property
    def undecided(self) -> tuple[Undecidable, ...]:
        """The reasons why something is undecided, the most frequent first."""
        if self.broken:
            return ()
        gaps: Counter[tuple[str, str]] = Counter()
        endings: Counter[str] = Counter()
        for part in self.examined:
            endings.update(part.endings)
            for reason, place, times in part.undecided:
                gaps[reason, place] += times
        gaps[GONE, ""] += self.lost
        if self.is_whole and not gaps.total():
            for word in self.question.claim.needs:
                gaps[MISSING[word], ""] += not endings[word]
        return tuple(
            Undecidable(reason, place, times)
            for (reason, place), times in gaps.most_common()
            if times
        )

    @property
    def verdict(self) -> Verdict:
        """Proved only if nothing was left out."""
        proved, refuted = self.question.claim.verdicts
        if self.broken:
            return refuted
        return proved if self.is_whole and not self.undecided else "undecided"

    @property
    def left_open(self) -> bool:
        """True if it is undecided for another reason than an interrupt."""
        return self.verdict == "undecided" and (bool(self.undecided) or self.is_whole)

    def result(self) -> ProofResult:
        """The result as plain data."""
        question, parts = self.question, self.examined
        return ProofResult(
            validator=question.validator,
            claim=question.claim.name,
            verdict=self.verdict,
            sides=side_digests(question.targets, question.validator),
            longest=question.longest,
            pairs=question.pairs,
            atom=question.atom,
            bounds=question.bounds,
            assumes=question.claim.assumes,
            lemmas=lemmas_used(question.claim),
            cost=max((part.cost for part in parts), default=0),
            sizes=_by_size(question, parts),
            confirmed=sum(part.confirmed for part in parts),
            unconfirmed=sum(part.unconfirmed for part in parts),
            bounded=sum(part.bounded for part in parts),
            samples=sum(part.samples for part in parts),
            undecided=self.undecided,
            shape="" if question.shape is None else question.shape.name,
        )


def _checked(claim: Checked, number: int) -> PartResult:
    """Check a batch by real runs."""
    start = thread_time()
    batch = claim.check(number)
    broken = batch.counterexample
    return PartResult(
        size=number,
        samples=batch.inputs,
        counterexample="" if broken is None else serialize(broken).hex(),
        undecided=((batch.differs, "", 1),) if batch.differs else (),
        seconds=thread_time() - start,
    )


def _by_size(question: Question, parts: Iterable[PartResult]) -> dict[int, int]:
    """The paths of each size; those of a range of sizes count for its first one."""
    paths: dict[int, int] = {}
    for part in parts:
        paths |= dict.fromkeys(range(part.size, question.ranges[part.size] + 1), 0)
        paths[part.size] = part.paths
    return paths


def compare(
    left: Target,
    right: Target,
    validator: str,
    longest: int | None = None,
    pairs: int = PAIRS,
    atom: int = ATOM,
    shape: Shape | None = None,
) -> Question:
    """Ask whether two programs are equal, in states of a shape if one is named; by default for
    moves of the sizes that play allows.

    Raises `UsageError`.
    """
    targets = (left, right)
    check_programs(targets, validator)
    programs = left.programs[validator], right.programs[validator]
    return make_question(
        Equal((left.name, right.name), programs, lemmas_of(left.rules)),
        targets,
        validator,
        longest,
        pairs,
        atom,
        shape,
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
    shape: Shape | None = None,
) -> Question:
    """Ask whether a claim is true, in states of a shape if one is named; by default for moves of
    the sizes that play allows.

    Raises `UsageError`.
    """
    target = targets[0]
    if isinstance(claim, Checked) or not getattr(claim, "about_moves", True):
        return Question(claim, targets, validator, 0, (), pairs, atom)
    limits, played = sizes_in_play(target, validator)
    if shape is not None:
        limits, played = frozenset((shape.longest,)), frozenset(shape.played)
    if longest is None:
        longest = max(limits, default=None)
    if longest is None:
        raise UsageError(
            f"{target.name}: no play reaches {validator}, so the longest move is not known; name"
            " it with --move-bytes N"
        )
    allowed = sorted(size for size in played if size <= longest)
    return Question(claim, targets, validator, longest, tuple(allowed), pairs, atom, shape)


def prove(
    question: Question,
    seconds: float,
    on_size: Callable[[int, int], None] = lambda done, total: None,
) -> Proof:
    """Examine a claim in this process, with so many seconds of work for all sizes together.

    `on_size` hears of each size that is done. An interrupt ends it with what is known. Raises
    `WrongModel`.
    """
    start, deadline = monotonic(), thread_time() + seconds
    proof = Proof(question)
    try:
        for size in question.sizes:
            if thread_time() > deadline:
                part = PartResult(size, undecided=((LATE, "", 1),))
            else:
                part = examine(question, size, deadline)
            proof.parts.append(part)
            on_size(len(proof.parts), len(question.sizes))
            if proof.broken:
                break
    except KeyboardInterrupt:
        proof.interrupted = True
    proof.seconds = monotonic() - start
    return proof


def examine(question: Question, size: int, deadline: float) -> PartResult:
    """Examine one size, or the range of sizes that begins with it, until this `thread_time`.

    Raises `WrongModel`.
    """
    if isinstance(question.claim, Checked):
        return _checked(question.claim, size)
    start = thread_time()
    with deep():
        domain = replace(question.domain(), last=question.last_of(size))
        given = question.claim, domain, size, deadline, question.takes
        reading = question.reading
        if reading is None:
            report = examine_size(*given)
        else:
            report = examine_size(*given, reading.refuses, reading.comes_first)
    shown = report.counterexample
    return PartResult(
        size=report.size,
        paths=report.paths,
        cost=report.cost,
        confirmed=report.confirmed,
        unconfirmed=report.unconfirmed,
        bounded=report.bounded,
        samples=report.samples,
        counterexample="" if shown is None else serialize(shown).hex(),
        undecided=tuple(
            (reason, place, times) for (reason, place), times in sorted(report.undecided.items())
        ),
        endings=dict(sorted(report.endings.items())),
        seconds=thread_time() - start,
    )
