"""What a session is asked to be: checked once, here, before anything is played."""

from __future__ import annotations

from dataclasses import dataclass

from channel.chain.simulator import BLOCK_REWARD
from channel.errors import UsageError
from channel.proposal import least_timeout
from channel.script import Script
from games import registry
from games.contract import Policy
from games.errors import BadTerms, UnknownGame

NAMES = ("alice", "bob")
"""The peers: Alice opens the channel as its initiator, Bob is the receiver."""

DEFAULT_HANDS = 3
DEFAULT_UNIT = 100
DEFAULT_STACK = 10
DEFAULT_STAKES = 10
"""How many stakes a player brings into the channel unless told otherwise."""

MAX_HANDS = 100_000
ASK = "ask"


@dataclass(frozen=True, slots=True)
class Setup:
    """A session: which games, how many hands, for how much, played how.

    `unit` in mojos, `stack` in units (a stake is their product), `balance` in mojos is what
    each peer puts into the channel; `policies` are Alice's and Bob's.
    """

    games: tuple[str, ...]
    seed: str
    hands: int
    unit: int
    stack: int
    balance: int
    policies: tuple[str, str]
    script: Script | None = None
    confirmations: int = 3
    unroll_timeout: int = 15
    game_timeout: int = 15

    @property
    def stake(self) -> int:
        """What each player stakes in a hand, in mojos."""
        return self.unit * self.stack


def check(setup: Setup) -> Setup:
    """The same setup, found playable. Raises `UsageError` with the one thing that is wrong."""
    if not setup.games:
        raise UsageError("no game is named: try `channelsim games`")
    if not 1 <= setup.hands <= MAX_HANDS:
        raise UsageError(f"--hands {setup.hands}: from 1 to {MAX_HANDS}")
    if setup.unit < 1:
        raise UsageError(f"--unit {setup.unit}: a unit is at least 1 mojo")
    if setup.stack < 1:
        raise UsageError(f"--stack {setup.stack}: a stack is at least 1 unit")
    if setup.balance < setup.stake:
        raise UsageError(
            f"--balance {setup.balance}: does not cover one stake of {setup.stake} mojos"
        )
    if setup.balance > BLOCK_REWARD:
        raise UsageError(
            f"each would put {setup.balance} mojos into the channel, and the embedded node's"
            f" wallets hold {BLOCK_REWARD}: use a smaller --unit, --stack or --balance"
        )
    for name in setup.games:
        try:
            game = registry.get(name)
            game.terms(game.default_parameters(setup.unit, setup.stack))
        except UnknownGame as error:
            raise UsageError(f"{error}") from None
        except BadTerms as error:
            raise UsageError(f"{name} cannot be played for these stakes: {error}") from None
        for policy in setup.policies:
            if policy != ASK and policy not in game.policies:
                known = ", ".join([*game.policies, ASK])
                raise UsageError(f"--policy {policy}: {name} has {known}")
        for number, hand in enumerate(setup.script.hand if setup.script else (), 1):
            for player in NAMES:
                fixed = hand.entropy(player)
                if fixed is not None and len(fixed) < game.entropy_size:
                    raise UsageError(
                        f"script, hand {number}: {name} needs at least {game.entropy_size}"
                        f" secret bytes of {player}, and there are {len(fixed)}"
                    )
        if setup.game_timeout < least_timeout(name, setup.confirmations):
            raise UsageError(f"a game timeout of {setup.game_timeout} blocks is too short")
    if setup.policies[1] == ASK:
        raise UsageError("--policy: `ask` plays Alice, so it comes first; Bob is any other")
    return setup


def policy_of(game: str, name: str) -> Policy:
    """A game's policy by its name, which `check` has found to exist."""
    return registry.get(game).policies[name]
