"""A side in a process, beside a copy of it here: both react to the same events.

What the process does is compared with what the copy does, by the digest of its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.side_process import REFUSED, effects_digest
from channelsim.channel.store.interface import StoreError


def handled(event: Event) -> methodcaller:
    """The call for an event that the process takes from here."""
    return methodcaller("handle", event)


class RemoteActor:
    """The actor of a side whose process is `child`; `actor` is its copy.

    `call_of` is the call for an event, and `follow` hears of the effects.
    """

    def __init__(
        self,
        name: str,
        actor: Actor,
        child: ChildProcess,
        call_of: Callable[[Event], methodcaller] = handled,
        follow: Callable[[Sequence[Effect]], None] = lambda effects: None,
    ) -> None:
        self.actor = actor
        self.child = child
        self._name = name
        self._call_of = call_of
        self._follow = follow

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height, or come back from the store."""
        return self._both(methodcaller("start", peak), partial(self.actor.start, peak))

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event. Raises `UsageError` for a command that is not possible now."""
        return self._both(self._call_of(event), partial(self.actor.handle, event))

    def _both(self, call: methodcaller, react: Callable[[], list[Effect]]) -> list[Effect]:
        """Let both react. Raises `UsageError` if both refuse.

        An adversary replaces blocks in both at once.
        """
        self.child.send(call)
        try:
            effects = react()
        except StoreError:
            raise
        except UsageError:
            self._compare(call, REFUSED)
            raise
        self._compare(call, effects_digest(effects))
        self._follow(effects)
        return effects

    def _compare(self, call: methodcaller, answer: bytes) -> None:
        if self.child.receive() != answer:
            raise InvariantError(
                f"{self._name}: its process and its copy react differently to {call}"
            )
