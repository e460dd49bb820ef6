"""What the honest player asked for, and since when the next step towards it is due.

An act goes out within the response time. Once no game is live, a close takes that time twice at the
most: for the half of the shutdown to go out, and for its completion. Before that, each move of the
other side takes at most the move time. Otherwise the channel is on chain. A new connection starts
no time again.
Source: spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.interface import Act, Close, News, YourTurn
from channelsim.channel.simulation.model.ledger import LedgerGame
from channelsim.channel.simulation.run import JournalEntry
from channelsim.games.amounts import counted

HEARD = 4
"""Blocks that pass before a side hears of an event and of its deadline, at the most."""


@dataclass
class Wishes:
    """The acts and the close that the honest player asked for.

    `more` is what the weather may add to each time, in blocks.
    """

    side: int
    times: Times
    more: int = 0
    closing: bool = False
    broken: list[str] = field(default_factory=list)
    _acts: dict[int, int] = field(default_factory=dict)
    """The heights since which acts are due, by game."""
    _asked: set[int] = field(default_factory=set)
    """The games in which the player has not decided yet."""
    _since: int = 0
    """The height since which the next step of the close is due."""
    _games: Mapping[int, LedgerGame] = field(default_factory=dict)
    _shuts_down: bool = False
    _owed_before: bool = False
    """True if the other side may return the potato once without the move that it owes."""

    def follow(
        self,
        turn: JournalEntry,
        peak: int,
        games: Mapping[int, LedgerGame],
        news: Iterable[News],
        *,
        asked: bool,
        shuts_down: bool,
    ) -> None:
        """Take in an event during play, after which these games are live.

        `asked`: the honest side waits for the potato. `shuts_down`: the shutdown has begun.
        """
        self._asked |= {turn.game_id for turn in news if isinstance(turn, YourTurn)}
        match turn.event:
            case Act(game_id):
                self._asked.discard(game_id)
                self._acts.setdefault(game_id, peak)
            case Close() if not self.closing:
                self.closing, self._since, self._owed_before = True, peak, asked
            case _:
                pass
        owed = {game_id for game_id, game in games.items() if game.mover == self.side}
        self._acts = {
            game_id: min(at, peak) for game_id, at in self._acts.items() if game_id in owed
        }
        self._asked &= owed
        if self._asked:  # all other acts wait for the player
            self._acts = dict.fromkeys(self._acts, peak)
        progress = games != self._games or bool(self._asked) or (self._owed_before and not asked)
        progress = progress or shuts_down != self._shuts_down
        self._shuts_down = shuts_down
        self._owed_before = self._owed_before and asked
        self._games = dict(games)
        self._since = peak if progress else min(self._since, peak)
        self.broken += self._late(peak, bool(games))

    def _late(self, peak: int, plays: bool) -> Iterator[str]:
        """What the player has waited for too long; each is reported once."""
        response, move = (
            time + self.times.margin + HEARD + self.more
            for time in (self.times.response, self.times.move)
        )
        for game_id, since in [*self._acts.items()]:
            if peak - since > response:
                yield f"an act in game {game_id} was not sent in {counted(peak - since, 'block')}"
                self._acts[game_id] = peak
        limit = move if plays else response
        if self.closing and peak - self._since > limit:
            yield f"nothing came of a wish to close in {counted(peak - self._since, 'block')}"
            self._since = peak
