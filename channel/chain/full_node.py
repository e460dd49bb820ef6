"""A full node over its RPC, behind the interface of `channelsim.channel.chain`.

Calls block for a bounded time, and broken connections are opened again. The node's answers are
untrusted: they are validated here, and an invalid one is reported in one line.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass
from threading import Lock, Thread
from time import sleep
from typing import Any, Self, TypeVar

from chia_wallet_sdk import CoinRecord, RpcClient

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.peaks import PUBLIC, Now, Peak, refuted
from channelsim.channel.chain.sdk import ANSWERS, coin_of, from_node, to_node
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.clsp.values import MAX_BYTES
from channelsim.games.amounts import counted

T = TypeVar("T")

PAGES = 100
"""The most pages of coins that are read for one address."""

MOST_CHILDREN = 6_200
"""The most coins that one spend can create: a block has no cost for more."""

MOST_MOJOS, MOST_HEIGHT = (1 << 63) - 1, (1 << 32) - 1

_REFUSAL = re.compile(r"\berror ([A-Z][A-Z0-9_]+)$")
_UNREACHED = "error sending request"


class NodeError(UsageError):
    """The node cannot be reached, or its answer is invalid: one line, with its URL."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of a call: its seconds, the number of tries, and the first pause between them."""

    seconds: float = 15.0
    attempts: int = 4
    pause: float = 0.25


class RpcChain:
    """A node by its URL; `certificate` and `key` (PEM) where it wants them, as real nodes do.

    Every method raises `NodeError`. Close it, or use it in a `with`.
    """

    def __init__(
        self,
        url: str,
        certificate: bytes | None = None,
        key: bytes | None = None,
        patience: Patience = Patience(),
    ) -> None:
        self._url = url
        self._credentials = None if certificate is None or key is None else (certificate, key)
        self._patience = patience
        self._agg_sig_data: bytes | None = None
        self._peak: Peak | None = None
        self._client = self._connect()
        self._calling = Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="node RPC", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; calls that wait in other threads end, and none may follow."""
        with self._calling:
            closed, self._closed = self._closed, True
        if not closed:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    # --- the chain's interface ---

    def peak(self) -> int:
        """The height of the tip. A node that is not synced has none to go by, and one whose tips
        cannot be those of the public network that it names is not believed."""
        state = self._ask(lambda node: node.get_blockchain_state()).blockchain_state
        if state is None:
            raise self._wrong("has no blockchain state")
        if not state.sync.synced:
            raise self._wrong("is not synced")
        peak = Peak(self._height(state.peak.height), state.peak.weight, Now.read())
        if self._agg_sig_data in PUBLIC:
            self._believe(peak)
        return peak.height

    def _believe(self, peak: Peak) -> None:
        """Take a tip of a public network unless it is refuted."""
        before = self._peak
        reason = None if before is None else refuted(before, peak)
        if reason is not None:
            raise self._wrong(f"is not believed: it {reason}")
        if before is None or (peak.height, peak.weight) != (before.height, before.weight):
            self._peak = peak

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network: its genesis challenge."""
        if self._agg_sig_data is None:
            found = self._ask(lambda node: node.get_network_info()).genesis_challenge
            if found is None or len(found) != 32:
                raise self._wrong("names no genesis challenge of 32 bytes")
            self._agg_sig_data = bytes(found)
        return self._agg_sig_data

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        answer = self._ask(lambda node: node.get_coin_record_by_name(coin_id), absent="not found")
        if answer is None or answer.coin_record is None:
            return None
        seen = self._seen(answer.coin_record)
        if seen.coin.id != coin_id:
            raise self._wrong(f"gives another coin for {coin_id.hex()}")
        return seen if seen.spent is None else self._with_solution(seen, seen.spent)

    def _with_solution(self, seen: CoinSeen, spent: int) -> CoinSeen:
        """The coin with its solution, if the node gives it.

        It gives none after a reorganisation in between, or when the solution is too large. The
        spender of a coin can make it too large, and must not stop us by that.
        """
        coin_id = seen.coin.id
        answer = self._ask(lambda node: node.get_puzzle_and_solution(coin_id, spent), absent="")
        spend = answer.coin_solution
        if spend is None or len(spend.solution) > MAX_BYTES:
            return seen
        if coin_of(spend.coin) != seen.coin:
            raise self._wrong(f"gives another spend for {coin_id.hex()}")
        return CoinSeen(seen.coin, seen.born, spent, bytes(spend.solution))

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        found: dict[bytes, CoinSeen] = {}
        cursor: str | None = None
        for _ in range(PAGES):
            answer = self._ask(_page(puzzle_hash, cursor))
            for record in answer.coin_records or []:
                seen = self._seen(record)
                if seen.coin.puzzle_hash != puzzle_hash or seen.spent is not None:
                    raise self._wrong(f"lists a coin that is none at {puzzle_hash.hex()}")
                found[seen.coin.id] = seen
            cursor = answer.next_cursor
            if cursor is None:
                if answer.truncated:
                    raise self._wrong(f"lists only some of the coins at {puzzle_hash.hex()}")
                return list(found.values())
        raise self._wrong(f"lists the coins at {puzzle_hash.hex()} without end")

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        # A real node refuses heights that are null.
        answer = self._ask(
            lambda node: node.get_coin_records_by_parent_ids(
                [coin_id], 0, MOST_HEIGHT, include_spent_coins=True
            )
        )
        records = answer.coin_records or []
        if len(records) > MOST_CHILDREN or answer.truncated or answer.next_cursor is not None:
            raise self._wrong(f"lists more coins than one spend creates for {coin_id.hex()}")
        found = {seen.coin.id: seen for seen in map(self._seen, records)}
        if any(seen.coin.parent != coin_id for seen in found.values()):
            raise self._wrong(f"lists a coin that {coin_id.hex()} did not create")
        return [found[child_id] for child_id in sorted(found)]

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool. Asked again after a broken connection, a node that took
        it the first time says so."""
        offered = to_node(bundle)
        answer = self._ask(lambda node: node.push_tx(offered), absent="")
        if answer.success and answer.status == "SUCCESS":
            return PushResult(Answer.ACCEPTED)
        if answer.success and answer.status == "PENDING":
            # Kept for later: too early, or in the way of another; which, this node does not say.
            return PushResult(Answer.PENDING_CONFLICT, "Pending")
        error = _word(answer.error or answer.status or "no reason given")
        return PushResult(ANSWERS.get(error, Answer.REFUSED), error)

    def pending(self, coin_id: bytes) -> list[Bundle]:
        """The bundles in the mempool that spend this coin."""
        answer = self._ask(lambda node: node.get_mempool_items_by_coin_name(coin_id))
        bundles = [from_node(item.spend_bundle) for item in answer.mempool_items or []]
        if any(coin_id not in {spend.coin.id for spend in one.spends} for one in bundles):
            raise self._wrong(f"gives a bundle that does not spend {coin_id.hex()}")
        return bundles

    # --- asking ---

    def _ask(
        self, question: Callable[[RpcClient], Awaitable[Any]], absent: str | None = None
    ) -> Any:
        """Ask the node, again when the connection breaks.

        A failure whose text contains a non-empty `absent` gives None; with an empty one, the
        caller handles the failure.
        """
        pause = self._patience.pause
        for attempt in range(1, self._patience.attempts + 1):
            last = attempt == self._patience.attempts
            try:
                answer = self._call(question)
            except NotInTime:
                if last:
                    raise self._wrong(
                        f"does not answer within {self._patience.seconds:g} s"
                    ) from None
            except ValueError as error:
                if _UNREACHED not in str(error):
                    raise self._wrong(
                        f"gives no answer that can be read ({_line(error)})"
                    ) from None
                if last:
                    raise self._wrong("cannot be reached") from None
            else:
                return self._successful(answer, absent)
            sleep(pause)
            pause *= 2
            self._client = self._connect()
        raise InvariantError("the last attempt returns or raises")

    def _call(self, question: Callable[[RpcClient], Awaitable[Any]]) -> Any:
        async def asked() -> Any:
            return await asyncio.wait_for(question(self._client), self._patience.seconds)

        with self._calling:
            if self._closed:
                raise self._wrong("is no longer asked")
            answer = asyncio.run_coroutine_threadsafe(asked(), self._loop)
        return answer.result()

    def _successful(self, answer: Any, absent: str | None) -> Any:
        if answer.success or absent == "":
            return answer
        error = str(answer.error or "no reason given")
        if absent and absent in error:
            return None
        raise self._wrong(f"refuses to say ({_line(error)})")

    def _connect(self) -> RpcClient:
        try:
            if self._credentials is None:
                return RpcClient(self._url)
            return RpcClient.local_with_url(self._url, *self._credentials)
        except ValueError as error:
            raise self._wrong(f"cannot be spoken to ({_line(error)})") from None

    # --- what it says ---

    def _seen(self, record: CoinRecord) -> CoinSeen:
        coin = coin_of(record.coin)
        if coin.amount > MOST_MOJOS:
            raise self._wrong(f"lists a coin of {counted(coin.amount, 'mojo')}")
        born = self._height(record.confirmed_block_index)
        if not record.spent:
            return CoinSeen(coin, born, None)
        spent = self._height(record.spent_block_index)
        if spent < born:
            raise self._wrong(f"lists a coin of block {born} that was spent in {spent}")
        return CoinSeen(coin, born, spent)

    def _height(self, number: int) -> int:
        if not 0 <= number <= MOST_HEIGHT:
            raise self._wrong(f"names a height of {number}")
        return int(number)

    def _wrong(self, what: str) -> NodeError:
        return NodeError(f"the node at {self._url} {what}")


async def _cancel_others() -> None:
    """Cancel every other task of this loop, and wait until they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _page(puzzle_hash: bytes, cursor: str | None) -> Callable[[RpcClient], Awaitable[Any]]:
    return lambda node: node.get_coin_records_by_puzzle_hash(
        puzzle_hash, include_spent_coins=False, cursor=cursor
    )


def _word(error: str) -> str:
    """A refusal as the embedded node spells it.

    >>> _word("Failed to include transaction 00ff, error ASSERT_HEIGHT_RELATIVE_FAILED")
    'AssertHeightRelativeFailed'
    """
    found = _REFUSAL.search(error)
    if found is None:
        return _line(error)
    return "".join(part.capitalize() for part in found[1].split("_"))


def _line(error: object) -> str:
    """Untrusted text as one short line without terminal control characters."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[:200]
