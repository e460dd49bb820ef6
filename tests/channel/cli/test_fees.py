"""Fees for players: the options, the coin that pays, and sessions that pay fees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import Coin
from channelsim.channel.cli.new_channel import wallet_for_fees, with_fees
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.wallet import Wallet
from channelsim.channel.session.fee_maxima import changed_limits
from tests.channel.command import channelsim
from tests.channel.table import ANN, sit
from tests.sampling import one_row_in

# --- the options -------------------------------------------------------------------------------


@pytest.fixture
def config() -> Config:
    return sit("fees of players").ends[ANN].peer.config


def wallet(config: Config, amount: int) -> Wallet:
    return Wallet(config.wallet.key, Coin(bytes(32), config.wallet.coin.puzzle_hash, amount))


@pytest.mark.parametrize(
    ("others", "pays"),
    [
        ((), "change"),
        ((500,), 500),
        ((7, 600, 500), 600),
        ((7,), "change"),
        ((499,), "change"),
    ],
)
def test_fees_are_paid_from_the_next_largest_coin_unless_that_is_too_small(
    config: Config, others: Sequence[int], pays: int | str
) -> None:
    """Anybody can send dust to an address that the other side knows."""
    funding, change = wallet(config, 10_000), wallet(config, 9_000)
    payer = wallet_for_fees(funding, change, [wallet(config, one) for one in others], 500)
    assert payer is not None
    assert payer.coin.amount == (9_000 if pays == "change" else pays)


def test_a_coin_that_funds_nothing_pays_the_fees(config: Config) -> None:
    """A receiver that contributes nothing spends no coin."""
    own = wallet(config, 10_000)
    assert wallet_for_fees(own, own, [wallet(config, 9_999)], 500) == own
    assert wallet_for_fees(own, None, [wallet(config, 3)], 500) == wallet(config, 3)
    assert wallet_for_fees(own, None, [], 500) is None


def funded(config: Config, amount: int, balance: int) -> Config:
    """The configuration of a channel with these balances, from a coin of this amount."""
    agreement = replace(config.agreement, contributions=(balance, balance))
    return replace(config, wallet=wallet(config, amount), agreement=agreement)


BIG = 1_000_000_000
"""A contribution of which 1 % pays a fee that mempools take."""


@pytest.mark.parametrize(
    ("amount", "balance", "limits", "others", "says"),
    [
        (10_000, 1000, FeeLimits(None, None), (), ""),
        (1000, 1000, FeeLimits(None, None), (), ""),
        (2 * BIG, BIG, FeeLimits(None, None), (), "no other coin of this key has 100,000,000 "),
        (2 * BIG, BIG, FeeLimits(None, None), (BIG,), ""),
        (BIG, BIG, FeeLimits(None, None), (), "takes the whole coin, and this key has no other"),
        (BIG, BIG, FeeLimits(0, None), (), ""),
        (BIG, BIG, FeeLimits(None, 0), (), ""),
        (10_000, 1000, FeeLimits(50, 100), (9,), "no other coin of this key has 100 mojos"),
        (10_000, 1000, FeeLimits(100, None), (2000,), ""),
    ],
)
def test_the_player_of_a_new_channel_knows_which_fees_cannot_be_paid(
    config: Config,
    capsys: pytest.CaptureFixture[str],
    amount: int,
    balance: int,
    limits: FeeLimits,
    others: Sequence[int],
    says: str,
) -> None:
    coins = [wallet(config, one) for one in others]
    after = with_fees(funded(config, amount, balance), limits, coins, Path("w.key"))
    said = capsys.readouterr().err
    assert said.count("\n") == bool(says)
    assert says in said
    if amount > balance or others:
        assert after.fees is not None
        assert (after.fees.per_spend, after.fees.per_channel) == (
            limits.per_spend,
            limits.per_channel,
        )
    else:
        assert after.fees is None


@pytest.mark.parametrize(
    ("stored", "wanted", "after"),
    [
        ((None, None), (None, None), None),
        ((None, None), (5, None), (5, None)),
        ((5, 9), (None, 50), (5, 50)),
        ((5, 9), (5, 9), None),
        ((5, 9), (0, None), (0, 9)),
        ((0, None), (4, None), (4, None)),
        ((0, None), (None, 4), "give --max-fee as well"),
        ((4, 0), (3, None), "give --max-fees as well"),
        (None, (0, None), None),
        (None, (None, 4), "took the wallet's whole coin: no fees can be paid"),
    ],
)
def test_the_maxima_of_a_channel_change_by_an_event(
    config: Config,
    stored: tuple[int | None, int | None] | None,
    wanted: tuple[int | None, int | None],
    after: tuple[int | None, int | None] | str | None,
) -> None:
    fees = Fees(wallet(config, 100), *stored) if stored is not None else None
    peer = Peer(replace(config, fees=fees))
    if isinstance(after, str):
        with pytest.raises(UsageError, match=after):
            changed_limits(peer, FeeLimits(*wanted), Path("dir"))
        return
    event = changed_limits(peer, FeeLimits(*wanted), Path("dir"))
    assert event == (FeeLimits(*after) if after is not None else None)
    if event is not None:
        peer.handle(event)
        assert changed_limits(peer, FeeLimits(*wanted), Path("dir")) is None


# --- simulated peers ---------------------------------------------------------------------------


def played(capsys: pytest.CaptureFixture[str], folder: Path, *options: object) -> tuple[str, int]:
    """The digest of a session with these options, and how many fee coins were split off."""
    file = folder / f"{len(options)}"
    ran = channelsim(
        capsys,
        *("play", "spacepoker", "--seed", "fees", "--hands", 1, "--policy", "folder", "--json"),
        *("--transcript", file, *options),
    )
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)["digest"], file.read_text().count('"pushed":"fee-coins"')


def test_a_session_pays_fees_only_with_the_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limits = ("--max-fee", 30_000_000, "--max-fees", 300_000_000)
    digest, splits = played(capsys, tmp_path, *limits)
    assert splits > 0
    assert played(capsys, tmp_path, *limits, "--processes") == (digest, splits)
    without, none = played(capsys, tmp_path)
    assert (without != digest, none) == (True, 0)
    assert played(capsys, tmp_path, "--max-fee", 0)[1] == 0
    assert channelsim(capsys, "replay", tmp_path / f"{len(limits)}").code == 0


@pytest.mark.parametrize(
    ("options", "paid"),
    one_row_in(
        2,
        [
            (("--fees", 20_000_000), True),
            (("--fees", 20_000_000, "--max-fee", 0), False),
            (("--fees", 20_000_000, "--max-fees", 0), False),
            (("--fees", 20_000_000, "--max-fee", 20_000_000), True),
            ((), False),
        ],
    ),
)
def test_a_dispute_pays_as_much_as_its_options_allow(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[object, ...], paid: bool
) -> None:
    file = tmp_path / "dispute"
    given = ("--seed", "fees", "--json", "--transcript", file, *options)
    ran = channelsim(capsys, "dispute", "run", "silent@7", *given)
    assert (ran.code, ran.err) == (0, "")
    assert ('"pushed":"unroll+fee"' in file.read_text()) is paid
