"""Fees in every phase: they are added to what a transition pushes."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fees.book import FeeBook
from channelsim.channel.peer.fees.paying import pay
from channelsim.channel.peer.interface import Effect
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition

SPARE_COINS = 2
"""Fee coins that are kept ready beside one for each live game."""

IN_USE = (Phase.FUNDING, Phase.PLAYING, Phase.ON_CHAIN)
"""The phases in which fee coins are kept ready."""


def pay_for(config: Config, state: PeerState, effects: list[Effect], *, scan: bool) -> Transition:
    """Add fees to what is pushed; `scan`: by a block, which repeats all that is due."""
    ready = 0
    if state.phase in IN_USE and state.play is not None:
        ready = SPARE_COINS + len(state.play.state.games)
    book, effects = pay(config, state.fees, state.block, effects, ready=ready, scan=scan)
    return with_book(state, book), effects


def with_book(state: PeerState, book: FeeBook) -> PeerState:
    """The state with these fees; the same one if they are the same."""
    return state if book is state.fees or book == state.fees else replace(state, fees=book)
