"""Extremes: hands that drive the numbers of a state to where ordinary ones do not.

The last round with a full board, a pot that carries over three times, all lots tied: a hand gets
there by a row of decisions of which each is rare. Here a hand is remembered by its terms, its
secrets and its decisions if one of its states shows a new fact, and is played again with a change,
so that the next one begins where no hand has been before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from channelsim.channel.lab.sites.borders import stubborn
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import (
    LONGEST,
    Dealer,
    any_terms,
    near_a_limit,
    to_the_limits,
)
from channelsim.channel.lab.sites.known_hands import Goal, KnownHands, how_far
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value
from channelsim.games.chance import Chance
from channelsim.games.choices import takes
from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    OneOf,
    Play,
    Player,
    Policy,
    Seat,
    Terms,
    any_action,
)
from channelsim.games.dealing import ENTROPY_SIZE
from channelsim.games.hidden import hidden_values
from channelsim.games.judge import own_move
from channelsim.games.selfplay import PlayedMove, turns_of

A_TURN = 140
"""The work of a move of a hand, with the facts about it."""

A_DRAW = 20
"""The work of drawing a player's hidden values."""

DRAWS = 32
"""The secrets of which the one is taken whose hidden values are nearest to others."""

OPTIONS = 8
"""The actions that a driven player looks at."""

A_LOOK = 60
"""The work of looking where an action leads."""

Entropy: TypeAlias = tuple[bytes, bytes]
"""The secret bytes of Alice and Bob."""


@dataclass(frozen=True)
class Hand:
    """The start of a hand, and its decisions in order; None is one that is made anew."""

    terms: Terms
    entropy: Entropy
    actions: tuple[Action | None, ...]


class Extremes:
    """Hands of a target by the facts that their states show; a hand costs `work`."""

    def __init__(self, target: Target, secret: bytes) -> None:
        self._target = target
        self._chance = Chance(secret)
        self._dealer = Dealer(target, self._chance)
        self._known: KnownHands[Hand] = KnownHands(FastChance(self._chance.bytes(16)))
        self._decided = False
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True if hands can be played; without rules, `RecordedExtremes` joins recorded moves."""
        return self._target.rules is not None

    def places(self) -> Iterator[tuple[Site, int]]:
        """The places of one hand that show something new, or lead to it, each with the number of
        cases that are worth trying there."""
        goal = self._known.next_goal()
        hand = self._next_hand(goal)
        turns, actions = self._played(hand, goal)
        hand = replace(hand, actions=actions)
        worth = [
            self._known.learn(hand, at, *place_of(turn), turn.amount, turn.play)
            for at, turn in enumerate(turns)
        ]
        for at, turn in enumerate(turns):
            cases = max(worth[at : at + 2])
            if cases and turn.before.validator in self._target.present:
                yield site_of(self._target, turn, turns), cases

    # --- hands -------------------------------------------------------------------------------

    def _next_hand(self, goal: Goal | None) -> Hand:
        """A new hand, or a change of one that came furthest to the goal, or shows a rare fact."""
        chance = self._chance
        known = self._known.pick(goal)
        if known is None:
            return Hand(*self._dealer.deal(any_terms(self._target, chance)), ())
        hand, at = known
        has_deck = bool(self._target.game.deck_positions)
        changes: list[Callable[[Hand, int], Hand]] = []
        if self._decided:
            changes += [self._from_here, self._from_here, self._elsewhere, self._elsewhere]
        if not has_deck:
            changes += [self._on_other_terms]
        if not has_deck and self._target.game.entropy_size:
            changes += [self._with_another_secret, self._with_another_secret]
        return chance.pick(changes)(hand, at) if changes else self._from_here(hand, 0)

    def _from_here(self, hand: Hand, at: int) -> Hand:
        """The hand up to this move or an earlier one, and other decisions from there on."""
        chance = self._chance
        kept = at + 1 if chance.chance(25) else chance.between(max(at - 2, 0), at)
        kept = chance.between(0, at) if chance.chance(25) else kept
        return replace(hand, actions=hand.actions[:kept])

    def _elsewhere(self, hand: Hand, at: int) -> Hand:
        """The hand with one or two decisions made anew."""
        actions = list(hand.actions)
        for _ in range(self._chance.between(1, 2)):
            actions[self._chance.below(len(actions))] = None
        return replace(hand, actions=tuple(actions))

    def _on_other_terms(self, hand: Hand, at: int) -> Hand:
        return replace(hand, terms=any_terms(self._target, self._chance))

    def _with_another_secret(self, hand: Hand, at: int) -> Hand:
        """The hand with other secret bytes of one player: with those of some draws by which it
        hides nearly what it did, or nearly what its opponent does, or with any."""
        chance, game = self._chance, self._target.game
        seat = Seat(chance.below(2))
        like = chance.pick((seat, seat.other, None)) if game.hidden else None
        drawn = [chance.bytes(ENTROPY_SIZE) for _ in range(1 if like is None else DRAWS)]
        if like is not None:
            self.work += A_DRAW * DRAWS
            wanted = hidden_values(game, like, hand.entropy[like])

            def alike(entropy: bytes) -> int:
                values = hidden_values(game, seat, entropy)
                return sum(
                    one == other
                    for name in values
                    for one, other in zip(values[name], wanted.get(name, b""), strict=False)
                )

            drawn = [max(drawn, key=alike)]
        mine, theirs = drawn[0], hand.entropy[seat.other]
        entropy = (mine, theirs) if seat is Seat.ALICE else (theirs, mine)
        return replace(hand, entropy=entropy)

    def _policy(self, goal: Goal | None, hand: Hand, made: Sequence[Action]) -> Policy:
        """The policy of both players where a hand with these decisions goes on anew."""
        chance = self._chance
        if goal is not None and chance.chance(60):
            return self._towards(goal, hand.terms.amount)
        return chance.pick((stubborn(chance), repeating(made), to_the_limits, any_action))

    def _towards(self, goal: Goal, amount: int) -> Policy:
        """A policy that mostly takes the action which drives the number furthest, and that does
        not end the hand."""

        def policy(player: Player, chance: Chance) -> Action:
            choices = player.choices()
            drawn = (near_a_limit(chance.pick(choices), chance) for _ in range(OPTIONS))
            few = tuple(dict.fromkeys(drawn))
            if len(few) == 1 or chance.chance(15):
                return few[0]
            return max(few, key=lambda action: worth(player, action))

        def worth(player: Player, action: Action) -> tuple[bool, int]:
            self.work += A_LOOK
            play = player.act(action)
            if not isinstance(play, Play):
                return how_far(goal, None)
            game, hashes = self._target.game, self._target.hashes
            return how_far(goal, own_move(game, hashes, player.position, amount, play))

        return policy

    def _played(
        self, hand: Hand, goal: Goal | None
    ) -> tuple[list[PlayedMove], tuple[Action | None, ...]]:
        """The moves of a hand, and the decisions that were made in it."""
        target, chance = self._target, self._chance
        made: list[Action] = []
        otherwise = self._policy(goal, hand, made)

        def policy(player: Player, chance: Chance) -> Action:
            choices = player.choices()
            self._decided |= len(choices) > 1 or isinstance(choices[0], Amount | OneOf)
            before = hand.actions[len(made)] if len(made) < len(hand.actions) else None
            offered = before is not None and is_offered(before, choices)
            action = before if before is not None and offered else otherwise(player, chance)
            made.append(action)
            return action

        played = turns_of(
            target.game, target.hashes, hand.terms, hand.entropy, (policy,) * 2, chance
        )
        turns = list(islice(played, LONGEST))
        self.work += A_TURN * len(turns)
        return turns, tuple(made)


def place_of(turn: PlayedMove) -> tuple[str, Value]:
    """The validator and the state before a move."""
    state = turn.before.state
    return turn.before.validator or "", NIL if state is None else state.value()


def is_offered(action: Action, choices: Sequence[Choice]) -> bool:
    """True if one of the choices allows this action."""
    return any(choice.verb == action.verb and takes(choice, action.amount) for choice in choices)


def repeating(made: Sequence[Action]) -> Policy:
    """A policy that repeats the last action of a hand, its opponent's, where it can."""

    def policy(player: Player, chance: Chance) -> Action:
        choices = player.choices()
        if made and is_offered(made[-1], choices):
            return made[-1]
        verbs = [choice for choice in choices if made and choice.verb == made[-1].verb]
        return near_a_limit(chance.pick(verbs or choices), chance)

    return policy
