"""Spend referee positions on a node, which must do what the model predicts.

Coins are made, aged, and spent; of those that must pass, the coins that they make must be the
model's, and of those that must not, the node's reason must be one that the model has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.lab.node.game_spends import KEYS, PUBLIC, GameSpend, game_spends
from channelsim.channel.lab.node.node_wallet import AT_ONCE, MOST_AT_ONCE, NodeWallet, spend_of
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.values import atom_of
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.clsp.values import Value, atom_to_int, from_list
from channelsim.games import referee
from channelsim.games.amounts import counted
from channelsim.games.evidence import met

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
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The model's prediction: the coins that a spend makes, or why it may be refused.

    `signatures` are asked of the players, and `of_others` is the signature that a slash's extra
    conditions ask for.
    """

    coins: tuple[tuple[bytes, int], ...]
    reasons: tuple[str, ...]
    signatures: tuple[tuple[bytes, bytes], ...]
    of_others: bytes = b""


def check_on_node(target: Target, number: int, seed: str) -> NodeReport:
    """Spend this many positions of a target on an embedded node. Raises `UsageError` for a target
    without rules."""
    report = NodeReport(target)
    chain = SimulatedChain(NODE)
    wallet = NodeWallet(chain, b"positions")
    # The node's wallets do not hold the largest amounts of generated hands.
    spends = (spend for spend in game_spends(target, seed) if spend.coin.amount <= BLOCK_REWARD)
    for batch in _batches(islice(spends, number)):
        _check_batch(report, chain, wallet, batch)
    return report


def predict(spend: GameSpend, coin_id: bytes, agg_sig_data: bytes) -> Prediction:
    """Predict from the model how a spend of this coin ends."""
    if spend.asked is None:
        return Prediction((), (FAILS,), ())
    coins, reasons, signatures = [], [], []
    extra: list[Value] = []
    for condition in from_list(spend.asked):
        code, *arguments = from_list(condition)
        match atom_to_int(atom_of(code)), arguments:
            case referee.CREATE_COIN, [bytes(address), bytes(amount)]:
                coins.append((address, atom_to_int(amount)))
            case referee.AGG_SIG_ME, [bytes(key), bytes(message)]:
                signatures.append((key, message + coin_id + agg_sig_data))
            case referee.AGG_SIG_UNSAFE, [bytes(key), bytes(message)] if key in PUBLIC:
                signatures.append((key, message))
            case referee.AGG_SIG_UNSAFE, _:
                extra.append(condition)
            case referee.ASSERT_HEIGHT_RELATIVE, [bytes(blocks)]:
                reasons += [EARLY] if spend.age < atom_to_int(blocks) else []
            case referee.ASSERT_BEFORE_HEIGHT_RELATIVE, [bytes(blocks)]:
                reasons += [LATE] if spend.age >= atom_to_int(blocks) else []
            case other:
                raise AssertionError(f"the model asks for {other}")
    of_others = next((signature for signature in spend.known if met(extra, signature)), b"")
    if (signatures and not spend.signs) or (extra and not of_others):
        reasons.append(UNSIGNED)
    return Prediction(tuple(coins), tuple(reasons), tuple(signatures), of_others)


def _check_batch(
    report: NodeReport, chain: FarmableChain, wallet: NodeWallet, batch: list[GameSpend]
) -> None:
    """Make the coins of a batch, spend each at its age, and compare the results."""
    runner, data = RefereeRunner(report.target), chain.agg_sig_data()
    coins = wallet.coins([(spend.coin.puzzle_hash(), spend.coin.amount) for spend in batch])
    born = chain.peak()
    pushed: list[tuple[GameSpend, Coin, Prediction]] = []
    for spend, coin in sorted(zip(batch, coins, strict=True), key=lambda pair: pair[0].age):
        if (blocks := born + spend.age - chain.peak()) > 0:
            chain.farm(blocks)
        prediction = predict(spend, coin.id, data)
        puzzle = runner.puzzle(spend.coin.atoms()).serialized
        bundle = Bundle((spend_of(coin, puzzle, spend.solution),), _signature(spend, prediction))
        result = chain.push(bundle)
        report.counts[spend.path, _outcome(spend, prediction)] += 1
        if prediction.reasons:
            no = result.answer in (Answer.REFUSED, Answer.TOO_EARLY)
            if not no or result.error not in prediction.reasons:
                said = result.error or result.answer.value
                report.differences.append(f"{spend!r}: {said}, not {prediction.reasons}")
        elif result.answer is not Answer.ACCEPTED:
            report.differences.append(f"{spend!r}: refused ({result.error}), it must pass")
        pushed.append((spend, coin, prediction))
    chain.farm()
    for spend, coin, prediction in pushed:
        report.differences += _became(chain, spend, coin, prediction)


def _became(
    chain: FarmableChain, spend: GameSpend, coin: Coin, prediction: Prediction
) -> Iterator[str]:
    """Where the coin was not spent at the right height, and to exactly these coins.

    A spend that is too early is kept, and may be in a later block than the one that it was for.
    """
    seen = chain.coin(coin.id)
    height = None if seen is None else seen.spent
    spent = height is not None
    if EARLY in prediction.reasons and seen is not None and height is not None:
        spent = height <= seen.born + spend.age + 1
    if spent != (not prediction.reasons):
        yield f"{spend!r}: the coin is {'spent' if spent else 'not spent'}"
    if prediction.reasons:
        return
    if sum(amount for _, amount in prediction.coins) != coin.amount:
        yield f"{spend!r}: the model pays out another amount than the coin's"
    for address, amount in prediction.coins:
        if chain.coin(Coin(coin.id, address, amount).id) is None:
            yield f"{spend!r}: the coin of {counted(amount, 'mojo')} was not made"


def _signature(spend: GameSpend, prediction: Prediction) -> bytes:
    """Sign what the spend asks for, with the right keys or, in a bad case, the other player's."""
    keys = KEYS if spend.signs else KEYS[::-1]
    signatures = [
        bls.sign(keys[PUBLIC.index(key)], message) for key, message in prediction.signatures
    ]
    signatures += [prediction.of_others] if prediction.of_others else []
    return bls.add(*signatures) if signatures else NO_SIGNATURE


def _outcome(spend: GameSpend, prediction: Prediction) -> str:
    if spend.asked is None:
        return spend.rule
    return " or ".join(prediction.reasons) or PASSES


def _batches(spends: Iterable[GameSpend]) -> Iterator[list[GameSpend]]:
    """Divide spends into batches, whose coins one spend can make."""
    batch: list[GameSpend] = []
    total = 0
    for spend in spends:
        total += spend.coin.amount
        if batch and (total > MOST_AT_ONCE or len(batch) == AT_ONCE):
            yield batch
            batch, total = [], spend.coin.amount
        batch.append(spend)
    if batch:
        yield batch
