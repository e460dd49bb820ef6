"""The page of mistakes that the lab is measured by: how soon it finds each, as the stored results
say.

`scripts/mistakes --json` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from channelsim.games.amounts import counted
from scripts.tools import ROOT, table
from scripts.tools.mistakes.correct import Quiet
from scripts.tools.mistakes.listed import Mistake, mistakes
from scripts.tools.mistakes.results import Results
from scripts.tools.mistakes.searching import Search

DATA = ROOT / "tests" / "data" / "mistakes" / "results.json"
"""The stored results."""

_HEAD = """# Mistakes that the lab finds

The search of `fuzz` is measured by mistakes in the games and examples, one change of a source each
(`scripts/tools/mistakes/lists`, `examples/seabattle/mistakes.toml`). Each is searched for with the
game's rules; and without rules, with recorded honest play, and with what the game declares as
hidden. A search ends at its first finding. This page has the seconds of the processor until then,
without compiling and recording; *not found* has those after which the search ended. A dash was not
measured with this version. *Rare*: fewer than one of 100,000 random cases show the mistake.

`python -m scripts.tools` writes this page from `tests/data/mistakes/results.json`, which
`scripts/mistakes --json` wrote."""

_RIGHT = """Programs without a mistake, searched in the same way; a run is one of a validator. Each
fuzzer makes up to 250,000 of them, and another one, with another number, goes on (`scripts/mistakes
--correct`)."""


def page() -> str:
    """The page, as Markdown."""
    results = msgspec.json.decode(DATA.read_bytes(), type=Results)
    found = {(search.id, search.with_rules): search for search in results.searches}
    listed = mistakes()
    parts = [_HEAD, _counted(listed), f"Seed: `{results.seed}`.", _totals(listed, found)]
    for game in dict.fromkeys(mistake.game for mistake in listed):
        parts += [f"## {game}", table(*_rows([one for one in listed if one.game == game], found))]
    parts += ["## Right programs", _RIGHT, table(*_right(results.correct))]
    return "\n\n".join(parts) + "\n"


def _counted(listed: Sequence[Mistake]) -> str:
    """A sentence on the rare mistakes that random play was counted for."""
    counts = [mistake.measured for mistake in listed if mistake.measured is not None]
    least, shown = min(count.cases for count in counts), sum(count.differing for count in counts)
    return (
        f"{counted(len(counts), 'rare mistake')} met at least {least:,} cases of random play each"
        f" (`scripts/mistakes --rate`), and {shown} of these showed one."
    )


def _right(searches: Sequence[Quiet]) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """A row for each game and side, with the sums over its fuzzers."""
    sides: dict[tuple[str, bool], list[Quiet]] = {}
    for quiet in sorted(searches, key=lambda quiet: (quiet.game, not quiet.with_rules)):
        sides.setdefault((quiet.game, quiet.with_rules), []).append(quiet)
    head = ("game", "rules", "runs", "findings", "dropped as unreached", "processor time")
    return head, (
        (
            game,
            "with" if with_rules else "without",
            f"{sum(quiet.runs for quiet in found):,}",
            str(sum(len(quiet.findings) for quiet in found)),
            str(sum(quiet.unreached for quiet in found)),
            f"{sum(quiet.seconds for quiet in found):,.0f} s",
        )
        for (game, with_rules), found in sides.items()
    )


def _totals(listed: Sequence[Mistake], found: dict[tuple[str, bool], Search]) -> str:
    rows = []
    for with_rules in (True, False):
        searches = [
            search
            for mistake in listed
            if (search := found.get((mistake.id, with_rules))) is not None
        ]
        seconds = [search.seconds for search in searches if search.found]
        middle = f"{median(seconds):.2f} s" if seconds else ""
        side = "with rules" if with_rules else "without"
        rows.append((side, str(len(searches)), str(len(seconds)), middle))
    head = ("", "searched for", "found", "median processor time to the first finding")
    return table(head, rows)


def _rows(
    listed: Sequence[Mistake], found: dict[tuple[str, bool], Search]
) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    head = ("mistake", "in", "kind", "with rules", "without", "gain")
    return head, (
        (
            f"`{mistake.id}`",
            f"`{mistake.validator}`",
            mistake.kind + (", rare" if mistake.rare else ""),
            _seconds(found.get((mistake.id, True))),
            _seconds(found.get((mistake.id, False))),
            mistake.gain,
        )
        for mistake in listed
    )


def _seconds(search: Search | None) -> str:
    if search is None:
        return "–"
    return f"{search.seconds:.2f}" if search.found else f"not found ({search.seconds:.0f})"
