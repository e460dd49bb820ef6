"""Halves that are wrong for a state, in the opening as in play."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chia_rs import G2Element
from msgspec.structs import replace

from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, Halves, sign_halves
from channelsim.channel.protocol.state import Channel, ChannelState
from tests.channel.peer.points import minus


@dataclass(frozen=True)
class Signer:
    """The side that cheats, with the victim's keys too."""

    channel: Channel
    keys: SecretKeys
    victims: SecretKeys

    def halves(self, state: ChannelState, **changes: object) -> Halves:
        """The halves of a state with these changes."""
        return sign_halves(self.channel, self.keys, replace(state, **changes))


Wrong = Callable[[Signer, ChannelState], Halves]
"""Makes halves that are wrong for this state."""


def _richer(signer: Signer, state: ChannelState) -> Halves:
    first, second = state.balances
    return signer.halves(state, balances=(first - 1, second + 1))


def _shifted(signer: Signer, state: ChannelState) -> Halves:
    first, second = (G2Element.from_bytes(half) for half in signer.halves(state))
    by = G2Element.generator()
    return bytes(first + by), bytes(second + minus(by))


def _plain(signer: Signer, state: ChannelState) -> Halves:
    on_chain = signer.channel.on_chain(state)
    return (
        bls.sign(signer.keys.channel, on_chain.channel_message),
        bls.sign(signer.keys.unroll, on_chain.unroll_message),
    )


WRONG_HALVES: dict[str, Wrong] = {
    "of-the-state-before": lambda s, state: s.halves(state, number=abs(state.number - 1)),
    "of-a-later-state": lambda s, state: s.halves(state, number=state.number + 2),
    "of-other-balances": _richer,
    "of-nothing": lambda s, state: (NO_SIGNATURE, NO_SIGNATURE),
    "no-point": lambda s, state: (bytes(96), b"\xff" * 96),
    "swapped": lambda s, state: s.halves(state)[::-1],
    "shifted": _shifted,
    "without-the-sum-in-front": _plain,
    "by-the-victims-own-key": lambda s, state: sign_halves(s.channel, s.victims, state),
}
"""The state before the first one is the other state of the opening."""


def each() -> Iterator[tuple[str, str, Wrong]]:
    """Each of them as the channel half, as the unroll half, and as both, with its name."""
    for name, wrong in WRONG_HALVES.items():
        for which in ("channel-half", "unroll-half", "both"):
            yield which, f"{which}-{name}", _only(which, wrong)


def _only(which: str, wrong: Wrong) -> Wrong:
    def make(signer: Signer, state: ChannelState) -> Halves:
        good, bad = signer.halves(state), wrong(signer, state)
        return (
            good[0] if which == "unroll-half" else bad[0],
            good[1] if which == "channel-half" else bad[1],
        )

    return make
