"""A full node over its RPC, behind the interface of `channelsim.channel.chain`.

The node's answers are untrusted: they are validated here, and an invalid one is reported in one
line.
"""

from __future__ import annotations

import re
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE
from channelsim.channel.chain.fee_rates import LEAST_COST, SOON, SPEND_COST, PoolUse, asked_rate
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.node_json import bundle_json
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.peaks import PUBLIC, Now, Peak, refuted
from channelsim.channel.chain.refusals import ANSWERS
from channelsim.channel.chain.rpc import (
    PATIENCE,
    Answered,
    AnswerTooLong,
    Credentials,
    NodeError,
    Patience,
    RpcClient,
    line,
)
from channelsim.clsp.values import MAX_BYTES

__all__ = ["Credentials", "NodeError", "Patience", "RpcChain"]

PAGES = 100
"""The most pages of coins that are read for one address."""

MOST_CHILDREN = 6_200
"""The most coins that one spend can create: a block has no cost for more."""

MOST_MOJOS = (1 << 63) - 1
"""The largest amount of a coin that a peer can use. The chain knows larger ones."""

MOST_PENDING_BYTES = BLOCK_COST // 2 // COST_PER_BYTE
"""The most bytes of puzzles and solutions in a bundle that a mempool takes."""

_REFUSAL = re.compile(r"\berror ([A-Z][A-Z0-9_]+)$")

# --- answers of a node, as they are in JSON ------------------------------------------------------

_Hash = Annotated[str, Meta(pattern="^(0x)?[0-9a-fA-F]{64}$")]
_Hex = Annotated[str, Meta(pattern="^(0x)?([0-9a-fA-F]{2})*$")]
_Height = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
_Mojos = Annotated[int, Meta(ge=0)]
_Fee = Annotated[int, Meta(ge=0, le=MOST_MOJOS)]
_Cost = Annotated[int, Meta(ge=1, le=1 << 40)]
_Rate = Annotated[float, Meta(ge=0, le=1 << 64)]


class _Coin(msgspec.Struct, frozen=True):
    parent_coin_info: _Hash
    puzzle_hash: _Hash
    amount: _Mojos

    def coin(self) -> Coin:
        return Coin(_bytes(self.parent_coin_info), _bytes(self.puzzle_hash), self.amount)


class _Record(msgspec.Struct, frozen=True):
    coin: _Coin
    confirmed_block_index: _Height
    spent_block_index: _Height
    spent: bool | None = None


class _CoinRecord(msgspec.Struct, frozen=True):
    coin_record: _Record | None


class _CoinRecords(msgspec.Struct, frozen=True):
    coin_records: list[_Record]
    truncated: bool | None = None
    next_cursor: str | None = None


class _Spend(msgspec.Struct, frozen=True):
    coin: _Coin
    puzzle_reveal: _Hex
    solution: _Hex


class _CoinSolution(msgspec.Struct, frozen=True):
    coin_solution: _Spend | None = None


class _SpendBundle(msgspec.Struct, frozen=True):
    coin_spends: list[_Spend]
    aggregated_signature: Annotated[str, Meta(pattern="^(0x)?[0-9a-fA-F]{192}$")]

    def bundle(self) -> Bundle:
        spends = tuple(
            Spend(one.coin.coin(), _bytes(one.puzzle_reveal), _bytes(one.solution))
            for one in self.coin_spends
        )
        return Bundle(spends, _bytes(self.aggregated_signature))


class _MempoolItem(msgspec.Struct, frozen=True):
    spend_bundle: _SpendBundle
    fee: _Fee
    cost: _Cost

    def pending(self) -> PendingBundle:
        return PendingBundle(self.spend_bundle.bundle(), self.fee, self.cost)


class _MempoolItems(msgspec.Struct, frozen=True):
    mempool_items: list[_MempoolItem]


class _FeeEstimate(msgspec.Struct, frozen=True):
    estimates: Annotated[list[_Rate], Meta(min_length=1, max_length=1)]
    current_fee_rate: _Rate
    mempool_size: _Mojos
    mempool_max_size: _Mojos
    mempool_fees: _Mojos

    def pool(self, least: float = 0.0) -> PoolUse:
        return PoolUse(self.mempool_size, self.mempool_max_size, self.mempool_fees, least)


class _Pool(msgspec.Struct, frozen=True):
    mempool_min_fees: dict[str, _Rate | None]


class _PoolState(msgspec.Struct, frozen=True):
    blockchain_state: _Pool


class _Sync(msgspec.Struct, frozen=True):
    synced: bool
    sync_tip_height: _Height | None = None


class _Tip(msgspec.Struct, frozen=True):
    height: _Height
    weight: Annotated[int, Meta(ge=0)]


class _State(msgspec.Struct, frozen=True):
    sync: _Sync
    peak: _Tip | None


class _BlockchainState(msgspec.Struct, frozen=True):
    blockchain_state: _State | None


class _AggSigData(msgspec.Struct, frozen=True):
    additional_data: _Hash


class _Pushed(msgspec.Struct, frozen=True):
    status: str


# --- the chain -----------------------------------------------------------------------------------


class NodeSyncing(NodeError):
    """The node does not have the newest blocks yet; it may be asked again later."""


class RpcChain:
    """A node by its URL; `credentials` where it wants them, as real nodes do.

    Every method raises `NodeError`. Close it, or use it in a `with`. `answered` answers its calls
    in the place of the node, without a connection.
    """

    def __init__(
        self,
        url: str,
        credentials: Credentials | None = None,
        patience: Patience = PATIENCE,
        answered: Answered | None = None,
    ) -> None:
        self.url = url
        self._rpc = RpcClient(url, credentials, patience, answered)
        self._agg_sig_data: bytes | None = None
        self._peak: Peak | None = None

    def __str__(self) -> str:
        return f"the node at {self.url}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections; calls that wait in other threads end, and none may follow."""
        self._rpc.close()

    # --- the chain's interface ---

    def peak(self) -> int:
        """The height of the tip. A node that is not synced has none to go by, and one whose tips
        cannot be those of the public network that it names is not believed."""
        state = self._rpc.ask("get_blockchain_state", _BlockchainState).blockchain_state
        if state is None or (state.peak is None and state.sync.synced):
            raise NodeSyncing(str(self._rpc.wrong("has no blocks yet")))
        if not state.sync.synced or state.peak is None:
            height = state.peak.height if state.peak is not None else 0
            tip = state.sync.sync_tip_height
            # In whole percents, so that waiting for it does not print a line for every block.
            share = f": it has {min(100, 100 * height // tip)} % of the blocks" if tip else ""
            raise NodeSyncing(str(self._rpc.wrong(f"is not synced{share}")))
        peak = Peak(state.peak.height, state.peak.weight, Now.read())
        if self._agg_sig_data in PUBLIC:
            self._believe(peak)
        return peak.height

    def _believe(self, peak: Peak) -> None:
        """Take a tip of a public network unless it is refuted."""
        before = self._peak
        reason = None if before is None else refuted(before, peak)
        if reason is not None:
            raise self._rpc.wrong(f"is not believed: it {reason}")
        if before is None or (peak.height, peak.weight) != (before.height, before.weight):
            self._peak = peak

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network, which may be apart from its genesis
        challenge."""
        if self._agg_sig_data is None:
            answer = self._rpc.ask("get_aggsig_additional_data", _AggSigData)
            self._agg_sig_data = _bytes(answer.additional_data)
        return self._agg_sig_data

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        answer = self._rpc.ask_either("get_coin_record_by_name", _CoinRecord, name=_hex(coin_id))
        if isinstance(answer, str):
            if "not found" in answer:
                return None
            raise self._rpc.refusal(answer)
        if answer.coin_record is None:
            return None
        seen = self._seen(answer.coin_record)
        if seen.coin.id != coin_id:
            raise self._rpc.wrong(f"gives another coin for {coin_id.hex()}")
        return seen if seen.spent is None else self._with_solution(seen, seen.spent)

    def _with_solution(self, seen: CoinSeen, spent: int) -> CoinSeen:
        """The coin with its solution, if the node gives it.

        It gives none after a reorganisation in between, or when the solution is too large. The
        spender of a coin can make it too large, and must not stop us by that.
        """
        coin_id = _hex(seen.coin.id)
        try:
            answer = self._rpc.ask_either(
                "get_puzzle_and_solution", _CoinSolution, coin_id=coin_id, height=spent
            )
        except AnswerTooLong:
            return seen
        if isinstance(answer, str) or answer.coin_solution is None:
            return seen
        if answer.coin_solution.coin.coin() != seen.coin:
            raise self._rpc.wrong(f"gives another spend for {seen.coin.id.hex()}")
        solution = _bytes(answer.coin_solution.solution)
        if len(solution) > MAX_BYTES:
            return seen
        return CoinSeen(seen.coin, seen.born, spent, solution)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address, but for those of more than 2^63 - 1 mojos."""
        coins: dict[bytes, CoinSeen] = {}
        page: dict[str, str] = {}
        for _ in range(PAGES):
            answer = self._rpc.ask(
                "get_coin_records_by_puzzle_hash",
                _CoinRecords,
                puzzle_hash=_hex(puzzle_hash),
                include_spent_coins=False,
                **page,
            )
            for record in answer.coin_records:
                seen = self._seen(record)
                if seen.coin.puzzle_hash != puzzle_hash or seen.spent is not None:
                    raise self._rpc.wrong(f"lists a coin that is none at {puzzle_hash.hex()}")
                if seen.coin.amount <= MOST_MOJOS:
                    coins[seen.coin.id] = seen
            if answer.next_cursor is None:
                if answer.truncated:
                    raise self._rpc.wrong(f"lists only some of the coins at {puzzle_hash.hex()}")
                return list(coins.values())
            page = {"cursor": answer.next_cursor}
        raise self._rpc.wrong(f"lists the coins at {puzzle_hash.hex()} without end")

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        answer = self._rpc.ask(
            "get_coin_records_by_parent_ids",
            _CoinRecords,
            parent_ids=[_hex(coin_id)],
            include_spent_coins=True,
        )
        records = answer.coin_records
        if len(records) > MOST_CHILDREN or answer.truncated or answer.next_cursor is not None:
            raise self._rpc.wrong(f"lists more coins than one spend creates for {coin_id.hex()}")
        children = {seen.coin.id: seen for seen in map(self._seen, records)}
        if any(
            seen.coin.parent != coin_id or seen.coin.amount > MOST_MOJOS
            for seen in children.values()
        ):
            raise self._rpc.wrong(f"lists a coin that {coin_id.hex()} did not create")
        return [children[child_id] for child_id in sorted(children)]

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool. Asked again after a broken connection, a node that took
        it the first time says so."""
        answer = self._rpc.ask_either("push_tx", _Pushed, spend_bundle=bundle_json(bundle))
        if isinstance(answer, str):
            error = _word(answer)
            return PushResult(ANSWERS.get(error, Answer.REFUSED), error)
        match answer.status:
            case "SUCCESS":
                return PushResult(Answer.ACCEPTED)
            case "PENDING":
                # Kept for later, for one of two reasons; which, it does not say.
                conflict = any(self.pending(spend.coin.id) for spend in bundle.spends)
                answer_is = Answer.PENDING_CONFLICT if conflict else Answer.TOO_EARLY
                return PushResult(answer_is, "PENDING")
            case status:
                return PushResult(Answer.REFUSED, line(status))

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        answer = self._rpc.ask(
            "get_mempool_items_by_coin_name", _MempoolItems, coin_name=_hex(coin_id)
        )
        pending = [one for item in answer.mempool_items if _is_usable(one := item.pending())]
        if any(coin_id not in {one.coin.id for one in other.bundle.spends} for other in pending):
            raise self._rpc.wrong(f"gives a bundle that does not spend {coin_id.hex()}")
        return pending

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        answer = self._rpc.ask(
            "get_fee_estimate", _FeeEstimate, target_times=[SOON], cost=SPEND_COST
        )
        pool = answer.pool()
        if pool.is_full:
            # Only this answer has the rate of what is to be evicted.
            state = self._rpc.ask("get_blockchain_state", _PoolState).blockchain_state
            pool = answer.pool(state.mempool_min_fees.get(f"cost_{LEAST_COST}") or 0.0)
        return asked_rate((answer.estimates[0] / SPEND_COST, answer.current_fee_rate), pool)

    def _seen(self, record: _Record) -> CoinSeen:
        coin, born, spent = record.coin.coin(), record.confirmed_block_index, None
        if record.spent or (record.spent is None and record.spent_block_index):
            spent = record.spent_block_index
            if spent < born:
                raise self._rpc.wrong(f"lists a coin of block {born} that was spent in {spent}")
        return CoinSeen(coin, born, spent)


def _is_usable(pending: PendingBundle) -> bool:
    """True for a pending bundle that a peer can write down, and a mempool can hold.

    A real one may spend a coin of more than 2^63 - 1 mojos, which no value of ours can have.
    """
    spends = pending.bundle.spends
    size = sum(len(spend.puzzle) + len(spend.solution) for spend in spends)
    return size <= MOST_PENDING_BYTES and all(one.coin.amount <= MOST_MOJOS for one in spends)


def _hex(data: bytes) -> str:
    return f"0x{data.hex()}"


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def _word(error: str) -> str:
    """The name of a refusal.

    >>> _word("Failed to include transaction 00ff, error ASSERT_HEIGHT_RELATIVE_FAILED")
    'ASSERT_HEIGHT_RELATIVE_FAILED'
    """
    found = _REFUSAL.search(error)
    return line(error) if found is None else found[1]
