"""Scenarios: all that a simulated dispute depends on, so that it can be run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.bounds import MOST_SPACING, MOST_TIMEOUT
from channelsim.channel.session.defaults import DEFAULT_TIMEOUT
from channelsim.channel.session.setup import ASK, NAMES, Setup, check_game, check_policy
from channelsim.channel.simulation.bounds import (
    MOST_FEES,
    MOST_HANDS,
    MOST_RATE,
    WEATHERS,
)
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.dealing import dealer
from channelsim.games.names import nearest, quoted

FEES = 20_000_000
"""A fee that the honest side's node asks, in mojos: mempools take it in the place of none."""

MIXED: Mapping[str, Any] = {"mixed": True, "spacing": 0, "unroll_timeout": 0, "game_timeout": 0}
"""Fields that put a scenario on mixed blocks; its times follow."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A dispute: the games, and who deviates how, at which step.

    All games are in one proposal, and are played `hands` times, one after the other; with
    `staggered` each is a proposal of its own, and the next is made a few moves later.
    `adversary` by name ("" for none); `step` counts what it says, from 0: at that message it
    begins to deviate. `side` is the adversary's place in `NAMES`. Money in mojos, `stack` in
    units; `fees` is what the honest side's node asks for a spend of a cost of 20,000,000,
    `max_fee` the most that it pays for a spend (None: 20 times `fees`, or else `max_fees`), and
    `max_fees` the most in all (None: 50 times as much). Each peer contributes
    `contribution`, or enough for all hands where that is 0. `policies` are the
    initiator's and the receiver's, "" for a game's first one. `agreed`: both sides are honest, and
    play the hands that they agreed on as two processes of `peer` do, with decks that they prepare.
    `most_states` and `most_bytes` are the limits of what the honest side keeps of the channel (0:
    as by default). Where it is `mixed`, only about one block in three carries transactions, and the
    `spacing` of both peers is that of public networks unless it is given. Timeouts that are not
    given (0) follow from the spacing. A `crowd` fills blocks at so many mojos per cost (0: there is
    none), once the honest side has a spend for them after the opening.
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
    unroll_timeout: int = 0
    game_timeout: int = 0
    hands: int = 1
    staggered: bool = False
    contribution: int = 0
    policies: tuple[str, str] = ("", "")
    agreed: bool = False
    most_states: int = 0
    most_bytes: int = 0
    mixed: bool = False
    max_fee: int | None = None
    max_fees: int | None = None
    crowd: int = 0
    spacing: int = 0

    def __post_init__(self) -> None:
        """Replace what was not given by what follows from the other fields."""
        spacing = self.spacing or (PUBLIC_SPACING if self.mixed else HOME_SPACING)
        object.__setattr__(self, "spacing", spacing)
        for name in ("unroll_timeout", "game_timeout"):
            timeout = getattr(self, name) or spacing * DEFAULT_TIMEOUT
            object.__setattr__(self, name, timeout)

    @property
    def dealer(self) -> str | None:
        """The dealer, as outputs name it; None if no game is played with a deck."""
        return next(filter(None, (dealer(registry.get(name)) for name in self.games)), None)

    @property
    def balance(self) -> int:
        """Each peer's contribution to the channel, in mojos."""
        stakes = max(self.stakes, self.hands) * len(self.games)
        return self.contribution or self.unit * self.stack * stakes

    @property
    def most_fees(self) -> tuple[int, int]:
        """The most that the honest side pays, for a spend and in all (0: nothing)."""
        most = self.max_fee
        if most is None:
            most = 20 * self.fees or self.max_fees or 0
        return most, min(50 * most, BLOCK_REWARD) if self.max_fees is None else self.max_fees

    @property
    def limits(self) -> Limits:
        """The limits of what the honest side keeps of the channel."""
        usual = Limits()
        most = self.most_states or usual.states, self.most_bytes or usual.bytes
        return Limits(*most, demonstration=True)

    @property
    def stake(self) -> int:
        """Each player's stake in one proposal, in mojos."""
        return self.unit * self.stack * (1 if self.staggered else len(self.games))

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
        unit=scenario.unit,
        stack=scenario.stack,
        balance=scenario.balance,
        policies=scenario.policies,
        confirmations=scenario.confirmations,
        unroll_timeout=scenario.unroll_timeout,
        game_timeout=scenario.game_timeout,
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
    if min(scenario.most_states, scenario.most_bytes) < 0:
        raise UsageError("limits of states and bytes are at least 1")
    _bounded(f"a spacing of {scenario.spacing}", scenario.spacing, 1, MOST_SPACING)
    for blocks in (scenario.unroll_timeout, scenario.game_timeout):
        _bounded(counted(blocks, "block"), blocks, 1, MOST_TIMEOUT)
    if scenario.weather not in WEATHERS:
        near = nearest(scenario.weather, WEATHERS)
        known = ", ".join(WEATHERS)
        raise UsageError(f"weather {quoted(scenario.weather)}{near}: one of {known}")
    _bounded(f"fees of {counted(scenario.fees, 'mojo')}", scenario.fees, 0, MOST_FEES)
    for most in (scenario.max_fee, scenario.max_fees):
        if most is not None:
            _bounded(f"at most {counted(most, 'mojo')} of fees", most, 0, BLOCK_REWARD)
    rate = scenario.crowd
    _bounded(f"a crowd at {counted(rate, 'mojo')} per cost", rate, 0, MOST_RATE)
    if min(scenario.unit, scenario.stack, scenario.stakes) < 1:
        raise UsageError("unit, stack and stakes are at least 1")
    _bounded(counted(scenario.hands, "hand"), scenario.hands, 1, MOST_HANDS)
    if scenario.contribution < 0 or scenario.balance < scenario.stake:
        raise UsageError(
            f"a balance of {counted(scenario.contribution, 'mojo')} does not cover one stake"
            f" of {scenario.stake:,}"
        )
    if scenario.balance > BLOCK_REWARD:
        raise UsageError(
            f"a balance of {counted(scenario.balance, 'mojo')} is more than a wallet holds"
        )
    for name in scenario.games:
        game = check_game(name, scenario.unit, scenario.stack)
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
