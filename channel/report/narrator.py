"""A session as text at a terminal, event by event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.console import Console

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.interface import FundingSent
from channelsim.channel.peer_text.news_text import funding_text
from channelsim.channel.protocol.state import Side
from channelsim.channel.report.card_rows import drawn_rows
from channelsim.channel.report.session_document import SessionProgress
from channelsim.channel.report.terminal import say
from channelsim.channel.session.result import Result
from channelsim.channel.session.session_events import (
    ChannelFunded,
    Closed,
    HandEnded,
    HandStarted,
    NewsFor,
    NoMoreHands,
    SessionEvent,
    StepMade,
    viewer_seat,
)
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.games import registry
from channelsim.games.amounts import amount_text, counted
from channelsim.games.contract import Game, Hand, Line


class Narrator:
    """A listener that prints, from the view of one peer if `viewer` names it."""

    def __init__(
        self, setup: Setup, console: Console, *, viewer: str | None = None, quiet: bool = False
    ) -> None:
        self._setup = setup
        self._console = console
        self._viewer = viewer
        self._quiet = quiet

    def __call__(self, event: SessionEvent) -> None:
        """Print the events that a person follows."""
        if self._quiet:
            return
        match event:
            case NewsFor(name, FundingSent() as news) if name == NAMES[Side.INITIATOR]:
                self._say(funding_text(news, self._money(self._setup.balance)))
            case ChannelFunded(_, height, _):
                self._say(f"The channel is open at height {height}.")
            case HandStarted(number, game, _, proposer, hand):
                first, second = hand.names
                self._rule(f"hand {number + 1}: {_title(registry.get(game), hand)}")
                self._say(
                    f"Proposed by the {proposer}, {self._stakes(hand)}; the {first} moves first,"
                    f" the {second} second.",
                    style="dim",
                )
            case StepMade(game, hand):
                seat = viewer_seat(hand, self._viewer)
                self.lines(registry.get(game).story.step(titled(hand), seat))
            case HandEnded(_, game, hand, balances):
                seat = viewer_seat(hand, self._viewer)
                self.lines(registry.get(game).story.result(titled(hand), seat))
                self._balances("balances", balances)
            case NoMoreHands(reason):
                self._rule("close")
                self._say(f"No more hands: {reason}.")
            case Closed(_, height):
                self._say(f"The shutdown is on chain at height {height}.")
            case _:
                pass

    def finish(self, result: Result, digest: str) -> None:
        """Print how many hands were played, the final balances, the coins and the checks."""
        played, asked = len(result.hands), self._setup.hands
        if played < asked:
            self._say(f"{played} of {counted(asked, 'hand')} played: {result.reason}.")
        self._balances("final balances", result.balances)
        self._coin("channel coin", result.channel_coin)
        for name, coin in zip(NAMES, result.rewards, strict=True):
            if coin is not None:
                self._coin(f"{name.title()}'s reward", coin)
        checks = result.checks
        verdict = "rules and programs agree" if checks.python_clvm_agree else "THEY DISAGREE"
        money = "money is conserved" if checks.conserved else "MONEY IS NOT CONSERVED"
        style = "green" if checks.python_clvm_agree and checks.conserved else "bold red"
        if checks.moves_by_rules:
            moves = counted(checks.moves_by_rules, "move")
            text = f"{moves} judged by the rules alone: there is no program, and no slash was tried"
            self._say(text, "yellow")
        if checks.moves_by_rules and not checks.moves_checked:
            self._say(money, style)
        else:
            moves = counted(checks.moves_checked, "move")
            self._say(f"{moves} judged by both: {verdict}; {money}", style)
        for line in result.disagreements:
            self._say(line, "red")
        self._say(f"digest    {digest}", "dim")

    def stop(self, so_far: SessionProgress) -> None:
        """Print the state of an interrupted session."""
        self._console.print()
        played = f"{len(so_far.hands)} of {counted(self._setup.hands, 'hand')} played"
        self._say(f"interrupted: {played}, and the channel is not closed", "bold")
        self._balances("balances", so_far.balances)

    def lines(self, lines: Iterable[Line]) -> None:
        """Print a game's own lines."""
        print_lines(self._console, list(lines))

    def _balances(self, title: str, balances: tuple[int, int]) -> None:
        amounts = ", ".join(
            f"{name.title()} {self._money(balance)}"
            for name, balance in zip(NAMES, balances, strict=True)
        )
        self._say(f"{title}: {amounts}")

    def _coin(self, title: str, coin: Coin) -> None:
        self._say(f"{title}: {self._money(coin.amount)}")
        self._say(f"    {coin.id.hex()}", style="dim")

    def _stakes(self, hand: Hand) -> str:
        """The stakes of a hand in words."""
        first, second = map(self._money, hand.terms.stakes)
        if first == second:
            return f"for {first} each"
        return f"for {first} of the {hand.names[0]} and {second} of the {hand.names[1]}"

    def _money(self, mojos: int) -> str:
        return amount_text(mojos, self._setup.unit)

    def _say(self, text: str, style: str = "") -> None:
        say(self._console, text, style)

    def _rule(self, title: str) -> None:
        say(self._console)
        self._say(f"── {title} ──", style="bold")


def print_lines(console: Console, lines: Sequence[Line]) -> None:
    """Print a game's lines, in characters and rows of cards that fit the terminal."""
    for text in drawn_rows(lines, console.width, console.encoding):
        say(console, text)


def _title(game: Game, hand: Hand) -> str:
    """The game of a hand, and its betting structure if it has a choice of them."""
    parameters = dict(hand.terms.parameters).items()
    limits = (name for name, changes in game.limits.items() if changes.items() <= parameters)
    return ", ".join([game.title.partition(":")[0], *(f"{name} limit" for name in limits)])


def titled(hand: Hand) -> Hand:
    """The hand with the names as they begin a sentence."""
    return replace(hand, names=(hand.names[0].title(), hand.names[1].title()))
