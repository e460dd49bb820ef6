"""Deadlines of a channel as they come and go: answers, moves and time locks."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    GamePaid,
    LeftForChain,
    MovedOnChain,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    ChannelOpen,
    FundingSent,
    News,
    OpeningFailed,
    OwnFault,
)
from channelsim.channel.protocol.messages import (
    ASIDE,
    Batch,
    Message,
    Request,
    Resume,
    Shutdown,
    ShutdownDone,
)
from channelsim.channel.protocol.state import LiveGame
from channelsim.channel.report.html.session_data import LANES, Deadline

MOST_DEADLINES = 1_000
"""Deadlines that a page shows; a long session in one channel has few."""


class DeadlineLog:
    """Follows messages, blocks, and the news of one peer; `deadlines` has all that began.

    `games` are the live games, as `MoveJudge` follows them. Answers that come within the same
    block are left out: nobody waited.
    """

    def __init__(self, unroll_timeout: int, games: Mapping[int, LiveGame]) -> None:
        self.deadlines: list[Deadline] = []
        self._unroll_timeout = unroll_timeout
        self._games = games
        self._times = Times()
        self._coins: dict[bytes, Deadline] = {}
        self._timeouts: dict[int, int] = {}
        self._holder: int | None = None
        self._asked: int | None = None
        self._waits: dict[str, Deadline] = {}
        self._height = 0

    # --- off chain ---

    def sent(self, sender: int, message: Message | None) -> None:
        """Take in a message that a peer sent; None for something else than a message."""
        match message:
            case None:
                pass
            case Request():
                self._asked = sender
            case ShutdownDone():
                self._end_play()
            case Batch() | Shutdown():
                self._answer(sender)
                self._asked = None
            case _ if not isinstance(message, ASIDE | Resume):
                self._answer(sender)
            case _:
                pass

    def _answer(self, sender: int) -> None:
        """Pass the potato on: what its holder owed is done, or is counted anew."""
        if self._holder == sender:
            for waiting in self._waits.values():
                if waiting.since < self._height:
                    self._end(waiting, "in time")
                elif waiting in self.deadlines:
                    self.deadlines.remove(waiting)
            self._waits.clear()
        self._holder = 1 - sender

    def block(self, height: int) -> None:
        """Take in a new tip of the chain: waits of the peers count from the first one."""
        self._height = height
        due = {} if self._holder is None else self._due(self._holder)
        for what in [waiting for waiting in self._waits if waiting not in due]:
            self._end(self._waits.pop(what), "in time")
        for what, limit in due.items():
            if what not in self._waits:
                self._waits[what] = self._added(Deadline(what, height, limit))

    def _due(self, holder: int) -> dict[str, int]:
        """What the holder of the potato owes, with the blocks that the other side waits."""
        times, who = self._times, LANES[holder]
        owed = [game.id for game in self._games.values() if game.mover == holder]
        due = {f"{who} moves in game {game_id}": times.move + times.margin for game_id in owed}
        if self._asked == 1 - holder:
            due[f"{who} answers the request for the potato"] = times.response + times.margin
        return due

    def _end_play(self) -> None:
        """End the waits: from now on messages no longer count."""
        self._holder = None
        for waiting in self._waits.values():
            late = self._height - waiting.since > waiting.limit
            self._end(waiting, "missed" if late else "play ended")
        self._waits.clear()

    # --- on chain ---

    def follow(self, news: News) -> None:
        """Take in news of the peer that is followed."""
        match news:
            case FundingSent(coin, deadline):
                limit = max(deadline - self._height, 0)
                self._begin(coin, "the channel is funded", self._height, limit)
            case OpeningFailed():
                self._end_coins("not funded in time")
            case ChannelOpen(coin, _):
                self._close(coin.id, "funded", self._height)
            case BrokenOff() | OwnFault() | LeftForChain() | UnilateralClose():
                self._end_play()
            case UnrollSeen(number, coin, height):
                self._end_play()
                what = f"state {number} may be preempted"
                self._begin(coin, what, height, self._unroll_timeout)
            case StateCounts(number, preempted, _, _, games, height):
                how = f"preempted by state {number}" if preempted else "timed out"
                for waiting in [
                    deadline for deadline in self._coins.values() if deadline.ended is None
                ]:
                    self._end(waiting, how, height)
                for game_id, coin in games:
                    self._begin_game(game_id, coin, height)
            case MovedOnChain(game_id, _, coin, height):
                self._close(coin.parent, "moved", height)
                self._begin_game(game_id, coin, height)
            case GamePaid(game_id, slashed, ours, theirs, height):
                for paid in filter(None, (ours, theirs)):
                    self._close(paid.parent, "slashed" if slashed else "timed out", height)
            case ChannelSettled():
                self._end_coins("settled")
            case Undone(UnrollSeen(_, coin) | MovedOnChain(_, _, coin)):
                self._close(coin.id, "undone by a reorganisation", self._height)
            case _:
                pass

    def _begin_game(self, game_id: int, coin: Coin, height: int) -> None:
        game = self._games.get(game_id)
        if game is not None:
            self._timeouts[game_id] = game.coin.timeout
        if game_id in self._timeouts:
            what = f"game {game_id}: a move or a slash"
            self._begin(coin, what, height, self._timeouts[game_id])

    def _begin(self, coin: Coin, what: str, since: int, limit: int) -> None:
        self._coins[coin.id] = self._added(Deadline(what, since, limit))

    def _added(self, deadline: Deadline) -> Deadline:
        if len(self.deadlines) < MOST_DEADLINES:
            self.deadlines.append(deadline)
        return deadline

    def _close(self, coin_id: bytes, outcome: str, height: int) -> None:
        deadline = self._coins.get(coin_id)
        if deadline is not None and deadline.ended is None:
            self._end(deadline, outcome, height)

    def _end_coins(self, outcome: str) -> None:
        for deadline in self._coins.values():
            if deadline.ended is None:
                self._end(deadline, outcome)

    def _end(self, deadline: Deadline, outcome: str, height: int | None = None) -> None:
        deadline.ended = max(self._height if height is None else height, deadline.since)
        deadline.outcome = outcome
