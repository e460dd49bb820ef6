"""Time a disputed hand, from the first unroll to the last payout, against its floor.

The floor is the work that no implementation can leave out: each signature once, each validator run
once, and the node's own checks. The embedded node checks a bundle once, when it is offered. The
bare floor has each of these checks once, as a library call.

Two peers on a driver play it: no monitor of `attack` is timed, and no polling of a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time

from chia_rs import AugSchemeMPL, G1Element, G2Element, run_chia_program

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.referee.referee_runs import conditions
from channelsim.channel.peer.chain_news import GamePaid, MovedOnChain
from channelsim.channel.peer.interface import Acted, GoOnChain
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.session.peer_driver import DrivenPeer
from channelsim.channel.session.players import Players
from channelsim.channel.session.session_events import NewsFor, Pushed, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.clsp.run import MAX_COST, STRICT, observed, run_serialized
from channelsim.clsp.values import int_to_atom
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE
from scripts.tools.bench.crosscheck_speed import run_bare
from scripts.tools.bench.measuring import Figures, spread
from scripts.tools.bench.sessions import usual_setup

LEAVES_AT = 2
"""Moves after which one side goes on chain: the hand has just begun."""

MOST_BLOCKS = 600
"""Blocks after which a dispute is over."""

LEAST_FLOOR = 0.1
"""Seconds of the floors in a group of hands: some systems count a process's time by 4 ms."""

_WITH_COIN = {int_to_atom(AGG_SIG_ME): True, int_to_atom(AGG_SIG_UNSAFE): False}
"""True if the signed message ends with the coin's id and the network's bytes, by condition."""


class TimedChain(SimulatedChain):
    """The embedded node with a clock: the seconds it took, and the time of the last offer."""

    seconds = 0.0
    offered = 0.0

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle, and time it."""
        self.offered = process_time()
        result = super().push(bundle)
        self.seconds += process_time() - self.offered
        return result

    def farm(self, blocks: int = 1) -> None:
        """Add blocks, and time them."""
        start = process_time()
        super().farm(blocks)
        self.seconds += process_time() - start


class DisputeTimer:
    """A listener that times a dispute from the first unroll to the last payout, and its node.

    It also collects the bundles that the node accepted, and counts the moves, off and on chain.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.elapsed = self.node = 0.0
        self.accepted: dict[Bundle, None] = {}
        self.moves = self.acted = 0

    def run(self, setup: Setup) -> None:
        """Run a dispute, and time it. Raises `InvariantError` if it does not end."""
        seed = setup.seed.encode()
        self.chain = TimedChain(node_seed(seed))
        peers = [Peer(make_config(seed, side, self.chain, setup.agreement)) for side in Side]
        first, second = (DrivenPeer(peer.config.name, peer) for peer in peers)
        driver = Driver(self.chain, (first, second), (self,))
        sides = [
            SidePlayer(setup, peer, by_policy(policy, peer.config.secret), prepares=False)
            for peer, policy in zip(peers, setup.policies, strict=True)
        ]
        players = Players(driver, sides)
        driver.start()
        left = False
        for _ in range(MOST_BLOCKS):
            while driver.deliver() or players.ask() or players.act():
                if not left and self.acted >= LEAVES_AT:
                    left = players.command(Side.RECEIVER, GoOnChain("the hand is disputed"))
            if all(peer.phase is Phase.CLOSED for peer in peers):
                return
            driver.farm()
        raise InvariantError(f"a disputed hand goes on after {MOST_BLOCKS} blocks")

    def __call__(self, event: SessionEvent) -> None:
        """Start and stop the clock."""
        match event:
            case Pushed(_, name, bundle, result):
                if name == "unroll" and self.began is None:
                    self.began = self.chain.offered
                    self.chain.seconds = process_time() - self.began
                if self.began is not None and result.answer is Answer.ACCEPTED:
                    self.accepted[bundle] = None
            case NewsFor(_, GamePaid()) if self.began is not None:
                self.elapsed, self.node = process_time() - self.began, self.chain.seconds
            case NewsFor(_, MovedOnChain()):
                self.moves += 1
            case NewsFor(_, Acted()):
                self.acted += 1
            case _:
                pass


@dataclass(frozen=True, slots=True)
class DisputedHand:
    """Measurements of one disputed hand, in seconds; `counts` says how much work its floor is."""

    elapsed: float
    floor: float
    bare_floor: float
    counts: Counter[str]


def measure_disputed(game: str, seed: str, seconds: float, least: int) -> Figures:
    """Compare the time of disputed hands with both of their floors."""
    hands = list(disputed_hands(game, seed, seconds, least))
    counts = sum((hand.counts for hand in hands), Counter[str]())
    groups = list(_groups(hands))
    return {
        "ratio": spread(sum(h.elapsed for h in g) / sum(h.floor for h in g) for g in groups),
        "ratio_to_bare_calls": spread(
            sum(h.elapsed for h in g) / sum(h.bare_floor for h in g) for g in groups
        ),
        "milliseconds": spread(hand.elapsed * 1000 for hand in hands),
        **{f"{what}_per_hand": round(count / len(hands), 1) for what, count in counts.items()},
    }


def _groups(hands: Sequence[DisputedHand]) -> Iterator[Sequence[DisputedHand]]:
    """The hands in groups that are long enough for a clock with coarse ticks."""
    start = 0
    for end in range(1, len(hands) + 1):
        group = hands[start:end]
        if sum(min(hand.floor, hand.bare_floor) for hand in group) >= LEAST_FLOOR:
            yield group
            start = end
    if start == 0:
        yield hands


def disputed_hands(game: str, seed: str, seconds: float, least: int) -> Iterator[DisputedHand]:
    """Measure hands that go on chain at their beginning and are played out there."""
    until, number, floor = process_time() + seconds, 0, 0.0
    while process_time() < until or least > 0 or not floor:
        number += 1
        hand = disputed_hand(usual_setup(game, f"{seed} {number}", 1))
        if hand is not None:
            least -= 1
            floor += min(hand.floor, hand.bare_floor)
            yield hand


def disputed_hand(setup: Setup) -> DisputedHand | None:
    """Measure one hand; None if there was no move on chain, or if the clock stood still.

    Both runs do the same: the first is timed, the second counts the work.
    """
    first = DisputeTimer()
    first.run(setup)
    if not first.moves or not first.elapsed:
        return None
    second = DisputeTimer()
    signed: set[tuple[bytes, bytes]] = set()
    runs: set[tuple[bytes, bytes]] = set()

    def on_bls(operation: str, key: bytes, message: bytes) -> None:
        """Note a signature."""
        if operation == "sign" and second.began is not None:
            signed.add((key, message))

    def on_run(program: bytes, arguments: bytes) -> None:
        """Note a run of a program."""
        if second.began is not None:
            runs.add((program, arguments))

    with bls.observed(on_bls), observed(on_run):
        second.run(setup)
    chain = second.chain
    mined = [
        bundle
        for bundle in second.accepted
        if all((seen := chain.coin(spend.coin.id)) and seen.spent for spend in bundle.spends)
    ]
    counts = Counter(signatures=len(signed), bundles=len(mined), judgings=len(runs))
    ours = _time_signing(len(signed)) + _time_runs(runs)
    bare = sum(_time_checks(bundle, chain.agg_sig_data()) for bundle in mined)
    if ours + bare <= 0:
        # A virtual machine whose processor is taken away may not count the time of the process.
        return None
    return DisputedHand(first.elapsed, ours + first.node, ours + bare, counts)


# --- the parts of the floor, in seconds ---


def _time_signing(count: int) -> float:
    key = SecretKeys.derive(derive(b"floor", "bench")).referee
    messages = [derive(b"message", number, length=96) for number in range(count)]
    start = process_time()
    for message in messages:
        AugSchemeMPL.sign(key, message)
    return process_time() - start


def _time_runs(runs: set[tuple[bytes, bytes]]) -> float:
    start = process_time()
    run_bare(runs)
    return process_time() - start


def _time_checks(bundle: Bundle, agg_sig_data: bytes) -> float:
    """Time the least that a node does: run each puzzle, and check the signature once."""
    keys: list[G1Element] = []
    messages: list[bytes] = []
    for spend in bundle.spends:
        for code, key, message in conditions(run_serialized(spend.puzzle, spend.solution)):
            if isinstance(key, bytes) and isinstance(message, bytes) and code in _WITH_COIN:
                suffix = spend.coin.id + agg_sig_data if _WITH_COIN[code] else b""
                keys.append(G1Element.from_bytes(key))
                messages.append(message + suffix)
    signature = G2Element.from_bytes(bundle.signature)
    start = process_time()
    for spend in bundle.spends:
        run_chia_program(spend.puzzle, spend.solution, MAX_COST, STRICT)
    valid = AugSchemeMPL.aggregate_verify(keys, messages, signature)
    elapsed = process_time() - start
    if not valid:
        raise InvariantError("the node accepted a bundle whose signature is invalid")
    return elapsed
