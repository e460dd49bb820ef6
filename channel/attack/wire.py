"""Connections between two processes that exist in memory, and everything that happens to them.

What users run is above this: frames, limits and keep-alive of `Connection`, and the link that
connects again. Only the sockets and TLS are replaced.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.virtual_time import RESOLUTION
from channelsim.channel.network.connection import HEAD, Connection, ConnectionLost
from channelsim.channel.network.link import Link
from channelsim.channel.protocol.state import Side
from channelsim.games.amounts import counted

MOST_QUIET = 25.0
"""Seconds without a frame after which a side has forgotten to keep its connection alive."""

MOST_WAIT = 75.0
"""Seconds without a frame after which a side must have given up a connection."""

MOST_ATTEMPTS, ATTEMPTS_WITHIN = 8, 4.0
"""The most attempts of one process to connect within so many seconds."""

LASTS, PAUSE, LONGEST_PAUSE = 6.0, 0.5, 31.0
"""Seconds after which a connection has lasted, those until the next attempt after such a one, and
those after any."""

MOST_UNSENT, WEIGHT = 20 << 20, 60_000
"""The most bytes that may wait to be sent, and for how many each byte counts where nothing is
taken: no session has that many."""

HELD = 30.0
"""Seconds after which a message that is to come after the next one comes anyway."""

NextAction = Callable[[int], Action | None]
"""Counts a message of this side; returns the action that is due with it."""


@dataclass(eq=False, slots=True)
class _Pipe:
    """One direction of the connection of a number: frames from one side to a reader of the other.

    `is_left`: its reader has closed the connection, and frames that arrive later are lost. Its
    sender read from the pipe `before` on the connection before this one. `unsent` are the bytes
    that wait because nothing is taken, of which each has a `weight`.
    """

    wire: Wire
    sender: int
    number: int
    before: _Pipe | None = None
    target: _Reader = field(init=False)
    arrives: float = 0.0
    under_way: deque[bytes] = field(default_factory=deque)
    held: list[bytes] = field(default_factory=list)
    is_silent: bool = False
    is_cut: bool = False
    is_left: bool = False
    weight: int = 0
    unsent: int = 0
    sent_at: float | None = None
    arrived_at: float | None = None

    def stays_quiet(self) -> None:
        """Find a sender that has kept nothing alive since its first message."""
        now = asyncio.get_running_loop().time()
        if self.sent_at is not None and not self.is_cut and now - self.sent_at > MOST_QUIET:
            self.wire.found(self.sender, f"sends nothing for {now - self.sent_at:.0f} s")

    def waits(self) -> None:
        """Find a receiver that goes on with a connection on which nothing has come."""
        now = asyncio.get_running_loop().time()
        is_open = not self.is_cut and not self.is_left
        if self.arrived_at is not None and is_open and now - self.arrived_at > MOST_WAIT:
            waited = f"{now - self.arrived_at:.0f} s"
            self.wire.found(1 - self.sender, f"keeps a connection that is silent for {waited}")

    def waits_to_send(self) -> None:
        """Find a sender that goes on though too much waits to be sent."""
        if self.unsent > MOST_UNSENT:
            self.wire.found(
                self.sender, f"sends more, and has {counted(self.unsent, 'byte')} unsent"
            )

    def carry(self, frame: bytes) -> None:
        """Send a frame on its way, with what happens to it."""
        self.stays_quiet()
        if len(frame) > HEAD and self.before is not None:
            if not self.before.is_left and not self.before.is_cut:
                self.wire.found(self.sender, "uses a connection, and has not closed the older one")
            self.before = None
        if self.sent_at is not None or len(frame) > HEAD:
            self.sent_at = asyncio.get_running_loop().time()
        frames, delay = [frame], self.wire.delay()
        action = self.wire.next_action(self.sender) if len(frame) > HEAD else None
        match action:
            case None:
                pass
            case Action("drop"):
                frames = []
            case Action("duplicate"):
                frames = [frame, frame]
            case Action("reorder"):
                self.held.append(frame)
                asyncio.get_running_loop().call_later(HELD, self._release)
                return
            case Action("corrupt", amount=amount):
                frames = [_corrupted(frame, amount)]
            case Action("truncate", amount=amount):
                frames = [_framed(frame[HEAD:][: amount % (len(frame) - HEAD)])]
            case Action("delay", pause=pause):
                delay += pause
            case Action("reset"):
                self.wire.reset(action)
                return
            case Action("silence"):
                self.wire.silence(self, action)
            case _:
                raise AssertionError(action)
        for sent in frames:
            self._send(sent, delay)
        if frames:
            self._release()

    def _send(self, frame: bytes, delay: float) -> None:
        loop = asyncio.get_running_loop()
        # A later frame never overtakes an earlier one; the loop has no order for equal times.
        self.arrives = max(self.arrives, loop.time() + delay)
        self.under_way.append(frame)
        loop.call_at(self.arrives, self._arrive)

    def _release(self) -> None:
        held, self.held = self.held, []
        for frame in held:
            self._send(frame, self.wire.delay())

    def _arrive(self) -> None:
        frame = self.under_way.popleft()
        if not self.is_cut and not self.is_silent and not self.is_left:
            self.waits()
            if self.arrived_at is not None or len(frame) > HEAD:
                self.arrived_at = asyncio.get_running_loop().time()
            self.target.feed_data(frame)

    def end(self, delay: float) -> None:
        """Let the other side know, after what is on its way, that the connection was closed."""
        loop = asyncio.get_running_loop()
        self.arrives = max(self.arrives + RESOLUTION, loop.time() + delay)
        loop.call_at(self.arrives, self._ended)

    def _ended(self) -> None:
        if not self.is_silent:
            self.cut()

    def cut(self) -> None:
        """Lose what is on its way, and let the other side know."""
        if not self.is_cut:
            self.is_cut = True
            self.target.feed_eof()
            if not self.is_left:
                self.wire.lost(self)

    def leave(self) -> None:
        """Let its reader go, which must not hear what arrives at this moment."""
        self.waits()
        if not self.is_cut:
            for frame in self.under_way if not self.is_silent else ():
                self.target.feed_data(frame)
            self.target.feed_eof()
        self.is_left = True
        self.wire.left(self)


class _Reader(asyncio.StreamReader):
    """The reader of a pipe, which tells the wire what it takes from it."""

    def __init__(self, pipe: _Pipe) -> None:
        super().__init__()
        self._pipe = pipe

    async def readexactly(self, n: int) -> bytes:
        """Take so many bytes. Raises `IncompleteReadError`."""
        data = await super().readexactly(n)
        self._pipe.wire.took(self._pipe)
        return data


class _Transport(asyncio.Transport):
    """The transport of one end of a connection."""

    def __init__(self, out: _Pipe, back: _Pipe) -> None:
        super().__init__()
        self._out, self._back = out, back
        self._closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send one frame: a connection writes each by itself."""
        if not self._closing:
            self._out.waits_to_send()
            self._out.carry(bytes(data))
            self._out.unsent += self._out.weight * len(data)

    def is_closing(self) -> bool:
        """True once it was closed."""
        return self._closing

    def get_write_buffer_size(self) -> int:
        """Nothing waits here, unless the other side takes nothing."""
        return self._out.unsent

    def close(self) -> None:
        """Close it once everything is sent."""
        self.abort()

    def abort(self) -> None:
        """Close it; what is on its way arrives."""
        if not self._closing:
            self._closing = True
            self._out.stays_quiet()
            self._back.leave()
            self._out.end(self._out.wire.delay())


class Wire:
    """All connections between both sides, of which the receiver listens.

    `delay` draws the seconds that a frame takes, `next_action` is asked with each message, and
    `peak` for the height of the chain. `found` hears of a side that lets a connection go quiet,
    waits on one for ever, or connects too often or too late. `pipes` are those of the newest
    connection.
    """

    def __init__(
        self,
        delay: Callable[[], float],
        next_action: NextAction,
        peak: Callable[[], int],
        found: Callable[[int, str], None] = lambda side, how: None,
    ) -> None:
        self.delay = delay
        self.found = found
        self.next_action = next_action
        self._peak = peak
        self._listening: Link | None = None
        self._served: dict[asyncio.Task[None], None] = {}
        self.pipes: tuple[()] | tuple[_Pipe, _Pipe] = ()
        self._away_until, self._away_until_block = 0.0, 0
        self._attempts: deque[float] = deque(maxlen=MOST_ATTEMPTS)
        # The times since which a side has no connection, and at which the last attempt ended.
        self._lost: dict[int, float] = {}
        self._ended_at = 0.0
        self._connections = 0
        self._last_taken: dict[int, _Pipe] = {}
        self._newest_heard: dict[int, int] = {}

    def begin(self, side: int) -> None:
        """Begin with a new process of a side, which has lost nothing and may connect at once."""
        self._lost.pop(side, None)
        if side == Side.INITIATOR:
            self._attempts.clear()

    def lost(self, pipe: _Pipe) -> None:
        """Note that nothing more comes on a connection to the reader of a pipe."""
        if pipe in self.pipes:
            self._lost.setdefault(1 - pipe.sender, asyncio.get_running_loop().time())

    def took(self, pipe: _Pipe) -> None:
        """Note that the reader of a pipe takes something from it."""
        self._last_taken[1 - pipe.sender] = pipe

    def heard(self, side: int) -> None:
        """Find a message, which a side has just taken, of a connection that it should not use."""
        pipe, newest = self._last_taken.get(side), self._newest_heard.get(side, 0)
        if pipe is None:
            return
        if pipe.is_left:
            self.found(side, "hears a message of a connection that it has closed")
        elif pipe.number < newest:
            self.found(side, "hears a message of a connection that a newer one has replaced")
        self._newest_heard[side] = max(newest, pipe.number)

    def left(self, pipe: _Pipe) -> None:
        """Note that the reader of a pipe has closed its connection."""
        self.lost(pipe)
        if 1 - pipe.sender == Side.INITIATOR:
            self._ended_at = asyncio.get_running_loop().time()

    def lost_for(self, side: int) -> float:
        """Seconds since which the process of a side has lost its connection; 0 if it has not."""
        now = asyncio.get_running_loop().time()
        return now - self._lost.get(side, now)

    async def connect(self) -> Connection:
        """Connect the initiator to the receiver. Raises `ConnectionLost`."""
        now = asyncio.get_running_loop().time()
        if len(self._attempts) == MOST_ATTEMPTS and now - self._attempts[0] < ATTEMPTS_WITHIN:
            often = counted(MOST_ATTEMPTS + 1, "time")
            within = f"{now - self._attempts[0]:.0f} s"
            self.found(Side.INITIATOR, f"tries to connect {often} in {within}")
        self._find_late(now)
        self._attempts.append(now)
        await asyncio.sleep(self.delay())
        now = asyncio.get_running_loop().time()
        if now < self._away_until or self._peak() < self._away_until_block:
            raise self._failed("network is unreachable")
        if self._listening is None:
            raise self._failed("connection refused")
        self._connections += 1
        there_before, back_before = self.pipes or (None, None)
        there = _Pipe(self, Side.INITIATOR, self._connections, back_before)
        back = _Pipe(self, Side.RECEIVER, self._connections, there_before)
        self.pipes = there, back
        self._lost.clear()
        ours, there_to = _connection(there, back)
        theirs, back_to = _connection(back, there)
        there.target, back.target = back_to, there_to
        serving = asyncio.ensure_future(self._listening.serve(theirs))
        self._served[serving] = None
        serving.add_done_callback(self._served.pop)
        return ours

    def _failed(self, reason: str) -> ConnectionLost:
        """The error of an attempt to connect that fails now."""
        self._ended_at = asyncio.get_running_loop().time()
        self._lost.setdefault(Side.INITIATOR, self._ended_at)
        return ConnectionLost(reason)

    def _find_late(self, now: float) -> None:
        """Find an attempt that comes too late after the end of the last one of the process."""
        if not self._attempts:
            return
        has_lasted = self._ended_at - self._attempts[-1] > LASTS
        pause = now - self._ended_at
        if pause > (PAUSE if has_lasted else LONGEST_PAUSE):
            after = "a connection that lasted" if has_lasted else "the last time"
            self.found(Side.INITIATOR, f"tries to connect {pause:.1f} s after {after}")

    async def listen(self, link: Link) -> None:
        """Serve the receiver's link until this is cancelled."""
        self._listening = link
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._listening = None
            serving = list(self._served)
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)
            await link.close()

    def reset(self, action: Action) -> None:
        """End the connection with what is on its way; there is none while the action lasts."""
        self._be_away(action)
        for pipe in self.pipes:
            pipe.cut()

    def silence(self, pipe: _Pipe, action: Action) -> None:
        """Let nothing more arrive on the connection of a pipe, in this direction or in both."""
        self._be_away(action)
        if not action.amount:
            # The other side is there, and takes nothing.
            pipe.weight = WEIGHT
        for other in self.pipes if pipe in self.pipes else ():
            if action.amount or other is pipe:
                other.is_silent = True

    def _be_away(self, action: Action) -> None:
        self._away_until = asyncio.get_running_loop().time() + action.pause
        self._away_until_block = self._peak() + action.blocks

    def heal(self) -> None:
        """End everything that keeps both sides from a connection."""
        self._away_until, self._away_until_block = 0.0, 0
        for pipe in self.pipes:
            pipe.waits()
        if any(pipe.is_silent for pipe in self.pipes):
            for pipe in self.pipes:
                pipe.cut()


def _connection(out: _Pipe, back: _Pipe) -> tuple[Connection, _Reader]:
    """An end of a connection that writes to a pipe, and the reader for what comes in."""
    loop = asyncio.get_running_loop()
    reader = _Reader(back)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport = _Transport(out, back)
    protocol.connection_made(transport)
    return Connection(reader, asyncio.StreamWriter(transport, protocol, reader, loop)), reader


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(HEAD, "big") + message


def _corrupted(frame: bytes, amount: int) -> bytes:
    """A frame with one bit of its message changed."""
    message = bytearray(frame[HEAD:])
    at = amount % (8 * len(message))
    message[at // 8] ^= 1 << (at % 8)
    return _framed(bytes(message))
