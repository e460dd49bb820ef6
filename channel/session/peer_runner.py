"""One peer on its own: driven against a node, with a player, and perhaps a link to the other side.

All events of the peer are handled one after the other on one event loop. What takes time is done
elsewhere: the node is asked in a thread of its own, decks are computed in threads, and the player
decides in one. So neither the other side nor the player delays what is due on chain.

Any error but a node's ends the run: the peer is given nothing after it, nothing more is sent or
pushed, the player is asked nothing, and `run` raises it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from channelsim import plugins
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Chain, PushResult, observe, pending_with
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    DeckComputed,
    DecksChanged,
    Event,
    FeeLimits,
    Proposed,
    Push,
    Received,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.peer_driver import Actor, DrivenPeer, PeerDriver
from channelsim.channel.session.questions import PlayerOfPeer
from channelsim.channel.session.session_events import BlockMade, Listener, SessionEvent
from channelsim.channel.session.threads import SYSTEM_THREADS, Threads, in_thread, result_of
from channelsim.channel.store.interface import StoreError
from channelsim.channel.system.interrupt import INTERRUPTS
from channelsim.games.contract import Position
from channelsim.games.deck.work import DeckResult, DeckWork

POLL_TIME = 1.0
"""Seconds between two looks at the chain."""

MOST_TRIES, MOST_WAITING = 20, 100
"""How often a push is tried that gets no answer, and how many wait for one. With the next block,
the peer pushes what is still due."""

SILENT = (SystemExit, asyncio.CancelledError, GeneratorExit)
"""Exceptions that end a task, or the process, without being reported as an error."""


class Link(Protocol):
    """A connection to the other side."""

    def send(self, message: bytes) -> None:
        """Send a message, sooner or later, or lose it with the connection."""
        ...


def is_over(peer: Peer) -> bool:
    """True if nothing is left to do for a peer, but for a deep reorganisation."""
    return peer.is_over


def begins_with_link(peer: Peer) -> bool:
    """True for the one who speaks first, before it has: the other side may not be there yet."""
    return peer.config.side is Side.INITIATOR and peer.state.block.peak == 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """The node cannot be asked at the moment; `reason` is a line. Empty once it can again."""

    reason: str


class RunFailed(Exception):
    """A run has failed; `PeerRunner.run` raises the error."""


class PeerRunner:
    """Runs one peer. `actor` stands in for `peer`, whose state is read.

    `on_trouble` hears when the node cannot be asked, and when it can again. What the peer sends is
    dropped without a connection; the peer repeats it once there is one. With `waits_for_link` the
    peer starts once there is a connection: times are counted from its first message on. With
    `fee_limits` these become the player's maxima of fees. What takes time is done in `threads`.
    """

    def __init__(
        self,
        peer: Peer,
        actor: Actor,
        chain: Chain,
        player: PlayerOfPeer,
        decks: DeckThreads,
        listeners: Sequence[Listener] = (),
        *,
        waits_for_link: bool = False,
        poll_time: float = POLL_TIME,
        fee_limits: FeeLimits | None = None,
        on_trouble: Callable[[Trouble], None] = lambda trouble: None,
        threads: Threads = SYSTEM_THREADS,
    ) -> None:
        self.peer = peer
        self._driven = DrivenPeer(peer.config.name, actor)
        self._driver = PeerDriver(self._driven, self, fee_rate=None)
        self._chain = chain
        self._player = player
        self._decks = decks
        self._listeners = tuple(listeners)
        self._waits_for_link = waits_for_link
        self._poll_time = poll_time
        self._fee_limits = fee_limits
        self._on_trouble = on_trouble
        self._threads = threads
        self._trouble = Trouble("")
        self._rate_trouble = ""
        self._link: Link | None = None
        self._block: Block | None = None
        self._looked_at: tuple[Coin, ...] = ()
        self._pushes: dict[Bundle, Push] = {}
        self._tries: Counter[Bundle] = Counter()
        self._unanswered: dict[str, str] = {}
        # In order: a run that is repeated ends its tasks in the same one.
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._last_steps: set[asyncio.Task[None]] = set()
        self._linked = asyncio.Event()
        self._started = asyncio.Event()
        self._changed = asyncio.Event()
        self._state_changed = asyncio.Event()
        self._chain_due = asyncio.Event()
        self._failure: BaseException | None = None
        self._failed = asyncio.Event()
        self._ending = False
        self._looked = asyncio.Event()

    async def run(self, over: Callable[[Peer], bool] = is_over) -> None:
        """Drive the peer until it is over, as of a look at the chain in this run.

        A node that cannot be asked is asked again, also at the start. Raises every other error:
        `StoreError`, since nothing is said that is not durable, and failures of the peer, of the
        player and of those who listen.
        """
        failing = asyncio.ensure_future(self._failed.wait())
        try:
            driving = self._spawn(partial(self._drive, over))
            await asyncio.wait([driving, failing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._ending = True
            tasks = [failing, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    async def _drive(self, over: Callable[[Peer], bool]) -> None:
        """Start the peer, and then all other tasks; return when the peer is over."""
        peak = await self._peak()
        if self._waits_for_link:
            await self._linked.wait()
            peak = await self._peak()
        self._react(partial(self._driver.start, peak))
        if self._fee_limits is not None:
            self._react(partial(self._driver.handle, self._fee_limits))
        self._spawn(self._follow_chain)
        # Nothing is decided on the tip of an earlier run: the player is asked, and the other side
        # heard, once the coins and the fee rate of this one are known.
        await self._looked.wait()
        self._started.set()
        self._spawn(self._ask_player)
        while not over(self.peer):
            self._state_changed.clear()
            await self._state_changed.wait()

    async def _peak(self) -> int:
        """The height of the tip, as soon as the node can be asked."""
        while True:
            try:
                peak = await in_thread(self._threads, self._chain.peak)
            except NodeError as error:
                self._report_trouble(str(error))
                await asyncio.sleep(self._poll_time)
            else:
                self._report_trouble("")
                return peak

    # --- from outside ---

    async def connected(self, link: Link) -> None:
        """Use a new connection in the place of any other, and let the peer know."""
        self._linked.set()
        await self._started.wait()
        self._link = link
        self._take(Connected())

    def disconnected(self, link: Link) -> None:
        """Forget a connection, if it is still the one in use."""
        if self._link is link:
            self._link = None

    def received(self, message: bytes) -> None:
        """Give the peer a message of the other side."""
        self._take(Received(message))

    async def ready(self) -> None:
        """Return once the next message may be handled: when the decks before it are finished.

        The receiver has a deck as soon as it has sent its last step, and may name it at once.
        """
        while self._last_steps:
            await asyncio.wait(self._last_steps)

    def failed(self, error: BaseException) -> None:
        """End the run with this error, unless it has failed before."""
        if self._failure is not None:
            return
        if isinstance(error, SILENT):
            cause, error = error, InvariantError(plugins.described(error))
            error.__cause__ = cause
        self._failure = error
        self._failed.set()

    def longest_message(self) -> int:
        """The most bytes that a message of the other side can have now."""
        return self.peer.longest_message

    def command(self, command: Command) -> None:
        """Give the peer a command.

        Raises `UsageError` if it is not possible now, as before this run has looked at the chain,
        and `RunFailed`.
        """
        if not self.has_looked:
            raise UsageError(f"{self._driven.name} has not looked at the chain yet: not now")
        self._react(partial(self._driver.handle, command), may_refuse=True)

    @property
    def has_looked(self) -> bool:
        """True once this run has looked at the chain."""
        return self._looked.is_set()

    async def looked(self) -> None:
        """Wait for the first look at the chain in this run: nothing is decided before it."""
        await self._looked.wait()

    def dealt(self, decks: DecksChanged) -> None:
        """Give the peer a deck that a simulated dealer made for both sides."""
        self._take(decks)

    # --- the ports of the peer ---

    def send(self, message: bytes) -> None:
        """Send a message, if there is a connection."""
        with self._failing():
            if self._link is not None:
                self._link.send(message)

    def push(self, push: Push) -> None:
        """Offer a bundle to the node as soon as it can be asked."""
        self._pushes[push.bundle] = push
        if len(self._pushes) > MOST_WAITING:
            self._forget(max(self._pushes, key=lambda bundle: self._tries[bundle]))
        self._chain_due.set()

    def compute(self, work: DeckWork) -> None:
        """Compute a step of a deck in a thread."""
        with self._failing():
            step = self._decks.submit(self.peer.config.side, work)
            task = self._spawn(partial(self._computed, step))
        if work.is_last:
            self._last_steps.add(task)
            task.add_done_callback(self._last_steps.discard)

    def notify(self, event: SessionEvent) -> None:
        """Pass an event to every listener."""
        with self._failing():
            for listener in self._listeners:
                listener(event)

    def restart(self) -> None:
        """Raise `InvariantError`: an actor of this process ends with it."""
        raise InvariantError("an actor stopped by itself")

    # --- the chain ---

    async def _follow_chain(self) -> None:
        while True:
            trouble = ""
            # A push that the node cannot answer must not keep the chain out of sight.
            for step in (self._offer_pushes, self._report_tip):
                try:
                    await step()
                except NodeError as error:
                    trouble = str(error)
            unanswered = next(iter(self._unanswered.values()), "")
            self._report_trouble(trouble or unanswered or self._rate_trouble)
            # Cheaper than a timeout, which raises: this happens most of the time.
            alarm = asyncio.get_running_loop().call_later(self._poll_time, self._chain_due.set)
            try:
                await self._chain_due.wait()
            finally:
                alarm.cancel()
            self._chain_due.clear()

    async def _offer_pushes(self) -> None:
        while self._pushes:
            self._go_on()
            bundle, push = next(iter(self._pushes.items()))
            try:
                result, pending = await in_thread(self._threads, _offer, self._chain, push)
            except NodeError as error:
                self._unanswered.setdefault(_kind(push), str(error))
                self._tries[bundle] += 1
                if self._tries[bundle] < MOST_TRIES:
                    # The others come before it the next time.
                    self._pushes[bundle] = self._pushes.pop(bundle, push)
                else:
                    self._forget(bundle)
                return
            self._forget(bundle)
            self._unanswered.pop(_kind(push), None)
            self._react(partial(self._driver.pushed, push, result, pending))

    def _forget(self, bundle: Bundle) -> None:
        self._pushes.pop(bundle, None)
        del self._tries[bundle]

    async def _report_tip(self) -> None:
        """Report the tip if it changed, again while the peer starts to watch more coins.

        A reorganisation that leaves the height as it is is seen with the block after it.
        """
        while True:
            watched = tuple(dict.fromkeys(self._driven.watched))
            same = self._block is not None and watched == self._looked_at
            if (
                same
                and self._block
                and await in_thread(self._threads, self._chain.peak) == self._block.peak
            ):
                return self._looked.set()
            block, rate = await in_thread(self._threads, self._look, watched)
            self._go_on()
            self._looked_at = watched
            self._report_fee_rate(rate)
            if block != self._block:
                if self._block is None or block.peak != self._block.peak:
                    self.notify(BlockMade(block.peak))
                self._block = block
                self._react(partial(self._driver.handle, block))
                due = set(map(_kind, self._pushes.values()))
                for kind in self._unanswered.keys() - due:
                    del self._unanswered[kind]
            if len(set(self._driven.watched)) == len(watched):
                return self._looked.set()

    def _look(self, watched: Sequence[Coin]) -> tuple[Block, int | NodeError | None]:
        """The tip; and for a peer that pays fees, the fee rate if the tip is new, or the error."""
        before, block = self._block, observe(self._chain, watched)
        if not self.peer.pays_fees or (before is not None and before.peak == block.peak):
            return block, None
        try:
            return block, self._chain.fee_rate()
        except NodeError as error:
            return block, error

    def _report_fee_rate(self, rate: int | NodeError | None) -> None:
        """Give the peer a new fee rate; without one it keeps the last, and hears of the block."""
        if rate is None:
            return
        self._rate_trouble = str(rate) if isinstance(rate, NodeError) else ""
        if isinstance(rate, int):
            self._react(partial(self._driver.report_fee_rate, rate))

    def _report_trouble(self, reason: str) -> None:
        if reason != self._trouble.reason:
            self._trouble = Trouble(reason)
            self._on_trouble(self._trouble)

    # --- the player and the decks ---

    async def _ask_player(self) -> None:
        while True:
            self._go_on()
            self._changed.clear()
            # First what it wants of its own accord: a deck can be prepared while it thinks.
            command = self._player.next_command()
            if command is not None and self._carried_out(command):
                # A player that always wants something keeps nothing else from happening.
                await asyncio.sleep(0)
                continue
            question = self._driven.questions.next()
            if question is None:
                await self._changed.wait()
                continue
            position = self._position(question)
            answer = await in_thread(self._threads, self._player.answer, question)
            if self._position(question) != position:
                continue  # a reorganisation has replaced the move that it answers: it stays asked
            # Only now: while the player thinks, the peer may ask again with each potato.
            self._driven.questions.answered(question)
            if answer is not None:
                self._carried_out(answer)

    def _position(self, question: Proposed | YourTurn) -> Position | None:
        """The position that is to be decided; None for a proposal, and in a game that is over."""
        if isinstance(question, Proposed):
            return None
        player = self.peer.player(question.game_id)
        return player.position if player is not None else None

    def _carried_out(self, command: Command) -> bool:
        """Give the peer a command; False if it is not possible now."""
        try:
            self.command(command)
        except UsageError:
            return False
        return True

    async def _computed(self, step: Future[DeckResult]) -> None:
        result = await result_of(step)
        self._react(partial(self._driver.handle, DeckComputed(result)))

    # --- internal ---

    def _take(self, event: Event) -> None:
        """Give the peer an event from outside; `run` raises its failure."""
        with suppress(RunFailed):
            self._react(partial(self._driver.handle, event))

    def _react(self, react: Callable[[], object], *, may_refuse: bool = False) -> None:
        """Let the peer react, unless the run has failed. Raises `RunFailed`.

        A peer that `may_refuse` raises `UsageError` before it has effects.
        """
        self._go_on()
        try:
            react()
        except INTERRUPTS:
            raise
        except BaseException as error:
            refused = isinstance(error, UsageError) and not isinstance(error, StoreError)
            if may_refuse and refused and self._failure is None:
                raise
            self.failed(error)
            raise RunFailed from None
        self._changed.set()
        self._state_changed.set()

    def _go_on(self) -> None:
        """Raise `RunFailed` if the run has failed."""
        if self._failure is not None:
            raise RunFailed

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """End the run with an error in this block, which is raised nevertheless."""
        try:
            yield
        except INTERRUPTS:
            raise
        except BaseException as error:
            self.failed(error)
            raise

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._done(work))
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)
        return task

    async def _done(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work of a task; an error ends the run before anything else happens."""
        try:
            await work()
        except INTERRUPTS:
            raise
        except BaseException as error:
            if self._ending:
                raise
            self.failed(error)


def _kind(push: Push) -> str:
    """The name of a push without its fee, which may be another one the next time."""
    return push.name.partition("+")[0]


def _offer(chain: Chain, push: Push) -> tuple[PushResult, tuple[PendingBundle, ...]]:
    result = chain.push(push.bundle)
    return result, pending_with(chain, push.bundle, result)
