"""The setup of a session, checked once before anything is played."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.spacing import HOME_SPACING
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import Agreement, DeckSettings, least_unroll_timeout
from channelsim.channel.protocol.bounds import MOST_SPACING, MOST_TIMEOUT
from channelsim.channel.protocol.proposals import by_spacing, least_timeout
from channelsim.channel.session.defaults import DEFAULT_TIMEOUT, MAX_HANDS
from channelsim.channel.session.defaults import NAMES as NAMES
from channelsim.channel.session.script import Script
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.contract import Game, Parameters, Policy
from channelsim.games.dealing import secret_size
from channelsim.games.errors import BadTerms, UnknownGame
from channelsim.games.names import LONGEST, nearest, nearest_or_all, quoted
from channelsim.games.rotations import ROTATIONS

ASK = "ask"


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a session depends on: its games, hands, amounts, policies and timeouts.

    `unit` in mojos, `stack` in units (a stake is their product), `balance` in mojos is what
    each peer puts into the channel; `policies` are the initiator's and the receiver's. A
    game without a policy of that name plays its first one. Timeouts and confirmations are in
    blocks, and `spacing` is what both peers multiply blocks by. On a `mixed` chain, about one block
    in three carries transactions. `rotation` is the name of a `channelsim.games.rotations.Rotation`
    whose games these are; without one they take turns. `limit` is the betting structure of all
    games. `max_fee` and `max_fees` are the most that each peer pays for a spend and in all, as in
    `Fees`; without either they pay nothing.
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
    unroll_timeout: int = DEFAULT_TIMEOUT
    game_timeout: int = DEFAULT_TIMEOUT
    rotation: str | None = None
    limit: str | None = None
    max_fee: int | None = None
    max_fees: int | None = None
    spacing: int = HOME_SPACING
    mixed: bool = False

    @property
    def agreement(self) -> Agreement:
        """The terms of the channel, with decks that all games can be played with."""
        positions = max([1, *(registry.get(name).deck_positions for name in self.games)])
        return Agreement(
            (self.balance, self.balance),
            self.unroll_timeout,
            self.confirmations,
            decks=DeckSettings(positions),
            spacing=self.spacing,
        )

    @property
    def dealer_chooses(self) -> bool:
        """True if the dealer names the game of each hand, out of `games`."""
        return self.rotation is not None and ROTATIONS[self.rotation].dealer_chooses

    def game(self, number: int) -> str:
        """Name the game of this hand (counted from 0), if no dealer does; the games take turns."""
        if self.rotation is not None:
            number //= ROTATIONS[self.rotation].each
        return self.games[number % len(self.games)]

    def named(self, number: int) -> tuple[str, ...]:
        """The games that this hand may be one of: any of the list if its dealer names it."""
        return self.games if self.dealer_chooses else (self.game(number),)

    def parameters(self, game: str, limit: str | None = None) -> Parameters:
        """The parameters of a game in this session, with this limit or that of the session."""
        one = registry.get(game)
        changes = ROTATIONS[self.rotation].changes if self.rotation is not None else {}
        chosen = self.limit if limit is None else limit
        limits = {} if chosen is None else one.limits[chosen]
        return {**one.default_parameters(self.unit, self.stack), **changes, **limits}

    def first(self, number: int, game: str | None = None) -> int:
        """Find who moves first in this hand: 0 is the initiator, 1 the receiver.

        Turns alternate from hand to hand, and in each of several games by itself: with two
        games by pairs of hands, or each peer would always be the first in the same game. What
        alternates is the button, and the `game` says which seat has it. The initiator moves first
        in the first hand; in a rotation it has the button there.

        >>> one = Setup(("a",), "", 4, 1, 1, 1, ("", ""))
        >>> [one.first(number) for number in range(4)]
        [0, 1, 0, 1]
        """
        hands = self.script.hand if self.script else ()
        named = hands[number].first if number < len(hands) else None
        if named:
            return NAMES.index(named)
        if len(self.games) == 1 and self.rotation is None:
            return number % 2
        button = registry.get(game or self.game(number)).button
        if self.rotation is not None:
            return (number + button) % 2
        rounds = number // len(self.games) if len(self.games) % 2 == 0 else 0
        return (number + rounds + button + registry.get(self.games[0]).button) % 2

    def stakes(self, number: int) -> tuple[int, int]:
        """The stakes in this hand in mojos, the initiator's first; the highest ones if the dealer
        will name its game. Raises `BadTerms`."""
        found = []
        for game in self.named(number):
            stakes = registry.get(game).terms(self.parameters(game)).stakes
            found.append(stakes if self.first(number, game) == 0 else stakes[::-1])
        return max(one for one, _ in found), max(one for _, one in found)


def check(setup: Setup, script_name: str = "script") -> Setup:
    """Check that a setup can be played, and return it. Raises `UsageError` for the first fault."""
    if not setup.games:
        raise UsageError("no game is named: try `channelsim games`")
    if not 1 <= setup.hands <= MAX_HANDS:
        raise UsageError(f"--hands {setup.hands}: from 1 to {MAX_HANDS:,}")
    if setup.unit < 1:
        raise UsageError(f"a unit of {counted(setup.unit, 'mojo')}: it is at least 1")
    if setup.stack < 1:
        raise UsageError(f"a stack of {counted(setup.stack, 'unit')}: it is at least 1")
    if setup.balance > BLOCK_REWARD:
        raise UsageError(
            f"each would put {counted(setup.balance, 'mojo')} into the channel, and the embedded"
            f" node's wallets hold {BLOCK_REWARD}: use a smaller --unit, --stack or --balance"
        )
    if setup.rotation is not None and setup.rotation not in ROTATIONS:
        raise UsageError(f"no rotation is called {quoted(setup.rotation)}")
    if setup.script is not None and len(setup.script.hand) > setup.hands:
        raise UsageError(
            f"--hands {setup.hands}: the script has {counted(len(setup.script.hand), 'hand')}"
        )
    for blocks in (setup.confirmations, setup.unroll_timeout, setup.game_timeout):
        if not 1 <= blocks <= MOST_TIMEOUT:
            raise UsageError(f"{counted(blocks, 'block')}: from 1 to {MOST_TIMEOUT:,}")
    if not 1 <= setup.spacing <= MOST_SPACING:
        raise UsageError(f"a spacing of {setup.spacing}: from 1 to {MOST_SPACING:,}")
    least = least_unroll_timeout(setup.confirmations, setup.spacing)
    if setup.unroll_timeout < least:
        raise UsageError(
            f"an unroll timeout of {counted(setup.unroll_timeout, 'block')} is too short: at least"
            f" {least}{by_spacing(setup.spacing)}"
        )
    for name in setup.games:
        _check_game_of(setup, name)
        least = least_timeout(name, setup.confirmations, setup.spacing)
        if setup.game_timeout < least:
            raise UsageError(
                f"a game timeout of {counted(setup.game_timeout, 'block')} is too short for {name}:"
                f" at least {least}{by_spacing(setup.spacing)}"
            )
    if setup.balance < max(setup.stakes(0)):
        raise UsageError(
            f"a balance of {counted(setup.balance, 'mojo')} does not cover one stake"
            f" of {max(setup.stakes(0))}"
        )
    for policy in setup.policies:
        check_policy(policy, setup.games, (ASK,))
    if setup.policies == (ASK, ASK):
        raise UsageError("--policy: `ask` plays one of the two, not both: they see different cards")
    _check_entropy(setup, script_name)
    return setup


def check_game(name: str, unit: int, stack: int) -> Game:
    """Check that a game can be played for these stakes, and return it. Raises `UsageError`."""
    game = _asked(name)
    _check_terms(game, game.default_parameters(unit, stack))
    return game


def _check_game_of(setup: Setup, name: str) -> None:
    """Check that a game can be played in this session. Raises `UsageError`."""
    check_limit(_asked(name), setup.limit)
    _check_terms(_asked(name), setup.parameters(name))


def _asked(name: str) -> Game:
    try:
        return registry.asked(name)
    except UnknownGame as error:
        raise UsageError(f"{error}") from None


def _check_terms(game: Game, parameters: Parameters) -> None:
    try:
        game.terms(parameters)
    except BadTerms as error:
        raise UsageError(f"{game.name} cannot be played for these stakes: {error}") from None


def check_limit(game: Game, limit: str | None) -> None:
    """Check that a game has this betting structure. Raises `UsageError`."""
    if limit is None or limit in game.limits:
        return
    shown = limit[:LONGEST]
    if not game.limits:
        raise UsageError(f"--limit {shown}: {game.name} has no choice of a betting structure")
    has = nearest_or_all(limit, game.limits)
    raise UsageError(f"--limit {shown}: {game.name} has no such betting structure{has}")


def _check_entropy(setup: Setup, script_name: str) -> None:
    """Check that a script gives each game as many secret bytes as it needs."""
    for number, hand in enumerate(setup.script.hand if setup.script else ()):
        if hand.game is not None and not setup.dealer_chooses:
            raise UsageError(
                f"{script_name}: hand {number + 1}: its game is named where the dealer chooses it"
            )
        game = registry.get(setup.games[0] if setup.dealer_chooses else setup.game(number))
        for player in NAMES:
            fixed = hand.entropy(player)
            if fixed is not None and len(fixed) < secret_size(game):
                raise UsageError(
                    f"{script_name}: hand {number + 1}: {game.name} needs at least"
                    f" {counted(secret_size(game), 'secret byte')} of {player},"
                    f" and there are {len(fixed)}"
                )


def check_policy(policy: str, games: tuple[str, ...], others: tuple[str, ...] = ()) -> None:
    """Check that one of the games, or `others`, has this policy. Raises `UsageError`."""
    known = {name: [*registry.get(name).policies, *others] for name in games}
    every = dict.fromkeys(name for names in known.values() for name in names)
    if policy not in every:
        for name in games:
            if (reason := registry.reason_without(name, policy)) is not None:
                raise UsageError(reason)
        has = "; ".join(f"{name} has {', '.join(names)}" for name, names in known.items())
        raise UsageError(f"--policy {policy[:LONGEST]}{nearest(policy, every)}: {has}")


def default_policy(games: tuple[str, ...]) -> str:
    """Name the policy that plays by default: the first game's first one."""
    try:
        return next(iter(registry.get(games[0]).policies))
    except (IndexError, UnknownGame):
        return ASK  # `check` will name what is wrong


def policy_of(game: str, name: str) -> Policy:
    """Find a game's policy by name; its first one if it has none of this name."""
    policies = registry.get(game).policies
    return policies.get(name) or next(iter(policies.values()))
