"""The state that both peers agree on, and the conditions that pay it out on chain.

Source: spec/channel.md, "Coins". Both sides must build the same bytes: no memos, no other
conditions, anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import msgspec
from chia_rs import G1Element

from channelsim.channel.chain.coins import (
    REMARK,
    Coin,
    launcher_coin,
    standard_message,
    standard_puzzle_hash,
)
from channelsim.channel.crypto.keys import PublicKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.messages import Offer
from channelsim.channel.protocol.unroll import (
    timeout_form,
    to_unroll,
    unroll_puzzle,
    unroll_puzzle_hash,
)
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, list_of, tree_hash
from channelsim.games.amounts import counted
from channelsim.games.contract import Next, Position, Seat, Terms
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.judge import position_after
from channelsim.games.referee import CREATE_COIN, GameCoin


class Side(IntEnum):
    """One end of a channel: the initiator starts the handshake and holds even states."""

    INITIATOR = 0
    RECEIVER = 1

    @property
    def other(self) -> Side:
        """The other end."""
        return Side.RECEIVER if self is Side.INITIATOR else Side.INITIATOR


class Predecessor(msgspec.Struct, frozen=True):
    """The position and coin in which a game's last move was made, behind its coin's INFOHASH_A."""

    position: Position
    coin: GameCoin


@dataclass(frozen=True, slots=True)
class LiveGame:
    """A game in progress: its current coin and its position under the rules.

    `before` is None on the first coin. `alice` is the side that moves first. `memory` is what our
    seat remembers of the last move if it was ours (`Play.memory`); the other side does not know it.
    """

    id: int
    terms: Terms
    alice: Side
    coin: GameCoin
    position: Position
    before: Predecessor | None
    memory: bytes = field(default=b"", repr=False)

    def seat(self, side: Side) -> Seat:
        """The role of this side in the game."""
        return Seat.ALICE if side is self.alice else Seat.BOB

    def side(self, seat: Seat) -> Side:
        """The side that plays this role."""
        return self.alice if seat is Seat.ALICE else self.alice.other

    @property
    def mover(self) -> Side:
        """The side whose turn it is."""
        return self.alice if self.position.mover is Seat.ALICE else self.alice.other

    def after(self, coin: GameCoin, step: Next | None, memory: bytes = b"") -> LiveGame:
        """The game after a move to this coin, with the record that its validator gives.

        `step` is None if nobody plays on: the game is over, or the move is illegal. `memory` is
        that of our own move.
        """
        position = position_after(self.position, step, coin.move, coin.mover_share)
        before = Predecessor(self.position, self.coin)
        return LiveGame(self.id, self.terms, self.alice, coin, position, before, memory)

    def shares(self) -> tuple[int, int]:
        """The payouts to the initiator and the receiver if the game ends here, in mojos."""
        shares = [0, 0]
        shares[self.mover] = self.coin.mover_share
        shares[self.mover.other] = self.coin.waiter_share
        return shares[0], shares[1]


class Group(msgspec.Struct, frozen=True):
    """An open proposal: one or more games, all or nothing, known by its first game's id."""

    proposer: Side
    offers: tuple[Offer, ...]

    @property
    def id(self) -> int:
        """The id of the first game."""
        return self.offers[0].game_id

    def decks(self) -> tuple[int, ...]:
        """The numbers of the prepared decks that the games name."""
        return tuple(offer.deck.number for offer in self.offers if offer.deck is not None)

    def stakes(self) -> tuple[int, int]:
        """The total stakes of the initiator and the receiver, in mojos."""
        return (
            sum(offer.stakes[0] for offer in self.offers),
            sum(offer.stakes[1] for offer in self.offers),
        )


class ChannelState(msgspec.Struct, frozen=True):
    """One agreed state. `balances` are outside games: the initiator's, then the receiver's.

    `games` are sorted by id; `next_ids` are the least ids that each side may still use.
    """

    number: int
    balances: tuple[int, int]
    games: tuple[LiveGame, ...] = ()
    groups: tuple[Group, ...] = ()
    next_ids: tuple[int, int] = (0, 1)

    def game(self, game_id: int) -> LiveGame | None:
        """The live game with this id."""
        return next((game for game in self.games if game.id == game_id), None)

    def group(self, group_id: int) -> Group | None:
        """The open proposal with this id."""
        return next((group for group in self.groups if group.id == group_id), None)


@dataclass(frozen=True, slots=True)
class Channel:
    """The facts of a channel that both sides know. They never change, but for its decks.

    `keys` and `rewards` (puzzle hashes) are the initiator's, then the receiver's;
    `agg_sig_data` is what the network appends to AGG_SIG_ME messages. `decks` are the finished
    decks of games that may start or go on, by number, without the locks of either side.
    """

    keys: tuple[PublicKeys, PublicKeys]
    rewards: tuple[bytes, bytes]
    payout_signatures: tuple[bytes, bytes]
    contributions: tuple[int, int]
    unroll_timeout: int
    agg_sig_data: bytes
    launcher_parent: Coin
    channel_key: G1Element
    unroll_key: G1Element
    coin: Coin
    decks: Mapping[int, FinishedDeck] = field(default_factory=dict)
    _known: dict[tuple[object, ...], StateOnChain] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Results of `on_chain`, which every block asks for the same states."""

    @classmethod
    def of(
        cls,
        *,
        keys: tuple[PublicKeys, PublicKeys],
        rewards: tuple[bytes, bytes],
        payout_signatures: tuple[bytes, bytes],
        contributions: tuple[int, int],
        unroll_timeout: int,
        agg_sig_data: bytes,
        launcher_parent: Coin,
    ) -> Channel:
        """Derive the sum keys and the channel coin from the facts that the sides exchanged."""
        channel_key = keys[0].channel + keys[1].channel
        launcher = launcher_coin(launcher_parent)
        return cls(
            keys=keys,
            rewards=rewards,
            payout_signatures=payout_signatures,
            contributions=contributions,
            unroll_timeout=unroll_timeout,
            agg_sig_data=agg_sig_data,
            launcher_parent=launcher_parent,
            channel_key=channel_key,
            unroll_key=keys[0].unroll + keys[1].unroll,
            coin=Coin(launcher.id, standard_puzzle_hash(bytes(channel_key)), sum(contributions)),
        )

    @property
    def launcher(self) -> Coin:
        """The launcher that makes the channel coin."""
        return launcher_coin(self.launcher_parent)

    # --- a state on chain ----------------------------------------------------------------

    def preemption_conditions(self, state: ChannelState) -> Value:
        """The conditions of a state: its number, the balances, a coin for each game."""
        coins = [list_of(CREATE_COIN, *paid) for paid in self.paid(state)]
        return list_of(list_of(REMARK, state.number), *coins)

    def timeout_conditions(self, state: ChannelState) -> Value:
        """The conditions of a timeout: those of the preemption after a relative time lock."""
        return timeout_form(self.preemption_conditions(state), self.unroll_timeout)

    def unroll_puzzle(self, state: ChannelState) -> Program:
        """The puzzle of this state's unroll coin."""
        return unroll_puzzle(
            bytes(self.unroll_key),
            self.unroll_timeout,
            state.number,
            self.preemption_conditions(state),
        )

    def shutdown_conditions(self, state: ChannelState) -> Value:
        """The conditions of a clean shutdown, which pay both balances except a 0."""
        if state.games:
            raise InvariantError("a shutdown with live games")
        return list_of(*(list_of(CREATE_COIN, *paid) for paid in self.paid(state)))

    def shutdown_message(self, state: ChannelState) -> bytes:
        """The message that both channel keys sign for the clean shutdown."""
        conditions = tree_hash(self.shutdown_conditions(state))
        return standard_message(conditions, self.coin.id, self.agg_sig_data)

    def on_chain(self, state: ChannelState) -> StateOnChain:
        """The unroll coin of a state, and the messages that its half-signatures sign."""
        paid = (state.number, state.balances, *(game.coin for game in state.games))
        known = self._known.get(paid)
        if known is None:
            total = sum(state.balances) + sum(game.coin.amount for game in state.games)
            if total != self.coin.amount:
                raise InvariantError(f"state {state.number} holds {counted(total, 'mojo')}")
            conditions = tree_hash(self.preemption_conditions(state))
            known = self._known[paid] = self.on_chain_of(state.number, conditions)
        return known

    def on_chain_of(self, number: int, conditions: bytes) -> StateOnChain:
        """The same of a state that is known by the tree hash of its preemption conditions."""
        unroll = unroll_puzzle_hash(bytes(self.unroll_key), self.unroll_timeout, number, conditions)
        to_create_it = tree_hash(to_unroll(unroll, self.coin.amount))
        return StateOnChain(
            unroll_puzzle_hash=unroll,
            channel_conditions=to_create_it,
            channel_message=standard_message(to_create_it, self.coin.id, self.agg_sig_data),
            unroll_message=conditions,
        )

    def paid(self, state: ChannelState) -> list[tuple[bytes, int]]:
        """The puzzle hashes and amounts of the coins that a state pays, in order."""
        balances = zip(self.rewards, state.balances, strict=True)
        return [
            *((address, balance) for address, balance in balances if balance),
            *((game.coin.puzzle_hash(), game.coin.amount) for game in state.games),
        ]


class StateOnChain(msgspec.Struct, frozen=True):
    """A state's unroll coin, and the messages of its two half-signatures.

    `channel_conditions` is the tree hash of the conditions that create that coin.
    """

    unroll_puzzle_hash: bytes
    channel_conditions: bytes
    channel_message: bytes
    unroll_message: bytes
