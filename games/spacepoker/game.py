"""Space Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from clsp.programs import Program, load
from games.contract import (
    Action,
    Benchmark,
    Hashes,
    Initial,
    Parameters,
    Player,
    Policy,
    Seat,
    Story,
    Terms,
    Validator,
)
from games.errors import IllegalAction
from games.spacepoker import actions
from games.spacepoker.benchmarks import BENCHMARKS
from games.spacepoker.player import ENTROPY_SIZE, SpacePokerPlayer, new_player
from games.spacepoker.policies import POLICIES
from games.spacepoker.rules import RULES
from games.spacepoker.states import MidRound
from games.spacepoker.story import SpacePokerStory
from games.spacepoker.terms import NAME, default_parameters, initial, read_terms
from games.spacepoker.validators import VALIDATORS


class SpacePoker:
    """Two players, one board, ranks only; see the package's docstring."""

    name = NAME
    title = "Space Poker: two hole cards, a shared board, four betting streets, best five of seven"
    reveals = True
    entropy_size = ENTROPY_SIZE
    validators: Mapping[str, Validator] = VALIDATORS
    rules: Mapping[str, str] = RULES
    policies: Mapping[str, Policy] = POLICIES
    story: Story = SpacePokerStory()
    benchmarks: Mapping[str, Benchmark] = BENCHMARKS

    @cached_property
    def programs(self) -> Mapping[str, Program]:
        """The compiled validators, loaded when first asked for."""
        return {name: load(f"{NAME}/{name}") for name in VALIDATORS}

    def default_parameters(self, unit: int, stack: int) -> Parameters:
        """Parameters of a game in which each player stakes `stack` units of `unit` mojos."""
        return default_parameters(unit, stack)

    def terms(self, parameters: Parameters) -> Terms:
        """Check a proposal's parameters. Raises `BadTerms`, naming the rule."""
        return read_terms(parameters)

    def initial(self, terms: Terms) -> Initial:
        """The record that both sides build for the first coin."""
        return initial(terms)

    def player(self, seat: Seat, terms: Terms, entropy: bytes, hashes: Hashes) -> Player:
        """A player at the start of a game; the programs' hashes come to it with the states."""
        return new_player(seat, terms, entropy)

    def read_action(self, player: Player, text: str) -> Action:
        """An action as people write it; see `actions`. Raises `IllegalAction`."""
        if not isinstance(player, SpacePokerPlayer):
            raise IllegalAction("not a player of Space Poker")
        state = player.position.state
        after_check = isinstance(state, MidRound) and state.last_raise == 0
        return actions.read(player.choices(), text, player.terms.unit, after_check=after_check)
