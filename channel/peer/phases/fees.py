"""Fees in every phase: they are added to what a transition pushes."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fees.answers import react
from channelsim.channel.peer.fees.coins import find_fee_coins
from channelsim.channel.peer.fees.fee_state import FeeState, limits_of
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.fees.paying import pay
from channelsim.channel.peer.interface import Dropped, Effect, Pinned, Push, Refused
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition

SPARE_COINS = 2
"""Fee coins that are kept ready beside one for each live game."""

IN_USE = (Phase.FUNDING, Phase.PLAYING, Phase.ON_CHAIN)
"""The phases in which fee coins are kept ready."""


def pays_fees(config: Config, state: PeerState) -> bool:
    """True if a peer pays fees, by its maxima as of now."""
    fee_wallet = _fee_wallet(config, state)
    return fee_wallet is not None and fee_wallet.is_used


def pay_for(config: Config, state: PeerState, effects: list[Effect], *, scan: bool) -> Transition:
    """Add fees to what is pushed; `scan`: by a block, which repeats all that is due."""
    if not scan and not any(isinstance(effect, Push) for effect in effects):
        return state, effects
    ready = 0
    if state.phase in IN_USE and state.play is not None:
        ready = SPARE_COINS + len(state.play.state.games)
    fee_wallet = _fee_wallet(config, state)
    if fee_wallet is None:
        return state, effects
    fee_state, effects = pay(fee_wallet, state.fees, effects, ready=ready, scan=scan)
    return with_fee_state(state, fee_state), effects


def react_to(config: Config, state: PeerState, answer: Pinned | Dropped | Refused) -> Transition:
    """React to the node's answer to a push."""
    fee_state, effects = react(_fee_wallet(config, state), state.fees, answer)
    return with_fee_state(state, fee_state), effects


def _fee_wallet(config: Config, state: PeerState) -> FeeWallet | None:
    """The wallet for fees as of the state's block; None if the peer pays no fees."""
    fees, block = config.fees, state.block
    if fees is None:
        return None
    confirmations = config.agreement.confirmations
    return FeeWallet(
        key=fees.wallet.key,
        coins=find_fee_coins(fees.wallet.coin, block),
        limits=limits_of(fees, state.fees),
        peak=block.peak,
        confirmations=confirmations,
        total=sum(config.agreement.contributions),
        agg_sig_data=config.agg_sig_data,
        final=_finally_spent(block, confirmations),
    )


def _finally_spent(block: Block, confirmations: int) -> set[bytes]:
    """The ids of the coins whose spends are final: those in the block, and their parents."""
    last = block.peak - confirmations
    spent = (one.coin.id for one in block.coins if one.spent is not None and one.spent < last)
    return {*spent, *(one.coin.parent for one in block.coins if one.born < last)}


def with_fee_state(state: PeerState, fee_state: FeeState) -> PeerState:
    """The state with these fees; the same one if they are the same."""
    return (
        state
        if fee_state is state.fees or fee_state == state.fees
        else replace(state, fees=fee_state)
    )
