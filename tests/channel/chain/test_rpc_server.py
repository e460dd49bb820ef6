"""The RPC of the embedded node: hostile clients, wrong arguments, and what its options change."""

from __future__ import annotations

import gc
import json
import re
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest

from channelsim.channel.chain import rpc_server
from channelsim.channel.chain.coins import REMARK, Bundle, Coin, condition
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.ledger import MOST_GAP, Record
from channelsim.channel.chain.node_calls import MOST_BLOCKS
from channelsim.channel.chain.node_json import bundle_json
from channelsim.channel.chain.rpc_server import MOST_BODY, MOST_CONNECTIONS, MOST_HEADERS, serving
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.node_wallet import NodeWallet, spend_of
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, to_list
from tests.channel.chain.mempool_rows import sequences
from tests.paths import ROOT

ANYONE = Program(b"\x01")
UNKNOWN = "ab" * 32


def raw(url: str, data: bytes) -> bytes:
    """Send bytes, and read until the server ends the connection."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
        return received


def asked(url: str, call: str, arguments: object) -> dict[str, Any]:
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=30)
    try:
        connection.request("POST", f"/{call}", json.dumps(arguments))
        answer = connection.getresponse()
        assert answer.status == 200
        found: dict[str, Any] = json.loads(answer.read())
        return found
    finally:
        connection.close()


@pytest.fixture(scope="module")
def url() -> Any:
    with SimulatedChain(1).served() as found:
        yield found


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"405"),
        (b"POST /healthz\r\n\r\n", b"400"),
        (b"POST /healthz HTTP/1.1\r\n\r\n", b"411"),
        (b"POST /healthz HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"411"),
        (b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"POST /x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY + 1), b"413"),
        (b"POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b"404"),
        (b"POST /../healthz HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b"404"),
        (b"POST /__call__ HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b"404"),
        (b"POST /healthz HTTP/1.1\r\nContent-Length: 1\r\n\r\n{", b"400"),
        (b"POST /healthz HTTP/1.1\r\nContent-Length: 1\r\n\r\n\xff", b"400"),
        (b"POST /healthz HTTP/1.1\r\nContent-Length: 90000\r\n\r\n" + b"[" * 90_000, b"400"),
        (b"POST /healthz HTTP/1.1\r\nX: " + b"x" * MOST_HEADERS + b"\r\n\r\n", b"431"),
        (b"\x16\x03\x01 a TLS hello\r\n\r\n", b"400"),
    ],
)
def test_bad_requests_get_a_status_and_end_the_connection(
    url: str, request_bytes: bytes, status: bytes
) -> None:
    assert raw(url, request_bytes).startswith(b"HTTP/1.1 " + status)
    assert asked(url, "healthz", {}) == {"success": True}


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("get_coin_record_by_name", {"name": "xyz"}),
        ("get_coin_record_by_name", {"name": 5}),
        ("get_coin_record_by_name", ["name"]),
        ("get_coin_record_by_name", 7),
        ("get_coin_records_by_names", {"names": UNKNOWN}),
        ("get_coin_records_by_names", {"names": [UNKNOWN] * (MOST_BLOCKS + 1)}),
        ("get_coin_records_by_names", {"names": [UNKNOWN], "start_height": None}),
        ("get_coin_records_by_names", {"names": [UNKNOWN], "end_height": -1}),
        ("get_coin_records_by_hint", {"hint": UNKNOWN, "include_spent_coins": "yes"}),
        ("get_puzzle_and_solution", {"coin_id": UNKNOWN, "height": "3"}),
        ("get_block_record_by_height", {"height": -1}),
        ("get_block_record_by_height", {"height": 1 << 70}),
        ("get_block_records", {"start": 0, "end": (1 << 32) - 1}),
        ("get_block_record", {"header_hash": UNKNOWN * 2}),
        ("push_tx", {"spend_bundle": {}}),
        ("push_tx", {"spend_bundle": {"coin_spends": [], "aggregated_signature": "c0"}}),
        ("get_fee_estimate", {"target_times": [-1], "cost": 5}),
        ("get_fee_estimate", {"target_times": [1] * 101, "cost": 5}),
        ("get_fee_estimate", {"target_times": [1], "cost": 1 << 80}),
        ("get_fee_estimate", {"target_times": [1]}),
    ],
)
def test_wrong_arguments_are_refused_with_a_reason(url: str, call: str, arguments: object) -> None:
    found = asked(url, call, arguments)
    assert found["success"] is False
    assert found["error"]
    assert len(found["error"]) < 300


def test_a_bundle_that_cannot_be_read_is_refused(url: str) -> None:
    bundle = Bundle((spend_of(Coin(bytes(32), ANYONE.hash, 1), b"\xff", NIL),), NO_SIGNATURE)
    for made in (bundle, Bundle((), b"\xff" * 96)):
        found = asked(url, "push_tx", {"spend_bundle": bundle_json(made)})
        assert found["error"].endswith("error INVALID_SPEND_BUNDLE")


def test_many_connections_are_bounded_and_slow_ones_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "REQUEST_TIME", 0.2)
    monkeypatch.setattr(rpc_server, "IDLE_TIME", 0.4)
    with SimulatedChain(1).served() as url:
        place = urlsplit(url)
        sockets = [
            socket.create_connection((place.hostname, place.port), timeout=30)
            for _ in range(MOST_CONNECTIONS + 3)
        ]
        try:
            sockets[0].sendall(b"POST /healthz HTTP/1.1\r\n")
            sockets[1].sendall(b"POST /healthz HTTP/1.1\r\nContent-Length: 10\r\n\r\n{")
            assert sockets[-1].recv(1) == b"", "one too many is closed at once"
            for number in (0, 1, 2):
                assert sockets[number].recv(1) == b"", "too slow, or silent"
        finally:
            for one in sockets:
                one.close()


def test_bodies_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "MOST_BODIES", 100)
    with SimulatedChain(1).served() as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), timeout=30) as half:
            half.sendall(b"POST /healthz HTTP/1.1\r\nContent-Length: 90\r\n\r\n{")
            wait_until(lambda: raw(url, post(b"{}" + b" " * 20)).startswith(b"HTTP/1.1 503"))
        wait_until(lambda: b"200 OK" in raw(url, post(b"{}" + b" " * 20)))


def test_answers_that_nobody_reads_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "MOST_ANSWERS", 8 << 20)
    large = b'"%s"' % (b"a" * (6 << 20))

    def call(name: str, arguments: object) -> bytes:
        return large

    with serving(call) as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), timeout=30) as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
            silent.sendall(post(b"{}"))
            wait_until(lambda: raw(url, post(b"{}")).startswith(b"HTTP/1.1 503"))
        wait_until(lambda: b"200 OK" in raw(url, post(b"{}"))[:20])


def test_a_key_that_is_named_often_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address may have many coins: a thousand lists of them would keep the node busy."""
    chain, looked = SimulatedChain(1), []
    at = chain.ledger.at

    def counted_at(key: bytes) -> list[Record]:
        looked.append(key)
        return at(key)

    monkeypatch.setattr(chain.ledger, "at", counted_at)
    coins(chain, 3)
    looked.clear()
    key = ANYONE.hash.hex()
    with chain.served() as url:
        arguments = {"puzzle_hashes": [key, f"0x{key}"] * 500}
        answer = asked(url, "get_coin_records_by_puzzle_hashes", arguments)
    assert len(answer["coin_records"]) == 3
    assert looked == [ANYONE.hash]


def post(body: bytes) -> bytes:
    return (
        b"POST /healthz HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    ) + body


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never happens")


def test_a_connection_is_used_again_and_a_body_may_be_asked_for(url: str) -> None:
    body = b"{}"
    head = b"POST /healthz HTTP/1.1\r\nContent-Length: 2\r\n"
    data = (
        head + b"\r\n" + body + head + b"Expect: 100-continue\r\nConnection: close\r\n\r\n" + body
    )
    received = raw(url, data)
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert received.count(b"HTTP/1.1 100 Continue") == 1


def fails(call: str, arguments: object) -> bytes | None:
    return b"{}" if call == "fine" else None


def test_a_call_that_is_not_there_ends_its_connection_alone() -> None:
    with serving(fails) as url:
        assert raw(url, post(b"{}")).startswith(b"HTTP/1.1 404")
        assert asked(url, "fine", {}) == {}


def test_the_end_closes_connections_whose_clients_read_nothing() -> None:
    """And those that are just being accepted."""
    gc.collect()
    with warnings.catch_warnings(record=True) as left_open, ExitStack() as stack:
        warnings.simplefilter("always", ResourceWarning)
        with serving(lambda call, arguments: bytes(MOST_BODY * 4)) as url:
            place = urlsplit(url)
            request = b"POST /any HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
            for _ in range(3):
                client = stack.enter_context(
                    socket.create_connection((place.hostname, place.port), timeout=30)
                )
                client.sendall(request)
                client.recv(1)
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=30))
        gc.collect()
    assert [str(warning.message) for warning in left_open] == []


def test_an_address_that_is_not_ours_is_refused() -> None:
    with (
        pytest.raises(UsageError, match=r"--listen 192\.0\.2\.1:0"),
        serving(fails, ("192.0.2.1", 0)),
    ):
        pass


def test_the_documents_list_the_calls(url: str) -> None:
    page = (ROOT / "docs" / "test-chain.md").read_text("utf-8")
    section = page.partition("## A test chain\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    listed = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)} - {"cost"}
    assert {f"/{name}" for name in listed} == {*asked(url, "get_routes", {})["routes"]}
    assert f"{len(sequences())} sequences" in section


# --- options -------------------------------------------------------------------------------------


def coins(chain: SimulatedChain, number: int) -> list[Coin]:
    return NodeWallet(chain, b"options").coins([(ANYONE.hash, 100 + n) for n in range(number)])


def spent(coin: Coin, *conditions: Value) -> Bundle:
    spend = spend_of(coin, ANYONE.serialized, to_list(conditions))
    return Bundle((spend,), NO_SIGNATURE)


def test_one_block_in_three_carries_transactions() -> None:
    chain = SimulatedChain(3, NodeSettings(mixed=True))
    chain.farm(600)
    carrying = [h for h in range(1, 602) if (block := chain.ledger.block(h)) and block.carries]
    assert 140 < len(carrying) < 260
    gaps = {after - before for before, after in pairwise(carrying)}
    assert max(gaps) == MOST_GAP
    assert 1 in gaps
    same = SimulatedChain(3, NodeSettings(mixed=True))
    same.farm(600)
    assert same.ledger.tip == chain.ledger.tip


def test_bundles_wait_for_a_block_with_transactions() -> None:
    chain = SimulatedChain(3, NodeSettings(mixed=True))
    wallet = NodeWallet(chain, b"mixed")
    chain.give(bytes(32), 1)
    assert wallet
    waited = set()
    for number in range(12):
        coin = chain.give(ANYONE.hash, 1)
        assert chain.push(spent(coin)).answer is Answer.ACCEPTED
        start = chain.peak()
        while chain.pending(coin.id):
            height = chain.peak()
            chain.farm()
            assert chain.peak() == height + 1
        seen = chain.coin(coin.id)
        assert seen is not None
        assert seen.spent == chain.peak(), number
        block = chain.ledger.block(chain.peak())
        assert block is not None
        assert block.carries
        waited.add(chain.peak() - start)
    assert len(waited) > 2


def test_limits_of_blocks_and_mempool_are_settings() -> None:
    tight = NodeSettings(block_cost=200_000_000, pool_cost=300_000_000)
    chain = SimulatedChain(1, tight)
    with chain.served() as url:
        state = asked(url, "get_blockchain_state", {})["blockchain_state"]
    assert (state["block_max_cost"], state["mempool_max_total_cost"]) == (200_000_000, 300_000_000)
    made = coins(chain, 30) + coins(chain, 30)
    answers = [chain.push(spent(coin, condition(REMARK, bytes(500)))) for coin in made]
    taken = sum(answer.answer is Answer.ACCEPTED for answer in answers)
    assert 0 < taken < len(made)
    assert {one.error for one in answers} == {"", "INVALID_FEE_TOO_CLOSE_TO_ZERO"}
    chain.farm()
    mined = sum(
        (seen := chain.coin(coin.id)) is not None and seen.spent is not None for coin in made
    )
    assert 0 < mined < taken
