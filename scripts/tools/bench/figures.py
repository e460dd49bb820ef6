"""Measure the figures of `scripts/bench`, each with its spread, and print them.

Absolute times depend on the machine and its load. Compare the ratios: both sides of a ratio are
measured in turns, in the same run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.games import registry
from channelsim.games.contract import Game
from scripts.tools.bench.attacked_sessions import measure_attacked
from scripts.tools.bench.campaign_speed import measure_campaign
from scripts.tools.bench.crosscheck_speed import measure_crosscheck
from scripts.tools.bench.deck_preparation import measure_deck
from scripts.tools.bench.disputed_hand import measure_disputed
from scripts.tools.bench.judging import comparisons
from scripts.tools.bench.linked_peers import measure_linked
from scripts.tools.bench.measuring import Figures, repeated, seconds_of
from scripts.tools.bench.signed_hand import measure_signed
from scripts.tools.bench.slash_costs import measure_slashes
from scripts.tools.bench.stored_batch import measure_stored

SEED = "bench"

LEAST = 3
"""The fewest measurements of a figure, however little time there is."""


def measure(
    seconds: float, notify: Callable[[str], None] = lambda what: None, least: int = LEAST
) -> Figures:
    """Measure all figures, as JSON data, within about `seconds`, each at least `least` times.

    `notify` gets the name of each before it is measured. After an interrupt the rest is missing.
    """
    sections: dict[str, Figures] = {}
    interrupted = False
    try:
        for section, name, work in _works(seconds / 5, least):
            notify(f"{section.replace('_', ' ')} {name}")
            figures = work()
            sections.setdefault(section, {}).update({name: figures} if name else figures)
    except KeyboardInterrupt:
        interrupted = True
    return {**_summary(sections), "interrupted": interrupted}


def _games() -> tuple[Game, ...]:
    """The games that have all their programs, but those that only have programs of others."""
    games: list[Game] = []
    programs: set[bytes] = set()
    for game in registry.usable():
        own = {program.hash for program in game.programs.values()}
        if not game.missing and not own <= programs:
            games.append(game)
            programs |= own
    return tuple(games)


def cards_game() -> Game:
    """The game by which games with a deck are measured."""
    games = registry.channel_games()
    return next(game for game in games if game.deck_positions and game.slash_costs)


def _works(share: float, least: int) -> Iterator[tuple[str, str, Callable[[], Figures]]]:
    """List the measurements: the section, the name in it (if it has several), and the work."""
    games = tuple(game.name for game in registry.channel_games() if not game.deck_positions)
    for name in (*games, cards_game().name):
        yield "signed_hand", name, partial(measure_signed, name, SEED, share, least)
    for name in games:
        yield "disputed_hand", name, partial(measure_disputed, name, SEED, share / 2, least)
    yield "stored_batch", "", partial(measure_stored, games[-1], SEED, share / 2, least)
    yield "linked_peers", "", partial(measure_linked, SEED, share / 2, least)
    yield "deck_preparation", "", partial(measure_deck, SEED, share / 2, least)
    for game in registry.channel_games():
        if game.slash_costs:
            yield "slash_costs", game.name, partial(measure_slashes, game, SEED)
    for name, compare in comparisons(_games(), SEED, share, least).items():
        yield "python_to_clvm", name, compare
    for game in _games():
        yield "crosscheck", game.name, partial(measure_crosscheck, game, SEED, share / 4, least)
    yield "campaign", "", partial(measure_campaign, _games()[0], SEED, share, least)
    yield "attacked_sessions", "", partial(measure_attacked, SEED, share, least)
    yield "rates", "", partial(_measure_rates, share, least)
    yield "import_channel", "", partial(_measure_import, least)


def _summary(sections: dict[str, Figures]) -> Figures:
    """Put a headline before each section that was measured."""
    summary: Figures = {}
    for section, figures in sections.items():
        match section:
            case "signed_hand" | "disputed_hand":
                worst = max(hand["ratio"]["median"] for hand in figures.values())
                summary[f"{section}_ratio_to_floor"] = worst
            case "stored_batch":
                summary["stored_batch_ratio"] = figures["ratio"]["median"]
            case "linked_peers":
                rate = figures["batches_per_second"]["median"]
                summary["batches_per_second_over_tls"] = round(rate)
            case "deck_preparation":
                summary["deck_preparation_ratio_to_floor"] = figures["ratio"]["median"]
            case "slash_costs":
                for what in ("ratio", "of_block", "whole_of_block"):
                    dearest = max(slash[what]["most"] for slash in figures.values())
                    summary[f"slash_{what}"] = dearest
            case "python_to_clvm":
                summary["python_ratio_to_clvm"] = {
                    name: figure["ratio"]["median"] for name, figure in figures.items()
                }
            case "crosscheck":
                least = min(game["ratio"]["median"] for game in figures.values())
                summary["crosscheck_ratio_to_clvm"] = least
            case "campaign":
                summary["campaign_two_workers_to_one"] = figures["two_to_one"]["median"]
                summary["campaign_overhead"] = figures["overhead"]["median"]
            case "attacked_sessions":
                summary["attacked_sessions_per_second"] = figures["fast_per_second"]["median"]
                summary["attacked_sessions_fast_to_real"] = figures["ratio"]["median"]
            case "rates":
                for name, rate in figures.items():
                    summary[f"{name}_per_second"] = round(rate["median"])
            case "import_channel":
                summary["import_channel_seconds"] = figures["median"]
        summary[section] = figures
    return summary


# --- single figures ------------------------------------------------------------------------------


def _measure_rates(seconds: float, least: int) -> Figures:
    """Measure each game's own benchmarks, in times a second."""
    works: dict[str, Callable[[], int]] = {}
    for game in _games():
        for benchmark, prepare in game.benchmarks.items():
            work = prepare()
            if work is not None:
                key = benchmark if benchmark not in works else f"{game.name}/{benchmark}"
                works[key] = work
    return repeated(
        seconds, least, lambda number: {name: _rate(work) for name, work in works.items()}
    )


def _rate(work: Callable[[], int]) -> float:
    """The work that a benchmark does in a second."""
    done: list[int] = []
    seconds = seconds_of(lambda: done.append(work()))
    return sum(done) / seconds


def _measure_import(rounds: int) -> dict[str, float]:
    """Measure the seconds that `import channelsim.channel` adds to the start of Python."""

    def measure(number: int) -> dict[str, float]:
        """Measure the start of Python with and without it."""
        with_it = seconds_of(lambda: _python("import channelsim.channel"))
        return {"seconds": max(with_it - seconds_of(lambda: _python("pass")), 0.0)}

    return repeated(0, rounds, measure)["seconds"]


def _python(code: str) -> None:
    # An interrupt from the terminal reaches this process too; ours reports it.
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


# --- for people ---------------------------------------------------------------------------------

_ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "signed_hand": (
        ("{}: signed hand / floor", "ratio"),
        ("{}: signed hand, ms", "milliseconds"),
    ),
    "disputed_hand": (
        ("{}: disputed hand / floor", "ratio"),
        ("{}: disputed hand / bare calls", "ratio_to_bare_calls"),
        ("{}: disputed hand, ms", "milliseconds"),
    ),
    "stored_batch": (
        ("a batch with stores on disk / without", "ratio"),
        ("a wait for the disk, which that leaves out, ms", "sync_milliseconds"),
        ("synchronised writes of a batch", "writes_per_batch"),
    ),
    "linked_peers": (
        ("batches a second over loopback TLS", "batches_per_second"),
        ("a batch over loopback TLS / floor", "ratio"),
    ),
    "deck_preparation": (
        ("preparing a deck / floor", "ratio"),
        ("preparing a deck, both sides, s", "seconds"),
    ),
    "slash_costs": (
        ("{}: cost of a slash / the design's", "ratio"),
        ("{}: that cost, share of a block", "of_block"),
        ("{}: a whole slash, share of a block", "whole_of_block"),
    ),
    "python_to_clvm": (("{}: Python / CLVM time", "ratio"),),
    "crosscheck": (
        ("{}: crosscheck / CLVM, cases a second", "ratio"),
        ("{}: crosscheck, cases a second", "cases_per_second"),
    ),
    "campaign": (
        ("a campaign's work by two workers / by one", "two_to_one"),
        ("the campaign engine's own time / the workers'", "overhead"),
    ),
    "attacked_sessions": (
        ("attacked sessions a second in fast mode", "fast_per_second"),
        ("attacked sessions a second with real signatures", "real_per_second"),
        ("attacked sessions, fast / real", "ratio"),
        ("attacked sessions, fast / real with each signature computed", "ratio_to_computed"),
    ),
    "rates": (("{}, a second", ""),),
    "import_channel": (("import channelsim.channel, s", ""),),
}
"""The rows of each section: the text, with `{}` for the name of each figure, and a key in it."""


def show_figures(figures: Figures) -> None:
    """Print the figures as a table, and what the floors are."""
    out = console()
    table: list[tuple[str, ...]] = []
    for section, rows in _ROWS.items():
        measured = figures.get(section, {})
        named = measured if "{}" in rows[0][0] else {"": measured}
        for name, figure in named.items():
            table += [
                (text.format(name), *_cells(figure[key] if key else figure))
                for text, key in rows
                if figure
            ]
    headings = ("figure", "median", "least", "most")
    show_table(out, headings, table, title="measured in one run")
    for game, hand in figures.get("signed_hand", {}).items():
        say(
            out,
            f"{game}: a hand makes {hand['signatures_per_hand']} signatures,"
            f" {hand['verifications_per_hand']} verifications and"
            f" {hand['multiplications_per_hand']} multiplications in the group of a deck; the floor"
            " is their cost here.",
        )
    if deck := figures.get("deck_preparation"):
        say(
            out,
            f"A deck takes {deck['multiplications']:,} multiplications in the group; the floor is"
            " their cost in a bare loop.",
        )
    if "disputed_hand" in figures:
        say(
            out,
            "A disputed hand's floor is its signatures, its validator runs and the node's own work;"
            " the bare calls are each signature, check and run once.",
        )


def _cells(figure: dict[str, Any]) -> list[str]:
    values = (figure["median"], figure["least"], figure["most"])
    return [f"{value:,.0f}" if value >= 1000 else f"{value:.3f}" for value in values]
