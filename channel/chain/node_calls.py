"""The calls of a full node's RPC, answered from an embedded chain and its mempool.

The names of arguments and answers, and the words of errors, are those of the reference node:
chia/full_node/full_node_rpc_api.py and chia/rpc/rpc_server.py of chia-blockchain 2.7.5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from types import MappingProxyType
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from chia_rs import ConsensusConstants
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.constants import BLOCK_SECONDS
from channelsim.channel.chain.fee_rates import LEAST_COST, rate_within
from channelsim.channel.chain.ledger import Block, Ledger, Record, seconds_at
from channelsim.channel.chain.mempool import Mempool, Outcome, Status
from channelsim.channel.chain.node_json import (
    HexHash,
    Json,
    JsonBundle,
    block_json,
    hexed,
    item_json,
    plain,
    record_json,
    spend_json,
    unhex,
)
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.errors import UsageError

T = TypeVar("T")

VERSION = "2.7.5"
"""The version of the reference node whose answers these are like."""

NETWORK = "simulator0"

MOST_BLOCKS = 1000
"""The blocks, and the keys of coins, that one call can ask for."""

_Height = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
_Keys = Annotated[list[HexHash], Meta(max_length=MOST_BLOCKS)]


Answered = Callable[[Json], Json]
"""Answers a call's arguments; raises `CallError` or `UsageError` if there is no answer."""

NO_MORE: Mapping[str, Answered] = MappingProxyType({})
"""Only the calls of a full node."""


class CallError(Exception):
    """The node has no answer; its text says why."""


class Window(msgspec.Struct, frozen=True):
    """The coins that are wanted: from one height on, before another one, and spent or not."""

    include_spent_coins: bool = False
    start_height: _Height = 0
    end_height: _Height = (1 << 32) - 1


class Node(Protocol):
    """An embedded node. `lock` is held during a call; `offer` takes a bundle into the mempool."""

    lock: RLock

    @property
    def ledger(self) -> Ledger:
        """The chain."""
        ...

    @property
    def mempool(self) -> Mempool:
        """Bundles that wait for a block."""
        ...

    @property
    def constants(self) -> ConsensusConstants:
        """The constants of its network."""
        ...

    def offer(self, bundle: Bundle) -> Outcome:
        """Offer a bundle to the mempool."""
        ...


class NodeCalls:
    """Answers the calls of a full node, and more calls, which have their own names."""

    def __init__(self, node: Node, more: Mapping[str, Answered]) -> None:
        self._node = node
        self._constants = node.constants
        own = {
            name.removeprefix("_call_"): getattr(self, name)
            for name in dir(self)
            if name.startswith("_call_")
        }
        self._calls: dict[str, Answered] = {**more, **own}

    @property
    def _ledger(self) -> Ledger:
        return self._node.ledger

    @property
    def _mempool(self) -> Mempool:
        return self._node.mempool

    def __call__(self, name: str, arguments: object) -> bytes | None:
        """Answer a call, or say why not; None if there is no call of this name."""
        call = self._calls.get(name)
        if call is None:
            return None
        answer: Json
        try:
            with self._node.lock:
                answer = {"success": True, **call(arguments if isinstance(arguments, dict) else {})}
        except (CallError, UsageError) as error:
            answer = {"success": False, "error": str(error)}
        return msgspec.json.encode(answer)

    # --- the chain ---

    def _call_get_blockchain_state(self, _: Json) -> Json:
        ledger, pool = self._ledger, self._mempool
        state = {
            "peak": block_json(ledger, self._block(ledger.height)),
            "genesis_challenge_initialized": True,
            "sync": {
                "sync_mode": False,
                "synced": True,
                "sync_tip_height": 0,
                "sync_progress_height": 0,
            },
            "difficulty": 1,
            "sub_slot_iters": int(self._constants.SUB_SLOT_ITERS_STARTING),
            "space": 1 << 60,
            "average_block_time": BLOCK_SECONDS if ledger.height > 1 else None,
            "mempool_size": len(pool),
            "mempool_cost": pool.cost,
            "mempool_fees": pool.fees,
            "mempool_min_fees": {f"cost_{LEAST_COST}": pool.least_rate(LEAST_COST)},
            "mempool_max_total_cost": pool.limits.pool_cost,
            "block_max_cost": pool.limits.block_cost,
            "node_id": "00" * 32,
        }
        return {"blockchain_state": state}

    def _call_get_network_info(self, _: Json) -> Json:
        challenge = self._ledger.genesis_challenge.hex()
        return {
            "network_name": NETWORK,
            "network_prefix": "txch",
            "genesis_challenge": challenge,
        }

    def _call_get_aggsig_additional_data(self, _: Json) -> Json:
        return {"additional_data": bytes(self._constants.AGG_SIG_ME_ADDITIONAL_DATA).hex()}

    def _call_get_constants(self, _: Json) -> Json:
        return {"constants": plain(self._constants.to_json_dict())}

    def _call_healthz(self, _: Json) -> Json:
        return {}

    def _call_get_version(self, _: Json) -> Json:
        return {"version": VERSION}

    def _call_get_routes(self, _: Json) -> Json:
        return {"routes": [f"/{name}" for name in sorted(self._calls)]}

    # --- blocks ---

    def _call_get_block_record_by_height(self, request: Json) -> Json:
        height = given(request, "height", _Height, "No height in request")
        block = self._ledger.block(height)
        if block is None:
            raise CallError(f"Block height {height} not found in chain")
        return {"block_record": block_json(self._ledger, block)}

    def _call_get_block_record(self, request: Json) -> Json:
        header_hash = _given_hash(request, "header_hash", "header_hash not in request")
        height = self._ledger.height_of(header_hash)
        if height is None:
            raise CallError(f"Block {header_hash.hex()} does not exist")
        return {"block_record": block_json(self._ledger, self._block(height))}

    def _call_get_block_records(self, request: Json) -> Json:
        start = given(request, "start", _Height, "No start in request")
        end = given(request, "end", _Height, "No end in request")
        if end - start > MOST_BLOCKS:
            raise CallError(f"more than {MOST_BLOCKS} blocks are asked for")
        blocks = [self._ledger.block(height) for height in range(start, end)]
        return {"block_records": [block_json(self._ledger, block) for block in blocks if block]}

    def _call_get_block_spends(self, request: Json) -> Json:
        block = self._named_block(request)
        spent = [self._record(coin_id).spend for coin_id in block.spent]
        return {"block_spends": [spend_json(spend) for spend in spent if spend is not None]}

    def _call_get_additions_and_removals(self, request: Json) -> Json:
        block = self._named_block(request)
        return {
            "additions": [record_json(self._record(coin_id)) for coin_id in block.made],
            "removals": [record_json(self._record(coin_id)) for coin_id in block.spent],
        }

    # --- coins ---

    def _call_get_coin_record_by_name(self, request: Json) -> Json:
        name = _given_hash(request, "name", "Name not in request")
        record = self._ledger.record(name)
        if record is None:
            raise CallError(f"Coin record {hexed(name)} not found")
        return {"coin_record": record_json(record)}

    def _call_get_coin_records_by_names(self, request: Json) -> Json:
        names = _given_hashes(request, "names", "Names not in request")
        found = (self._ledger.record(name) for name in names)
        return _records(request, (record for record in found if record is not None))

    def _call_get_coin_records_by_puzzle_hash(self, request: Json) -> Json:
        puzzle_hash = _given_hash(request, "puzzle_hash", "Puzzle hash not in request")
        return _records(request, self._ledger.at(puzzle_hash))

    def _call_get_coin_records_by_puzzle_hashes(self, request: Json) -> Json:
        hashes = _given_hashes(request, "puzzle_hashes", "Puzzle hashes not in request")
        return _records(request, (one for key in hashes for one in self._ledger.at(key)))

    def _call_get_coin_records_by_parent_ids(self, request: Json) -> Json:
        parents = _given_hashes(request, "parent_ids", "Parent IDs not in request")
        return _records(request, (one for key in parents for one in self._ledger.children(key)))

    def _call_get_coin_records_by_hint(self, request: Json) -> Json:
        hint = _given_hash(request, "hint", "Hint not in request")
        return _records(request, self._ledger.hinted(hint))

    def _call_get_puzzle_and_solution(self, request: Json) -> Json:
        coin_id = _given_hash(request, "coin_id", "'coin_id'")
        height = given(request, "height", _Height, "'height'")
        record = self._ledger.record(coin_id)
        if record is None or record.spend is None or record.spent != height:
            shown = None if record is None else record_json(record)
            raise CallError(f"Invalid height {height}. coin record {shown}")
        return {"coin_solution": spend_json(record.spend)}

    # --- the mempool ---

    def _call_push_tx(self, request: Json) -> Json:
        bundle = given(request, "spend_bundle", JsonBundle, "Spend bundle not in request").bundle()
        outcome = self._node.offer(bundle)
        if outcome.status is Status.FAILED:
            name = name_of_bundle(bundle).hex()
            raise CallError(f"Failed to include transaction {name}, error {outcome.error}")
        return {"status": outcome.status.value}

    def _call_get_all_mempool_tx_ids(self, _: Json) -> Json:
        return {"tx_ids": [hexed(item.name) for item in self._mempool.items()]}

    def _call_get_all_mempool_items(self, _: Json) -> Json:
        items = {item.name.hex(): item_json(item) for item in self._mempool.items()}
        return {"mempool_items": items}

    def _call_get_mempool_item_by_tx_id(self, request: Json) -> Json:
        name = _given_hash(request, "tx_id", "No tx_id in request")
        item = self._mempool.item(name, kept=bool(request.get("include_pending")))
        if item is None:
            raise CallError(f"Tx id {hexed(name)} not in the mempool")
        return {"mempool_item": item_json(item)}

    def _call_get_mempool_items_by_coin_name(self, request: Json) -> Json:
        name = _given_hash(request, "coin_name", "No coin_name in request")
        return {"mempool_items": [item_json(item) for item in self._mempool.spending(name)]}

    def _call_get_fee_estimate(self, request: Json) -> Json:
        times = sorted(given(request, "target_times", _Times, _NO_TIMES))
        if [name for name in _COSTS if name in request] != ["cost"]:
            raise CallError(f"Request must contain exactly one of {list(_COSTS)}; here: cost")
        cost = given(request, "cost", _Cost, "")
        ledger, pool = self._ledger, self._mempool
        last = self._block(ledger.tip.height)
        spent, fees = (sum(getattr(item, name) for item in last.items) for name in ("cost", "fee"))
        return {
            "estimates": [int(rate_within(pool, seconds) * cost) for seconds in times],
            "target_times": times,
            "current_fee_rate": rate_within(pool, 0),
            "mempool_size": pool.cost,
            "mempool_fees": pool.fees,
            "num_spends": len(pool),
            "mempool_max_size": pool.limits.pool_cost,
            "full_node_synced": True,
            "peak_height": ledger.height,
            "last_peak_timestamp": seconds_at(last.height),
            "node_time_utc": int(time.time()),
            "last_block_cost": spent,
            "fees_last_block": fees,
            "fee_rate_last_block": fees / spent if spent else 0.0,
            "last_tx_block_height": last.height,
        }

    # --- looking up ---

    def _block(self, height: int) -> Block:
        block = self._ledger.block(height)
        if block is None:
            raise CallError(f"Height not in blockchain: {height}")
        return block

    def _named_block(self, request: Json) -> Block:
        header_hash = _given_hash(request, "header_hash", "No header_hash in request")
        height = self._ledger.height_of(header_hash)
        if height is None:
            raise CallError(f"Block {header_hash.hex()} not found")
        return self._block(height)

    def _record(self, coin_id: bytes) -> Record:
        record = self._ledger.record(coin_id)
        if record is None:
            raise CallError(f"Coin record {hexed(coin_id)} not found")
        return record


_Times = Annotated[list[Annotated[int, Meta(ge=0, le=1 << 40)]], Meta(max_length=100)]
_Cost = Annotated[int, Meta(ge=0, le=1 << 40)]
_NO_TIMES = "Request must contain 'target_times' array"
_COSTS = ("spend_bundle", "cost", "spend_type")


def given(request: Json, name: str, kind: Any, missing: str) -> Any:
    """An argument of this type; raises `CallError` without it, or for another type."""
    if name not in request:
        raise CallError(missing)
    try:
        return msgspec.convert(request[name], kind)
    except msgspec.ValidationError as error:
        raise CallError(f"{name}: {error}") from None


def _given_hash(request: Json, name: str, missing: str) -> bytes:
    return unhex(given(request, name, HexHash, missing))


def _given_hashes(request: Json, name: str, missing: str) -> list[bytes]:
    # Each once: an address may have many coins, and the same one may be named many times.
    return list(dict.fromkeys(unhex(text) for text in given(request, name, _Keys, missing)))


def _records(request: Json, records: Iterable[Record]) -> Json:
    try:
        window = msgspec.convert(request, Window)
    except msgspec.ValidationError as error:
        raise CallError(f"{error}") from None
    wanted = {
        record.coin.id: record
        for record in records
        if window.start_height <= record.born < window.end_height
        and (window.include_spent_coins or record.spent is None)
    }
    return {"coin_records": [record_json(record) for record in wanted.values()]}
