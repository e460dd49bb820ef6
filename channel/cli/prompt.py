"""A person at the terminal plays for one peer: sees its cards, is offered only legal actions."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from channelsim.channel.errors import UsageError
from channelsim.channel.report.narrator import text_of
from channelsim.channel.report.terminal import say
from channelsim.channel.session.picks import Pick, read_pick
from channelsim.games import registry
from channelsim.games.amounts import amount_text
from channelsim.games.contract import Action, Amount, Choice, OneOf, Player
from channelsim.games.errors import IllegalAction

QUIT = ("quit", "exit", "q")


class Prompt:
    """Ask a person for each decision until the answer is one that the rules allow.

    `opponent` is the name of the other peer, `games` are those of the session; `read` returns the
    next line that is typed, by default as `input` does.
    """

    def __init__(
        self,
        console: Console,
        opponent: str,
        games: tuple[str, ...],
        read: Callable[[], str] | None = None,
    ) -> None:
        self._console, self._opponent, self._games = console, opponent, games
        self._read = read or (lambda: input())

    def decide(self, game: str, player: Player) -> Action:
        """The person's action in this game. Raises `UsageError` if the person leaves."""
        rules = registry.get(game)
        say(self._console)
        for line in rules.story.view(player):
            say(self._console, text_of(line, self._console.encoding))
        self._offer(player)
        while True:
            answer = self._line("your move> ")
            if answer is None:
                raise UsageError("the input ended where a decision was needed")
            if answer.lower() in QUIT:
                raise UsageError("you left the table: the session was not finished")
            if answer.lower() in ("?", "help"):
                self._offer(player)
            elif answer:
                try:
                    action = rules.read_action(player, answer)
                    player.act(action)
                except IllegalAction as error:
                    self._say(str(error), "yellow")
                else:
                    return action

    def _offer(self, player: Player) -> None:
        offered = ", ".join(offer(choice) for choice in player.choices())
        self._say(f"you can: {offered}; or help, quit", "bold")

    def choose(self, number: int) -> Pick | None:
        """The game that the person names as the dealer; None for no more hands."""
        self._offer_games()
        while True:
            answer = self._line(f"You deal hand {number + 1}. Which game? ")
            if answer is None or answer.lower() in QUIT:
                return None
            if answer.lower() in ("", "?", "help"):
                self._offer_games()
                continue
            try:
                return read_pick(self._games, answer.lower(), "this game")
            except UsageError as error:
                self._say(str(error), "yellow")

    def _offer_games(self) -> None:
        names = ", ".join(self._games)
        limits = dict.fromkeys(limit for game in self._games for limit in registry.get(game).limits)
        limit = f", and a limit if you like ({', '.join(limits)})" if limits else ""
        self._say(f"you can: one of the games {names}{limit}; or quit", "bold")

    def another(self, number: int, game: str) -> bool:
        """True if the person plays another hand, which the opponent has proposed.

        Quitting between hands closes the channel in order.
        """
        of = f" ({game})" if len(self._games) > 1 else ""
        while True:
            answer = self._line(
                f"The {self._opponent} proposes hand {number + 1}{of}: play it? [Y/n/quit] "
            )
            if answer is None or answer.lower() in ("n", "no", *QUIT):
                return False
            if answer.lower() in ("", "y", "yes"):
                return True
            self._say("you can: yes (or Enter), no, quit", "bold")

    def _say(self, text: str, style: str) -> None:
        say(self._console, text, style)

    def _line(self, prompt: str) -> str | None:
        """The line that was typed; None at the end of the input (Ctrl-D)."""
        self._console.print(Text(prompt), end="")
        try:
            return self._read().strip()
        except (EOFError, RuntimeError):  # the latter where there is no standard input
            self._console.print()
            return None
        except UnicodeDecodeError:
            return "?"


def offer(choice: Choice) -> str:
    """A choice as shown to a person: its verb, and the numbers that it takes.

    >>> from channelsim.games.contract import Plain
    >>> offer(Plain("check"))
    'check'
    >>> offer(Amount("raise", 1, 800, unit=100))
    'raise N (from 0.01 units (1 mojo) to 8 units (800 mojos))'
    >>> offer(Amount("raise", 200, 200, unit=100, hint="on top of the call"))
    'raise (2 units (200 mojos), on top of the call)'
    >>> offer(OneOf("give", (3, 5, 6), form="C C", hint="two cards"))
    'give C C (two cards)'
    """
    if isinstance(choice, Amount):
        least, most = amount_text(choice.least, choice.unit), amount_text(choice.most, choice.unit)
        hint = f", {choice.hint}" if choice.hint else ""
        if choice.least == choice.most:
            return f"{choice.verb} ({most}{hint})"
        return f"{choice.verb} N (from {least} to {most}{hint})"
    words = f"{choice.verb} {choice.form}" if isinstance(choice, OneOf) else choice.verb
    return f"{words} ({choice.hint})" if choice.hint else words
