"""The genuine node behind the interface of `channelsim.channel.chain`, with blocks on demand."""

from __future__ import annotations

from hashlib import sha256
from secrets import token_bytes
from time import sleep
from typing import Any

from chia_rs import PrivateKey
from chia_wallet_sdk import Address

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.ledger import MOST_GAP, ONE_IN
from channelsim.channel.chain.mempool_items import Limits
from channelsim.channel.chain.refusals import INVALID_BUNDLE
from channelsim.channel.chain.rpc import Patience, RpcClient
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN
from tests.real_node.process import RealNode

BANK: PrivateKey = wallet_key(b"real node", "bank")

NOTES = 150
"""Coins that the bank makes of a block reward: each pays for one wallet."""

CHANGE = 1_000_000
"""Mojos that a wallet's coin has above what it was asked for: its spends give change."""

PATIENCE = Patience(seconds=120, attempts=2)
ATTEMPTS = 10
"""Offers of a spend of the bank's: a node that is too busy to validate one in time refuses it."""

LAST_HEIGHT = 290
"""Reorganisations above it may never end: a fault of the simulator near its first epoch."""


class RealChain(RpcChain):
    """The chain of a genuine node, on which only this process makes blocks.

    They carry transactions, but for those above the height `mixed_above`: of these, about one of
    three does, by the seed, or fewer, as the node decides.
    """

    def __init__(self, node: RealNode) -> None:
        super().__init__(node.url, node.credentials, PATIENCE)
        self.farmer_puzzle_hash = bytes(Address.decode(node.address).puzzle_hash)
        self._bank = Address(address_of(BANK), "txch").encode()
        self.mixed_above: int | None = None
        self._without: set[int] = set()
        self._accepted: list[Bundle] = []
        self.ask("farm_block", address=self._bank, blocks=2, guarantee_tx_block=True)
        self.farm()
        self._minted = self._mint()
        self._notes = list(self._minted)
        self.base = self.peak()

    def reset(self) -> None:
        """Go back to the chain as it was at first."""
        self.mixed_above = None
        self._without.clear()
        blocks = self.peak() - self.base
        if blocks:
            self.ask("revert_blocks", num_of_blocks=blocks)
        self._accepted.clear()
        self._notes = list(self._minted)

    def move_to(self, node: RealNode) -> None:
        """Go on at another node of this chain, once that has all blocks."""
        before = self._rpc
        self.url = node.url
        self._rpc = RpcClient(node.url, node.credentials, PATIENCE)
        before.close()

    # --- as an embedded node ---

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        result = super().push(bundle)
        if result.answer is Answer.ACCEPTED:
            self._accepted.append(bundle)
        return result

    def farm(self, blocks: int = 1) -> None:
        """Make blocks.

        Each pays its reward elsewhere: a node does not take a block that it had before.
        """
        if self.mixed_above is None or self.peak() < self.mixed_above:
            self._farm(blocks, guarantee_tx_block=True)
            return
        for _ in range(blocks):
            height = self.peak() + 1
            gap = next(gap for gap in range(1, height) if self.carries(height - gap))
            drawn = sha256(f"mixed blocks/{height}".encode()).digest()[0]
            if drawn % ONE_IN == 0 or gap >= MOST_GAP or height > LAST_HEIGHT:
                self._farm(1, guarantee_tx_block=False)
            else:
                self.farm_without()
                self._without.add(height)

    def _farm(self, blocks: int, *, guarantee_tx_block: bool) -> None:
        farmer = Address(token_bytes(32), "txch").encode()
        self.ask("farm_block", address=farmer, blocks=blocks, guarantee_tx_block=guarantee_tx_block)

    def carries(self, height: int) -> bool:
        """True if the block at this height carries transactions, or could have."""
        if height in self._without:
            return False
        record = self.ask("get_block_record_by_height", height=height)["block_record"]
        return record["timestamp"] is not None

    def farm_without(self) -> None:
        """Make a block that carries nothing of the mempool, as if its farmer took none of it."""
        self.ask("reorg_blocks", num_of_blocks_to_rev=0, num_of_new_blocks=1)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others.

        The node does not put bundles of replaced blocks back into its mempool: with `keep` we do,
        and with this `bundle`.
        """
        peak = self.peak()
        assert peak + new <= LAST_HEIGHT, f"no reorganisation at height {peak}"
        if not keep:
            self.ask("reorg_blocks", num_of_blocks_to_rev=back, num_of_new_blocks=new - back)
            return
        lost = [bundle for bundle in self._accepted if self._mined_after(bundle, peak - back)]
        self.ask("revert_blocks", num_of_blocks=back)
        for again in (*lost, *([bundle] if bundle is not None else [])):
            super().push(again)
        self.farm(new)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A coin of at least this amount at this address: the bank's, or else a block reward."""
        if amount + CHANGE <= self._notes[-1].amount:
            coin = self.pay(puzzle_hash, amount)
            self.farm()
            return coin
        before = {seen.coin for seen in self.coins_at(puzzle_hash)}
        # On a new block, or after `reset` the next one might be one that the node had before.
        self.farm()
        farmer = Address(puzzle_hash, "txch").encode()
        self.ask("farm_block", address=farmer, blocks=1, guarantee_tx_block=True)
        self.farm()
        rewards = {seen.coin for seen in self.coins_at(puzzle_hash)} - before
        reward = max(rewards, key=lambda coin: (coin.amount, coin.id))
        assert reward.amount >= amount, reward
        return reward

    def limits(self) -> Limits:
        """The cost of a block and of the mempool."""
        state = self.ask("get_blockchain_state")["blockchain_state"]
        return Limits(state["block_max_cost"], state["mempool_max_total_cost"])

    def room(self) -> int:
        """The cost that the mempool takes until it is full."""
        state = self.ask("get_blockchain_state")["blockchain_state"]
        return int(state["mempool_max_total_cost"] - state["mempool_cost"])

    # --- money ---

    def pay(self, puzzle_hash: bytes, amount: int) -> Coin:
        """Let the bank pay a coin of at least this amount in the next block."""
        note = self._notes.pop()
        outputs = [(puzzle_hash, amount + CHANGE)]
        self._spend(note, [*outputs, (address_of(BANK), note.amount - amount - CHANGE)])
        return Coin(note.id, *outputs[0])

    def _mint(self) -> list[Coin]:
        """Make notes of the bank's largest coin, in a block."""
        coins = [seen.coin for seen in self.coins_at(address_of(BANK))]
        coin = max(coins, key=lambda coin: (coin.amount, coin.id))
        each = coin.amount // (NOTES + 1)
        outputs = [(address_of(BANK), each - number) for number in range(NOTES)]
        self._spend(coin, [*outputs, (address_of(BANK), coin.amount - sum(n for _, n in outputs))])
        self.farm()
        return [Coin(coin.id, *output) for output in outputs]

    def _spend(self, coin: Coin, outputs: list[tuple[bytes, int]]) -> None:
        conditions = to_list(
            condition(CREATE_COIN, puzzle_hash, int_to_atom(amount))
            for puzzle_hash, amount in outputs
        )
        bundle = signed_spend(BANK, coin, conditions, self.agg_sig_data())
        for _ in range(ATTEMPTS):
            result = super().push(bundle)
            if result.error != INVALID_BUNDLE:
                break
            sleep(1)
        assert result.answer is Answer.ACCEPTED, result

    def _mined_after(self, bundle: Bundle, height: int) -> bool:
        seen = self.coin(bundle.spends[0].coin.id)
        return seen is not None and seen.spent is not None and seen.spent > height

    def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Any call of the node's RPC, the simulator's own ones too."""
        answer: dict[str, Any] = self._rpc.ask(name, dict, **arguments)
        return answer
