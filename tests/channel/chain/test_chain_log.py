"""The log of an embedded node: after any changes, and any kill, the same chain comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from channelsim.channel.chain import chain_log
from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.system.line_log import LineLog
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN

ZEROS = b"A" * 43 + b"="
"""32 bytes of 0, as a log has them."""

KEYS = [wallet_key(bytes([number]), "wallet") for number in range(4)]


def payment(chain: SimulatedChain, coin: Coin, number: int, fee: int = 0) -> tuple[Bundle, Coin]:
    """The whole coin of this wallet to another address, and the new coin."""
    made = Coin(coin.id, bytes([number]) * 32, coin.amount - fee)
    listed = to_list([condition(CREATE_COIN, made.puzzle_hash, int_to_atom(made.amount))])
    return signed_spend(KEYS[number], coin, listed, chain.agg_sig_data()), made


def everything(chain: SimulatedChain, coins: list[Coin]) -> list[CoinSeen | int | None]:
    return [chain.peak(), *(chain.coin(coin.id) for coin in coins)]


def changed(path: Path) -> list[CoinSeen | int | None]:
    """Do all that can be done to a node, by calls and over its RPC; what it has then."""
    with stored_chain(path, 5) as chain:
        coins = [chain.give(address_of(key), 1) for key in KEYS]
        for number in range(2):
            bundle, made = payment(chain, coins[number], number)
            assert chain.push(bundle).answer is Answer.ACCEPTED
            coins.append(made)
        chain.farm()
        chain.farm(3)
        with chain.served() as url, RpcChain(url) as client:
            for number in (2, 3):
                for raised in range(number):
                    fee = raised * LEAST_RAISE
                    bundle, made = payment(chain, coins[number], number, fee)
                    assert client.push(bundle).answer is Answer.ACCEPTED, "a fee replaces it"
                coins.append(made)
            chain.farm()
            assert client.coin(made.id) is not None
        chain.reorganise(1, 2, keep=True)
        assert chain.coin(made.id) is not None
        chain.reorganise(1, 3, keep=False)
        return [*everything(chain, coins)]


def coins_of(found: list[CoinSeen | int | None]) -> list[Coin]:
    return [one.coin for one in found if isinstance(one, CoinSeen)]


def test_a_node_goes_on_where_its_log_ends(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    found = changed(path)
    assert len(coins_of(found)) == 8
    for _ in range(2):
        with stored_chain(path, 5) as chain:
            assert everything(chain, coins_of(found)) == found
    with path.open("ab") as file:
        file.write(b'{"type":"farm","blo')  # a kill in the middle of a line
    with stored_chain(path, 5) as chain:
        assert everything(chain, coins_of(found)) == found
        chain.farm()
    with stored_chain(path, 5) as chain:
        peak = found[0]
        assert isinstance(peak, int)
        assert chain.peak() == peak + 1


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a log."""
    path = tmp_path_factory.mktemp("log") / "chain"
    changed(path)
    return path.read_bytes()


def line(number: int, old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        assert old in lines[number]
        lines[number] = lines[number].replace(old, new)
        return b"".join(lines)

    return change


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: b"\n", "not a chain file of channelsim"),
        (lambda data: b"SQLite format 3\0" * 9, "not a chain file of channelsim"),
        (line(0, b"chain 3", b"chain 4"), "not written by this version"),
        (line(0, b'"seed":5', b'"seed":6'), "the chain has another seed"),
        (line(0, b'"mixed":false', b'"mixed":true'), "other limits or blocks; use the same --mix"),
        (line(0, b'"agg_sig_data":null', b'"agg_sig_data":"' + ZEROS + b'"'), "and --agg-sig-data"),
        (line(1, b"give", b"gave"), "line 2: damaged"),
        (line(1, b"puzzle", b"\xff"), "line 2: damaged"),
        (line(5, b'"amount":2', b'"amount":3'), "line 6: damaged .a bundle is refused"),
        (line(7, b'"blocks":1', b'"blocks":9'), "line 8: damaged .no block after"),
        (line(7, b'"peak":', b'"peak":1'), "line 8: damaged .block"),
    ],
)
def test_a_file_that_is_damaged_or_not_ours_is_refused_and_untouched(
    tmp_path: Path, sound: bytes, damage: Callable[[bytes], bytes], reason: str
) -> None:
    path = tmp_path / "chain"
    data = damage(sound)
    path.write_bytes(data)
    with pytest.raises(UsageError, match=reason) as error, stored_chain(path, 5):
        pass
    assert "\n" not in str(error.value)
    assert path.read_bytes() == data


def test_a_log_whose_first_line_was_not_written_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    path.write_bytes(b'{"format":"channelsim ch')
    with stored_chain(path, 5) as chain:
        chain.farm()
    with stored_chain(path, 5) as chain:
        assert chain.peak() == 2


def test_the_log_of_an_older_version_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    path.write_bytes(
        b'{"format":"channelsim chain 1","seed":5}\n{"type":"farm","blocks":3,"peak":4}\n'
    )
    with stored_chain(path, 5) as chain:
        assert chain.peak() == 4


def test_nothing_follows_a_change_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chain"
    with stored_chain(path, 5) as chain:
        coin = chain.give(address_of(KEYS[0]), 1)
        before = path.read_bytes()
        with monkeypatch.context() as full:
            full.setattr(LineLog, "append", full_disk)
            with chain.served() as url, RpcChain(url) as client:
                answer = client.push(payment(chain, coin, 0)[0])
                assert (answer.answer, answer.error) == (Answer.REFUSED, "no space")
        with pytest.raises(UsageError, match="no space"):
            chain.farm()
        assert path.read_bytes() == before
    with stored_chain(path, 5) as chain:
        assert chain.pending_count() == 0


def full_disk(*_: object, **__: object) -> None:
    raise UsageError("no space")


def test_two_nodes_do_not_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    with (
        stored_chain(path, 5),
        pytest.raises(UsageError, match="another process uses it"),
        stored_chain(path, 5),
    ):
        pass
    with (
        pytest.raises(UsageError, match="cannot be written"),
        stored_chain(tmp_path / "no" / "x", 5),
    ):
        pass


@pytest.mark.parametrize("room", [True, False])
def test_a_log_that_is_full_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: bool
) -> None:
    """What a restart would refuse to read is not written."""
    path = tmp_path / "chain"
    with stored_chain(path, 5) as chain:
        chain.farm()
        before = path.read_bytes()
    line = len(before.splitlines(keepends=True)[-1])
    monkeypatch.setattr(chain_log, "LINES", len(before) + line - (not room))
    with stored_chain(path, 5) as chain:
        if room:
            chain.farm()
            before = path.read_bytes()
        with pytest.raises(UsageError, match=r"full: no more than .* are read again"):
            chain.farm()
    assert path.read_bytes() == before
    with stored_chain(path, 5) as chain:
        assert chain.peak() == 2 + room
