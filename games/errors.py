"""Refusals of a game, one class per kind.

All of them are expected in normal operation: bad terms in a proposal, an illegal action, bytes that
are not a state or not an early reveal. The message is one line with the reason.
"""

from channelsim.plugins import Refusal


class GameError(Refusal):
    """The base of all refusals."""


class UnknownGame(GameError):
    """No game of this name is installed."""


class BadTerms(GameError):
    """A game cannot be played on these parameters."""


class BadState(GameError):
    """A CLVM value is not a state of its validator."""


class IllegalAction(GameError):
    """The rules do not allow an action of a player now."""


class IllegalMove(IllegalAction):
    """A game's player chose a move that the game's own rules, or the referee, refuse.

    It is a mistake of the game's author.
    """


class BadLie(GameError):
    """A lie is about a value that its player does not hide."""


class BadAdvisory(GameError):
    """An early reveal does not open the opponent's commitment."""
