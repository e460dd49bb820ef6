"""Check the last line of a command that runs a peer, and how it calls the end, against the chain.

Also what `close` and `recover` say of an old copy of a store before they begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from channelsim.channel.attack.line_facts import SIDES
from channelsim.channel.chain.interface import Chain
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer_text import last_lines
from channelsim.channel.peer_text.channel_overview import ours_at_the_end, unknown_games
from channelsim.channel.peer_text.last_lines import End
from channelsim.channel.session.agreed_hands import account_of
from channelsim.channel.session.setup import Setup
from channelsim.channel.store.interface import StoreError
from channelsim.games.amounts import counted


def wrong_end(
    setup: Setup, config: Config, state: PeerState, chain: Chain, *, ends_channel: bool
) -> Iterator[str]:
    """Find what is wrong with the end of `peer`, or of a command that ends the channel.

    A block that was replaced since its last look is left out.
    """
    if _is_undone(state, chain):
        return
    directory, wallet = Path(config.name), chain.coin(config.wallet.coin.id)
    is_spent = wallet is not None and wallet.spent is not None
    is_forgotten = is_spent and state.opening.opened is None and state.phase is not Phase.CLOSED
    try:
        if ends_channel:
            end = last_lines.end_of_channel(directory, config, state, chain)
        else:
            end = last_lines.end_of_peer(setup, state, config.side)
            if state.phase is Phase.FAILED:
                last_lines.check_unfunded(directory, state, wallet)
    except StoreError as error:
        if not is_forgotten or f"at height {wallet.spent if wallet else None}:" not in str(error):
            yield f"says {error}"
        return
    if is_forgotten:
        yield f"says {end.text!r}, and its store is from before the funding"
    if ends_channel:
        yield from _wrong_end_of_channel(config, state, chain, end, is_spent=is_spent)
    else:
        yield from _wrong_end_of_peer(setup, config, state, chain, end)


def _wrong_end_of_channel(
    config: Config, state: PeerState, chain: Chain, end: End, *, is_spent: bool
) -> Iterator[str]:
    if state.phase is Phase.CLOSED:
        paid = sum(seen.coin.amount for seen in chain.coins_at(config.reward_address))
        phrases = [config.reward_address.hex()]
        if unknown_games(state):
            phrases.append("that the old copy lacks")
            if ours_at_the_end(state) > paid:
                yield f"was paid {counted(paid, 'mojo')}, and says {end.text!r}"
        else:
            phrases.append(counted(paid, "mojo"))
    else:
        opened = state.opening.opened
        late = [f"deadline {opened.deadline}"] if opened is not None else []
        phrases = [f"not funded as of height {chain.peak()}", *late]
        if ("coin is free" in end.text) == is_spent:
            yield f"says {end.text!r}, and the wallet's coin is {'' if is_spent else 'not '}spent"
    yield from (f"does not say {phrase!r}" for phrase in phrases if phrase not in end.text)
    if end.failed:
        yield "fails though it has ended the channel"


def _wrong_end_of_peer(
    setup: Setup, config: Config, state: PeerState, chain: Chain, end: End
) -> Iterator[str]:
    account = account_of(setup, state, config.side)
    is_shut = _is_shut(state, chain)
    if end.failed != (not is_shut or account.failed):
        yield f"ends {'badly' if end.failed else 'well'}, {end.text!r}: {account}"
    if bool(account.reason) != (str(account) == end.unplayed):
        yield f"says {end.unplayed!r} of its hands: {account}"
    if is_shut:
        for name, address in zip(SIDES, _rewards(state), strict=False):
            paid = sum(seen.coin.amount for seen in chain.coins_at(address))
            if f"{name} {paid:,}" not in end.text:
                yield f"does not say {name} {paid:,} in {end.text!r}"


def _is_undone(state: PeerState, chain: Chain) -> bool:
    """True if a block was replaced after the last look, so that a coin was not spent as it was."""
    shown = ((seen, chain.coin(seen.coin.id)) for seen in state.block.coins)
    return any(now is None or now.spent != seen.spent for seen, now in shown)


def _is_shut(state: PeerState, chain: Chain) -> bool:
    """True if the channel coin was spent to the reward addresses, and to nothing else."""
    opened = state.opening.opened
    if opened is None:
        return False
    addresses = {seen.coin.puzzle_hash for seen in chain.children(opened.channel.coin.id)}
    return bool(addresses) and addresses <= {*opened.channel.rewards}


def _rewards(state: PeerState) -> tuple[bytes, ...]:
    opened = state.opening.opened
    return opened.channel.rewards if opened is not None else ()


def wrong_notice(state: PeerState) -> Iterator[str]:
    """Find what `recover` says wrongly of an old copy, or not at all."""
    notice, dispute = last_lines.waiting_notice(state), state.dispute
    waits = state.phase is Phase.OUTDATED or (
        state.phase is Phase.ON_CHAIN
        and state.shown is not None
        and dispute is not None
        and not dispute.publishes_old
    )
    if waits != (notice is not None):
        yield f"says {notice!r} of {'an old copy' if waits else 'a store'} in {state.phase.value}"
    yield from _lacking(state, notice)


def wrong_publishing(state: PeerState) -> Iterator[str]:
    """Find what `recover --publish-old` says wrongly before it publishes an old copy."""
    try:
        notice = last_lines.publishing_notice(Path(), state)
    except UsageError as error:
        yield f"refuses to publish an old copy: {error}"
        return
    newest = state.play.newest.state.number if state.play is not None else None
    if notice is None or f"publishes state {newest}:" not in notice:
        yield f"says {notice!r} before it publishes state {newest}"
    yield from _lacking(state, notice)


def _lacking(state: PeerState, notice: str | None) -> Iterator[str]:
    if notice is not None and f"before state {state.shown}," not in notice:
        yield f"does not say which state its store lacks: {notice}"
