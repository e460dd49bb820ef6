"""The settings of one peer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet
from channelsim.games.hidden import Lies


@dataclass(frozen=True, slots=True)
class Config:
    """Identity, wallet and settings of a peer, for one channel.

    `secret` (32 bytes) is for this channel only; `peer` is the counterparty's name. `entropy`
    gives the secret bytes of a game by its id. `fees` is what we pay on chain (None: nothing),
    `limits` the most that we keep of the channel. `lies` are told by one side of a simulated
    dispute only: those about what its seat hides in a game (`Game.hidden`).
    """

    name: str
    peer: str
    side: Side
    secret: bytes = field(repr=False)
    reward_address: bytes
    wallet: Wallet = field(repr=False)
    agreement: Agreement
    agg_sig_data: bytes
    entropy: Callable[[int], bytes] = field(repr=False)
    fees: Fees | None = None
    limits: Limits = field(default_factory=Limits)
    lies: Lies = ()
