"""Begin a channel in a new data directory: its terms, wallet coin, keys and settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.spacing import usual_spacing
from channelsim.channel.cli.fees import NOT_GIVEN, by_amount, with_fees
from channelsim.channel.cli.nodes import wait_until_synced
from channelsim.channel.cli.wallet_keys import read_wallet_keys
from channelsim.channel.crypto.hkdf import game_entropy, system_random
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet, address_of
from channelsim.channel.session.dealers import deck_settings
from channelsim.channel.session.setup import DEFAULT_TIMEOUT, NAMES, Setup, check
from channelsim.channel.store.data_directory import NodeAddress, Settings, create
from channelsim.games.amounts import counted


@dataclass(frozen=True, slots=True)
class NewChannel:
    """The terms of a new channel for one side, with its node, address, wallet and counterparty.

    `fees` are the player's maxima (None: by default). Its spacing is that of the network unless it
    is given, and timeouts follow from the spacing.
    """

    side: Side
    setup: Setup
    nodes: tuple[NodeAddress, ...]
    address: str
    counterparty: str
    wallet_key: Path
    adversary: str = ""
    limits: Limits = field(default_factory=Limits)
    fees: FeeLimits = NOT_GIVEN
    spacing: int | None = None
    unroll_timeout: int | None = None
    game_timeout: int | None = None


def begin_channel(directory: Path, terms: NewChannel, chain: Chain, passphrase: bytes) -> None:
    """Make the data directory of a new channel. Raises `UsageError`, and leaves nothing then."""
    side = terms.side
    wallet, *others = _wallets(terms.wallet_key, chain, terms.setup.balance)
    setup = _with_times(terms, chain.agg_sig_data())
    secret = system_random(32)
    config = Config(
        name=NAMES[side],
        peer=NAMES[side.other],
        side=side,
        secret=secret,
        reward_address=address_of(wallet.key),
        wallet=wallet,
        agreement=Agreement(
            (setup.balance, setup.balance),
            setup.unroll_timeout,
            setup.confirmations,
            decks=deck_settings(setup.games),
            spacing=setup.spacing,
        ),
        agg_sig_data=chain.agg_sig_data(),
        entropy=game_entropy(secret),
        limits=terms.limits,
    )
    config = with_fees(config, terms.fees, others, terms.wallet_key)
    settings = Settings(
        node=terms.nodes[0],
        more_nodes=terms.nodes[1:],
        games=setup.games,
        hands=setup.hands,
        unit=setup.unit,
        stack=setup.stack,
        game_timeout=setup.game_timeout,
        policy=setup.policies[side],
        listens=side is Side.RECEIVER,
        address=terms.address,
        counterparty=terms.counterparty,
        adversary=terms.adversary,
        rotation=setup.rotation or "",
    )
    make_identity(directory, passphrase)
    read_identity(directory, passphrase)  # of another passphrase, it could never be used
    create(directory, config, settings, passphrase)


def _with_times(terms: NewChannel, agg_sig_data: bytes) -> Setup:
    """The setup with the times of this network. Raises `UsageError` for one that is too short."""
    spacing = terms.spacing or usual_spacing(agg_sig_data)
    return check(
        replace(
            terms.setup,
            spacing=spacing,
            unroll_timeout=terms.unroll_timeout or spacing * DEFAULT_TIMEOUT,
            game_timeout=terms.game_timeout or spacing * DEFAULT_TIMEOUT,
        )
    )


def _wallets(path: Path, chain: Chain, amount: int) -> list[Wallet]:
    """The coins of the key in a file, the largest first, which has at least this amount."""
    keys = read_wallet_keys(path)
    wait_until_synced(chain)
    wallets = [Wallet(key, seen.coin) for key in keys for seen in chain.coins_at(address_of(key))]
    if not wallets:
        raise UsageError(f"{path}: no coin at the address of this key")
    wallets.sort(key=by_amount, reverse=True)
    if wallets[0].coin.amount < amount:
        most = counted(wallets[0].coin.amount, "mojo")
        raise UsageError(f"{path}: the largest coin of this key has {most}; it takes {amount}")
    return wallets
