"""Hostile shutdowns, and messages and bytes that are out of place while two peers play.

A new case is a row in `ROWS`: its name, the moment, and what makes the message.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Close
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import Message, Shutdown, ShutdownDone, decode
from channelsim.channel.protocol.state import ChannelState
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.peer.hostile_batches import (
    after_a_game,
    ben_has_the_potato,
    without_the_potato,
)
from tests.channel.peer.hostile_steps import ANY_MESSAGE
from tests.channel.table import ANN, BALANCE, BEN, Cheat, sit

CASES = Cases()


def closing() -> Cheat:
    """Ben asked for the shutdown; Ann, who cheats, has to answer."""
    table = sit().open()
    table.command(BEN, Close())
    assert isinstance(decode(table.take_mail()), Shutdown)
    return Cheat(table, ANN)


def shutdown_half(cheat: Cheat, state: ChannelState | None = None) -> Shutdown:
    """The cheat's half for the balances of this state, or of the newest."""
    channel = cheat.table.channel
    balances = (state or cheat.state).balances
    message = channel.shutdown_message(ChannelState(0, balances))
    return Shutdown(bls.sign_half(cheat.keys.channel, message, channel.channel_key))


def _over(cheat: Cheat, more: int = 0) -> Shutdown:
    """A half over the first balances, with so many mojos more for Ann."""
    return shutdown_half(cheat, ChannelState(0, (BALANCE + more, BALANCE - more)))


def _completed_over_other_balances(cheat: Cheat) -> ShutdownDone:
    sides = (cheat, Cheat(cheat.table, BEN))
    return ShutdownDone(bls.add(*(_over(one, 1).half for one in sides)))


ROWS: dict[str, dict[str, tuple[Callable[[], Cheat], Callable[[Cheat], Message]]]] = {
    "CH-SHUT-3": {
        "a-shutdown-half-of-an-older-states-balances": (lambda: after_a_game().cheat, _over),
        "a-completed-shutdown-of-nothing": (closing, lambda _: ShutdownDone(NO_SIGNATURE)),
        "a-completed-shutdown-that-is-the-half-alone": (
            closing,
            lambda cheat: ShutdownDone(shutdown_half(cheat).half),
        ),
        "a-completed-shutdown-over-other-balances": (closing, _completed_over_other_balances),
    },
    "CH-SHUT-4": {
        "a-completed-shutdown-to-who-holds-the-potato": (
            lambda: without_the_potato().cheat,
            lambda _: ShutdownDone(NO_SIGNATURE),
        ),
    },
}


def _said(setup: Callable[[], Cheat], make: Callable[[Cheat], Message | bytes]) -> Hostile:
    cheat = setup()
    return cheat.table, 1 - cheat.index, make(cheat)


for _rule, _rows in ROWS.items():
    for _name, _row in _rows.items():
        CASES.put(_rule, _name, _said, *_row)


# --- what is out of place ------------------------------------------------------------------------


def _any(said: Message | bytes) -> Callable[[Cheat], Message | bytes]:
    return lambda cheat: said


for _message in ANY_MESSAGE[:5]:
    _kind = type(_message).__name__
    CASES.put("CH-SHUT-5", f"a-{_kind}-in-answer-to-a-shutdown", _said, closing, _any(_message))
    CASES.put("CH-MSG-3", f"a-{_kind}-in-play", _said, ben_has_the_potato, _any(_message))
