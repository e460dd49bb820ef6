"""A person at the terminal plays for one peer: sees its cards, is offered only legal actions."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import GameEnded
from channelsim.channel.peer.interface import Acted, GameSettled, GameStarted, Moved, SawCards
from channelsim.channel.report.card_rows import is_drawn
from channelsim.channel.report.narrator import print_lines
from channelsim.channel.report.terminal import say
from channelsim.channel.session.picks import Pick, read_pick
from channelsim.channel.session.session_events import NewsFor, SessionEvent
from channelsim.games import registry
from channelsim.games.amounts import counted, in_units
from channelsim.games.choices import with_bounds
from channelsim.games.contract import Action, Amount, Choice, Line, Player, Position, Terms
from channelsim.games.errors import IllegalAction
from channelsim.games.story import ShowsMoves

QUIT = ("quit", "exit", "q")
HELP = ("?", "h", "help")

MOST_WRONG = 30
"""Answers in a row that are no action, after which nobody is believed to be there."""


class Prompt:
    """Ask a person for each decision until the answer is one that the rules allow.

    `name` is the peer for which the person plays, `opponent` the other one; `games` are those of
    the session. `read` returns the next line that is typed, by default as `input` does.
    """

    def __init__(
        self,
        console: Console,
        name: str,
        opponent: str,
        games: tuple[str, ...],
        read: Callable[[], str] | None = None,
    ) -> None:
        self._console, self._name, self._opponent = console, name, opponent
        self._games = games
        self._read = read or (lambda: input())
        self._shown: list[Line] = []
        self._hands: dict[int, tuple[Terms, Player]] = {}
        self._introduced = False

    def decide(self, game: str, player: Player) -> Action:
        """The person's action in this game.

        Raises `UsageError` if the person leaves, or never names an action.
        """
        rules = registry.get(game)
        say(self._console)
        self._introduce()
        self._show(rules.story.view(player))
        self._offer(player)
        for _ in range(MOST_WRONG):
            answer = self._line(f"{self._name.title()}, your move> ")
            if answer is None:
                raise UsageError("the input ended where a decision was needed")
            if answer.lower() in QUIT:
                raise UsageError("you left the table: the session was not finished")
            if answer.lower() in HELP:
                print_lines(self._console, self._shown)
                self._help(player)
            elif answer:
                try:
                    action = rules.read_action(player, answer)
                    player.act(action)
                except IllegalAction as error:
                    self._say(str(error), "yellow")
                else:
                    return action
        raise UsageError(
            f"{MOST_WRONG} answers in a row were no action: the session was not finished"
        )

    def _introduce(self) -> None:
        if not self._introduced:
            self._introduced = True
            self._say(f"You are the {self._name}. `help` explains what you can write.", "bold")

    def _show(self, lines: list[Line]) -> None:
        """Show a view: whole if cards are new, otherwise the lines that changed."""
        before, self._shown = self._shown, lines
        drawn = [line for line in lines if is_drawn(line)]
        if drawn and drawn == [line for line in before if is_drawn(line)]:
            lines = [line for line in lines if line not in before]
        print_lines(self._console, lines)

    def _offer(self, player: Player) -> None:
        offered = ", ".join(offer(choice) for choice in player.choices())
        self._say(f"you can: {offered}; or help, quit", "bold")

    def _help(self, player: Player) -> None:
        """Each choice in a line, with an example, and how amounts are written."""
        self._say("you can:", "bold")
        for choice in player.choices():
            written = f": write `{example(choice)}`" if isinstance(choice, Amount) else ""
            self._say(f"  {offer(choice)}{written}", "bold")
        units = {choice.unit for choice in player.choices() if isinstance(choice, Amount)}
        for unit in units - {1}:
            self._say(
                f"  Amounts are in units of {counted(unit, 'mojo')}, as in 2 or 2.5, or in mojos"
                f" with an m, as in {2 * unit}m.",
                "",
            )
        self._say("  `quit` leaves the table, and the session is not finished.", "")

    def follow(self, event: SessionEvent) -> None:
        """Show a person of a single peer the other side's moves, and what it sees at the end.

        In a session of both peers, the narrator tells more.
        """
        match event:
            case NewsFor(_, GameStarted(game, player)):
                self._hands[game.id] = game.terms, player
            case NewsFor(_, Acted(game_id) | Moved(game_id) | SawCards(game_id) as news):
                if game_id in self._hands:
                    terms, player = self._hands[game_id]
                    self._hands[game_id] = terms, news.player
                    if isinstance(news, Moved):
                        self._tell(terms, player.position, news.after)
            case NewsFor(_, GameSettled(game_id) | GameEnded(game_id)):
                hand = self._hands.pop(game_id, None)
                if hand is not None:
                    self._show(registry.get(hand[0].game).story.view(hand[1]))
            case _:
                pass

    def _tell(self, terms: Terms, before: Position, after: Position) -> None:
        """Say what the other side did, as far as its move shows it."""
        story = registry.get(terms.game).story
        if isinstance(story, ShowsMoves):
            move = story.move_between(terms, before, after)
            if move:
                self._say(f"The {self._opponent} {move}.", "bold")

    def choose(self, number: int) -> Pick | None:
        """The game that the person names as the dealer; None for no more hands."""
        self._offer_games()
        for _ in range(MOST_WRONG):
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
        raise UsageError(f"{MOST_WRONG} answers in a row named no game")

    def _offer_games(self) -> None:
        names = ", ".join(self._games)
        limits = dict.fromkeys(limit for game in self._games for limit in registry.get(game).limits)
        limit = f", and a limit if you like ({', '.join(limits)})" if limits else ""
        self._say(f"you can: one of the games {names}{limit}; or quit", "bold")

    def another(self, number: int, game: str) -> bool:
        """True if the person plays another hand, which the opponent has proposed.

        Quitting between hands closes the channel in order.
        """
        self._introduce()
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
    >>> offer(Amount("raise", 1, 800, unit=100, hint="on top of the call"))
    'raise 0.01 to 8 units (1 to 800 mojos), on top of the call'
    >>> from channelsim.games.contract import OneOf
    >>> offer(OneOf("give", (3, 5, 6), form="C C", hint="two cards"))
    'give C C (two cards)'
    """
    if isinstance(choice, Amount):
        return with_bounds(choice) + (f", {choice.hint}" if choice.hint else "")
    return with_bounds(choice) + (f" ({choice.hint})" if choice.hint else "")


def example(choice: Amount) -> str:
    """An answer that takes a choice with an amount: two units where it can be.

    >>> example(Amount("raise", 1, 800, unit=100)), example(Amount("bet", 3, 9, unit=70))
    ('raise 2', 'bet 9m')
    """
    two = 2 * choice.unit
    amount = two if choice.least <= two <= choice.most else choice.most
    units = in_units(amount, choice.unit)
    return f"{choice.verb} {f'{amount:,}m' if units.startswith('~') else units}"
