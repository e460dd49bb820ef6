"""Law: two different moves never lead to the same record.

Two records count as the same if they differ only in the encoding of numbers with which the program
computes. Moves that end the game all lead to the same. Bytes of a move that no rule reads are
undecided, unless the validator declares them (`Validator.unread`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeGuard

import z3

from channelsim.channel.findings.finding import GRIEFING, NOBODY_KNOWS
from channelsim.channel.prove.arguments import MOVE, coin_field, part, replaced
from channelsim.channel.prove.collisions import ASSUMED, no_collisions
from channelsim.channel.prove.concrete_runs import terms_in
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import Judged, Leads, judged, judged_really
from channelsim.channel.prove.laws import BOTH, VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.read_bytes import read_bytes
from channelsim.channel.prove.reruns import OTHER, Run, plain
from channelsim.channel.prove.same_numbers import alike
from channelsim.channel.prove.symbols import Bytes, Condition, Symbolic, Undecided, conjunction
from channelsim.clsp.values import Value
from channelsim.games.amounts import counted

MINE = coin_field(MOVE)

PROBES = (0x00, 0x01, 0x7F, 0x80, 0xFF)
"""The values of a byte that are tried to see whether real runs read it."""


@dataclass(frozen=True)
class OneMoveToEachRecord:
    """Two moves in the same state, with the same share and evidence, lead to different records.

    `declared` are the bytes, from and to, that say nothing.
    """

    subject: Subject
    declared: tuple[int, int] = (0, 0)

    name = "one encoding"
    severity = GRIEFING
    reach = NOBODY_KNOWS
    verdicts = VERDICTS
    needs = BOTH

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        start, end = self.declared
        unread = f"bytes {start} to {end - 1} of a move are declared to say nothing"
        return (
            ASSUMED,
            "moves that end the game lead to no record",
            *((unread,) if end else ()),
            *self.subject.assumes,
        )

    def sides(self) -> tuple[Run, ...]:
        """The program with one move, and where that leads on with another."""
        one = self.subject.run()
        other = self.subject.run("other move", _with_other, one, _leads_on)
        return one, other

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments, and another move, which is not longer."""
        inputs = self.subject.inputs(domain, size, variables)
        return inputs.with_more([inputs.any_bytes("other move", size)])

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where both lead to the same record."""
        first, second = (judged(path, ending) for ending in endings)
        if not _leads_on(first) or not _leads_on(second):
            return False
        same = alike(path, first.record, second.record)
        if same is False:
            return False
        environment: Any = inputs.environment
        mine, other = part(environment, MINE), path.atom(part(environment, OTHER))
        different, unread = self._different(path, (first, second), mine, other)
        facts = no_collisions([*path.conditions, same, different, unread], path.hashed)
        alone = conjunction(unread, same, z3.Not(different), *facts)
        if path.branch(alone):
            raise Undecided(
                "bytes of the move that no rule reads: moves that differ there lead to the same"
                " record (a validator declares them by `unread`)"
            )
        return conjunction(same, different, *facts)

    def _different(
        self, path: Path, results: tuple[Leads, Leads], mine: Symbolic, other: Symbolic
    ) -> tuple[Condition, Condition]:
        """Where two moves differ in bytes that a run reads, and where in others."""
        if not isinstance(mine, Bytes) or not isinstance(other, Bytes):
            return mine != other, False  # one of them is empty
        if mine.size != other.size:
            return True, False
        records = [result.record for result in results]
        terms = [*path.conditions, *terms_in(records, path.decided)]
        read = read_bytes(mine, terms) | read_bytes(other, terms)
        differing: dict[bool, list[Condition]] = {True: [], False: []}
        for at in range(mine.size):
            if at in read or not self.declared[0] <= at < self.declared[1]:
                high = 8 * (mine.size - at) - 1
                ours, theirs = (z3.Extract(high, high - 7, atom.term) for atom in (mine, other))
                differing[at in read].append(ours != theirs)
        different, unread = (z3.Or(*parts) if parts else False for parts in differing.values())
        return different, unread

    def is_broken(self, environment: Value) -> bool:
        """True if two real runs lead to the same record, and read what the moves differ in."""
        mine, other = part(environment, MINE), part(environment, OTHER)
        if mine == other or not self.subject.is_known(environment):
            return False
        path = Path(None, (), inf)
        one, two = self.sides()
        first, second = (judged_really(side.real(environment)) for side in (one, two))
        if not _leads_on(first) or not _leads_on(second):
            return False
        for side in (one, two):
            side.run(path, environment)  # for the numbers that it reads
        if not path.known(alike(path, first.record, second.record)):
            return False
        return len(mine) != len(other) or self._reads(environment, mine, other, first)

    def _reads(self, environment: Value, mine: bytes, other: bytes, result: Leads) -> bool:
        """True if a real run ends in another way for another value of some byte that differs."""
        _start, _end = self.declared
        for at in range(len(mine)):
            if mine[at] == other[at]:
                continue
            values = {*PROBES, other[at], mine[at] ^ 1, mine[at] ^ 0x80}
            for value in sorted(values - {mine[at]}):
                changed = mine[:at] + bytes([value]) + mine[at + 1 :]
                side = self.sides()[0]
                ended = judged_really(side.real(replaced(environment, MINE, changed)))
                if not isinstance(ended, Leads) or ended.record != result.record:
                    return True
        return False

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens, and the other move."""
        other = part(environment, OTHER)
        return (
            "two moves lead to the same record: a move may be written in two ways, and neither can"
            " be slashed",
            f"other move: {counted(len(other), 'byte')}: 0x{other.hex()}",
        )


def _with_other(environment: Any) -> Any:
    return plain(replaced(environment, MINE, part(environment, OTHER)))


def _leads_on(ended: Judged) -> TypeGuard[Leads]:
    return isinstance(ended, Leads) and not ended.ends


class OneEncoding:
    """Runs the program on two moves in the same state."""

    name = "one encoding"

    def claim(self, subject: Subject) -> OneMoveToEachRecord:
        """The claim about a validator."""
        if subject.target.rules is None:
            return OneMoveToEachRecord(subject)
        return OneMoveToEachRecord(
            subject, subject.target.game.validators[subject.validator].unread
        )


LAW = OneEncoding()
