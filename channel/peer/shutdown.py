"""The clean shutdown: one spend of the channel coin that pays both balances.

One side sends its half-signature, and the other completes it. Each side that has the completed
spend publishes it until it is confirmed. Source: spec/channel.md, "Clean shutdown".
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, standard_spend
from channelsim.channel.crypto import bls
from channelsim.channel.errors import Violation
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.protocol.spend_parsing import channel_conditions
from channelsim.channel.protocol.state import ChannelState
from channelsim.clsp.values import tree_hash


class CleanShutdown(msgspec.Struct, frozen=True):
    """A shutdown at one state; `bundle` is its spend, once it is completed."""

    endpoint: Endpoint
    state: ChannelState
    bundle: Bundle | None = None

    @classmethod
    def of(cls, endpoint: Endpoint, newest: ChannelState) -> CleanShutdown:
        """The shutdown at the newest state; its open proposals are dropped."""
        # Without decks: their locks are erased when play ends (PD-16).
        return cls(endpoint.with_decks({}), replace(newest, groups=()))

    def rewards(self) -> tuple[Coin, ...]:
        """The reward coins: one for each balance over 0, the initiator's first."""
        channel = self.endpoint.channel
        return tuple(
            Coin(channel.coin.id, address, balance)
            for address, balance in zip(channel.rewards, self.state.balances, strict=True)
            if balance
        )

    def half(self) -> bytes:
        """Our half-signature. Once it is out we must not play."""
        return bls.sign_half(
            self.endpoint.secret_keys.channel, self._message(), self.endpoint.channel.channel_key
        )

    def answered(self, half: bytes) -> CleanShutdown:
        """Add our half to the other side's. Raises `Violation` if theirs is not over our state."""
        channel = self.endpoint.channel
        theirs = channel.keys[self.endpoint.side.other].channel
        if not bls.verify_half(theirs, self._message(), channel.channel_key, half):
            raise Violation("CH-SHUT-3", f"the half is not over the balances {self.state.balances}")
        return self._completed(bls.add(half, self.half()))

    def completed(self, signature: bytes) -> CleanShutdown:
        """Take the other side's completed signature. Raises `Violation` if it is not valid."""
        if not bls.verify(self.endpoint.channel.channel_key, self._message(), signature):
            raise Violation("CH-SHUT-3", "the completed signature is not valid")
        return self._completed(signature)

    def pushes(self) -> list[Effect]:
        """Push the completed spend, if it is here: our balance is at stake for it."""
        if self.bundle is None:
            return []
        return [Push("shutdown", self.bundle, self.state.balances[self.endpoint.side])]

    def is_paid_by(self, solution: bytes) -> bool:
        """True if the channel coin's spend with this solution is the shutdown."""
        conditions = self.endpoint.channel.shutdown_conditions(self.state)
        return channel_conditions(solution) == tree_hash(conditions)

    def _message(self) -> bytes:
        return self.endpoint.channel.shutdown_message(self.state)

    def _completed(self, signature: bytes) -> CleanShutdown:
        channel = self.endpoint.channel
        conditions = channel.shutdown_conditions(self.state)
        spend = standard_spend(channel.coin, bytes(channel.channel_key), conditions)
        return CleanShutdown(self.endpoint, self.state, Bundle((spend,), signature))
