"""A dispute at a terminal: one column for each peer and one for the chain, row by row in time."""

from __future__ import annotations

from rich.console import Console

from channelsim.channel.chain.interface import Answer
from channelsim.channel.errors import Violation
from channelsim.channel.findings.finding import summary
from channelsim.channel.peer.interface import (
    News,
)
from channelsim.channel.peer_text.news_text import IN_PLAY, ON_CHAIN, news_text, short_id
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    DeckAbort,
    DeckStep,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
    Request,
    Resume,
    Settle,
    Shutdown,
    ShutdownDone,
    Welcome,
    decode,
)
from channelsim.channel.protocol.messages import Move as MoveMade
from channelsim.channel.report.account import account
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import say
from channelsim.channel.session.session_events import BlockMade, NewsFor, Pushed, Sent, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep_campaign import of_run

CHAIN = 2


class Lanes:
    """A listener that collects the events of each peer and of the chain; `show` prints them.

    `height` is the chain's current height. A `dealer` deals the cards, where only one player
    shuffles.
    """

    def __init__(self, honest: int, dealer: str | None = None) -> None:
        self._dealer = dealer
        self._us = honest
        self._honest = NAMES[honest]
        self.height = 0
        self._rows: list[tuple[int, int, str]] = []

    def __call__(self, event: SessionEvent) -> None:
        """Collect the events that a person follows."""
        match event:
            case BlockMade(height):
                self.height = height
            case Sent(sender, message):
                self._add(NAMES.index(sender), f"sends {message_text(decoded(message))}")
            case Pushed(by, what, bundle, result):
                coin = f" ({short_id(bundle.spends[0].coin)})" if bundle.spends else ""
                refused = "" if result.answer is Answer.ACCEPTED else ", refused"
                text = f"pushes {what}{coin}{refused}"
                if not self._again(NAMES.index(by), text):
                    self._add(NAMES.index(by), text)
            case NewsFor(player, news) if player == self._honest:
                self._news(NAMES.index(player), news)
            case _:
                pass

    def _again(self, lane: int, text: str) -> bool:
        """True if a recent row of this lane says the same, as for a bundle that is pushed again."""
        last = [row for row in self._rows if row[1] == lane][-3:]
        return any(row[2] == text for row in last)

    def _add(self, lane: int, text: str) -> None:
        self._rows.append((self.height, lane, text))

    def _news(self, lane: int, news: News) -> None:
        text = news_text(news, self._us)
        if text and not isinstance(news, IN_PLAY):
            self._add(CHAIN if isinstance(news, ON_CHAIN) else lane, text)

    def show(self, console: Console, run: Run, broken: list[BrokenPromise], digest: str) -> None:
        """Print all rows and the outcome."""
        self.show_rows(console, run.scenario)
        for line in account(run):
            say(console, line)
        for promise in broken:
            say(console, f"broken promise: {promise.promise}: {promise.how}", "red")
        if broken:
            say(console, summary(of_run(run, broken)))
        else:
            say(console, "every promise is kept", "green")
        say(console, f"digest    {digest}")

    def show_rows(self, console: Console, scenario: Scenario) -> None:
        """Print the rows so far, and who deals if there is a deck."""
        titles = [name.capitalize() for name in NAMES]
        if scenario.adversary:
            titles[scenario.side] += f", {scenario.adversary}"
        table = []
        before = None
        for height, lane, text in self._rows:
            cells = ["", "", ""]
            cells[lane] = text
            table.append(("" if height in (0, before) else str(height), *cells))
            before = height
        show_table(console, ("height", *titles, "the chain"), table, left=4)
        say(console)
        if self._dealer:
            say(console, f"The cards are from a {self._dealer}, who knows them all.")


def decoded(blob: bytes) -> Message | None:
    """The message in these bytes; None for something else."""
    try:
        return decode(blob)
    except Violation:
        return None


def message_text(message: Message | None) -> str:
    """The text of a message: what it is, and what its actions are."""
    match message:
        case None:
            return "something that is not a message"
        case Batch(number, actions):
            verbs = [type(action).__name__.lower() for action in actions]
            games = sorted({a.game_id for a in actions if isinstance(a, MoveMade | Settle)})
            where = f" in game {', '.join(map(str, games))}" if games else ""
            return f"batch {number}: {', '.join(verbs) or 'nothing'}{where}"
        case Advisory(game_id):
            return f"an early reveal in game {game_id}"
        case _:
            return _WORDS[type(message)]


_WORDS: dict[type, str] = {
    Hello: "hello, with the hash of its channel key",
    Welcome: "welcome, with its channel key",
    Launch: "the launcher's parent, and its channel key",
    FirstHalves: "halves for state 0",
    Funding: "halves for state 1, and its part of the funding",
    Funded: "the completed funding",
    Request: "a request for the potato",
    DeckStep: "a step of a deck",
    DeckAbort: "the end of a deck",
    Resume: "the last numbers",
    Shutdown: "half of the shutdown",
    ShutdownDone: "the completed shutdown",
}
