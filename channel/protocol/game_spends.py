"""The spends of a game coin, complete with their signatures.

Source: spec/referee.md, "The game coin". Those of the channel coin and of
unroll coins are in `channelsim.channel.protocol.half_signed`.
"""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.state import Channel, LiveGame, Side
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize, tree_hash
from channelsim.games.evidence import Evidence
from channelsim.games.referee import GameCoin, move_solution, slash_solution, timeout_solution


def move_bundle(
    channel: Channel, secret: SecretKeys, coin: Coin, before: GameCoin, after: GameCoin
) -> Bundle:
    """The move from one game coin to the next; building it again gives the same bytes."""
    solution = move_solution(after)
    message = tree_hash(solution) + coin.id + channel.agg_sig_data
    return Bundle((_spend(coin, before, solution),), bls.sign(secret.referee, message))


def claim_bundle(channel: Channel, coin: Coin, game: LiveGame) -> Bundle:
    """The timeout, which pays both shares with the payout signatures of the handshake."""
    mover, waiter = game.mover, game.mover.other
    solution = timeout_solution(game.coin, channel.rewards[mover], channel.rewards[waiter])
    paid = [
        channel.payout_signatures[side]
        for side, share in ((mover, game.coin.mover_share), (waiter, game.coin.waiter_share))
        if share
    ]
    signature = bls.add(*paid) if paid else NO_SIGNATURE
    return Bundle((_spend(coin, game.coin, solution),), signature)


def slash_bundle(
    channel: Channel,
    coin: Coin,
    game: LiveGame,
    state: Value,
    validator: Program,
    evidence: Evidence,
) -> Bundle:
    """The slash of the move that created this coin: its mover gets the whole amount.

    The bundle is signed for the payout, and for the extra conditions that the evidence meets.
    """
    mover = game.mover
    solution = slash_solution(state, validator, evidence.value, channel.rewards[mover])
    signature = channel.payout_signatures[mover]
    if evidence.signature:
        signature = bls.add(signature, evidence.signature)
    return Bundle((_spend(coin, game.coin, solution),), signature)


def payout(channel: Channel, coin: Coin, side: Side, amount: int) -> Coin | None:
    """The coin that a game coin pays this side; None for nothing."""
    return Coin(coin.id, channel.rewards[side], amount) if amount else None


def _spend(coin: Coin, game_coin: GameCoin, solution: Value) -> Spend:
    return Spend(coin, game_coin.puzzle().serialized, serialize(solution))
