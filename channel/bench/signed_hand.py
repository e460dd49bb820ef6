"""Time a hand that is played by messages against its floor, the BLS operations that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

from chia_rs import AugSchemeMPL, G1Element, G2Element

from channelsim.channel.bench.measuring import spread
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import HandEnded, SessionEvent
from channelsim.channel.session.setup import DEFAULT_STACK, DEFAULT_UNIT, Setup, default_policy


def measure_signed(game: str, seed: str, seconds: float, least: int) -> dict[str, Any]:
    """Compare the time of hands played by messages with that of their BLS operations."""
    ratios: list[float] = []
    times: list[float] = []
    counts: Counter[str] = Counter()
    until = perf_counter() + seconds
    round_number = 0
    while perf_counter() < until or len(ratios) < least:
        round_number += 1
        before = bls_costs()
        played, elapsed, made = _play_hands(game, f"{seed} {round_number}", hands=4)
        sign, verify = (sum(pair) / 2 for pair in zip(before, bls_costs(), strict=True))
        floor = made["sign"] * sign + made["verify"] * verify
        ratios.append(elapsed / floor)
        times.append(elapsed / played * 1000)
        counts += made
        counts["hands"] += played
    return {
        "ratio": spread(ratios),
        "milliseconds": spread(times),
        "signatures_per_hand": round(counts["sign"] / counts["hands"], 1),
        "verifications_per_hand": round(counts["verify"] / counts["hands"], 1),
    }


def _play_hands(game: str, seed: str, hands: int) -> tuple[int, float, Counter[str]]:
    """Play hands; returns how many, their seconds and operations, after the first hand.

    Both runs make the same bytes: the first counts operations, the second is timed.
    """
    setup = Setup(
        games=(game,),
        seed=seed,
        hands=hands,
        unit=DEFAULT_UNIT,
        stack=DEFAULT_STACK,
        balance=DEFAULT_UNIT * DEFAULT_STACK * hands,
        policies=(default_policy((game,)),) * 2,
    )
    made: Counter[str] = Counter()
    counts: list[Counter[str]] = []
    with bls.observed(lambda operation, key, message: made.update((operation,))):
        _run(setup, lambda: counts.append(made.copy()))
    marks: list[float] = []
    _run(setup, lambda: marks.append(perf_counter()))
    return len(marks) - 1, marks[-1] - marks[0], counts[-1] - counts[0]


def _run(setup: Setup, hand_ended: Callable[[], None]) -> None:
    def listen(event: SessionEvent) -> None:
        if isinstance(event, HandEnded):
            hand_ended()

    deciders = Deciders(setup)
    Session(setup, deciders.decide, deciders.answer, [listen]).run()


def bls_costs(rounds: int = 40) -> tuple[float, float]:
    """Time one half-signature, and one check of it, in bare library calls; in seconds."""
    mine, theirs = (SecretKeys.derive(derive(name, "bench")) for name in (b"ours", b"theirs"))
    public = mine.channel.get_g1()
    total = public + theirs.channel.get_g1()
    messages = [derive(b"message", i, length=96) for i in range(rounds)]
    start = perf_counter()
    halves = [bytes(AugSchemeMPL.sign(mine.channel, message, total)) for message in messages]
    middle = perf_counter()
    for message, half in zip(messages, halves, strict=True):
        hashed = AugSchemeMPL.g2_from_message(bytes(total) + message)
        point = G2Element.from_bytes(half)
        if public.pair(hashed) != G1Element.generator().pair(point):
            raise InvariantError("a half-signature does not verify")
    end = perf_counter()
    return (middle - start) / rounds, (end - middle) / rounds
