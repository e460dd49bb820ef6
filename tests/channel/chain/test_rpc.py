"""A node's RPC whose answers are wrong, late or missing: one clear line, and never a wrong coin."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.full_node import (
    MOST_CHILDREN,
    MOST_PENDING_BYTES,
    Credentials,
    NodeError,
    Patience,
    RpcChain,
)
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.node_json import bundle_json
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.peaks import PUBLIC, SLACK
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.node_wallet import NodeWallet, spend_of
from channelsim.channel.peer.interface import Pinned
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.store.event_codec import decode_event, encode_event
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL

HASTY = Patience(seconds=0.4, attempts=3, pause=0.01)
ADDRESS = b"\x0a" * 32
COIN = Coin(b"\x0b" * 32, ADDRESS, 100)
BUNDLE = Bundle((spend_of(COIN, b"\x01", NIL),), NO_SIGNATURE)
ITEM = {"spend_bundle": bundle_json(BUNDLE), "fee": 7, "cost": 5_000_000}

Reply = Callable[[str, dict[str, Any]], bytes | None]
"""Given the call's name and arguments: the body of the answer; None breaks the connection."""


@contextmanager
def node(reply: Reply) -> Iterator[str]:
    """Something that listens where a node should be."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", 0))
            asked = json.loads(self.rfile.read(size) or b"{}")
            body = reply(self.path.strip("/"), asked)
            if body is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # A shutdown is noticed at the next poll.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def coin_record(**changes: Any) -> dict[str, Any]:
    coin = {
        "parent_coin_info": f"0x{COIN.parent.hex()}",
        "puzzle_hash": f"0x{ADDRESS.hex()}",
        "amount": 100,
    }
    record = {
        "coin": coin,
        "coinbase": False,
        "confirmed_block_index": 3,
        "spent": False,
        "spent_block_index": 0,
        "timestamp": 0,
    }
    coin.update({key: value for key, value in changes.items() if key in coin})
    record.update({key: value for key, value in changes.items() if key not in coin})
    return record


def success(**fields: Any) -> bytes:
    return json.dumps({"success": True, "error": None, **fields}).encode()


def always(body: bytes) -> Reply:
    return lambda call, asked: body


def one_coin(**changes: Any) -> Reply:
    return always(success(coin_record=coin_record(**changes)))


def some_coins(*records: dict[str, Any], **fields: Any) -> Reply:
    return always(success(coin_records=[*records], **fields))


def wrong(url: str, ask: Callable[[RpcChain], object]) -> str:
    """The error that this question raises: one printable line that names the node."""
    with RpcChain(url, patience=HASTY) as chain, pytest.raises(NodeError) as raised:
        ask(chain)
    text = str(raised.value)
    assert text.startswith(f"the node at {url} ")
    assert text.isprintable()
    assert len(text) < 400
    assert isinstance(raised.value, UsageError)
    return text


GARBAGE = {
    "nothing": b"",
    "no JSON": b"<html>no node here</html>",
    "another document": b"[1, 2]",
    "no fields": b"{}",
    "a deep document": b"[" * 100_000,
    "wrong types": success(
        blockchain_state=7, coin_record="x", coin_records=3, genesis_challenge=[], mempool_items="x"
    ),
    "half a coin": success(
        blockchain_state={"peak": {}},
        coin_record={"coin": {}},
        coin_records=[{}],
        genesis_challenge="0x12",
        mempool_items=[{}],
        status=5,
    ),
}

QUESTIONS: dict[str, Callable[[RpcChain], object]] = {
    "peak": lambda chain: chain.peak(),
    "agg_sig_data": lambda chain: chain.agg_sig_data(),
    "coin": lambda chain: chain.coin(COIN.id),
    "coins_at": lambda chain: chain.coins_at(ADDRESS),
    "children": lambda chain: chain.children(COIN.parent),
    "pending": lambda chain: chain.pending(COIN.id),
    "fee_rate": lambda chain: chain.fee_rate(),
}


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("question", QUESTIONS)
def test_garbage_is_refused(kind: str, question: str) -> None:
    with node(always(GARBAGE[kind])) as url:
        wrong(url, QUESTIONS[question])


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_does_not_accept_a_bundle(kind: str) -> None:
    with node(always(GARBAGE[kind])) as url, RpcChain(url, patience=HASTY) as chain:
        answer = Answer.REFUSED
        with suppress(NodeError):
            answer = chain.push(BUNDLE).answer
        assert answer is Answer.REFUSED


WRONG_COINS = {
    "another coin": one_coin(amount=101),
    "a coin of another address": one_coin(puzzle_hash=f"0x{'0c' * 32}"),
    "an amount that no coin has": one_coin(amount=2**64 - 1),
    "an amount below nothing": one_coin(amount=-1),
    "a height below nothing": one_coin(confirmed_block_index=-1),
    "a height beyond all": one_coin(confirmed_block_index=2**40),
    "spent before it was made": one_coin(spent=True, spent_block_index=2),
    "a short parent": one_coin(parent_coin_info="0x0b"),
}


@pytest.mark.parametrize("kind", WRONG_COINS)
def test_an_impossible_coin_is_refused(kind: str) -> None:
    with node(WRONG_COINS[kind]) as url:
        wrong(url, lambda chain: chain.coin(COIN.id))


@pytest.mark.parametrize(
    "changes",
    [
        {"fee": -1},
        {"fee": 1 << 63},
        {"fee": None},
        {"fee": "7"},
        {"cost": 0},
        {"cost": 1 << 50},
        {"cost": 0.5},
    ],
    ids=str,
)
def test_a_pending_bundle_with_an_impossible_fee_or_cost_is_refused(
    changes: dict[str, object],
) -> None:
    items = success(mempool_items=[{**ITEM, **changes}])
    with node(always(items)) as url:
        wrong(url, lambda chain: chain.pending(COIN.id))


@pytest.mark.parametrize("amount", [(1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 80])
def test_a_pending_bundle_is_one_that_a_journal_can_hold(amount: int) -> None:
    """A journal with a coin that is too large could never be read again."""
    other = Bundle(
        (*BUNDLE.spends, spend_of(Coin(COIN.id, ADDRESS, amount), b"\x01", NIL)), NO_SIGNATURE
    )
    items = success(mempool_items=[ITEM, {**ITEM, "spend_bundle": bundle_json(other)}])
    with node(always(items)) as url, RpcChain(url) as chain:
        pending = tuple(chain.pending(COIN.id))
    assert [one.bundle for one in pending][:1] == [BUNDLE]
    event = Pinned(BUNDLE, pending)
    assert decode_event(encode_event(event, Block(1)), Block(1)) == event


def test_a_pending_bundle_that_no_block_can_hold_is_left_out() -> None:
    spend = Spend(COIN, b"\x01", b"\x80" * MOST_PENDING_BYTES)
    item = {**ITEM, "spend_bundle": bundle_json(Bundle((spend,), NO_SIGNATURE))}
    with node(always(success(mempool_items=[item]))) as url, RpcChain(url) as chain:
        assert chain.pending(COIN.id) == []


WRONG_LISTS = {
    "a coin of another address": some_coins(coin_record(puzzle_hash=f"0x{'0c' * 32}")),
    "a spent coin": some_coins(coin_record(spent=True, spent_block_index=4)),
    "some of them": some_coins(coin_record(), truncated=True),
    "no end": some_coins(coin_record(), truncated=True, next_cursor="again"),
}


@pytest.mark.parametrize("kind", WRONG_LISTS)
def test_an_impossible_list_of_coins_is_refused(kind: str) -> None:
    with node(WRONG_LISTS[kind]) as url:
        wrong(url, lambda chain: chain.coins_at(ADDRESS))


WRONG_CHILDREN = {
    "a coin of another parent": some_coins(coin_record(parent_coin_info=f"0x{'0c' * 32}")),
    "an amount that no coin has": some_coins(coin_record(amount=2**64 - 1)),
    "some of them": some_coins(coin_record(), truncated=True),
    "no end": some_coins(coin_record(), next_cursor="again"),
    "too many": some_coins(*(coin_record(amount=one) for one in range(MOST_CHILDREN + 1))),
}


@pytest.mark.parametrize("kind", WRONG_CHILDREN)
def test_impossible_children_are_refused(kind: str) -> None:
    with node(WRONG_CHILDREN[kind]) as url:
        wrong(url, lambda chain: chain.children(COIN.parent))


def test_as_many_children_as_a_block_can_pay_for_are_read_by_id() -> None:
    questions = []
    records = [coin_record(amount=one) for one in range(MOST_CHILDREN)]

    def reply(call: str, asked: dict[str, Any]) -> bytes:
        questions.append((call, asked))
        return success(coin_records=records)

    with node(reply) as url, RpcChain(url, patience=HASTY) as chain:
        children = chain.children(COIN.parent)
    assert len(children) == MOST_CHILDREN
    assert children == sorted(children, key=lambda child: child.coin.id)
    ((call, asked),) = questions
    assert call == "get_coin_records_by_parent_ids"
    # A real node refuses heights that are null.
    assert asked == {"parent_ids": [f"0x{COIN.parent.hex()}"], "include_spent_coins": True}


def test_a_possible_coin_is_read() -> None:
    for changes, spent in (({}, None), ({"spent": True, "spent_block_index": 9}, 9)):
        with node(one_coin(**changes)) as url, RpcChain(url, patience=HASTY) as chain:
            seen = chain.coin(COIN.id)
            assert seen is not None
            assert (seen.coin, seen.born, seen.spent) == (COIN, 3, spent)


def test_pages_are_joined() -> None:
    other = {"parent_coin_info": f"0x{'0d' * 32}"}
    pages = {
        None: success(coin_records=[coin_record()], truncated=True, next_cursor="next"),
        "next": success(coin_records=[coin_record(**other), coin_record()]),
    }
    with (
        node(lambda call, asked: pages[asked.get("cursor")]) as url,
        RpcChain(url, patience=HASTY) as chain,
    ):
        assert len(chain.coins_at(ADDRESS)) == 2


def refusal(error: str, call: str = "") -> Reply:
    return always(json.dumps({"success": False, "error": error}).encode())


def test_an_unknown_coin_is_none_as_real_nodes_report_it() -> None:
    said = f"Coin record 0x{COIN.id.hex()} not found"
    with node(refusal(said)) as url, RpcChain(url, patience=HASTY) as chain:
        assert chain.coin(COIN.id) is None
    with node(refusal("out of order")) as url:
        assert "out of order" in wrong(url, lambda chain: chain.coin(COIN.id))


def test_an_error_text_has_no_terminal_control_characters() -> None:
    with node(refusal("\x1b[2J\nyou have won\u202e" + "!" * 9000)) as url:
        assert "you have won" in wrong(url, lambda chain: chain.peak())


@pytest.mark.parametrize(
    ("said", "answer", "word"),
    [
        ({"success": True, "status": "SUCCESS"}, Answer.ACCEPTED, ""),
        (
            {"success": True, "status": "PENDING", "mempool_items": []},
            *(Answer.TOO_EARLY, "PENDING"),
        ),
        (
            {"success": True, "status": "PENDING", "mempool_items": [ITEM]},
            *(Answer.PENDING_CONFLICT, "PENDING"),
        ),
        ({"success": True, "status": "WHATEVER"}, Answer.REFUSED, "WHATEVER"),
        (
            {"success": False, "error": "Failed to include transaction 00, error DOUBLE_SPEND"},
            *(Answer.ALREADY_SPENT, "DOUBLE_SPEND"),
        ),
        (
            {"success": False, "error": "Failed to include transaction 00, error MEMPOOL_CONFLICT"},
            *(Answer.PENDING_CONFLICT, "MEMPOOL_CONFLICT"),
        ),
        (
            {"success": False, "error": "Failed, error ALREADY_INCLUDING_TRANSACTION"},
            *(Answer.KNOWN, "ALREADY_INCLUDING_TRANSACTION"),
        ),
        ({"success": False, "error": "mempool full"}, Answer.REFUSED, "mempool full"),
        ({"success": False}, Answer.REFUSED, "no reason given"),
    ],
)
def test_answers_to_a_bundle(said: dict[str, Any], answer: Answer, word: str) -> None:
    with node(always(json.dumps(said).encode())) as url, RpcChain(url, patience=HASTY) as chain:
        result = chain.push(BUNDLE)
        assert (result.answer, result.error) == (answer, word)


def test_a_node_that_is_not_synced_has_no_peak() -> None:
    synced: dict[str, Any] = {}
    with SimulatedChain(1).served() as url:
        synced = asked(url, "get_blockchain_state")
    body = json.dumps(synced).encode()
    with node(always(body)) as url, RpcChain(url, patience=HASTY) as chain:
        assert chain.peak() == 1
    synced["blockchain_state"]["sync"]["synced"] = False
    with node(always(json.dumps(synced).encode())) as url:
        assert "is not synced" in wrong(url, lambda chain: chain.peak())


@pytest.mark.parametrize("public", [True, False])
def test_heights_that_a_public_network_cannot_have_are_not_believed(public: bool) -> None:
    challenge = min(PUBLIC).hex() if public else "77" * 32
    with SimulatedChain(1).served() as url:
        state = asked(url, "get_blockchain_state")
    data = {"success": True, "additional_data": challenge}
    tip = state["blockchain_state"]["peak"]

    def reply(call: str, arguments: dict[str, Any]) -> bytes:
        return json.dumps(data if call == "get_aggsig_additional_data" else state).encode()

    with node(reply) as url, RpcChain(url, patience=HASTY) as chain:
        assert chain.agg_sig_data().hex() == challenge
        for height, weight, refuted in (
            (1000, 5000, ""),
            (1001, 5010, ""),
            (990, 4900, "goes back from height 1001 to 990"),
            (1000, 5020, ""),
            (1000 + SLACK, 9000, ""),
            (1100 + 3 * SLACK, 9990, f"names {100 + 2 * SLACK} blocks within"),
            (1001 + SLACK, 9001, ""),
        ):
            tip.update(height=height, weight=weight)
            if refuted and public:
                with pytest.raises(NodeError, match=refuted):
                    chain.peak()
            else:
                assert chain.peak() == height


def asked(url: str, call: str, **arguments: Any) -> dict[str, Any]:
    from urllib.request import Request, urlopen

    body = json.dumps(arguments).encode()
    request = Request(f"{url}/{call}", body, {"content-type": "application/json"})
    with urlopen(request) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def test_a_broken_connection_is_made_again() -> None:
    """The first two times it breaks, for a question and for a bundle."""
    chain = SimulatedChain(1)
    (coin,) = NodeWallet(chain, b"rpc").coins([(Program(b"\x01").hash, 100)])
    bundle = Bundle((spend_of(coin, b"\x01", NIL),), NO_SIGNATURE)
    calls: list[str] = []

    with chain.served() as real:

        def reply(call: str, arguments: dict[str, Any]) -> bytes | None:
            calls.append(call)
            if calls.count(call) == 2 and call == "push_tx":
                # The worst of it: the node took the bundle, and then the connection broke.
                asked(real, call, **arguments)
            if calls.count(call) < 3:
                return None
            return json.dumps(asked(real, call, **arguments)).encode()

        with node(reply) as url, RpcChain(url, patience=HASTY) as over:
            assert over.peak() == chain.peak()
            assert calls.count("get_blockchain_state") == 3
            assert over.push(bundle).benign
            assert calls.count("push_tx") == 3
            assert [spend.coin for one in over.pending(coin.id) for spend in one.bundle.spends] == [
                coin
            ]
        chain.farm()
        seen = chain.coin(coin.id)
        assert seen is not None
        assert seen.spent == chain.peak()


def test_an_unreachable_node() -> None:
    with node(always(b"")) as url:
        pass
    assert wrong(url, lambda chain: chain.peak()).endswith("cannot be reached")


def test_a_node_that_never_answers() -> None:
    over = threading.Event()

    def reply(call: str, asked: dict[str, Any]) -> None:
        over.wait(30)

    with node(reply) as url:
        try:
            assert wrong(url, lambda chain: chain.peak()).endswith("does not answer within 0.4 s")
        finally:
            over.set()


def test_pending_bundles_are_those_of_the_mempool() -> None:
    chain = SimulatedChain(1)
    (coin,) = NodeWallet(chain, b"rpc").coins([(Program(b"\x01").hash, 100)])
    bundle = Bundle((spend_of(coin, b"\x01", NIL),), NO_SIGNATURE)
    with chain.served() as url, RpcChain(url) as over:
        assert over.pending(coin.id) == []
        assert over.push(bundle).answer is Answer.ACCEPTED
        assert [one.bundle for one in over.pending(coin.id)] == [bundle]
        real = asked(url, "get_mempool_items_by_coin_name", coin_name=f"0x{coin.id.hex()}")
    with node(always(json.dumps(real).encode())) as url:
        assert "does not spend" in wrong(url, lambda chain: chain.pending(COIN.id))


@pytest.mark.parametrize("url", ["", "nonsense", "http://", "ftp://127.0.0.1:1"])
def test_a_bad_url(url: str) -> None:
    with pytest.raises(NodeError):
        wrong_url(url)


def wrong_url(url: str) -> None:
    with RpcChain(url, patience=HASTY) as chain:
        chain.peak()


def test_a_bad_certificate(tmp_path: Path) -> None:
    certificate, key = tmp_path / "node.crt", tmp_path / "node.key"
    for path in (certificate, key):
        with pytest.raises(NodeError, match=f"--cert {certificate} and --key"):
            RpcChain("https://127.0.0.1:1", Credentials(certificate, key))
        path.write_bytes(b"no certificate, and no key")
    with pytest.raises(NodeError, match=f"--cert {certificate} and --key"):
        RpcChain("https://127.0.0.1:1", Credentials(certificate, key))


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    chain = RpcChain("http://127.0.0.1:9", patience=HASTY)
    chain.close()
    chain.close()
