"""A peer's part for a channel's beginning and its clean end: the opening, and the shutdown.

Source: the state channel, "Opening", and "Clean shutdown" in "The potato".
"""

from __future__ import annotations

from channel.errors import InvariantError, Violation
from channel.peer.endpoint import Endpoint
from channel.peer.interface import (
    Effect,
    FundingSent,
    Push,
    Send,
    ShutdownStarted,
    Store,
    Tell,
    Watch,
)
from channel.peer.machine_chain import ChainSide, Phase
from channel.peer.play.play_state import PlayState
from channel.peer.shutdown import CleanShutdown
from channel.protocol.half_signed import Signed
from channel.protocol.messages import Funded, Message, Shutdown, ShutdownDone, encode
from channel.protocol.state import ChannelState, Side
from channel.protocol.state_history import Past


class EndsSide(ChainSide):
    """The opening and the shutdown."""

    # --- the opening -----------------------------------------------------------------------------

    def _on_opening(self, message: Message) -> list[Effect]:
        opening = self._opening
        kept = len(opening.states)
        answers = opening.receive(message, self._peak)
        sends = [effect for answer in answers for effect in self._say(answer)]
        if opening.channel is None:
            return sends
        if self.endpoint is None:
            self.endpoint = Endpoint(
                self.config.side,
                opening.channel,
                self._secret_keys,
                self.config.agreement.confirmations,
                self.config.entropy,
            )
        endpoint = self.endpoint
        stores = [endpoint.keep(state, signed) for state, signed in opening.states[kept:]]
        effects: list[Effect] = [*stores, *sends]
        opened = opening.opened
        if opened is None:
            return effects
        self._opened = opened
        if self._play is None:
            self._play = PlayState(
                state=opened.sent or opened.newest.state,
                newest=opened.newest,
                history=_past(opening.states),
                potato=self.config.side is Side.RECEIVER,
            )
            effects.append(Watch(opened.channel.coin))
            if self.config.fees is not None:
                effects.append(Watch(self.config.fees.wallet.coin))
        if opened.bundle is not None:
            self.phase = Phase.FUNDING
            effects.append(Store("opening/bundle", encode(Funded(opened.bundle))))
            effects.append(Push("funding", opened.bundle))
            effects.append(Tell(FundingSent(opened.channel.coin, opened.deadline)))
        return effects

    def _say(self, message: Message) -> list[Effect]:
        """Send a message of the opening, once it is kept."""
        blob = encode(message)
        return [Store(f"opening/{type(message).__name__.lower()}", blob), Send(blob)]

    # --- shutdown ------------------------------------------------------------------------------

    def _ask_shutdown(self) -> list[Effect]:
        ending = CleanShutdown.of(self._endpoint(), self.play.state)
        self._ending = ending
        self.phase = Phase.CLOSING
        message = encode(Shutdown(ending.half()))
        return [
            Store("shutdown/asked", message),
            Send(message),
            Tell(ShutdownStarted(True, ending.state.balances)),
            # Its completion may be seen on chain before we are told of it.
            *(Watch(coin) for coin in ending.rewards()),
        ]

    def _on_shutdown(self, message: Shutdown) -> list[Effect]:
        play = self.play
        if play.potato:
            raise Violation("CH-SHUT-1", "we hold the potato")
        if play.state.games:
            raise Violation("CH-SHUT-2", f"{len(play.state.games)} live games")
        ending = CleanShutdown.of(self._endpoint(), play.state).answered(message.half)
        self._ending = ending
        return [
            *self._complete(ending, tell=True),
            Tell(ShutdownStarted(False, ending.state.balances)),
            *(Watch(coin) for coin in ending.rewards()),
        ]

    def _on_shutdown_done(self, message: ShutdownDone) -> list[Effect]:
        if self.phase is not Phase.CLOSING or self._ending is None:
            raise Violation("CH-SHUT-4", "we asked for no shutdown")
        self._ending = self._ending.completed(message.signature)
        return self._complete(self._ending, tell=False)

    def _complete(self, ending: CleanShutdown, *, tell: bool) -> list[Effect]:
        if ending.bundle is None:
            raise InvariantError("a completed shutdown without its spend")
        self.phase = Phase.COMPLETED
        message = encode(ShutdownDone(ending.bundle.signature))
        sends = [Send(message)] if tell else []
        return [
            Store("shutdown/completed", message),
            *sends,
            Push("shutdown", ending.bundle),
            *self._end_proposals("the channel is closed"),
        ]


def _past(states: tuple[tuple[ChannelState, Signed | None], ...]) -> Past:
    """The opening's states, in their order."""
    past: Past | None = None
    for state, signed in states:
        past = Past(state, signed, past)
    if past is None:
        raise InvariantError("a channel opened without a state")
    return past
