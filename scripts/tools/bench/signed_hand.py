"""Time a hand that is played by messages against its floor, the operations that it needs.

These are its BLS operations and, with cards, its multiplications in the group of the deck: those of
the Python rules and those of the programs, which judge each move too. A deck is prepared ahead, so
its making is no part of the hand. Times are of the processor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time

from chia_rs import AugSchemeMPL, G1Element, G2Element

from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import DecksChanged
from channelsim.channel.protocol.deck_records import decode_deck
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import HandEnded, Handled, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.clsp import run
from channelsim.clsp.analysis.tracer import Tracer
from channelsim.clsp.operators import CODES
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value
from channelsim.games import registry
from channelsim.games.deck import group
from channelsim.games.deck.group import real_group
from channelsim.games.deck.openings import forget_openings
from channelsim.games.deck.terms import card_points
from scripts.tools.bench.deck_preparation import bare_multiplication
from scripts.tools.bench.measuring import Figures, repeated
from scripts.tools.bench.sessions import usual_setup

HANDS = 4
"""Hands of a session, of which the first is not measured."""

BARE = 100
"""Multiplications of a bare loop."""

SIGNED = 40
"""Signatures of a bare loop."""


@dataclass(slots=True)
class HandTimer:
    """A listener that times the hands after the first one.

    `counted` are the operations since the hand began, and `operations` those of the hands timed.
    """

    counted: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    hands: int = -1
    elapsed: float = 0.0
    began: float = 0.0

    def __call__(self, event: SessionEvent) -> None:
        """Stop the clock when a hand has ended, and start it when the next one has its deck."""
        match event:
            case HandEnded():
                if self.hands >= 0:
                    self.elapsed += process_time() - self.began
                    self.operations += self.counted
                self.hands += 1
            case Handled(_, DecksChanged(added=records)):
                # A preparation leaves the points of all cards; the simulated dealer makes fewer.
                for record in records:
                    card_points(real_group(), decode_deck(real_group(), record).deck)
            case _:
                return
        self.counted.clear()
        self.began = process_time()


def measure_signed(game: str, seed: str, seconds: float, least: int) -> Figures:
    """Compare the time of hands played by messages with that of their operations."""
    counts: Counter[str] = Counter()

    def measure(number: int) -> dict[str, float]:
        """Measure one session, and bare operations around it."""
        before = _bare_costs()
        played, operations = _play_hands(game, f"{seed} {number + 1}")
        after = _bare_costs()
        floor = sum(
            count * (before[operation] + after[operation]) / 2
            for operation, count in operations.items()
        )
        counts.update(operations)
        counts["hands"] += played.hands
        milliseconds = played.elapsed / played.hands * 1000
        return {"ratio": played.elapsed / floor, "milliseconds": milliseconds}

    def per_hand(*operations: str) -> float:
        """The number of these operations in a hand."""
        return round(sum(counts[operation] for operation in operations) / counts["hands"], 1)

    return {
        **repeated(seconds, least, measure),
        "signatures_per_hand": per_hand("sign"),
        "verifications_per_hand": per_hand("verify"),
        "multiplications_per_hand": per_hand("base", "point"),
    }


def count_products(counted: Counter[str]) -> group.Observer:
    """An observer that counts multiplications: of the `base`, and of each other `point`."""

    def count(products: Sequence[tuple[int, bytes]]) -> None:
        """Count the products of one call."""
        base = real_group().base
        counted.update("base" if point == base else "point" for _, point in products)

    return count


class MultiplicationCounter:
    """A watcher of traced runs that counts the multiplications of a program, as `point`.

    A program has no table of multiples, not even of the base.
    """

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted

    def begins(self, node: Value, environment: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""
        if isinstance(node, tuple) and node[0] == CODES["g1_multiply"]:
            self._counted["point"] += 1

    def applies(self, code: Value, environment: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""

    def ends(self, value: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""


def trace_multiplications(programs: Iterable[Program], counted: Counter[str]) -> run.Observer:
    """An observer of runs that traces those of these programs, to count their multiplications."""
    watcher = MultiplicationCounter(counted)
    tracers = {program.serialized: Tracer(program, watcher=watcher) for program in programs}

    def trace(program: bytes, arguments: bytes) -> None:
        """Run a program of the game once more, traced."""
        # The operators of a traced run are runs too, of no program of the game.
        if program in tracers:
            tracers[program].run(arguments)

    return trace


def _play_hands(game: str, seed: str) -> tuple[HandTimer, Counter[str]]:
    """Play hands; returns them timed, and their operations.

    Both runs make the same bytes: the first counts operations, the second is timed.
    """
    setup = usual_setup(game, seed, HANDS)
    counting = HandTimer()
    with (
        bls.observed(lambda operation, key, message: counting.counted.update((operation,))),
        group.observed(count_products(counting.counted)),
        run.observed(trace_multiplications(registry.get(game).programs.values(), counting.counted)),
    ):
        _run(setup, counting)
    timed = HandTimer()
    _run(setup, timed)
    return timed, counting.operations


def _run(setup: Setup, timer: HandTimer) -> None:
    forget_openings()
    Session(Deciders(setup), [timer], simulated_dealer=True).run()


def _bare_costs() -> dict[str, float]:
    """The seconds of each operation in bare library calls."""
    sign, verify = bls_costs(process_time)
    base, point = (bare_multiplication(of_base, BARE, process_time) for of_base in (True, False))
    return {"sign": sign, "verify": verify, "base": base, "point": point}


def bls_costs(clock: Callable[[], float] = perf_counter) -> tuple[float, float]:
    """Time one half-signature, and one check of it, in bare library calls; in seconds."""
    mine, theirs = (SecretKeys.derive(derive(name, "bench")) for name in (b"ours", b"theirs"))
    public = mine.channel.get_g1()
    total = public + theirs.channel.get_g1()
    messages = [derive(b"message", i, length=96) for i in range(SIGNED)]
    start = clock()
    halves = [bytes(AugSchemeMPL.sign(mine.channel, message, total)) for message in messages]
    middle = clock()
    for message, half in zip(messages, halves, strict=True):
        hashed = AugSchemeMPL.g2_from_message(bytes(total) + message)
        point = G2Element.from_bytes(half)
        if public.pair(hashed) != G1Element.generator().pair(point):
            raise InvariantError("a half-signature does not verify")
    end = clock()
    return (middle - start) / SIGNED, (end - middle) / SIGNED
