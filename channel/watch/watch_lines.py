"""The lines of a watcher: one for each change on chain, and one for each notice about fees."""

from __future__ import annotations

from typing import assert_never

import msgspec
from chia_wallet_sdk import Address

from channelsim.channel.chain.peaks import MAINNET
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    Offered,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watch_data import WatchData
from channelsim.channel.watch.watcher import Sight, Step
from channelsim.games.amounts import counted


class WatchLine(msgspec.Struct, frozen=True):
    """A line of a watcher, as `watch --json` prints it.

    `newest` is the number of the newest state of its data, and `pushed` the node's answer to the
    spend that is due. `good`: the channel ended well for the owner; None before that is final. The
    other fields are those of `Sight`.
    """

    height: int
    step: str
    state: int | None
    newest: int
    since: int | None
    due: int | None
    latest: int | None
    late: bool
    pushed: str | None
    fee: int | None
    final: bool
    good: bool | None

    def has_news(self, before: WatchLine | None) -> bool:
        """True if more has changed since the line `before` than the height."""
        return before is None or msgspec.structs.replace(before, height=self.height) != self

    @property
    def text(self) -> str:
        """The line for people."""
        text = f"height {self.height}: {Step[self.step.upper()].value}"
        if self.state is not None:
            text += f": state {self.state}, and the newest is {self.newest}"
        if self.pushed is not None:
            text += f"; our spend is {self.pushed}"
            if self.fee:
                text += f", for a fee of at most {counted(self.fee, 'mojo')}"
        elif self.due is not None:
            text += f"; our spend is due in {counted(self.due - self.height, 'block')}"
        if self.late:
            text += (
                f"; it is not in, and must be by height {self.latest}: blocks are full, or somebody"
                f" keeps it out. {_late_remedy(self.fee)}"
            )
        return text + (f"; this is final: {_GOOD if self.good else _BAD}" if self.final else "")


_GOOD = "good for the owner, it was paid as the newest of these data, or as both sides agreed"
_BAD = (
    "maybe bad for the owner, the newest of these data did not count; the owner's peer knows"
    " whether that was right: start it"
)


def line_of(sight: Sight, data: WatchData, offered: Offered | None) -> WatchLine:
    """The line about what a watcher sees, and the answer to the spend that it offered."""
    newest = data.newest.state.number
    return WatchLine(
        height=sight.peak,
        step=sight.step.name.lower(),
        state=sight.state,
        newest=newest,
        since=sight.since,
        due=sight.due,
        latest=sight.latest,
        late=sight.late,
        pushed=offered.result.text if offered is not None else None,
        fee=offered.fee if offered is not None else None,
        final=sight.final,
        good=sight.ended_well(newest) if sight.final else None,
    )


def notice_text(notice: Notice, data: WatchData) -> str:
    """A notice about fees, and what the user can do."""
    match notice:
        case NoFeeCoin(address, least):
            prefix = "xch" if data.channel.agg_sig_data == MAINNET else "txch"
            place = Address(address, prefix).encode()
            return (
                f"--fee-key: no coin of at least {counted(least, 'mojo')} at {place}: fund it;"
                " watching without fees until then"
            )
        case StakeTooSmall(most):
            return (
                f"--fee-key: by default a spend of this channel costs at most"
                f" {counted(most, 'mojo')}, less than mempools take as a raise; watching without"
                " fees: give --max-fee"
            )
        case FeeAtMaximum(fee, coin_is_small):
            remedy = "a larger coin" if coin_is_small else "a higher --max-fee"
            return (
                f"our spend is not confirmed with its highest fee, {counted(fee, 'mojo')}: start"
                f" the owner's peer, or this command again with {remedy}"
            )
        case SpendIsDropped():
            return (
                "the node has dropped our spend, and takes it no more as it is: name another"
                " --node, or give --fee-key and coins for a fee"
            )
        case FeesUnknown(reason):
            return f"{reason}; going on with the fees that are known"
        case _:
            assert_never(notice)


def _late_remedy(fee: int | None) -> str:
    """Advice for the user when a spend is late."""
    if fee:
        return "Its fee rises; if it cannot, start the owner's peer"
    return "A fee can help: start the owner's peer, or this command again with --fee-key"
