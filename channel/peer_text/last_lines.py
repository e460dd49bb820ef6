"""The first and the last lines of the commands that run a peer: old copies, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from channelsim.channel.chain.interface import Coins
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import ChannelClosed
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.peer_state import PeerState, Phase, play_of
from channelsim.channel.peer_text.channel_overview import ours_at_the_end, unknown_games
from channelsim.channel.peer_text.news_text import amounts_text
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import account_of
from channelsim.channel.session.ending_player import has_unpublished_copy
from channelsim.channel.session.setup import Setup
from channelsim.channel.store.interface import StoreError
from channelsim.games.amounts import counted

# --- an old copy ---------------------------------------------------------------------------------


def publishing_notice(directory: Path, state: PeerState) -> str | None:
    """The warning before an old copy of a store is published; None if it was published before.

    Raises `UsageError` for a store that is not known to be an old copy.
    """
    if state.shown is None:
        raise UsageError(
            f"{directory}: --publish-old: nothing has shown that its store is an old copy; run"
            " `channelsim peer`, or leave the option out"
        )
    if not has_unpublished_copy(state):
        return None
    number = play_of(state).newest.state.number
    return (
        f"{directory}: {_copy(state)}. --publish-old publishes state {number}: the other side can"
        " let it stand or replace it by any newer state that it has, and a watcher cannot prevent"
        " that. An honest other side closes at once when `channelsim peer` connects"
    )


def waiting_notice(state: PeerState) -> str | None:
    """The notice that an old copy waits for the other side; None for another store."""
    if not has_unpublished_copy(state):
        return None
    return (
        f"{_copy(state)}; waits until the other side closes the channel, as an honest one does when"
        " `channelsim peer` connects; `recover --publish-old` publishes what the copy has"
    )


def _copy(state: PeerState) -> str:
    return f"the store is an old copy: it ends before state {state.shown}, which is signed"


# --- the end -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """The last line of a command, and whether it has `failed`.

    A line about hands that were not played comes before it, with the `account` as data.
    """

    text: str
    failed: bool = False
    unplayed: str = ""
    account: Mapping[str, object] = field(default_factory=dict)


def end_of_peer(setup: Setup, state: PeerState, side: Side) -> End:
    """The end of `peer`: it has failed unless a shutdown followed the last hand."""
    account, closed = account_of(setup, state, side), _closed(state)
    balances = ""
    if closed is not None and state.play is not None:
        balances = f"; balances {amounts_text(0, *state.play.state.balances)}"
    failed = closed is None or account.failed
    text = f"{state.phase.value}{balances}"
    if account.reason:
        return End(text, failed, str(account), asdict(account))
    return End(text, failed)


def _closed(state: PeerState) -> ChannelClosed | None:
    """The shutdown that closed the channel, also one that came before a unilateral close."""
    if state.closed is not None or state.dispute is None:
        return state.closed
    found = (fact for fact in state.dispute.reported if isinstance(fact, ChannelClosed))
    return next(found, None)


def end_of_channel(directory: Path, config: Config, state: PeerState, chain: Coins) -> End:
    """The end of `close` and `recover`.

    Raises `StoreError` as `check_unfunded` does, and `NodeError`.
    """
    if state.phase is Phase.CLOSED:
        return end_of_paid_channel(config, state)
    wallet = chain.coin(config.wallet.coin.id)
    check_unfunded(directory, state, wallet)
    return end_of_unfunded_channel(state, wallet, chain.peak())


def end_of_paid_channel(config: Config, state: PeerState) -> End:
    """The end of a channel that has paid out."""
    ours = counted(ours_at_the_end(state), "mojo")
    address = config.reward_address.hex()
    unknown = unknown_games(state)
    more = f", and what {counted(unknown, 'game')} paid that the old copy lacks" if unknown else ""
    return End(f"the channel has ended: {ours} at our reward address {address}{more}")


def end_of_unfunded_channel(state: PeerState, wallet: CoinSeen | None, peak: int) -> End:
    """The end of a channel that is not funded at this height; `wallet` is the wallet's coin."""
    free = "; the wallet's coin is free" if wallet is not None and wallet.spent is None else ""
    opened = state.opening.opened
    late = f", past its deadline {opened.deadline}" if opened is not None else ""
    return End(f"the channel is not funded as of height {peak}{late}{free}")


def check_unfunded(directory: Path, state: PeerState, wallet: CoinSeen | None) -> None:
    """Check that a peer that has signed nothing that funds the channel can trust its store.

    Raises `StoreError` if the wallet's coin was spent: the store may be an older copy.
    """
    if wallet is not None and wallet.spent is not None and state.opening.opened is None:
        raise StoreError(
            f"{directory}: its store is from before the funding, but the wallet's coin was spent"
            f" at height {wallet.spent}: unless you spent it otherwise, this is an older copy;"
            " restore the newest backup, then resume with channelsim peer"
        )
