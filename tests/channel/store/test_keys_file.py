"""The file with a peer's secrets: readable with its passphrase only, and never half written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees, rest_of
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet
from channelsim.channel.store import keys_file
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import FILE, is_encrypted, read_keys, write_keys
from tests.channel.table import ANN, BEN, sit
from tests.paths import ROOT

PASSPHRASE = b"correct horse"


@pytest.fixture
def config() -> Config:
    return sit().ends[ANN].peer.config


def comparable(config: Config) -> tuple[object, ...]:
    """A configuration with what its functions and keys give in their place."""
    wallets = [config.wallet, *([config.fees.wallet] if config.fees else [])]
    keys = tuple((bytes(wallet.key), wallet.coin) for wallet in wallets)
    plain = replace(config, entropy=bytes, wallet=config.wallet, fees=None)
    return (
        keys,
        config.fees and (config.fees.per_spend, config.fees.per_channel),
        *(getattr(plain, name) for name in ("name", "peer", "side", "secret", "reward_address")),
        plain.agreement,
        plain.agg_sig_data,
        plain.limits,
    )


@pytest.mark.parametrize("passphrase", [b"", PASSPHRASE], ids=("plain", "encrypted"))
def test_a_configuration_is_read_as_it_was_written(
    tmp_path: Path, config: Config, passphrase: bytes
) -> None:
    other = sit("other").ends[BEN].peer.config
    paying = replace(
        config,
        fees=Fees(other.wallet, 5, 100),
        limits=Limits(12_345, 99 << 20),
        agreement=replace(config.agreement, spacing=4),
    )
    for number, one in enumerate((paying,) if passphrase else (config, other, paying)):
        directory = tmp_path / str(number)
        write_keys(directory, one, passphrase)
        again = read_keys(directory, passphrase)
        assert comparable(again) == comparable(one)
        assert again.entropy(7) == read_keys(directory, passphrase).entropy(7) != again.entropy(8)
        assert is_encrypted(directory) == bool(passphrase)
        assert [path.name for path in directory.iterdir()] == [FILE]
        assert (directory / FILE).stat().st_mode & 0o777 == 0o600


def test_an_encrypted_file_of_an_earlier_version_has_no_limits(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_of = vars(keys_file)["_settings_of"]
    monkeypatch.setattr(
        keys_file,
        "_settings_of",
        lambda config: msgspec.structs.replace(settings_of(config), limits=None),
    )
    write_keys(tmp_path, config, PASSPHRASE)
    assert "limits" not in json.loads((tmp_path / FILE).read_bytes())["settings"]
    assert read_keys(tmp_path, PASSPHRASE).limits == Limits()


EARLIER = ROOT / "tests" / "data" / "keys"
"""Files as versions before maximum fees wrote them, for Ann of the table "old keys"."""


def read_earlier(folder: Path, name: str) -> Config:
    (folder / FILE).write_bytes((EARLIER / f"{name}.json").read_bytes())
    return read_keys(folder, PASSPHRASE)


@pytest.mark.parametrize("name", ["plain", "encrypted"])
def test_a_file_of_an_earlier_version_pays_no_fees_and_knows_the_coin_for_them(
    tmp_path: Path, name: str
) -> None:
    """The settings of the encrypted file are authenticated as that version wrote them."""
    config, ann = read_earlier(tmp_path, name), sit("old keys").ends[ANN].peer.config
    assert comparable(replace(config, fees=None)) == comparable(ann)
    assert config.fees is not None
    assert (config.fees.per_spend, config.fees.per_channel) == (0, None)
    funding = ann.wallet.coin
    change = Coin(funding.id, funding.puzzle_hash, funding.amount - ann.agreement.contributions[0])
    assert config.fees.wallet.coin == change
    assert bytes(config.fees.wallet.key) == bytes(ann.wallet.key)


def test_a_file_of_an_earlier_version_with_fees_has_their_maximum(tmp_path: Path) -> None:
    """It had a first fee of 5 mojos, a step of 3, and at most 100 for a spend."""
    config, ben = read_earlier(tmp_path, "paying"), sit("old keys").ends[BEN].peer.config
    assert config.fees is not None
    assert (config.fees.per_spend, config.fees.per_channel) == (100, None)
    assert config.fees.wallet.coin == ben.wallet.coin


def test_a_changed_file_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    text = (EARLIER / "encrypted.json").read_text()
    before = '"fee_coin": null'
    assert before in text
    (tmp_path / FILE).write_text(text.replace(before, f'{before}, "most_fees": [9, 9]'))
    with pytest.raises(StoreError, match="somebody changed the file"):
        read_keys(tmp_path, PASSPHRASE)


def test_what_is_left_of_a_coin_that_funds_a_channel(config: Config) -> None:
    wallet = Wallet(config.wallet.key, Coin(bytes(32), config.wallet.coin.puzzle_hash, 100))
    for side in Side:
        change = rest_of(wallet, side, 60)
        assert change is not None
        assert (change.coin.parent, change.coin.amount) == (wallet.coin.id, 40)
        assert rest_of(wallet, side, 100) is None
    assert rest_of(wallet, Side.RECEIVER, 0) == wallet
    spent = rest_of(wallet, Side.INITIATOR, 0)
    assert spent is not None
    assert spent.coin == Coin(wallet.coin.id, wallet.coin.puzzle_hash, 100)


@pytest.mark.parametrize("passphrase", [b"", PASSPHRASE], ids=("plain", "encrypted"))
def test_a_file_of_an_earlier_version_has_a_spacing_of_1(
    tmp_path: Path, config: Config, passphrase: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [
        (name, kind, *([default] if default is not msgspec.NODEFAULT else []))
        for name, kind, default in (
            (field.name, field.type, field.default)
            for field in msgspec.structs.fields(keys_file.ChannelTerms)
        )
        if name != "spacing"
    ]
    earlier = msgspec.defstruct(
        "ChannelTerms", fields, frozen=True, forbid_unknown_fields=True, omit_defaults=True
    )
    settings_of = vars(keys_file)["_settings_of"]
    with monkeypatch.context() as version:
        version.setattr(
            keys_file,
            "_settings_of",
            lambda config: earlier(
                **{name: getattr(settings_of(config), name) for name, *_ in fields}
            ),
        )
        write_keys(tmp_path, config, passphrase)
    assert "spacing" not in json.loads((tmp_path / FILE).read_bytes())["settings"]
    assert read_keys(tmp_path, passphrase).agreement.spacing == 1
    assert keys_file.read_terms(tmp_path).spacing == 1


@pytest.mark.parametrize("spacing", [0, 101, -4, "4"])
def test_an_impossible_spacing_is_refused_in_one_line(
    tmp_path: Path, config: Config, spacing: object
) -> None:
    write_keys(tmp_path, config)
    file = json.loads((tmp_path / FILE).read_bytes())
    set_in(file, "settings", "spacing", to=spacing)
    (tmp_path / FILE).write_text(json.dumps(file))
    with pytest.raises(StoreError, match=r"no file with keys.*spacing") as info:
        read_keys(tmp_path)
    assert "\n" not in str(info.value)


def test_the_secrets_are_not_in_an_encrypted_file(tmp_path: Path, config: Config) -> None:
    write_keys(tmp_path / "open", config)
    write_keys(tmp_path / "closed", config, PASSPHRASE)
    plain = json.loads((tmp_path / "open" / FILE).read_bytes())
    text = (tmp_path / "closed" / FILE).read_text()
    secrets = [one for one in plain["secrets"].values() if one]
    assert len(secrets) == 2
    assert not [one for one in secrets if one in text]
    write_keys(tmp_path / "twice", config, PASSPHRASE)
    again = (tmp_path / "twice" / FILE).read_text()
    assert again != text, "each file has a salt and a nonce of its own"


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path, config: Config) -> None:
    write_keys(tmp_path, config)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreError, match="there is a channel already"):
        write_keys(tmp_path, sit("other").ends[ANN].peer.config)
    assert (tmp_path / FILE).read_bytes() == before


def set_in(document: dict[str, Any], *path: str, to: object) -> None:
    for name in path[:-1]:
        document = document[name]
    document[path[-1]] = to


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda file: set_in(file, "settings", "unroll_timeout", to=1), "passphrase is wrong, or"),
        (lambda file: set_in(file, "settings", "spacing", to=2), "is wrong, or"),
        (lambda file: set_in(file, "settings", "wallet_coin", "amount", to=1), "is wrong, or"),
        (lambda file: set_in(file, "encrypted", "cost", to=1 << 30), "no file with keys"),
        (lambda file: set_in(file, "encrypted", "cost", to=2), "no file with keys"),
        (lambda file: set_in(file, "format", to="channelsim keys 2"), "not written by this vers"),
        (lambda file: set_in(file, "encrypted", to=None), "it has no secrets"),
        (lambda file: set_in(file, "more", to=1), "no file with keys"),
    ],
)
def test_a_changed_file_is_refused_in_one_line(
    tmp_path: Path, config: Config, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    write_keys(tmp_path, config, PASSPHRASE)
    file = json.loads((tmp_path / FILE).read_bytes())
    change(file)
    (tmp_path / FILE).write_text(json.dumps(file))
    with pytest.raises(StoreError, match=reason) as info:
        read_keys(tmp_path, PASSPHRASE)
    assert "\n" not in str(info.value)
    assert str(tmp_path / FILE) in str(info.value)


def test_a_wrong_or_missing_passphrase_is_refused(tmp_path: Path, config: Config) -> None:
    write_keys(tmp_path, config, PASSPHRASE)
    with pytest.raises(StoreError, match="give the passphrase"):
        read_keys(tmp_path)
    with pytest.raises(StoreError, match="the passphrase is wrong"):
        read_keys(tmp_path, PASSPHRASE + b"\n")


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff", b"[" * 10_000, b" " * 100_000, b'{"format": 1}']
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StoreError) as info:
        read_keys(tmp_path)
    assert "\n" not in str(info.value)


def test_a_missing_file_and_an_unwritable_place_are_named(tmp_path: Path, config: Config) -> None:
    with pytest.raises(StoreError, match=r"keys\.json: cannot be read"):
        read_keys(tmp_path / "nothing")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="name a directory that can be written"):
        write_keys(tmp_path / "file", config)
