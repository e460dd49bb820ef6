"""What the rules of a game can say no to, one class per kind of fault.

All of them are expected in normal operation: bad terms in a proposal, an action that is
not possible now, bytes that are no state or no early reveal. The message is one line that
says what is wrong.
"""


class GameError(ValueError):
    """The base: a game refuses what it was given."""


class UnknownGame(GameError):
    """No game of this name is installed."""


class BadTerms(GameError):
    """A game cannot be played on these parameters."""


class BadState(GameError):
    """A CLVM value is not a state of the validator that it was given to."""


class IllegalAction(GameError):
    """A player wants what the rules do not let it do now."""


class BadAdvisory(GameError):
    """An early reveal does not open what was committed to."""
