"""Scenarios: all that a simulated dispute depends on, so that it can be run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.errors import UsageError
from channelsim.channel.session.defaults import DEFAULT_TIMEOUT
from channelsim.channel.session.setup import ASK, NAMES, Setup, check_game, check_policy
from channelsim.channel.simulation.bounds import (
    MOST_FEES,
    MOST_HANDS,
    MOST_RATE,
    WEATHERS,
)
from channelsim.channel.simulation.terms import TOGETHER, Proposals, Terms
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.dealing import dealer
from channelsim.games.names import nearest, quoted

FEES = 20_000_000
"""A fee that the honest side's node asks, in mojos: mempools take it in the place of none."""

CONFIRMATIONS = 3
"""The usual depth at which a spend is final."""

CHOSEN = "dealers-choice"
"""The rotation in which dealers choose, of any list of games."""

STAKES = 3
"""Stakes in each game that a side puts in, or more for more hands."""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a channel, in blocks."""

    confirmations: int
    unroll_timeout: int
    game_timeout: int
    spacing: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """A session as promises are checked by: the games, and who deviates how, at which step.

    The games are played `hands` times on these `terms`. `adversary` by name ("" for none); `step`
    counts what it says, from 0: at that message it begins to deviate. `side` is the adversary's
    place in `NAMES`. `policies` are the initiator's and the receiver's, "" for a game's first one.
    Where it is `mixed`, only about one block in three carries transactions. `times` are those of
    the channel (None: the usual ones on such blocks).
    """

    games: tuple[str, ...]
    seed: str
    adversary: str = ""
    step: int = 0
    side: int = 1
    weather: str = "calm"
    hands: int = 1
    policies: tuple[str, str] = ("", "")
    mixed: bool = False
    terms: Terms = TOGETHER
    times: Times | None = None

    @property
    def spacing(self) -> int:
        """The blocks from one that carries transactions to the next, at most."""
        usual = PUBLIC_SPACING if self.mixed else HOME_SPACING
        return usual if self.times is None else self.times.spacing

    @property
    def confirmations(self) -> int:
        """The depth at which a spend is final, in blocks."""
        return CONFIRMATIONS if self.times is None else self.times.confirmations

    @property
    def unroll_timeout(self) -> int:
        """Blocks until a stale state is paid out."""
        return self.spacing * DEFAULT_TIMEOUT if self.times is None else self.times.unroll_timeout

    @property
    def game_timeout(self) -> int:
        """Blocks for a move on chain."""
        return self.spacing * DEFAULT_TIMEOUT if self.times is None else self.times.game_timeout

    @property
    def dealer(self) -> str | None:
        """The dealer, as outputs name it; None if no game is played with a deck."""
        return next(filter(None, (dealer(registry.get(name)) for name in self.games)), None)

    @property
    def balance(self) -> int:
        """Each peer's contribution to the channel, in mojos."""
        terms = self.terms
        return terms.balance or terms.unit * terms.stack * max(STAKES, self.hands) * len(self.games)

    @property
    def is_agreed(self) -> bool:
        """True if both sides are honest, and play the hands that they agreed on."""
        return self.terms.proposals.is_agreed and not self.adversary

    @property
    def stake(self) -> int:
        """Each player's stake in one proposal, in mojos."""
        together = len(self.games) if self.terms.proposals is Proposals.TOGETHER else 1
        return self.terms.unit * self.terms.stack * together

    @property
    def honest(self) -> int:
        """The side that does nothing wrong."""
        return 1 - self.side


def setup_of(scenario: Scenario) -> Setup:
    """The session of a scenario without an adversary, on which both sides agreed."""
    return Setup(
        games=scenario.games,
        seed=scenario.seed,
        hands=scenario.hands,
        unit=scenario.terms.unit,
        stack=scenario.terms.stack,
        balance=scenario.balance,
        policies=scenario.policies,
        confirmations=scenario.confirmations,
        unroll_timeout=scenario.unroll_timeout,
        game_timeout=scenario.game_timeout,
        rotation=CHOSEN if scenario.terms.proposals is Proposals.CHOSEN else None,
        spacing=scenario.spacing,
        mixed=scenario.mixed,
    )


def reason_against(adversary: str, games: tuple[str, ...]) -> str:
    """The reason why this adversary can do nothing in these games; empty if there is none."""
    reason = get(adversary).reason_against([registry.get(name) for name in games])
    return reason and f"{adversary}: {reason}"


def reasons_against(games: tuple[str, ...]) -> dict[str, list[str]]:
    """The adversaries that can do nothing in these games, by the reason."""
    reasons: dict[str, list[str]] = {}
    for name in names():
        if reason := get(name).reason_against([registry.get(game) for game in games]):
            reasons.setdefault(reason, []).append(name)
    return reasons


def adversaries_for(menus: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The names of the adversaries that can do something in the games of one of these menus."""
    tried = list(menus)
    return tuple(
        name for name in names() if any(not reason_against(name, games) for games in tried)
    )


def check(scenario: Scenario) -> Scenario:
    """Check that a scenario is possible, and return it. Raises `UsageError`."""
    if not scenario.games:
        raise UsageError("no game is named: try `channelsim games`")
    if scenario.side not in (0, 1):
        raise UsageError(f"the adversary is {' or '.join(NAMES)}")
    if scenario.step < 0:
        raise UsageError(f"step {scenario.step}: steps are counted from 0")
    terms = scenario.terms
    if min(terms.most_states, terms.most_bytes) < 0:
        raise UsageError("limits of states and bytes are at least 1")
    if scenario.weather not in WEATHERS:
        near = nearest(scenario.weather, WEATHERS)
        known = ", ".join(WEATHERS)
        raise UsageError(f"weather {quoted(scenario.weather)}{near}: one of {known}")
    _bounded(f"fees of {counted(terms.fees, 'mojo')}", terms.fees, 0, MOST_FEES)
    for most in (terms.max_fee, terms.max_fees):
        if most is not None:
            _bounded(f"at most {counted(most, 'mojo')} of fees", most, 0, BLOCK_REWARD)
    rate = terms.crowd
    _bounded(f"a crowd at {counted(rate, 'mojo')} per cost", rate, 0, MOST_RATE)
    if min(terms.unit, terms.stack) < 1:
        raise UsageError("unit and stack are at least 1")
    _bounded(counted(scenario.hands, "hand"), scenario.hands, 1, MOST_HANDS)
    if terms.balance < 0 or scenario.balance < scenario.stake:
        raise UsageError(
            f"a balance of {counted(terms.balance, 'mojo')} does not cover one stake"
            f" of {scenario.stake:,}"
        )
    if scenario.balance > BLOCK_REWARD:
        raise UsageError(
            f"a balance of {counted(scenario.balance, 'mojo')} is more than a wallet holds"
        )
    for name in scenario.games:
        game = check_game(name, terms.unit, terms.stack)
        if game.missing:
            raise UsageError(
                f"{name} has no program of {', '.join(game.missing)}: a dispute needs them all"
            )
    if scenario.adversary and (reason := reason_against(scenario.adversary, scenario.games)):
        raise UsageError(reason)
    for policy in filter(None, scenario.policies):
        if policy == ASK:
            raise UsageError(
                "--policy ask: a dispute is run again from its seed, which a person's decisions"
                " are not in; name policies of the game"
            )
        check_policy(policy, scenario.games)
    return scenario


def _bounded(text: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{text}: from {least:,} to {most:,}")
