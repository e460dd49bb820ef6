"""Begin a channel in a new data directory: its terms, wallet coins, keys and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.rpc_server import read_address
from channelsim.channel.chain.spacing import usual_spacing
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.nodes import wait_until_synced
from channelsim.channel.cli.option_groups import PeerOptions, TermOptions
from channelsim.channel.cli.options import LONGEST, game_names
from channelsim.channel.cli.running import fee_limits
from channelsim.channel.cli.secret_files import read_wallet_keys
from channelsim.channel.cli.stakes import stakes_of
from channelsim.channel.crypto.hkdf import game_entropy, system_random
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import (
    make_identity,
    read_fingerprint,
    read_identity,
)
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees, rest_of
from channelsim.channel.peer.fees.fee_state import most_for_all
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.limits import Limits
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.bounds import USUAL_BYTES, USUAL_STATES
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet, address_of
from channelsim.channel.session.defaults import DEFAULT_TIMEOUT, NAMES
from channelsim.channel.session.script import Script
from channelsim.channel.session.setup import Setup, check, default_policy
from channelsim.channel.simulation.scenario import reason_against
from channelsim.channel.store.data_directory import (
    NodeAddress,
    Settings,
    create,
)
from channelsim.games.amounts import counted
from channelsim.games.rotations import ROTATIONS

LISTEN_ADDRESS = "127.0.0.1:0"


# --- the directory -----------------------------------------------------------------------------


def begin_channel(
    side: Side,
    address: str | None,
    options: PeerOptions,
    nodes: tuple[NodeAddress, ...],
    chain: Chain,
    passphrase: bytes,
) -> None:
    """Make the data directory of a new channel. Raises `UsageError`, and leaves nothing then."""
    directory, terms, secret = options.channel.directory, options.terms, system_random(32)
    if terms.peer is None or terms.wallet_key is None or terms.game is None:
        raise UsageError("a new DIR needs --peer, --wallet-key and --game (see --help)")
    if address is None:
        if side is Side.INITIATOR:
            raise UsageError("--address: name where the receiver listens, as it prints it")
        address = LISTEN_ADDRESS
    read_address(address)
    try:
        read_fingerprint(terms.peer)
    except UsageError as error:
        raise UsageError(f"--peer {terms.peer[:LONGEST]}: {error}") from None
    setup = _setup(side, terms.game, options)
    adversary = (options.adversary or "").partition("@")[0]
    if adversary and (reason := reason_against(adversary, setup.games)):
        raise UsageError(reason)
    wallet, *others = _wallets(terms.wallet_key, chain, setup.balance)
    setup = _with_times(setup, terms, chain.agg_sig_data())
    config = Config(
        name=NAMES[side],
        peer=NAMES[side.other],
        side=side,
        secret=secret,
        reward_address=address_of(wallet.key),
        wallet=wallet,
        agreement=setup.agreement,
        agg_sig_data=chain.agg_sig_data(),
        entropy=game_entropy(secret),
        limits=Limits(terms.most_states or USUAL_STATES, terms.most_bytes or USUAL_BYTES),
    )
    config = with_fees(config, fee_limits(options.channel.fees), others, terms.wallet_key)
    settings = Settings(
        node=nodes[0],
        more_nodes=nodes[1:],
        games=setup.games,
        hands=setup.hands,
        unit=setup.unit,
        stack=setup.stack,
        game_timeout=setup.game_timeout,
        policy=setup.policies[side],
        listens=side is Side.RECEIVER,
        address=address,
        counterparty=terms.peer,
        adversary=options.adversary or "",
        rotation=setup.rotation or "",
    )
    make_identity(directory, passphrase)
    read_identity(directory, passphrase)  # of another passphrase, it could never be used
    create(directory, config, settings, passphrase)


def _setup(side: Side, game: str, options: PeerOptions) -> Setup:
    """The session that the options of a first start describe, without times."""
    rotation = ROTATIONS.get(game.strip())
    if rotation is not None and rotation.dealer_chooses:
        raise UsageError(
            f"--game {rotation.name}: two peers agree on the order of their games; name a rotation"
            " that has one, or games"
        )
    games = rotation.games if rotation else game_names(game)
    policies = policies_of(side, options.policy or default_policy(games), games)
    stakes = stakes_of(options.terms.stakes, rotation, Script())
    return check(Setup(games, "", policies=policies, **stakes))


def policies_of(side: Side, ours: str, games: tuple[str, ...]) -> tuple[str, str]:
    """Our policy, and any for the other side."""
    pair = [default_policy(games)] * 2
    pair[side] = ours
    return pair[0], pair[1]


def _with_times(setup: Setup, terms: TermOptions, agg_sig_data: bytes) -> Setup:
    """The setup with the times of this network. Raises `UsageError` for one that is too short."""
    spacing = terms.spacing or usual_spacing(agg_sig_data)
    return check(
        replace(
            setup,
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
        raise UsageError(f"{path}: the largest coin of this key has {most}; it takes {amount:,}")
    return wallets


# --- fees --------------------------------------------------------------------------------------


def with_fees(config: Config, limits: FeeLimits, others: Sequence[Wallet], path: Path) -> Config:
    """The configuration with the coin that fees are paid from, and the player's maxima.

    `others` are the other coins of the key in the file `path`. The player is told which fees
    cannot be paid.
    """
    contributions, side = config.agreement.contributions, config.side
    most = most_for_all(limits, sum(contributions))
    rest = rest_of(config.wallet, side, contributions[side])
    payer = wallet_for_fees(config.wallet, rest, others, most)
    paying = replace(
        config, fees=Fees(payer or config.wallet, limits.per_spend, limits.per_channel)
    )
    if Peer(paying).pays_fees:
        if payer is None:
            complain(
                f"{path}: the channel takes the whole coin, and this key has no other: no fees can"
                " be paid"
            )
        elif payer == rest != config.wallet:
            complain(
                f"{path}: no other coin of this key has {counted(most, 'mojo')} to pay a fee for"
                " the funding; later fees are paid from its change"
            )
    return config if payer is None else paying


def wallet_for_fees(
    wallet: Wallet, rest: Wallet | None, others: Sequence[Wallet], most: int
) -> Wallet | None:
    """The coin that fees are paid from: the largest of the other ones if it has `most` mojos.

    Otherwise it is what is left of the coin that funds the channel, if that is more: anybody can
    send a small coin to the wallet's address. `rest` is the funding coin itself if it is not spent.
    None if there is neither.
    """
    other = max(others, key=by_amount, default=None)
    if rest is None or other is None or rest == wallet:
        return rest or other
    enough = other.coin.amount >= min(most, rest.coin.amount)
    return other if enough else rest


def by_amount(wallet: Wallet) -> tuple[int, bytes]:
    """The order of coins by their amounts."""
    return wallet.coin.amount, wallet.coin.id
