"""A person at the terminal plays Alice: sees her cards, is offered only what is legal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from channel.errors import UsageError
from channel.report.narrator import text_of
from channel.report.plain import fitted
from games import registry
from games.amounts import spoken
from games.contract import Action, Choice, Player
from games.errors import IllegalAction


class Asker:
    """Asks for each decision until the answer is one that the rules allow."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, game: str, player: Player) -> Action:
        """The person's action in this game."""
        rules = registry.get(game)
        self._console.print()
        for line in rules.story.view(player):
            self._console.print(text_of(line, self._console.encoding))
        self._offer(player)
        while True:
            answer = self._line("your move> ")
            if answer in ("?", "help"):
                self._offer(player)
            elif answer == "quit":
                raise UsageError("you left the table: the session was not finished")
            elif answer:
                try:
                    action = rules.read_action(player, answer)
                    player.act(action)
                except IllegalAction as error:
                    self._say(printable(str(error)), "yellow")
                else:
                    return action

    def _offer(self, player: Player) -> None:
        offered = ", ".join(offer(choice, _unit(player)) for choice in player.choices())
        self._say(f"you can: {offered}; or quit", "bold")

    def another(self, number: int) -> bool:
        """Whether the person takes up another hand, which Bob has proposed."""
        while True:
            answer = self._line(f"Bob proposes hand {number + 1}: play it? [Y/n] ").lower()
            if answer in ("", "y", "yes"):
                return True
            if answer in ("n", "no"):
                return False
            self._console.print("yes or no, please")

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(fitted(text, self._console.encoding), style=style))

    def _line(self, prompt: str) -> str:
        self._console.print(prompt, end="")
        try:
            return input().strip()
        except (EOFError, RuntimeError):  # the latter where there is no standard input
            self._console.print()
            raise UsageError("the input ended where a decision was needed") from None
        except UnicodeDecodeError:
            return "?"


def offer(choice: Choice, unit: int) -> str:
    """One choice as it is offered: its verb, and the numbers that it takes.

    >>> offer(Choice("check"), 100)
    'check'
    >>> offer(Choice("raise", 1, 800), 100)
    'raise N (from 0.01 units (1 mojo) to 8 units (800 mojos))'
    >>> offer(Choice("give", 3, 6, options=(3, 5, 6), form="C C", hint="two cards"), 1)
    'give C C (two cards)'
    """
    if choice.options or not choice.most:
        words = f"{choice.verb} {choice.form}".strip()
        return f"{words} ({choice.hint})" if choice.hint else words
    least, most = spoken(choice.least, unit), spoken(choice.most, unit)
    return f"{choice.verb} N (from {least} to {most})"


def printable(text: str) -> str:
    """The text without what a terminal could not show.

    >>> printable("a\\udcffb")
    'a?b'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _unit(player: Player) -> int:
    return int(getattr(getattr(player, "terms", None), "unit", 1))
