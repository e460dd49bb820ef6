"""Corpora: their union, and a small part of one that reaches the same.

The union has every case once, in the same order however corpora are merged. The minimum reaches
the same nodes and branches, and has the highest cost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import heapify, heappop, heappush
from operator import or_
from pathlib import Path

import msgspec

from channelsim.channel.campaign.directory import CORPUS, is_campaign
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import (
    PLAY,
    CaseRuns,
    RefereeSpend,
    check_file,
    corpus_files,
    corpus_lines,
    write_files,
)
from channelsim.channel.lab.targets.loading import LONGEST_NAME, is_program_name
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, kind_of
from channelsim.clsp.analysis.tracer import CoverageCounts, Tracer
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games import registry
from channelsim.games.vectors import BadCase, Case

Written = Case | RefereeSpend

Lines = Mapping[bytes, Written]
"""Lines of a corpus by their content, which is the line without its `id` and `tag`."""

line_of = msgspec.json.Encoder().encode
"""The line of a corpus that says this."""


@dataclass(frozen=True)
class StoredCorpus:
    """The lines of a corpus by program, and the games that its cases name."""

    lines: Mapping[str, Lines] = field(default_factory=dict)
    games: frozenset[str] = frozenset()

    def __or__(self, other: StoredCorpus) -> StoredCorpus:
        """The union: commutative, associative and idempotent."""
        lines = (
            line
            for corpus in (self, other)
            for stored in corpus.lines.values()
            for line in stored.items()
        )
        return StoredCorpus(_by_program(lines), self.games | other.games)

    def __len__(self) -> int:
        return sum(map(len, self.lines.values()))


def read_corpus(path: Path) -> StoredCorpus:
    """The corpus in a folder, of a campaign, or in one file of cases or spends, whatever its name.

    Raises `UsageError`, naming file and line.
    """
    if is_campaign(path):
        if not (path / CORPUS).is_dir():
            raise UsageError(f"{path}: a campaign without a corpus; only `fuzz` keeps one")
        path = path / CORPUS
    lines = [
        (line_of(msgspec.structs.replace(written, id="", tag="")), written)
        for written in _written(path)
    ]
    if not lines:
        raise UsageError(f"{path}: has no cases")
    games = frozenset(written.game for _, written in lines if isinstance(written, Case))
    return StoredCorpus(_by_program(lines), games)


def _by_program(lines: Iterable[tuple[bytes, Written]]) -> dict[str, dict[bytes, Written]]:
    """The lines of each program by their content: of those with the same, the least."""
    programs: defaultdict[str, dict[bytes, Written]] = defaultdict(dict)
    for content, written in lines:
        stored = programs[written.validator if isinstance(written, Case) else REFEREE]
        stored[content] = min(written, stored.get(content, written), key=line_of)
    return dict(programs)


def _written(path: Path) -> Iterator[Written]:
    files = corpus_files(path) if path.is_dir() else [path]
    for file in files:
        data = input_files.read(file, input_files.LINES)
        spends = kind_of(data) is Kind.SPENDS
        kind: type[Written] = RefereeSpend if spends else Case
        for number, written in corpus_lines(file, data, kind):
            try:
                if path.is_dir():
                    check_file(file, written)
                _check_name(written)
            except BadCase as error:
                raise UsageError(f"{file}: line {number}: {error}") from None
            yield written


def _check_name(written: Written) -> None:
    """Check that a file can be named after the validator of a case. Raises `BadCase`."""
    if isinstance(written, Case) and not is_program_name(written.validator):
        raise BadCase(f"{written.validator[:LONGEST_NAME]!a} is not a name of a validator")


def write_corpus(option: str, folder: Path, corpus: StoredCorpus) -> None:
    """Write a file for each program, sorted. Raises `UsageError`, naming the option."""
    texts = {name: sorted(map(line_of, lines.values())) for name, lines in corpus.lines.items()}
    write_files(option, folder, texts)


def check_games(corpora: Mapping[Path, StoredCorpus]) -> None:
    """Check that all cases are of one game, or of games that share programs. Raises `UsageError`,
    naming the corpus of another."""
    first: tuple[Path, str] | None = None
    for path, corpus in corpora.items():
        for game in sorted(corpus.games):
            first = first or (path, game)
            if game not in relatives(first[1]):
                where = "" if path == first[0] else f" as in {first[0]}"
                raise UsageError(f"{path}: has cases of {game!r}, not of {first[1]!r}{where}")


def relatives(game: str) -> frozenset[str]:
    """The names of the games that share programs with this one, itself among them."""
    if game not in registry.names():
        return frozenset((game,))
    return frozenset(relative.name for relative in registry.sharing(registry.get(game)))


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """The code that one case of a program reaches, and its cost, 0 where the run raises.

    `reached` has a bit for each node, then one for each branch. `changed`: only a changed state
    leads to it, no play.
    """

    content: bytes
    reached: int
    cost: int
    changed: bool


class ProgramMinimum(msgspec.Struct, frozen=True):
    """The number of a program's cases before and after, and the code that both reach.

    `highest_cost` is that of a run that does not raise. `measured` is false where the program is
    missing: all of its cases are left.
    """

    cases: int
    needed: int
    coverage: CoverageCounts
    highest_cost: int
    measured: bool = True


@dataclass(frozen=True)
class Minimum:
    """The part of a corpus, and the counts of each program."""

    corpus: StoredCorpus
    programs: dict[str, ProgramMinimum]


def minimum(
    target: Target, corpus: StoredCorpus, on_case: Callable[[], None] = lambda: None
) -> Minimum:
    """Measure every case on the target's programs, and keep few that reach what all reach.

    The result depends on the set of cases alone. Raises `UsageError` for a corpus of another
    target, and for cases that do not fit its programs.
    """
    check_target(target, corpus)
    lines: dict[str, Lines] = {}
    counts: dict[str, ProgramMinimum] = {}
    for name, stored in sorted(corpus.lines.items()):
        owner = next((near for near in target.family if name in near.programs), target)
        if name in owner.missing:
            lines[name] = stored
            counts[name] = ProgramMinimum(len(stored), len(stored), CoverageCounts(), 0, False)
            continue
        tracer = owner.tracer(name)
        measured = []
        for content, written in stored.items():
            measured.append(_measured(target, tracer, content, written))
            on_case()
        chosen = least_cover(measured)
        lines[name] = {case.content: stored[case.content] for case in chosen}
        highest = max((case.cost for case in chosen), default=0)
        reached = _counts(tracer, reduce(or_, (case.reached for case in chosen), 0))
        counts[name] = ProgramMinimum(len(stored), len(chosen), reached, highest)
    return Minimum(StoredCorpus(lines, corpus.games), counts)


def check_target(target: Target, corpus: StoredCorpus) -> None:
    """Check that a corpus is of this target's game and programs. Raises `UsageError`."""
    own = relatives(target.rules or target.name)
    if others := sorted(corpus.games - own):
        raise UsageError(f"the corpus has cases of {others[0]!r}, not of {target.name!r}")
    for name, lines in sorted(corpus.lines.items()):
        for written in lines.values():
            fits = name in target.family_programs
            if isinstance(written, RefereeSpend):
                fits = REFEREE not in target.programs
            if not fits:
                known = ", ".join(target.programs)
                raise UsageError(f"the corpus has cases of {name!r}; {target.name!r} has {known}")


def _measured(target: Target, tracer: Tracer, content: bytes, written: Written) -> MeasuredCase:
    try:
        arguments = CaseRuns(target).stored(written).arguments
    except BadCase as error:
        raise UsageError(f"the case {written.id}: {error}") from None
    outcome = run_serialized(tracer.program.serialized, arguments)
    cost = outcome.cost if isinstance(outcome, ProgramValid | ProgramSlash) else 0
    changed = isinstance(written, Case) and not written.tag.startswith(PLAY)
    reach = tracer.reach(arguments)
    nodes = sum(1 << node for node in reach.nodes)
    branches = sum(1 << branch for branch in reach.branches)
    return MeasuredCase(content, nodes | branches << tracer.nodes, cost, changed)


def _counts(tracer: Tracer, reached: int) -> CoverageCounts:
    nodes = (reached & (1 << tracer.nodes) - 1).bit_count()
    branches = (reached >> tracer.nodes).bit_count()
    return CoverageCounts(tracer.nodes, nodes, tracer.branches, branches)


def least_cover(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Few cases that reach together what all reach, and one of the highest cost among them.

    It takes the case that reaches most of what is left, until nothing is left; of several the
    one that play can reach, then the shortest. Then each case goes that the others make needless.
    """
    highest = max((case.cost for case in cases), default=0)
    goals = [case.reached << 1 | (case.cost == highest > 0) for case in cases]
    chosen: list[int] = []
    covered = 0
    # What a case adds only falls, so a stale number at the top of the heap is computed again.
    heap = [
        (-goals[number].bit_count(), case.changed, len(case.content), case.content, number)
        for number, case in enumerate(cases)
    ]
    heapify(heap)
    while heap:
        stale, changed, size, content, number = heappop(heap)
        added = (goals[number] & ~covered).bit_count()
        if added and added == -stale:
            covered |= goals[number]
            chosen.append(number)
        elif added:
            heappush(heap, (-added, changed, size, content, number))
    for number in list(chosen):
        others = reduce(or_, (goals[other] for other in chosen if other != number), 0)
        if others == covered:
            chosen.remove(number)
    return [cases[number] for number in chosen]
