"""California Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from clsp.programs import Program, load
from games.calpoker import actions
from games.calpoker.benchmarks import BENCHMARKS
from games.calpoker.player import ENTROPY_SIZE, CalPokerPlayer, new_player
from games.calpoker.policies import POLICIES
from games.calpoker.rules import RULES
from games.calpoker.story import CaliforniaPokerStory
from games.calpoker.terms import NAME, default_parameters, initial, read_terms
from games.calpoker.validators import VALIDATORS
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


class CaliforniaPoker:
    """One pack, eight open cards each, four given away; see the package's docstring."""

    name = NAME
    title = "California Poker: eight open cards each, swap four in secret, best five of eight"
    reveals = True
    entropy_size = ENTROPY_SIZE
    validators: Mapping[str, Validator] = VALIDATORS
    rules: Mapping[str, str] = RULES
    policies: Mapping[str, Policy] = POLICIES
    story: Story = CaliforniaPokerStory()
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
        if not isinstance(player, CalPokerPlayer):
            raise IllegalAction("not a player of California Poker")
        hands = player.sight.hands
        return actions.read(player.choices(), text, hands[player.seat] if hands else ())
