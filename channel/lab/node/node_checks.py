"""Spend referee positions on a node, which must do what the model predicts.

Coins are made, aged, and spent; of those that must pass, the coins that they make must be the
model's, and of those that must not, the node's reason must be one that the model has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.simulator import BLOCK_REWARD, SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.lab.node.node_wallet import AT_ONCE, MOST_AT_ONCE, NodeWallet, spend_of
from channelsim.channel.lab.node.spend_cases import KEYS, PUBLIC, SpendCase, spend_cases
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.values import Value, from_list
from channelsim.games.amounts import counted
from channelsim.games.evidence import met
from channelsim.games.referee import (
    AGG_SIG_ME,
    AGG_SIG_UNSAFE,
    ASSERT_BEFORE_HEIGHT_RELATIVE,
    ASSERT_HEIGHT_RELATIVE,
    CREATE_COIN,
)

NODE = 1
"""The seed of the node."""

FAILS = "GENERATOR_RUNTIME_ERROR"
EARLY, LATE = "ASSERT_HEIGHT_RELATIVE_FAILED", "ASSERT_BEFORE_HEIGHT_RELATIVE_FAILED"
UNSIGNED = "BAD_AGGREGATE_SIGNATURE"

PASSES = "passes"


@dataclass(slots=True)
class NodeReport:
    """Counts of spends by path and outcome (passed, or the rule or reason of the refusal), and
    where node and model differ, a line each."""

    target: Target
    tried: int = 0
    seconds: float = 0.0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """The number of spends that had to pass."""
        return sum(n for (_, how), n in self.counts.items() if how == PASSES)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The model's prediction: the coins that a spend makes, or why it may be refused.

    `signatures` are asked of the players, and `of_others` is the signature that a slash's extra
    conditions ask for.
    """

    made: tuple[tuple[bytes, int], ...]
    reasons: tuple[str, ...]
    signatures: tuple[tuple[bytes, bytes], ...]
    of_others: bytes = b""


def check_on_node(target: Target, number: int, seed: str) -> NodeReport:
    """Spend this many positions of a target on an embedded node. Raises `UsageError` for a target
    without rules."""
    report = NodeReport(target)
    start = perf_counter()
    chain = SimulatedChain(NODE)
    wallet = NodeWallet(chain, b"positions")
    # The node's wallets do not hold the largest amounts of generated hands.
    cases = (case for case in spend_cases(target, seed) if case.coin.amount <= BLOCK_REWARD)
    for batch in _batches(islice(cases, number)):
        _check_batch(report, chain, wallet, batch)
    report.seconds = perf_counter() - start
    return report


def predict(position: SpendCase, coin_id: bytes, agg_sig_data: bytes) -> Prediction:
    """Predict from the model how a spend of this coin ends."""
    if position.asked is None:
        return Prediction((), (FAILS,), ())
    made, reasons, signatures = [], [], []
    extra: list[Value] = []
    for condition in from_list(position.asked):
        match from_list(condition):
            case [code, bytes(address), bytes(amount)] if code == _atom(CREATE_COIN):
                made.append((address, atom_to_int(amount)))
            case [code, bytes(key), bytes(message)] if code == _atom(AGG_SIG_ME):
                signatures.append((key, message + coin_id + agg_sig_data))
            case [code, bytes(key), bytes(message)] if code == _atom(AGG_SIG_UNSAFE):
                if key in PUBLIC:
                    signatures.append((key, message))
                else:
                    extra.append(condition)
            case [code, bytes(blocks)] if code == _atom(ASSERT_HEIGHT_RELATIVE):
                reasons += [EARLY] if position.age < atom_to_int(blocks) else []
            case [code, bytes(blocks)] if code == _atom(ASSERT_BEFORE_HEIGHT_RELATIVE):
                reasons += [LATE] if position.age >= atom_to_int(blocks) else []
            case other:
                raise AssertionError(f"the model asks for {other}")
    of_others = next((one for one in position.known if met(extra, one)), b"")
    if (signatures and not position.signs) or (extra and not of_others):
        reasons.append(UNSIGNED)
    return Prediction(tuple(made), tuple(reasons), tuple(signatures), of_others)


def _check_batch(
    report: NodeReport, chain: FarmableChain, wallet: NodeWallet, batch: list[SpendCase]
) -> None:
    """Make the coins of a batch, spend each at its age, and compare the results."""
    runner, data = RefereeRunner(report.target), chain.agg_sig_data()
    puzzles = [runner.puzzle(position.coin.atoms()) for position in batch]
    coins = wallet.coins([(one.coin.puzzle_hash(), one.coin.amount) for one in batch])
    born = chain.peak()
    todo = sorted(zip(batch, puzzles, coins, strict=True), key=lambda one: one[0].age)
    waiting: list[tuple[SpendCase, Coin, Prediction]] = []
    for position, puzzle, coin in todo:
        if (blocks := born + position.age - chain.peak()) > 0:
            chain.farm(blocks)
        prediction = predict(position, coin.id, data)
        spend = spend_of(coin, puzzle.serialized, position.solution)
        result = chain.push(Bundle((spend,), _signature(position, prediction)))
        report.tried += 1
        report.counts[position.path, _outcome(position, prediction)] += 1
        if prediction.reasons:
            no = result.answer in (Answer.REFUSED, Answer.TOO_EARLY)
            if not no or result.error not in prediction.reasons:
                said = result.error or result.answer.value
                report.differences.append(f"{position!r}: {said}, not {prediction.reasons}")
        elif result.answer is not Answer.ACCEPTED:
            report.differences.append(f"{position!r}: refused ({result.error}), it must pass")
        waiting.append((position, coin, prediction))
    chain.farm()
    for position, coin, prediction in waiting:
        report.differences += _became(chain, position, coin, prediction)


def _became(
    chain: FarmableChain, position: SpendCase, coin: Coin, prediction: Prediction
) -> Iterator[str]:
    """True if the coin was spent at the right height, and to exactly these coins.

    A spend that is too early is kept, and may be in a later block than the one that it was for.
    """
    seen = chain.coin(coin.id)
    spent = seen is not None and seen.spent is not None
    if EARLY in prediction.reasons and seen is not None and seen.spent is not None:
        spent = seen.spent <= seen.born + position.age + 1
    if spent != (not prediction.reasons):
        yield f"{position!r}: the coin is {'spent' if spent else 'not spent'}"
    if prediction.reasons:
        return
    if sum(amount for _, amount in prediction.made) != coin.amount:
        yield f"{position!r}: the model pays out another amount than the coin's"
    for address, amount in prediction.made:
        if chain.coin(Coin(coin.id, address, amount).id) is None:
            yield f"{position!r}: the coin of {counted(amount, 'mojo')} was not made"


def _signature(position: SpendCase, prediction: Prediction) -> bytes:
    """Sign what the spend asks for, with the right keys or, in a bad case, the other player's."""
    made = []
    for key, message in prediction.signatures:
        index = PUBLIC.index(key) if position.signs else 1 - PUBLIC.index(key)
        made.append(bls.sign(KEYS[index], message))
    if prediction.of_others:
        made.append(prediction.of_others)
    return bls.add(*made) if made else NO_SIGNATURE


def _outcome(position: SpendCase, prediction: Prediction) -> str:
    if position.asked is None:
        return position.rule
    return " or ".join(prediction.reasons) or PASSES


def _batches(every: Iterable[SpendCase]) -> Iterator[list[SpendCase]]:
    """Divide the positions into batches, whose coins one spend can make."""
    batch: list[SpendCase] = []
    held = 0
    for position in every:
        held += position.coin.amount
        if batch and (held > MOST_AT_ONCE or len(batch) == AT_ONCE):
            yield batch
            batch, held = [], position.coin.amount
        batch.append(position)
    if batch:
        yield batch


def _atom(code: int) -> Value:
    return int_to_atom(code)
