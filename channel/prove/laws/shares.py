"""Law: no record has a share below 0 or above the amount.

The referee refuses such shares before a program runs, so that most programs do not look at it. So
this is about both: where the referee of the target takes a move with such a share, the program
must not take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

from channelsim.channel.findings.finding import NOBODY_KNOWS, THEFT
from channelsim.channel.prove.arguments import AMOUNT, COIN, MORE, SHARE, coin_field, part, replaced
from channelsim.channel.prove.executor import Ending, RaisedHere, Unknown
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import Fails, Judged, Leads, Slashes, judged, judged_really
from channelsim.channel.prove.laws import VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.reruns import Run, plain
from channelsim.channel.prove.symbols import Condition, Number, Undecided, resize
from channelsim.clsp.values import NIL, Value, atom_to_int, from_list, to_list
from channelsim.games.referee import FIRST

DECLARED = (*MORE, 0)
FURTHEST = 1 << 72
"""The largest share, and the most negative one, that is tried."""


@dataclass(frozen=True)
class ShareWithinTheAmount:
    """No move gets through referee and program with a share outside of the amount."""

    subject: Subject

    name = "shares"
    severity = THEFT
    reach = NOBODY_KNOWS
    verdicts = VERDICTS
    assumes = (f"the share is a number from -{FURTHEST} to {FURTHEST} in the fewest bytes",)
    needs = ()

    def sides(self) -> tuple[Run, ...]:
        """The referee's move, and where it does not raise the program."""
        moved = Run("the referee", self.subject.target.referee, _spend, reads=_spent)
        judging = self.subject.run("", _with_share, moved, _passes)
        return moved, judging

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator, and a share outside of the amount."""
        inputs = domain.environment(size, variables)
        share, bounds = inputs.number("declared share", -FURTHEST, FURTHEST)
        amount: Number = part(inputs.environment, coin_field(AMOUNT))
        outside = z3.Or(share.term < 0, share.term > resize(amount.term, share.term.size()))
        return inputs.with_more([share], [*bounds, outside])

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where the program takes a share that the referee takes."""
        return isinstance(judged(path, endings[1]), Leads)

    def is_broken(self, environment: Value) -> bool:
        """True if referee and program take the share in real runs."""
        share = atom_to_int(part(environment, DECLARED))
        if 0 <= share <= atom_to_int(part(environment, coin_field(AMOUNT))):
            return False
        return isinstance(judged_really(self.sides()[1].real(environment)), Leads)

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens, and the share."""
        return (
            "a move may declare a share below 0 or above the amount: a timeout cannot pay it",
            f"declared share: {atom_to_int(part(environment, DECLARED)):,}",
        )


def _spent(path: Path, ending: Ending) -> Judged:
    """What a referee does: it raises, or lets the move through."""
    if isinstance(ending, Unknown):
        raise Undecided(ending.reason)
    return Fails() if isinstance(ending, RaisedHere) else Slashes()


def _passes(ended: Judged) -> bool:
    return isinstance(ended, Slashes)


def _with_share(environment: Any) -> Any:
    share = part(environment, DECLARED)
    return plain(replaced(environment, coin_field(SHARE), share))


def _spend(environment: Any) -> Any:
    """The arguments of the referee of the coin before, when it is spent by this move."""
    after = from_list(part(environment, COIN))
    mover, waiter, timeout, amount, mod_hash, nonce, move, limit, infohash, _, judging = after
    before = to_list(
        [waiter, mover, timeout, amount, mod_hash, nonce, NIL, b"\x04\x00", judging, NIL, FIRST]
    )
    return before, to_list([move, infohash, part(environment, DECLARED), limit])


class Shares:
    """Runs the referee and the program on shares that no timeout can pay."""

    name = "shares"

    def claim(self, subject: Subject) -> ShareWithinTheAmount:
        """The claim about a validator."""
        return ShareWithinTheAmount(subject)


LAW = Shares()
