"""A disputed hand against its floor, from the publishing to the last payout.

The floor is what cannot be left out here: each signature once, each judging of a move once, and
the node's own verifications and runs, as it makes them: the embedded one checks a bundle twice
when it is offered, and again in its block. The bare floor has each of these checks once, as a
library call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from chia_rs import AugSchemeMPL, G1Element, G2Element, run_chia_program

from channel.chain.coins import Bundle
from channel.chain.interface import Answer, PushResult
from channel.chain.simulator import SimulatedChain
from channel.crypto import bls
from channel.crypto.hkdf import derive
from channel.crypto.keys import SecretKeys
from channel.errors import InvariantError
from channel.lab.referee.referee_runs import conditions
from channel.peer.chain_news import GamePaid, MovedOnChain
from channel.session.session_events import NewsFor, Pushed, SessionEvent
from channel.simulation.arena import Arena
from channel.simulation.scenario import Scenario
from clsp.integers import int_to_atom
from clsp.run import MAX_COST, STRICT, observed, run_serialized
from games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE

LEAVES_AT = 5
"""After so many messages one side leaves for the chain: the hand has just begun."""


_BEHIND = {int_to_atom(AGG_SIG_ME): True, int_to_atom(AGG_SIG_UNSAFE): False}
"""Whether the coin's id and the network's bytes stand behind the message."""


class Clocked(SimulatedChain):
    """The embedded node with a clock: its own seconds, and when it was last offered a bundle."""

    seconds = 0.0
    offered = 0.0

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle, by the clock."""
        self.offered = process_time()
        result = super().push(bundle)
        self.seconds += process_time() - self.offered
        return result

    def farm(self, blocks: int = 1) -> None:
        """Add blocks, by the clock."""
        start = process_time()
        super().farm(blocks)
        self.seconds += process_time() - start


class DisputeTimer:
    """A listener that times a dispute from the first unroll to the last payout, and its node.

    It also collects the bundles that the node accepted, and counts the moves on chain.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.elapsed = self.node = 0.0
        self.taken: dict[Bundle, None] = {}
        self.moves = 0

    def make_node(self, seed: int) -> SimulatedChain:
        """The chain of the dispute."""
        self.chain = Clocked(seed)
        return self.chain

    def __call__(self, told: SessionEvent) -> None:
        """Start and stop the clock."""
        match told:
            case Pushed(_, what, bundle, result):
                if what == "unroll" and self.began is None:
                    self.began = self.chain.offered
                    self.chain.seconds = process_time() - self.began
                if self.began is not None and result.answer is Answer.ACCEPTED:
                    self.taken[bundle] = None
            case NewsFor(_, GamePaid()) if self.began is not None:
                self.elapsed, self.node = process_time() - self.began, self.chain.seconds
            case NewsFor(_, MovedOnChain()):
                self.moves += 1
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Disputed:
    """One disputed hand: seconds, the seconds of its floors, and what they are made of."""

    elapsed: float
    floor: float
    bare_floor: float
    made: Counter[str]


def disputed_hands(game: str, seed: str, seconds: float, least: int = 3) -> Iterator[Disputed]:
    """Hands that go on chain at their beginning and are played out there."""
    until, number = process_time() + seconds, 0
    while process_time() < until or least > 0:
        number += 1
        hand = disputed_hand(Scenario((game,), f"{seed} {number}", "leaver", LEAVES_AT))
        if hand is not None:
            least -= 1
            yield hand


def disputed_hand(scenario: Scenario) -> Disputed | None:
    """One of them; None when nothing was moved on chain.

    Run twice, which does the same: first for the time, then to see what was done.
    """
    first = DisputeTimer()
    Arena(scenario, [first], first.make_node).run()
    if not first.moves or not first.elapsed:
        return None
    second = DisputeTimer()
    signed: set[tuple[bytes, bytes]] = set()
    runs: set[tuple[bytes, bytes]] = set()

    def on_bls(operation: str, key: bytes, message: bytes) -> None:
        if operation == "sign" and second.began is not None:
            signed.add((key, message))

    def on_run(program: bytes, arguments: bytes) -> None:
        if second.began is not None:
            runs.add((program, arguments))

    with bls.observed(on_bls), observed(on_run):
        Arena(scenario, [second], second.make_node).run()
    chain = second.chain
    mined = [
        bundle
        for bundle in second.taken
        if all((seen := chain.coin(one.coin.id)) and seen.spent for one in bundle.spends)
    ]
    made = Counter(signatures=len(signed), bundles=len(mined), judgings=len(runs))
    ours = _signing(len(signed)) + _running(runs)
    bare = sum(_admitting(bundle, chain.agg_sig_data()) for bundle in mined)
    return Disputed(first.elapsed, ours + first.node, ours + bare, made)


# --- the floor's parts, in seconds ---------------------------------------------------------------


def _signing(count: int) -> float:
    key = SecretKeys.derive(derive(b"floor", "bench")).referee
    messages = [derive(b"message", number, length=96) for number in range(count)]
    start = process_time()
    for message in messages:
        AugSchemeMPL.sign(key, message)
    return process_time() - start


def _running(runs: set[tuple[bytes, bytes]]) -> float:
    start = process_time()
    for program, arguments in runs:
        try:
            run_chia_program(program, arguments, MAX_COST, STRICT)
        except ValueError:
            continue  # evidence that does not apply
    return process_time() - start


def _admitting(bundle: Bundle, agg_sig_data: bytes) -> float:
    """What a node cannot do without: the puzzles' runs, and one check of the signature."""
    keys: list[G1Element] = []
    messages: list[bytes] = []
    for spend in bundle.spends:
        for code, key, message in conditions(run_serialized(spend.puzzle, spend.solution)):
            if isinstance(key, bytes) and isinstance(message, bytes) and code in _BEHIND:
                behind = spend.coin.id + agg_sig_data if _BEHIND[code] else b""
                keys.append(G1Element.from_bytes(key))
                messages.append(message + behind)
    signature = G2Element.from_bytes(bundle.signature)
    start = process_time()
    for spend in bundle.spends:
        run_chia_program(spend.puzzle, spend.solution, MAX_COST, STRICT)
    sound = AugSchemeMPL.aggregate_verify(keys, messages, signature)
    elapsed = process_time() - start
    if not sound:
        raise InvariantError("a bundle that the node took has no signature of all that it asks for")
    return elapsed
