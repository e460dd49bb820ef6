"""Measure and print the figures of `channelsim bench`, each with its spread.

Absolute times depend on the machine and its load. Compare the ratios: both sides of a ratio are
measured in turns, in the same run.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from chia_rs import run_chia_program

from channelsim.channel.bench.disputed_hand import disputed_hands
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.crosscheck.speed import speed
from channelsim.channel.lab.target.target import of_game
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import HandEnded, SessionEvent
from channelsim.channel.session.setup import DEFAULT_STACK, DEFAULT_UNIT, Setup
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.clsp.run import MAX_COST, STRICT
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.judge import NO_ADDRESS, hashes_of
from channelsim.games.referee import FIRST, GameCoin, validator_arguments
from channelsim.games.selfplay import Call, calls

SEED = "bench"
MIX = 60
"""Games whose validator calls are measured."""

LEAST = 3
"""The fewest measurements of a figure, however little time there is."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The measurements of one figure."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure itself."""
        return median(self.values)

    def data(self) -> dict[str, float]:
        """Convert to JSON data."""
        return {
            "median": round(self.median, 4),
            "least": round(min(self.values), 4),
            "most": round(max(self.values), 4),
        }


def main(seconds: float, *, as_json: bool) -> int:
    """Measure and print everything; returns the exit code."""
    with progress("bench", clock=seconds, still=True) as bar:
        figures = measure(seconds, bar.note)
    with finishing():
        if as_json:
            print_json(figures)
        else:
            _print(figures)
            if figures["interrupted"]:
                say(console(), "interrupted: figures that are missing were not measured")
    return exit_code(figures["interrupted"])


def measure(
    seconds: float, notify: Callable[[str], None] = lambda what: None, least: int = LEAST
) -> dict[str, Any]:
    """Measure all figures, as JSON data, within about `seconds`, each at least `least` times.

    `notify` gets the name of each before it is measured. After an interrupt the rest is missing.
    """
    found: dict[str, dict[str, Any]] = {}
    interrupted = False
    try:
        for section, name, work in _works(seconds / 5, least):
            notify(f"{section.replace('_', ' ')} {name}")
            figures = work()
            found.setdefault(section, {}).update({name: figures} if name else figures)
    except KeyboardInterrupt:
        interrupted = True
    return {**_summary(found), "interrupted": interrupted}


def _games() -> tuple[Game, ...]:
    """The games that have all their programs."""
    return tuple(game for game in registry.usable() if not game.missing)


def _works(share: float, least: int) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """List the measurements: the section, the name in it (if it has several), and the work."""
    games = tuple(game.name for game in _games())
    for name in games:
        yield "signed_hand", name, partial(_measure_signed, name, share, least)
    for name in games:
        yield "disputed_hand", name, partial(_measure_disputed, name, share / 2, least)
    for name, compare in _comparisons(share, least).items():
        yield "python_to_clvm", name, compare
    for name in games:
        yield "crosscheck", name, partial(_measure_crosscheck, name, share / 4, least)
    yield "rates", "", partial(_measure_rates, share, least)
    yield "import_channel", "", partial(_measure_import, least)


def _summary(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Put a headline before each section that was measured."""
    summary: dict[str, Any] = {}
    for section, figures in found.items():
        match section:
            case "signed_hand" | "disputed_hand":
                worst = max(hand["ratio"]["median"] for hand in figures.values())
                summary[f"{section}_ratio_to_floor"] = worst
            case "python_to_clvm":
                summary["python_ratio_to_clvm"] = {
                    name: figure["ratio"]["median"] for name, figure in figures.items()
                }
            case "crosscheck":
                least = min(one["ratio"]["median"] for one in figures.values())
                summary["crosscheck_ratio_to_clvm"] = least
            case "rates":
                for name, spread in figures.items():
                    summary[f"{name}_per_second"] = round(spread["median"])
            case "import_channel":
                summary["import_channel_seconds"] = figures["median"]
        summary[section] = figures
    return summary


# --- a signed hand against its floor -------------------------------------------------------------


def _measure_signed(game: str, seconds: float, least: int) -> dict[str, Any]:
    """Compare the time of hands played by messages with that of their BLS operations."""
    ratios: list[float] = []
    times: list[float] = []
    counts: Counter[str] = Counter()
    until = perf_counter() + seconds
    round_number = 0
    while perf_counter() < until or len(ratios) < least:
        round_number += 1
        before = _bls_costs()
        played, elapsed, made = _play_hands(game, f"{SEED} {round_number}", hands=4)
        sign, verify = (sum(pair) / 2 for pair in zip(before, _bls_costs(), strict=True))
        floor = made["sign"] * sign + made["verify"] * verify
        ratios.append(elapsed / floor)
        times.append(elapsed / played * 1000)
        counts += made
        counts["hands"] += played
    return {
        "ratio": Spread(tuple(ratios)).data(),
        "milliseconds": Spread(tuple(times)).data(),
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
        policies=(next(iter(registry.get(game).policies)),) * 2,
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


def _bls_costs(rounds: int = 40) -> tuple[float, float]:
    """Time one half-signature, and one check of it, in bare library calls; in seconds."""
    from chia_rs import AugSchemeMPL, G1Element, G2Element

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


# --- a disputed hand against its floor -----------------------------------------------------------


def _measure_disputed(game: str, seconds: float, least: int) -> dict[str, Any]:
    hands = list(disputed_hands(game, SEED, seconds, least))
    counts = sum((hand.counts for hand in hands), Counter[str]())
    return {
        "ratio": Spread(tuple(hand.elapsed / hand.floor for hand in hands)).data(),
        "ratio_to_bare_calls": Spread(tuple(one.elapsed / one.bare_floor for one in hands)).data(),
        "milliseconds": Spread(tuple(hand.elapsed * 1000 for hand in hands)).data(),
        **{f"{what}_per_hand": round(count / len(hands), 1) for what, count in counts.items()},
    }


# --- Python rules against CLVM ----------------------------------------------------------------


def _comparisons(seconds: float, least: int) -> dict[str, Callable[[], dict[str, Any]]]:
    """List the comparisons of each validator's rules in Python with the same calls in CLVM."""
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    games = _games()
    share = seconds / 5 / len(games)
    for game in games:
        for validator, mix in _calls_by_validator(game).items():
            key = validator if validator not in found else f"{game.name}/{validator}"
            found[key] = partial(_compare, game, validator, mix, share, least)
    return found


def _calls_by_validator(game: Game) -> dict[str, list[Call]]:
    hashes = hashes_of(game)
    terms = game.terms(game.default_parameters(DEFAULT_UNIT, DEFAULT_STACK))
    chance = Chance(SEED.encode())
    policies = list(game.policies.values())
    by_validator: dict[str, list[Call]] = {name: [] for name in game.validators}
    for _ in range(MIX):
        pair = (chance.pick(policies), chance.pick(policies))
        for call in calls(game, hashes, terms, pair, chance):
            by_validator[call.before.validator or ""].append(call)
    return by_validator


def _compare(
    game: Game, name: str, mix: Sequence[Call], seconds: float, least: int
) -> dict[str, Any]:
    hashes = hashes_of(game)
    judge, program = game.validators[name].judge, game.programs[name]
    python = [(c.before.state, c.move, c.share, c.amount, c.evidence, hashes) for c in mix]
    clvm = [
        validator_arguments(_coin(call), _state(call).value(), program, call.evidence, NO_ADDRESS)
        for call in mix
    ]
    serialized = program.serialized

    def run_python() -> None:
        for arguments in python:
            judge(*arguments)

    def run_clvm() -> None:
        for arguments in clvm:
            try:
                run_chia_program(serialized, arguments, MAX_COST, STRICT)
            except ValueError:
                continue  # evidence that does not apply: the program raises

    ratios: list[float] = []
    python_times: list[float] = []
    clvm_times: list[float] = []
    run_python()
    run_clvm()
    until = perf_counter() + seconds
    while perf_counter() < until or len(ratios) < least:
        ours, theirs = _time(run_python), _time(run_clvm)
        ratios.append(ours / theirs)
        python_times.append(ours / len(mix) * 1e6)
        clvm_times.append(theirs / len(mix) * 1e6)
    ratio = Spread(tuple(ratios))
    return {
        "ratio": ratio.data(),
        "times_faster": round(1 / ratio.median, 2),
        "python_microseconds": Spread(tuple(python_times)).data(),
        "clvm_microseconds": Spread(tuple(clvm_times)).data(),
        "calls": len(mix),
    }


def _coin(call: Call) -> GameCoin:
    return GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=call.amount,
        mod_hash=bytes(32),
        nonce=0,
        move=call.move,
        max_move_size=0,
        infohash_b=b"",
        mover_share=call.share,
        infohash_a=FIRST,
    )


def _state(call: Call) -> Any:
    return call.before.state


def _measure_crosscheck(game: str, seconds: float, least: int) -> dict[str, Any]:
    """Compare the speed of a crosscheck with that of the bare runs."""
    found = speed(of_game(registry.get(game)), SEED, seconds, least)
    return {figure: Spread(values).data() for figure, values in found.items()}


# --- rates, and the import ----------------------------------------------------------------------


def _measure_rates(seconds: float, least: int) -> dict[str, Any]:
    """Measure each game's own benchmarks, in times a second."""
    prepared: dict[str, Callable[[], int]] = {}
    for game in _games():
        for benchmark, prepare in game.benchmarks.items():
            work = prepare()
            if work is not None:
                key = benchmark if benchmark not in prepared else f"{game.name}/{benchmark}"
                prepared[key] = work
    values: dict[str, list[float]] = {name: [] for name in prepared}
    until = perf_counter() + seconds
    while perf_counter() < until or min(map(len, values.values()), default=least) < least:
        for name, work in prepared.items():
            start = perf_counter()
            done = work()
            values[name].append(done / (perf_counter() - start))
    return {name: Spread(tuple(found)).data() for name, found in values.items()}


def _measure_import(rounds: int) -> dict[str, float]:
    """Measure the seconds that `import channelsim.channel` adds to the start of Python."""
    with_it, without = [], []
    for _ in range(rounds):
        with_it.append(_time(lambda: _python("import channelsim.channel")))
        without.append(_time(lambda: _python("pass")))
    more = (max(a - b, 0.0) for a, b in zip(with_it, without, strict=True))
    return Spread(tuple(more)).data()


def _python(code: str) -> None:
    # An interrupt from the terminal reaches this process too; ours reports it.
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


def _time(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


# --- for people ---------------------------------------------------------------------------------


def _print(figures: dict[str, Any]) -> None:
    out = console()
    table: list[tuple[str, ...]] = []
    for game, hand in figures.get("signed_hand", {}).items():
        _row(table, f"{game}: signed hand / floor", hand["ratio"])
        _row(table, f"{game}: signed hand, ms", hand["milliseconds"])
    for game, hand in figures.get("disputed_hand", {}).items():
        _row(table, f"{game}: disputed hand / floor", hand["ratio"])
        _row(table, f"{game}: disputed hand / bare calls", hand["ratio_to_bare_calls"])
        _row(table, f"{game}: disputed hand, ms", hand["milliseconds"])
    for name, figure in figures.get("python_to_clvm", {}).items():
        _row(table, f"{name}: Python / CLVM time", figure["ratio"])
    for name, figure in figures.get("crosscheck", {}).items():
        _row(table, f"{name}: crosscheck / CLVM, cases a second", figure["ratio"])
        _row(table, f"{name}: crosscheck, cases a second", figure["cases_per_second"])
    for name, spread in figures.get("rates", {}).items():
        _row(table, f"{name}, a second", spread)
    if "import_channel" in figures:
        _row(table, "import channelsim.channel, s", figures["import_channel"])
    headings = ("figure", "median", "least", "most")
    show_table(out, headings, table, title="measured in one run")
    for game, hand in figures.get("signed_hand", {}).items():
        say(
            out,
            f"{game}: a hand makes {hand['signatures_per_hand']} signatures and"
            f" {hand['verifications_per_hand']} verifications; the floor is their cost here.",
        )
    if "disputed_hand" in figures:
        say(
            out,
            "A disputed hand's floor is its signatures, its validator runs and the node's own work;"
            " the bare calls are each signature, check and run once.",
        )


def _row(table: list[tuple[str, ...]], name: str, spread: dict[str, float]) -> None:
    values: Iterable[float] = (spread["median"], spread["least"], spread["most"])
    cells = (f"{value:,.0f}" if value >= 1000 else f"{value:.3f}" for value in values)
    table.append((name, *cells))
