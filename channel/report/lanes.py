"""A dispute at a terminal: one column for each peer and one for the chain, row by row in time."""

from __future__ import annotations

from rich.console import Console

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Answer
from channelsim.channel.errors import Violation
from channelsim.channel.findings.finding import summary
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    IllegalOnChain,
    LeftForChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnilateralClose,
    UnknownGame,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    FeeTooLow,
    GameSettled,
    News,
    OldCopy,
    OpeningFailed,
    OwnFault,
    SpendDropped,
)
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
from channelsim.games.amounts import counted

CHAIN = 2


class Lanes:
    """A listener that collects the events of each peer and of the chain; `show` prints them.

    `height` is the chain's current height.
    """

    def __init__(self, honest: int) -> None:
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
                coin = f" ({_short(bundle.spends[0].coin)})" if bundle.spends else ""
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
        on_chain = chain_text(news, self._us)
        if on_chain:
            self._add(CHAIN, on_chain)
            return
        text = peer_text(news, self._us)
        if text:
            self._add(lane, text)

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
        if scenario.dealer:
            say(console, f"The cards are from a {scenario.dealer}, who knows them all.")


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


def chain_text(news: News, us: int) -> str:
    """The text of an event on the chain; empty for other news."""
    match news:
        case UnrollSeen(number, coin, _):
            return f"state {number} is published ({_short(coin)})"
        case UnknownSpend(coin, _):
            return f"{_short(coin)} is spent in a way that the store does not know"
        case UnknownGame(coin, _):
            return f"{_short(coin)} is a game in a position that the old copy lacks"
        case StateCounts(number, preempted, stale, rewards, games, _):
            how = "preempts" if preempted else "is timed out"
            paid = amounts_text(0, *(coin.amount if coin else 0 for coin in rewards))
            rest = "".join(f", game {game_id} {_short(coin)}" for game_id, coin in games)
            return f"state {number} {how}{', stale' if stale else ''}: {paid}{rest}"
        case MovedOnChain(game_id, by_us, coin, _):
            who = NAMES[us if by_us else 1 - us].capitalize()
            return f"game {game_id}: {who} moves ({_short(coin)})"
        case IllegalOnChain(game_id, rule, _):
            return f"game {game_id}: the move breaks {rule}"
        case GamePaid(game_id, slashed, ours, theirs, _):
            how = f"slashed by {NAMES[us if slashed == 'us' else 1 - us].capitalize()}"
            paid = amounts_text(us, ours.amount if ours else 0, theirs.amount if theirs else 0)
            return f"game {game_id} {how if slashed else 'timed out'}: {paid}"
        case Undone(fact):
            return f"undone: {chain_text(fact, us) or peer_text(fact, us) or type(fact).__name__}"
        case _:
            return ""


def peer_text(news: News, us: int) -> str:
    """The text of a decision or finding of a peer; empty for other news."""
    match news:
        case BrokenOff(blame, published, _):
            state = "" if published is None else f"; publishes state {published}"
            return f"breaks off: {blame.rule}: {blame.detail}{state}"
        case OwnFault(reason, published):
            state = "" if published is None else f"; publishes state {published}"
            return f"breaks off by its own fault: {reason}{state}"
        case OldCopy(signed, known):
            return f"stops: it knows state {known}, and has signed state {signed}: an old copy"
        case LeftForChain(reason, published):
            return f"goes on chain: {reason}; publishes state {published}"
        case UnilateralClose():
            return f"sees that {NAMES[1 - us].capitalize()} closes the channel unilaterally"
        case Forfeited(game_id, _, _):
            return f"forfeits game {game_id}"
        case GameVoid(game_id, number):
            return f"game {game_id} is not in state {number}"
        case GameEnded(game_id, ours, theirs, _) | GameSettled(game_id, _, ours, theirs):
            return f"game {game_id} ended: {amounts_text(us, ours, theirs)}"
        case ChannelSettled(number, ours, theirs):
            return f"settled, from state {number}: {amounts_text(us, ours, theirs)}"
        case RevealAtRisk(game_id, _, depth):
            return f"must reveal in game {game_id} after {counted(depth, 'block')}"
        case ChannelClosed():
            return "closed by the shutdown"
        case OpeningFailed():
            return "the opening failed"
        case FeeTooLow(name, fee):
            return (
                f"{name} is not confirmed, and its fee of {counted(fee, 'mojo')} rises no more: it"
                " is at the maximum"
            )
        case SpendDropped(name):
            return f"the node has dropped {name}, and takes it with another fee only"
        case _:
            return ""


def amounts_text(first: int, *amounts: int) -> str:
    """Amounts with their owners, the initiator first; the first amount is that of peer `first`."""
    owned = sorted(zip((first, 1 - first), amounts, strict=True))
    return ", ".join(f"{NAMES[side].capitalize()} {amount:,}" for side, amount in owned)


def _short(coin: Coin) -> str:
    return coin.id.hex()[:8] + "…"
