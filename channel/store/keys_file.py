"""The file with a peer's secrets and settings, apart from its journal.

With a passphrase, the secrets are encrypted (scrypt, ChaCha20-Poly1305), and the settings, which
are readable, cannot be changed. The file is written once, before the channel begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from chia_rs import PrivateKey
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from channelsim.channel.chain.coins import Coin, Hash
from channelsim.channel.crypto.hkdf import game_entropy
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import Agreement, DeckSettings, Times
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees, rest_of
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.bounds import MOST_SPACING
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.json_files import from_json, read_document
from channelsim.channel.system.durable_files import unwritable, write_once
from channelsim.games.deck.group import real_group

FILE = "keys.json"
FORMAT = "channelsim keys 1"
NOUN = "file with keys"

COST = 1 << 15
"""The cost of scrypt (N) that new files have: 32 MB of memory, a tenth of a second."""

Cost = Annotated[int, msgspec.Meta(ge=1 << 14, le=1 << 18)]
"""The costs that are accepted: a file that somebody else made cannot use up all memory."""


class _Secrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    channel: Hash
    wallet: Hash
    fees: Hash | None


class ChannelTerms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The part of a peer's configuration that is no secret, as in `Config` and `Agreement`.

    `most_fees` are the most for a spend and for all, in mojos (None: by default); earlier versions
    wrote a first fee, its step and the most for a spend as `fees`. `limits` are the most states and
    bytes. Files of earlier versions lack some fields; the secrets are sealed with what a file has.
    """

    name: str
    peer: str
    side: int
    reward_address: Hash
    agg_sig_data: Hash
    wallet_coin: Coin
    contributions: tuple[int, int]
    unroll_timeout: int
    confirmations: int
    times: Times
    deck_positions: int
    deck_rounds: int
    fee_coin: Coin | None
    fees: tuple[int, int, int] | None = None
    most_fees: tuple[int | None, int | None] | None = None
    limits: tuple[int, int] | None = None
    spacing: Annotated[int, msgspec.Meta(ge=1, le=MOST_SPACING)] = 1


class _Encrypted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cost: Cost
    salt: Annotated[bytes, msgspec.Meta(min_length=16, max_length=64)]
    nonce: Annotated[bytes, msgspec.Meta(min_length=12, max_length=12)]
    secrets: bytes


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    settings: ChannelTerms
    secrets: _Secrets | None = None
    encrypted: _Encrypted | None = None


def write_keys(
    directory: Path,
    config: Config,
    passphrase: bytes = b"",
    entropy: Callable[[int], bytes] = os.urandom,
) -> None:
    """Write the file into a directory, which is made if need be. Raises `StoreError`.

    A file that is there stays as it is. Without a passphrase the secrets are readable to whoever
    can read the file. `entropy` gives fresh random bytes.
    """
    settings, secrets = _settings_of(config), _secrets_of(config)
    file = _File(FORMAT, settings, secrets=secrets)
    if passphrase:
        salt, nonce = entropy(16), entropy(12)
        cipher = _cipher(passphrase, salt, COST)
        hidden = cipher.encrypt(nonce, msgspec.json.encode(secrets), _sealed(settings))
        file = _File(FORMAT, settings, encrypted=_Encrypted(COST, salt, nonce, hidden))
    path = directory / FILE
    try:
        if not directory.is_dir():
            directory.mkdir(mode=0o700, parents=True)
        write_once(path, msgspec.json.format(msgspec.json.encode(file)) + b"\n")
    except OSError as error:
        if path.exists():
            raise StoreError(
                f"{path}: there is a channel already; name another directory"
            ) from None
        raise StoreError(unwritable(path, error)) from None


def is_encrypted(directory: Path) -> bool:
    """True if the secrets need a passphrase. Raises `StoreError`."""
    return _file(directory / FILE).encrypted is not None


def read_terms(directory: Path) -> ChannelTerms:
    """Read what is no secret. Raises `StoreError`."""
    return _file(directory / FILE).settings


def read_keys(directory: Path, passphrase: bytes = b"") -> Config:
    """Read the configuration of a peer. Raises `StoreError`, also for a wrong passphrase."""
    path = directory / FILE
    file = _file(path)
    secrets = file.secrets
    if file.encrypted is not None:
        if not passphrase:
            raise StoreError(f"{path}: its secrets are encrypted; give the passphrase")
        cipher = _cipher(passphrase, file.encrypted.salt, file.encrypted.cost)
        try:
            found = cipher.decrypt(
                file.encrypted.nonce, file.encrypted.secrets, _sealed(file.settings)
            )
        except InvalidTag:
            raise StoreError(
                f"{path}: the passphrase is wrong, or somebody changed the file"
            ) from None
        secrets = from_json(path, found, _Secrets, NOUN)
    if secrets is None:
        raise StoreError(f"{path}: it has no secrets")
    try:
        return _config_of(file.settings, secrets)
    except (ValueError, UsageError) as error:
        raise StoreError(f"{path}: damaged ({error})") from None


def _file(path: Path) -> _File:
    return read_document(path, _File, FORMAT, NOUN)


def _cipher(passphrase: bytes, salt: bytes, cost: int) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(Scrypt(salt=salt, length=32, n=cost, r=8, p=1).derive(passphrase))


def _sealed(settings: ChannelTerms) -> bytes:
    """The settings as the cipher authenticates them."""
    return FORMAT.encode() + msgspec.json.encode(settings)


def _settings_of(config: Config) -> ChannelTerms:
    agreement, fees = config.agreement, config.fees
    if agreement.decks.group is not real_group():
        raise UsageError("a channel with decks of a demonstration cannot be stored")
    return ChannelTerms(
        name=config.name,
        peer=config.peer,
        side=config.side,
        reward_address=config.reward_address,
        agg_sig_data=config.agg_sig_data,
        wallet_coin=config.wallet.coin,
        contributions=agreement.contributions,
        unroll_timeout=agreement.unroll_timeout,
        confirmations=agreement.confirmations,
        times=agreement.times,
        deck_positions=agreement.decks.positions,
        deck_rounds=agreement.decks.rounds,
        fee_coin=fees.wallet.coin if fees else None,
        most_fees=(fees.per_spend, fees.per_channel) if fees else None,
        limits=(config.limits.states, config.limits.bytes),
        spacing=agreement.spacing,
    )


def _secrets_of(config: Config) -> _Secrets:
    fees = bytes(config.fees.wallet.key) if config.fees else None
    return _Secrets(config.secret, bytes(config.wallet.key), fees)


def _config_of(settings: ChannelTerms, secrets: _Secrets) -> Config:
    side, fees = Side(settings.side), None
    wallet = Wallet(PrivateKey.from_bytes(secrets.wallet), settings.wallet_coin)
    if settings.fee_coin is not None and secrets.fees is not None:
        payer = Wallet(PrivateKey.from_bytes(secrets.fees), settings.fee_coin)
        fees = Fees(payer, *(settings.most_fees or (settings.fees or (0, 0, 0))[2:]))
    elif settings.fees is not None:
        # A file of an earlier version: no fees, unless the player allows them.
        rest = rest_of(wallet, side, settings.contributions[side])
        fees = Fees(rest, 0) if rest is not None else None
    decks = DeckSettings(settings.deck_positions, settings.deck_rounds)
    return Config(
        name=settings.name,
        peer=settings.peer,
        side=side,
        secret=secrets.channel,
        reward_address=settings.reward_address,
        wallet=wallet,
        agreement=Agreement(
            settings.contributions,
            settings.unroll_timeout,
            settings.confirmations,
            settings.times,
            decks,
            settings.spacing,
        ),
        agg_sig_data=settings.agg_sig_data,
        entropy=game_entropy(secrets.channel),
        fees=fees,
        limits=Limits(*settings.limits) if settings.limits is not None else Limits(),
    )
