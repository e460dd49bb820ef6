"""A table for two players of a game: what a channel does, without the channel.

Every move is judged by the Python rules and by the program, as a challenger would have it
judged, and both must lead to the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from channelsim.clsp.run import Outcome, run_serialized
from channelsim.clsp.values import NIL, Value
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.choices import forced_action
from channelsim.games.contract import (
    Action,
    Game,
    Hand,
    Next,
    Play,
    Player,
    Policy,
    Position,
    Raise,
    Seat,
    Step,
    Terms,
    Valid,
    Verdict,
)
from channelsim.games.dealing import deal
from channelsim.games.evidence import as_evidence
from channelsim.games.hidden import seated
from channelsim.games.judge import NO_ADDRESS, disagreement, hashes_of, position_after
from channelsim.games.players import player_after
from channelsim.games.referee import FIRST, GameCoin, validator_arguments

GAME = registry.get("spacepoker")
HASHES = hashes_of(GAME)
NAMES = ("ann", "ben")

Decide = Callable[[Player], Action]


def coin(amount: int, move: bytes, share: int, infohash_b: bytes = b"") -> GameCoin:
    return GameCoin(
        mover_key=b"\xaa" * 48,
        waiter_key=b"\xbb" * 48,
        timeout=15,
        amount=amount,
        mod_hash=b"\xcc" * 32,
        nonce=0,
        move=move,
        max_move_size=0,
        infohash_b=infohash_b,
        mover_share=share,
        infohash_a=FIRST,
    )


def ask_rules(
    before: Position, move: bytes, share: int, amount: int, evidence: Value = NIL, game: Game = GAME
) -> Verdict:
    assert before.validator is not None
    judge = game.validators[before.validator].judge
    return judge(before.state, move, share, amount, evidence, hashes_of(game))


def ask_program(
    before: Position, move: bytes, share: int, amount: int, evidence: Value = NIL, game: Game = GAME
) -> Outcome:
    assert before.validator is not None
    assert before.state is not None
    program = game.programs[before.validator]
    arguments = validator_arguments(
        coin(amount, move, share), before.state.value(), program, evidence, NO_ADDRESS
    )
    return run_serialized(program.serialized, arguments)


def ask_both(
    before: Position, move: bytes, share: int, amount: int, evidence: Value = NIL, game: Game = GAME
) -> Verdict:
    """The verdict of the rules, which must be the program's too, the next record included."""
    verdict = ask_rules(before, move, share, amount, evidence, game)
    outcome = ask_program(before, move, share, amount, evidence, game)
    assert disagreement(verdict, outcome, hashes_of(game)) is None
    return verdict


@dataclass
class Table:
    """A game in progress; `sent` are the bytes and shares that were played, in order."""

    terms: Terms
    players: tuple[Player, Player]
    game: Game = GAME
    advise: bool = True
    steps: list[Step] = field(default_factory=list)
    sent: list[Play] = field(default_factory=list)
    payouts: tuple[int, int] | None = None

    @property
    def position(self) -> Position:
        return self.players[0].position

    @property
    def hand(self) -> Hand:
        return Hand(self.terms, NAMES, tuple(self.steps), self.payouts)

    def step(self, action: Action) -> None:
        """One action by whose turn it is: a move judged by both, or a settlement."""
        before, earlier = self.position, self.players
        seat = before.mover
        play = self.players[seat].act(action)
        if isinstance(play, Play):
            held = self.players[seat.other].evidence(before, play.move)
            evidence = [as_evidence(one).value for one in held]
            following = self.judged_valid(before, play, evidence or (NIL,))
            assert len(play.move) <= before.max_move_size
            assert 0 <= play.share <= self.terms.amount
            self.sent.append(play)
            after = position_after(before, following, play.move, play.share)
            alice, bob = (
                player_after(player, after, play.memory if player.seat is seat else b"")
                for player in self.players
            )
            self.players = (alice, bob)
        else:
            after = before
            mine, yours = before.mover_share, self.terms.amount - before.mover_share
            self.payouts = (mine, yours) if seat is Seat.ALICE else (yours, mine)
        self.steps.append(Step(seat, action, before, after, earlier, self.players))
        if self.advise and self.payouts is None:
            self.exchange_advisories()

    def judged_valid(self, before: Position, play: Play, evidence: Sequence[Value]) -> Next | None:
        """The position after a move that both judges must find legal against all this evidence."""
        following: list[Next | None] = []
        for one in (play.evidence, *evidence):
            verdict = ask_both(before, play.move, play.share, self.terms.amount, one, self.game)
            if isinstance(verdict, Raise):
                assert one == NIL
                continue
            assert isinstance(verdict, Valid), verdict
            following.append(verdict.next)
        assert following
        return following[0]

    def exchange_advisories(self) -> None:
        alice, bob = self.players
        from_alice, from_bob = alice.advisory(), bob.advisory()
        if from_alice is not None:
            bob = bob.advised(from_alice)
        if from_bob is not None:
            alice = alice.advised(from_bob)
        self.players = (alice, bob)

    def play(self, *decide: Decide) -> Table:
        """Play until the hand is settled; forced choices are taken without asking."""
        while self.payouts is None:
            self.step(self.next_action(*decide))
        return self

    def next_action(self, *decide: Decide) -> Action:
        seat = self.position.mover
        player = self.players[seat]
        assert self.players[seat.other].choices() == ()
        return forced_action(player.choices()) or decide[seat](player)

    def until(self, validator: str, *decide: Decide) -> Table:
        """Play up to the first move that this validator is to judge."""
        while self.position.validator != validator:
            self.step(self.next_action(*decide))
        return self


def sit_down(
    seed: bytes | str, unit: int = 100, stack: int = 10, game: Game = GAME, advise: bool = True
) -> Table:
    """Two players at the start of a game, their entropy from the seed."""
    terms = game.terms(game.default_parameters(unit, stack))
    chance = Chance(seed.encode() if isinstance(seed, str) else seed)
    if game.deck_positions:
        terms, entropies = deal(game, terms, chance)
    else:
        first, second = (bytes(chance.below(256) for _ in range(32)) for _ in Seat)
        entropies = (first, second)
    alice, bob = (
        seated(game, seat, terms, entropy) for seat, entropy in zip(Seat, entropies, strict=True)
    )
    return Table(terms, (alice, bob), game, advise)


def by_policy(name: str, seed: bytes | str, game: Game = GAME) -> Decide:
    policy: Policy = game.policies[name]
    chance = Chance(seed.encode() if isinstance(seed, str) else seed)
    return lambda player: policy(player, chance)


def by_script(actions: Sequence[str]) -> Decide:
    """Reads one written action after another; both players may share a script."""
    left = list(actions)
    return lambda player: GAME.read_action(player, left.pop(0))
