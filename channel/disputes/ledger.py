"""What two peers owe each other, worked out from what they said and from the games' rules alone.

Written apart from the engine, on purpose: it takes batches as they were delivered, and says
for every state what each side has, and where its games stand. Whether a move is legal it
finds by trying every evidence of one byte, which is all that our games' validators take.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from channel.messages import Accept, Batch, Cancel, Move, Offer, Propose, Settle
from clsp.values import NIL, Value, tree_hash
from games import registry
from games.contract import Next, Raise, Seat, Slash, Valid
from games.contract import State as GameState
from games.judge import hashes_of
from games.referee import infohash

EVERY_EVIDENCE: tuple[Value, ...] = (NIL, *(bytes([number]) for number in range(256)))


@dataclass(frozen=True, slots=True)
class Standing:
    """A game as its players said it stands; `mover` and `alice` are sides (0: the initiator).

    `over`: nothing can be moved any more. `illegal`: the last move broke the rules, and the
    mover can prove it.
    """

    game: str
    alice: int
    amount: int
    mover: int
    mover_share: int
    validator: str | None
    state: GameState | None
    over: bool = False
    illegal: bool = False

    def share(self, side: int) -> int:
        """What this side gets if nothing more happens."""
        return self.mover_share if side == self.mover else self.amount - self.mover_share

    def moved(self, move: bytes, commitment: bytes, share: int, size: int) -> Standing:
        """The game after a move, as it was declared, and judged by us."""
        after = replace(
            self, mover=1 - self.mover, mover_share=share, over=not commitment, illegal=False
        )
        if self.validator is None or self.state is None:
            return replace(after, validator=None, state=None)
        illegal, valid, step = _judged(
            self.game, self.validator, self.state, self.amount, move, share
        )
        if valid and not illegal:
            if step is None:
                illegal = bool(commitment) or size != 0
            else:
                hashes = hashes_of(registry.get(self.game))
                expected = infohash(hashes[step.validator], tree_hash(step.state.value()))
                illegal = commitment != expected or size != step.max_move_size
        known = step is not None and not illegal
        return replace(
            after,
            illegal=illegal,
            validator=step.validator if step and known else None,
            state=step.state if step and known else None,
        )


@lru_cache(maxsize=4096)
def _judged(
    game: str, validator: str, state: GameState, amount: int, move: bytes, share: int
) -> tuple[bool, bool, Next | None]:
    """Whether some evidence slashes a move, whether some lets it through, and to where."""
    rules = registry.get(game)
    judge, hashes = rules.validators[validator].judge, hashes_of(rules)
    illegal = valid = False
    step: Next | None = None
    for evidence in EVERY_EVIDENCE:
        match judge(state, move, share, amount, evidence, hashes):
            case Slash():
                illegal = True
            case Valid(following):
                valid, step = True, following
            case Raise():
                pass
    return illegal, valid, step


def _first(offer: Offer, proposer: int) -> Standing:
    rules = registry.get(offer.game)
    terms = rules.terms(offer.parameters)
    initial = rules.initial(terms)
    alice = proposer if offer.proposer_is_alice else 1 - proposer
    return Standing(
        offer.game,
        alice,
        terms.amount,
        alice,
        initial.mover_share,
        initial.validator,
        initial.state,
    )


def stakes(offer: Offer, proposer: int) -> tuple[int, int]:
    """What the initiator and the receiver stake, by the game's own terms."""
    terms = registry.get(offer.game).terms(offer.parameters)
    first = proposer if offer.proposer_is_alice else 1 - proposer
    alice, bob = terms.stakes[Seat.ALICE], terms.stakes[Seat.BOB]
    return (alice, bob) if first == 0 else (bob, alice)


@dataclass(frozen=True, slots=True)
class Account:
    """A state: balances, games by id, and the open proposals by their first game's id."""

    number: int
    balances: tuple[int, int]
    games: dict[int, Standing] = field(default_factory=dict)
    open: dict[int, tuple[int, tuple[Offer, ...]]] = field(default_factory=dict)

    def after(self, batch: Batch, sender: int) -> Account:
        """The state that a batch leads to. What cannot be is left out: see `Ledger`."""
        balances, games, proposals = list(self.balances), dict(self.games), dict(self.open)
        for action in batch.actions:
            match action:
                case Settle(game_id) if game_id in games:
                    ended = games.pop(game_id)
                    for side in (0, 1):
                        balances[side] += ended.share(side)
                case Cancel(group_id):
                    proposals.pop(group_id, None)
                case Accept(group_id) if group_id in proposals:
                    proposer, offers = proposals.pop(group_id)
                    for offer in offers:
                        staked = stakes(offer, proposer)
                        balances = [balances[side] - staked[side] for side in (0, 1)]
                        games[offer.game_id] = _first(offer, proposer)
                case Move() if action.game_id in games:
                    games[action.game_id] = games[action.game_id].moved(
                        action.move, action.commitment, action.share, action.max_move_size
                    )
                case Propose(offers):
                    proposals[offers[0].game_id] = (sender, offers)
                case _:
                    pass
        return Account(batch.number, (balances[0], balances[1]), games, proposals)

    def total(self) -> int:
        """All the money in it."""
        return sum(self.balances) + sum(game.amount for game in self.games.values())
