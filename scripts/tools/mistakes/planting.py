"""Targets: a game's programs compiled from a copy of their sources, with a mistake or without."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import copytree, ignore_patterns

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import FOLDER, CaseRuns, corpus_lines, own_corpus
from channelsim.channel.lab.cases.deal_search import DealSearch
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets import loading
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.clsp.compiler import compile_set
from channelsim.clsp.programs import SOURCE, Program
from channelsim.games.vectors import Case
from channelsim.games.verdicts import Slash, Valid
from scripts.tools.mistakes.listed import ROOT, Mistake

HANDS = 50
"""Hands of recorded play: as many as `channelsim record` plays."""

RARE_DEALS = 400
"""Rare deals of recorded play, in games that compare hands; `vectors make` has such, too."""

OPENINGS = "lib/openings.clinc"
POINT_TESTS = (
    "(= (g1_multiply BASE scalar) key)",
    "(= (g1_multiply (g1_map (concat deck_id card)) (* mine theirs)) point)",
)
"""The tests of points of a prepared deck, and where they are."""

HIDDEN = """from channelsim.games import registry

HIDDEN = registry.get("{game}").hidden
"""
"""The file by which a target without rules declares what players hide."""


@contextmanager
def planted(
    game: str, mistake: Mistake | None, with_rules: bool, stored: bool = False
) -> Iterator[Target]:
    """The target of a game with this mistake in its sources, or with none; compiled.

    Without rules it has honest play that was recorded on the right programs, what the game declares
    as hidden, and with `stored` the cases of illegal moves that the game comes with. The sources
    are there as long as the target is used. Raises `UsageError`.
    """
    right = loading.load(game)
    with tempfile.TemporaryDirectory(prefix="mistake-") as scratch:
        folder = Path(scratch)
        top = _copy_sources(right, folder)
        if mistake is not None:
            _changed_copy(mistake, top, folder)
        lines = [f'name = "{game}"', 'include = ["."]']
        if with_rules:
            lines.insert(1, f'rules = "{game}"')
        lines.append("[programs]")
        lines += [f'{name} = "{path}"' for name, path in _programs(right, top).items()]
        if not with_rules:
            lines += ["[play]", 'honest = "honest.jsonl"']
            recorded = (*honest_play(game), *(stored_cases(right) if stored else ()))
            cases = b"\n".join(map(msgspec.json.encode, recorded))
            (folder / "honest.jsonl").write_bytes(cases + b"\n")
            if right.game.hidden:
                lines.append('hidden = "hidden.py"')
                (folder / "hidden.py").write_text(HIDDEN.format(game=game), "utf-8")
        file = folder / "target.toml"
        file.write_text("\n".join(lines) + "\n", "utf-8")
        yield loading.read(file)


def program_of(
    game: str, validator: str, mistake: Mistake | None = None, quick: bool = False
) -> Program:
    """One program with a mistake or without, compiled beside the right programs of its game.

    So wrong and right program give the same result for the same arguments, but for the mistake.
    `quick`: it takes every lock of a prepared deck for opened, which otherwise takes nearly all of
    its time.
    """
    right = loading.load(game)
    with tempfile.TemporaryDirectory(prefix="mistake-") as scratch:
        folder = Path(scratch)
        top = _copy_sources(right, folder)
        if mistake is not None:
            _changed_copy(mistake, top, folder)
        if quick and (openings := folder / OPENINGS).is_file():
            text = openings.read_text("utf-8")
            for test in POINT_TESTS:
                if text.count(test) != 1:
                    raise UsageError(f"{OPENINGS}: {test} occurs {text.count(test)} times")
                text = text.replace(test, "1")
            openings.write_text(text, "utf-8")
        source = folder / _programs(right, top)[validator]
        others = {name: right.programs[name] for name in right.present if name != validator}
        return compile_set({validator: source}, [folder], others).programs[validator]


@cache
def honest_play(game: str) -> tuple[Case, ...]:
    """The legal moves of some hands on the right programs, each with all evidence against it that
    its opponent holds, then those at rare deals; each different case once."""
    target = loading.load(game)
    cases: dict[bytes, Case] = {}
    for site, call in (*_played(target), *_dealt(target)):
        verdict = site.rules_say(target, *call)
        if not isinstance(verdict, Valid):
            continue
        case = vector(target, site, call, verdict, "honest", len(cases))
        nameless = msgspec.structs.replace(case, id="")
        cases.setdefault(msgspec.json.encode(nameless), case)
    return tuple(cases.values())


def _played(target: Target) -> Iterator[tuple[Site, Call]]:
    for hand in islice(hands(target, b"honest play"), HANDS):
        for turn in hand:
            site = site_of(target, turn)
            for evidence in site.evidence(turn.play.move):
                yield site, (turn.play.move, turn.play.share, evidence)


def _dealt(target: Target) -> Iterator[tuple[Site, Call]]:
    """Calls at rare deals with moves that no selection slashes, in a game that says what its deals
    compare."""
    deals = DealSearch(target, b"rare deals")
    for site, _ in _played(target):
        deals.remember(site)
    pack = target.game.pack
    selections = (pack and pack.selections) or SELECTIONS
    for _ in range(RARE_DEALS if deals.ready else 0):
        for site, calls in deals.calls():
            for move, share in dict.fromkeys((move, share) for move, share, _ in calls):

                def is_slashed(share: int, move: bytes = move, site: Site = site) -> bool:
                    return any(
                        isinstance(site.rules_say(target, move, share, other), Slash)
                        for other in selections
                    )

                # An honest player leaves the opponent what it has to, and no more.
                if not is_slashed(share) and (share == 0 or is_slashed(share - 1)):
                    yield from ((site, call) for call in calls if call[:2] == (move, share))


def stored_cases(target: Target) -> tuple[Case, ...]:
    """The cases that are not legal in a game's own corpus, or in that of its tests.

    Legal ones there need not be honest play.
    """
    folder = own_corpus(target) or ROOT / "examples" / target.name / "tests" / FOLDER
    return tuple(
        case
        for path in sorted(folder.glob("*.jsonl"))
        if path.stem in target.programs
        for _, case in corpus_lines(path, path.read_bytes(), Case)
        if case.expect != "valid" and not CaseRuns(target).stored(case).differs
    )


def _top(target: Target) -> Path:
    """The folder of a game's sources, from which they include each other."""
    path = _sources(target)[next(iter(target.programs))]
    return SOURCE if path.is_relative_to(SOURCE) else path.parent


def _sources(target: Target) -> dict[str, Path]:
    if target.sources is None:
        return {}
    return {name: path for name, path in target.sources.programs.items() if name != REFEREE}


def _copy_sources(target: Target, folder: Path) -> Path:
    """Copy a game's sources into this folder, and return the folder that they come from."""
    top = _top(target)
    copytree(top, folder, ignore=ignore_patterns("*.py", "__pycache__"), dirs_exist_ok=True)
    return top


def _programs(target: Target, top: Path) -> dict[str, Path]:
    return {name: path.relative_to(top) for name, path in _sources(target).items()}


def _changed_copy(mistake: Mistake, top: Path, folder: Path) -> None:
    copy = folder / mistake.path.relative_to(top)
    copy.write_text(mistake.changed(), "utf-8")
