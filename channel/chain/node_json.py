"""Coins, bundles, blocks and mempool items in the JSON of a full node's RPC."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.constants import BLOCK_SECONDS
from channelsim.channel.chain.ledger import Block, Ledger, Record, seconds_at
from channelsim.channel.chain.mempool_items import Item

Json = dict[str, Any]

HexHash = Annotated[str, Meta(pattern="^(0x)?[0-9a-fA-F]{64}$")]
_Hex = Annotated[str, Meta(pattern="^(0x)?([0-9a-fA-F]{2})*$")]
_Signature = Annotated[str, Meta(pattern="^(0x)?[0-9a-fA-F]{192}$")]


class JsonCoin(msgspec.Struct, frozen=True):
    """A coin, as a client names it."""

    parent_coin_info: HexHash
    puzzle_hash: HexHash
    amount: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class JsonSpend(msgspec.Struct, frozen=True):
    """A spend, as a client offers it."""

    coin: JsonCoin
    puzzle_reveal: _Hex
    solution: _Hex


class JsonBundle(msgspec.Struct, frozen=True):
    """A bundle, as a client offers it."""

    coin_spends: list[JsonSpend]
    aggregated_signature: _Signature

    def bundle(self) -> Bundle:
        """The bundle as a value."""
        spends = tuple(
            Spend(
                Coin(
                    unhex(spend.coin.parent_coin_info),
                    unhex(spend.coin.puzzle_hash),
                    spend.coin.amount,
                ),
                unhex(spend.puzzle_reveal),
                unhex(spend.solution),
            )
            for spend in self.coin_spends
        )
        return Bundle(spends, unhex(self.aggregated_signature))


def hexed(data: bytes) -> str:
    """Bytes as the RPC writes them.

    >>> hexed(b"\\x01\\xff")
    '0x01ff'
    """
    return f"0x{data.hex()}"


def unhex(text: str) -> bytes:
    """Bytes as clients write them, with `0x` or without."""
    return bytes.fromhex(text.removeprefix("0x"))


def coin_json(coin: Coin) -> Json:
    """A coin."""
    return {
        "parent_coin_info": hexed(coin.parent),
        "puzzle_hash": hexed(coin.puzzle_hash),
        "amount": coin.amount,
    }


def spend_json(spend: Spend) -> Json:
    """A spend."""
    return {
        "coin": coin_json(spend.coin),
        "puzzle_reveal": hexed(spend.puzzle),
        "solution": hexed(spend.solution),
    }


def bundle_json(bundle: Bundle) -> Json:
    """A bundle."""
    return {
        "coin_spends": [spend_json(spend) for spend in bundle.spends],
        "aggregated_signature": hexed(bundle.signature),
    }


def record_json(record: Record) -> Json:
    """A coin's record. Reference: `coin_record_dict_backwards_compat` in full_node_rpc_api.py."""
    return {
        "coin": coin_json(record.coin),
        "confirmed_block_index": record.born,
        "spent_block_index": record.spent or 0,
        "spent": record.spent is not None,
        "coinbase": record.reward,
        "timestamp": seconds_at(record.born),
    }


def item_json(item: Item) -> Json:
    """A bundle in the mempool. Reference: `MempoolItem.to_json_dict`."""
    valid = item.valid
    made = [coin for spend in valid.spends.values() for coin, _ in spend.made]
    return {
        "spend_bundle": bundle_json(valid.bundle),
        "fee": item.fee,
        "npc_result": {"Error": None, "conds": plain(valid.conditions.to_json_dict())},
        "cost": item.cost,
        "spend_bundle_name": hexed(item.name),
        "additions": [coin_json(coin) for coin in made],
        "removals": [coin_json(spend.coin) for spend in valid.bundle.spends],
    }


def block_json(ledger: Ledger, block: Block) -> Json:
    """A block's record. Reference: `BlockRecord`."""
    header = ledger.header(block.height)
    rewards = [ledger.record(coin_id) for coin_id in block.made]
    own = {
        "timestamp": seconds_at(block.height),
        "prev_transaction_block_hash": hexed(
            ledger.header_hash(block.before) if block.before else bytes(32)
        ),
        "fees": sum(item.fee for item in block.items),
        "reward_claims_incorporated": [
            coin_json(record.coin) for record in rewards if record is not None and record.reward
        ],
    }
    return {
        "header_hash": hexed(header.header_hash),
        "prev_hash": hexed(header.prev_hash),
        "height": block.height,
        "weight": block.height,
        "total_iters": block.height * BLOCK_SECONDS,
        "signage_point_index": 0,
        "challenge_vdf_output": {"data": hexed(header.challenge_vdf_output)},
        "infused_challenge_vdf_output": None,
        "reward_infusion_new_challenge": hexed(header.reward_infusion_new_challenge),
        "challenge_block_info_hash": hexed(header.challenge_block_info_hash),
        "sub_slot_iters": int(header.sub_slot_iters),
        "pool_puzzle_hash": hexed(header.pool_puzzle_hash),
        "farmer_puzzle_hash": hexed(header.farmer_puzzle_hash),
        "required_iters": int(header.required_iters),
        "deficit": int(header.deficit),
        "overflow": bool(header.overflow),
        "prev_transaction_block_height": block.before,
        **(own if block.carries else dict.fromkeys(own)),
        "finished_challenge_slot_hashes": None,
        "finished_infused_challenge_slot_hashes": None,
        "finished_reward_slot_hashes": None,
        "sub_epoch_summary_included": None,
    }


def plain(value: Any) -> Any:
    """JSON of the consensus library, with integers that any encoder takes."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value
