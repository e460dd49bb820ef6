"""What a dispute is asked to be: all that it depends on, so that it can be run again."""

from __future__ import annotations

from dataclasses import dataclass

from channel.chain.simulator import BLOCK_REWARD
from channel.errors import UsageError
from channel.setup import NAMES
from games import registry
from games.errors import BadTerms, UnknownGame

WEATHERS = ("calm", "reorgs", "slow", "cut-off")
"""What the chain does: nothing; blocks are replaced; bundles wait before they get in; the honest
side hears nothing of it for some blocks."""


MOST_FEES = 1_000_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """A dispute: the games (all in one proposal), and who deviates how, at which step.

    `adversary` by name ("" for none); `step` counts what it says, from 0: at that message it
    begins to deviate. `side` is the adversary's place in `NAMES`. Money in mojos, `stack` in
    units; `fees` is what the honest side offers at first for a spend with a deadline.
    """

    games: tuple[str, ...]
    seed: str
    adversary: str = ""
    step: int = 0
    side: int = 1
    weather: str = "calm"
    fees: int = 0
    unit: int = 100
    stack: int = 10
    stakes: int = 3
    confirmations: int = 3
    unroll_timeout: int = 15
    game_timeout: int = 15

    @property
    def balance(self) -> int:
        """What each peer puts into the channel."""
        return self.unit * self.stack * self.stakes * len(self.games)

    @property
    def honest(self) -> int:
        """The side that does nothing wrong."""
        return 1 - self.side


def check(scenario: Scenario) -> Scenario:
    """The same scenario, found possible. Raises `UsageError` with the one thing that is wrong."""
    if not scenario.games:
        raise UsageError("no game is named: try `channelsim games`")
    if scenario.side not in (0, 1):
        raise UsageError(f"the adversary is {' or '.join(NAMES)}")
    if scenario.step < 0:
        raise UsageError(f"step {scenario.step}: steps are counted from 0")
    if scenario.weather not in WEATHERS:
        raise UsageError(f"weather {scenario.weather!r}: one of {', '.join(WEATHERS)}")
    if not 0 <= scenario.fees <= MOST_FEES:
        raise UsageError(f"fees of {scenario.fees} mojos: from 0 to {MOST_FEES}")
    if min(scenario.unit, scenario.stack, scenario.stakes) < 1:
        raise UsageError("unit, stack and stakes are at least 1")
    if scenario.balance > BLOCK_REWARD:
        raise UsageError(f"a balance of {scenario.balance} mojos is more than a wallet holds")
    for name in scenario.games:
        try:
            game = registry.get(name)
            game.terms(game.default_parameters(scenario.unit, scenario.stack))
        except UnknownGame as error:
            raise UsageError(f"{error}") from None
        except BadTerms as error:
            raise UsageError(f"{name} cannot be played for these stakes: {error}") from None
    return scenario
