"""The states of a channel, computed from the messages and the rules of the games alone.

Independent of the engine: each state has the balances and the positions of its games. A move is
legal if no evidence of one byte slashes it, nor any that comes with a signature: such evidence is
public, and every player of the game has it. Our games take no other evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from channelsim.channel.protocol.messages import Offer
from channelsim.clsp.values import NIL, BadValue, atom_to_int, deserialize, tree_hash
from channelsim.games import registry
from channelsim.games.contract import (
    Next,
    Player,
    Position,
    Raise,
    Seat,
    SharedDeck,
    Slash,
    Terms,
    Valid,
)
from channelsim.games.contract import State as GameState
from channelsim.games.dealing import secret_size, shared_deck
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.errors import BadTerms
from channelsim.games.evidence import Evidence, as_evidence, for_challenger
from channelsim.games.hidden import seated
from channelsim.games.judge import hashes_of
from channelsim.games.referee import FIRST, GameCoin, infohash, referee

Decks = Mapping[int, FinishedDeck]
"""All decks that a channel ever had ready, by number, as the honest side has them."""

EVERY_EVIDENCE = tuple(map(as_evidence, (NIL, *(bytes([number]) for number in range(256)))))


@dataclass(frozen=True, slots=True)
class LedgerGame:
    """A game as the messages declare it; `mover` and `alice` are sides (0: the initiator).

    `validator` and `state` are None once no move can follow, or after an illegal one. `faults`
    are the rules that the last move broke; `illegal`: the mover can prove it.
    """

    terms: Terms
    alice: int
    mover: int
    coin: GameCoin
    validator: str | None
    state: GameState | None
    faults: tuple[str, ...] = ()
    illegal: bool = False

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.terms.game

    @property
    def amount(self) -> int:
        """The amount of the game coin, in mojos: both stakes."""
        return self.coin.amount

    @property
    def over(self) -> bool:
        """True if the last move ended the game, or declared that it did."""
        return not self.coin.infohash_b

    def share(self, side: int) -> int:
        """The share of this side at a timeout, in mojos."""
        return self.coin.mover_share if side == self.mover else self.coin.waiter_share

    def moved(self, move: bytes, commitment: bytes, share: int, size: int) -> LedgerGame:
        """The game after a move as declared, with the rules that the move breaks.

        Raises `RefereeRefusal` for a move that no game coin allows.
        """
        coin = self.coin.after(move, commitment, share, size)
        after = replace(
            self,
            mover=1 - self.mover,
            coin=coin,
            faults=("CH-MOVE-4",),
            illegal=False,
            validator=None,
            state=None,
        )
        if self.validator is None or self.state is None:
            return after
        slashed, valid, step = _judged(
            *(self.game, self.validator, self.state, self.amount, move, share),
            self._known_evidence(move),
        )
        wrong = valid and (commitment, size) != _committed(self.game, step)
        if slashed or wrong or not valid:
            faults = ("CH-MOVE-4",) * (slashed or not valid) + ("CH-MOVE-5",) * wrong
            return replace(after, faults=faults, illegal=slashed or wrong)
        return replace(
            after,
            faults=(),
            validator=step.validator if step else None,
            state=step.state if step else None,
        )

    def _known_evidence(self, move: bytes) -> tuple[Evidence, ...]:
        """The evidence against a move that anybody at the opponent's seat would try."""
        coin = self.coin
        mover = Seat.ALICE if self.mover == self.alice else Seat.BOB
        before = Position(
            self.validator, self.state, mover, coin.mover_share, coin.max_move_size, coin.move
        )
        return tuple(map(as_evidence, _anyone(self.terms, mover.other).evidence(before, move)))


@lru_cache(maxsize=64)
def _anyone(terms: Terms, seat: Seat) -> Player:
    """A player at this seat, without a secret that matters."""
    rules = registry.get(terms.game)
    return seated(rules, seat, terms, bytes(secret_size(rules)))


def _committed(game: str, step: Next | None) -> tuple[bytes, int]:
    """The commitment and the size limit of a move to this step."""
    if step is None:
        return b"", 0
    hashes = hashes_of(registry.get(game))
    state = tree_hash(step.state.value())
    return infohash(hashes[step.validator], state), step.max_move_size


@lru_cache(maxsize=4096)
def _judged(
    game: str,
    validator: str,
    state: GameState,
    amount: int,
    move: bytes,
    share: int,
    known: tuple[Evidence, ...],
) -> tuple[bool, bool, Next | None]:
    """Judge a move: if some evidence slashes it, if some lets it pass, and the next step."""
    rules = registry.get(game)
    judge, hashes = rules.validators[validator].judge, hashes_of(rules)
    slashed = valid = False
    step: Next | None = None
    for evidence in (*EVERY_EVIDENCE, *known):
        verdict = judge(state, move, share, amount, evidence.value, hashes)
        if evidence.signature:
            verdict = for_challenger(verdict, evidence.signature)
        match verdict:
            case Slash():
                slashed = True
            case Valid(following):
                valid, step = True, following
            case Raise():
                pass
    return slashed, valid, step


def first(
    offer: Offer, proposer: int, referee_keys: tuple[bytes, bytes], decks: Decks
) -> LedgerGame:
    """The game before the first move. Raises `UnknownGame` or `BadTerms`."""
    rules = registry.get(offer.game)
    alice = proposer if offer.proposer_is_alice else 1 - proposer
    deck = _deck(offer, rules.deck_positions, alice, decks)
    terms = replace(rules.terms(offer.parameters), deck=deck)
    initial = rules.initial(terms)
    step = Next(initial.validator, initial.state, initial.max_move_size)
    commitment, size = _committed(offer.game, step)
    coin = GameCoin(
        mover_key=referee_keys[alice],
        waiter_key=referee_keys[1 - alice],
        timeout=offer.timeout,
        amount=terms.amount,
        mod_hash=referee().hash,
        nonce=offer.game_id,
        move=b"",
        max_move_size=size,
        infohash_b=commitment,
        mover_share=initial.mover_share,
        infohash_a=FIRST,
    )
    return LedgerGame(terms, alice, alice, coin, initial.validator, initial.state)


def _deck(offer: Offer, positions: int, alice: int, decks: Decks) -> SharedDeck | None:
    """The deck of an offer's game; None without one. Raises `BadTerms` if it names another."""
    if (offer.deck is None) != (positions == 0):
        raise BadTerms("a deck where none is needed, or none where one is")
    if offer.deck is None:
        return None
    deck = decks.get(offer.deck.number)
    if deck is None or deck.root(positions) != offer.deck.root:
        raise BadTerms("another deck")
    return shared_deck(deck, positions, Seat.ALICE if alice == 0 else Seat.BOB)


def stakes(offer: Offer, proposer: int) -> tuple[int, int]:
    """The stakes of the initiator and the receiver, in mojos, by the game's terms."""
    terms = registry.get(offer.game).terms(offer.parameters)
    alice_side = proposer if offer.proposer_is_alice else 1 - proposer
    alice, bob = terms.stakes[Seat.ALICE], terms.stakes[Seat.BOB]
    return (alice, bob) if alice_side == 0 else (bob, alice)


@dataclass(frozen=True, slots=True)
class LedgerState:
    """A state: its balances, games by id, and open proposals by the id of their first game.

    An open proposal is its proposer and its offers. `next_ids` are the least free ids of each
    side.
    """

    number: int
    balances: tuple[int, int]
    games: dict[int, LedgerGame] = field(default_factory=dict)
    open: dict[int, tuple[int, tuple[Offer, ...]]] = field(default_factory=dict)
    next_ids: tuple[int, int] = (0, 1)


def declared_move(solution: bytes | None) -> tuple[bytes, bytes, int, int] | None:
    """The move in a game coin's solution: its bytes, commitment, share and size limit.

    None for any other solution, and for none.
    """
    try:
        value = deserialize(solution or b"")
    except BadValue:
        return None
    match value:
        case (bytes(move), (bytes(commitment), (bytes(share), (bytes(size), b"")))):
            return move, commitment, atom_to_int(share), atom_to_int(size)
        case _:
            return None
