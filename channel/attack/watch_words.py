"""Check what a watcher tells its user: each change once, as it is, and each notice about fees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import msgspec
from chia_wallet_sdk import Address

from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    Offered,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watch_lines import WatchLine
from channelsim.channel.watch.watcher import Sight, Step
from channelsim.games.amounts import counted

SEEN = ("state", "since", "due", "latest", "late", "final")
"""The fields of a line that are those of what the watcher saw."""


@dataclass(slots=True)
class WatchWords:
    """Follows the words of one watcher: `complaints` has its lines about trouble and fees."""

    complaints: list[str] = field(default_factory=list)
    _told: tuple[object, ...] | None = None
    _noticed: Sequence[Notice] = ()
    _trouble: str = ""

    def failed(self, trouble: str) -> Iterator[str]:
        """Find a failed look that is not told, or told again."""
        lines = self._take()
        if lines != ([] if trouble == self._trouble else [trouble]):
            yield f"says {lines} when its node cannot be asked, the first time or again"
        self._trouble = trouble

    def looked(
        self,
        sight: Sight,
        offered: Offered | None,
        newest: int,
        notices: Sequence[Notice],
        line: WatchLine | None,
    ) -> Iterator[str]:
        """Find what is wrong with the line about a look, if there is one, and with its notices."""
        self._trouble = ""
        new = [notice for notice in notices if notice not in self._noticed]
        self._noticed = notices
        complaints = self._take()
        if len(complaints) != len(new):
            yield f"tells of {len(complaints)} of {len(new)} new notices about fees"
        for notice, complaint in zip(new, complaints, strict=False):
            if (phrase := _phrase(notice)) not in complaint:
                yield f"does not say {phrase!r} of {type(notice).__name__}"
        answer = None if offered is None else (offered.result.text, offered.fee)
        seen = tuple(getattr(sight, name) for name in SEEN)
        facts = (sight.step, *seen, newest, answer)
        is_new, self._told = facts != self._told, facts
        if (line is not None) != is_new:
            yield f"prints {'nothing of what is new' if is_new else 'again what it has printed'}"
        if line is not None:
            yield from _wrong_line(line, sight, answer, newest)

    def _take(self) -> list[str]:
        lines, self.complaints[:] = [*self.complaints], []
        return lines


def _wrong_line(
    line: WatchLine, sight: Sight, answer: tuple[str, int] | None, newest: int
) -> Iterator[str]:
    """Find fields that are not what was seen, and what the text leaves out."""
    pushed, fee = answer or (None, None)
    good = _ended_well(sight, newest) if sight.final else None
    right = {
        "height": sight.peak,
        "step": sight.step.name.lower(),
        **{name: getattr(sight, name) for name in SEEN},
        "newest": newest,
        "pushed": pushed,
        "fee": fee,
        "good": good,
    }
    shown = msgspec.structs.asdict(line)
    for name in sorted(shown.keys() | right.keys()):
        if shown.get(name) != right.get(name):
            yield f"prints {name} {shown.get(name)!r}, and {right.get(name)!r} is right"
    for phrase in _phrases(sight, pushed, fee, newest, good=good):
        if phrase not in line.text:
            yield f"does not say {phrase!r}"
    if not line.text.isprintable():
        yield f"prints the line {line.text[:100]!r}"


def _phrases(
    sight: Sight, pushed: str | None, fee: int | None, newest: int, *, good: bool | None
) -> Iterator[str]:
    yield f"height {sight.peak}: {sight.step.value}"
    if sight.state is not None:
        yield f"state {sight.state}, and the newest is {newest}"
    if pushed is not None:
        yield f"our spend is {pushed}"
    elif sight.due is not None:
        yield f"due in {counted(sight.due - sight.peak, 'block')}"
    if fee:
        yield counted(fee, "mojo")
    if sight.late:
        yield f"by height {sight.latest}"
    if good is not None:
        yield "this is final: good" if good else "this is final: maybe bad"


def _ended_well(sight: Sight, newest: int) -> bool:
    """True if the owner has what the newest state gave it, or agreed to the shutdown."""
    if sight.step is Step.SHUT:
        return True
    return sight.step is Step.PAID and sight.state is not None and newest <= sight.state


def _phrase(notice: Notice) -> str:
    """The words that a line about a notice must have."""
    match notice:
        case NoFeeCoin(address, _):
            return f"{Address(address, 'txch').encode()}: fund it"
        case StakeTooSmall(most):
            return counted(most, "mojo")
        case FeeAtMaximum(fee, coin_is_small):
            remedy = "a larger coin" if coin_is_small else "a higher --max-fee"
            highest = counted(fee, "mojo")
            return f"{highest}: start the owner's peer, or this command again with {remedy}"
        case SpendIsDropped():
            return "has dropped our spend"
        case FeesUnknown(reason):
            return reason
        case _:
            assert_never(notice)
