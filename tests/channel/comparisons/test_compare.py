"""Two documents of every kind: what changed, in both directions, and nothing from one to itself.

The documents come from the commands, or from the functions that make them for the commands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import AttackReport, AttackTotals, Broken, attacks
from channelsim.channel.cli.work.attack import attack_document
from channelsim.channel.cli.work.dispute_run import sweep_document
from channelsim.channel.cli.work.mutants import document as mutants_document
from channelsim.channel.comparisons.changes import Change, Comparison, Effect
from channelsim.channel.comparisons.documents import compare, document_kinds, read_document
from channelsim.channel.comparisons.presentation import MOST_ROWS, as_lines, as_markdown
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.documents.document_files import formats
from channelsim.channel.documents.results import Results
from channelsim.channel.kit.conformance import failed_check
from channelsim.channel.kit.conformance_reports import document as conform_document
from channelsim.channel.lab.costs.bundles import BundleCost
from channelsim.channel.lab.costs.costs import Figures
from channelsim.channel.lab.costs.snapshot import Snapshot, text
from channelsim.channel.lab.mutants.hunt import Hunt, MutantResult
from channelsim.channel.lab.mutants.reasons import Reasons
from channelsim.channel.lab.mutants.report import MutantReport, all_mutants
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import Cell, SweepTotals
from channelsim.channel.simulation.sweep_campaign import SweepReport, finding_of
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy
from tests.channel.written_documents import crashed_run, crashes, explored, proof, prove
from tests.channel.written_findings import finding
from tests.corpus import stored_corpus

Capture = pytest.CaptureFixture[str]
Run = Callable[..., str]
Pair = tuple[str | bytes, str | bytes]


def toys(folder: Path) -> Iterator[Path]:
    """A right target, and the same with a mistake in the first move."""
    for name, mistake in (("right", ""), ("wrong", "recorded cases")):
        (folder / name).mkdir()
        yield toy(folder / name, mistake)


def text_of(document: Results) -> str:
    return json.dumps(msgspec.to_builtins(document))


def of_fuzz(folder: Path, run: Run) -> Pair:
    some = ("--seconds", "0.1", "--jobs", "1", "--json", "--out", folder / "findings")
    right, wrong = (run("fuzz", target, *some) for target in toys(folder))
    return right, wrong


def of_crosscheck(folder: Path, run: Run) -> Pair:
    some = ("--cases", "200", "--jobs", "1", "--json")
    right, wrong = (run("crosscheck", target, *some) for target in toys(folder))
    return right, wrong


def of_coverage(folder: Path, run: Run) -> Pair:
    whole = stored_corpus("calpoker")
    for path in whole.glob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        (folder / path.name).write_bytes(b"".join(lines[path.stem == "e" :]))
    one, other = (run("coverage", "calpoker", "--corpus", c, "--json") for c in (whole, folder))
    return one, other


def of_mutants(folder: Path, run: Run) -> Pair:
    target = of_game(registry.get("calpoker"))
    results = [
        MutantResult(one, place, killed=True, runs=1)
        for place, one in enumerate(all_mutants(target, "a"))
    ]
    found = []
    for alive in (0, 3):
        for one in results[:alive]:
            one.killed = False
        report = MutantReport(target, "mutants", Hunt(results), Reasons({}))
        found.append(text_of(mutants_document(report, 2.0)))
    return found[0], found[1]


def of_conform(folder: Path, run: Run) -> Pair:
    passed = CheckResult("rules", "9 cases")
    failed = msgspec.structs.replace(
        passed, failures=(failed_check("rules", "theft. In the case shown 8 of 9 mojos", "end"),)
    )
    unchecked = CheckResult("cost", unchecked="interrupted")
    target = of_game(registry.get("calpoker"))
    before = conform_document(target, "s", [passed, CheckResult("cost", "9 cases")], "ab")
    after = conform_document(target, "s", [failed, unchecked], "cd")
    return text_of(before), text_of(after)


def of_disputes(folder: Path, run: Run) -> Pair:
    before = SweepTotals(runs=2, matrix={"silent": {"opening": Cell(1), "close": Cell(1)}})
    scenario = Scenario(("spacepoker",), "silent")
    broken = [finding_of(scenario, BrokenPromise("safety", "it lost 7 mojos"))]
    after = SweepTotals(runs=1, matrix={"silent": {"close": Cell(1)}}, found=broken)
    one, other = (sweep_document(SweepReport(totals), "s") for totals in (before, after))
    return text_of(one), text_of(other)


def of_crashes(folder: Path, run: Run) -> Pair:
    return text_of(crashes()), text_of(crashes(crashed_run()))


def of_attacks(folder: Path, run: Run) -> Pair:
    before = AttackTotals(actions=Counter(drop=2, crash=1))
    broken = [Broken(Attack(("spacepoker",), "x"), "chain", "the initiator has left")]
    after = AttackTotals(actions=Counter(drop=2), broken=broken)
    configuration = attacks(1, "s", ()).configuration
    reports = (AttackReport(configuration, totals) for totals in (before, after))
    one, other = (attack_document(report, "s", ()) for report in reports)
    return text_of(one), text_of(other)


def of_explorations(folder: Path, run: Run) -> Pair:
    one = explored(choices={"a block": 3, "publishes": 1})
    other = explored(choices={"a block": 3}, findings=(finding("it waits"),))
    return text_of(one), text_of(other)


def of_costs(folder: Path, run: Run) -> Pair:
    figures = {"slash": Figures(9, 1, 2, 2, 100), "move": Figures(9, 1, 2, 2, 100)}
    before = Snapshot("nine", 9, "cost", {"end": figures}, {"end": BundleCost(1, 2, 3, 6)})
    risen = {"end": {"slash": Figures(9, 1, 2, 2, 103)}}
    return text(before).encode(), text(msgspec.structs.replace(before, validators=risen)).encode()


def of_proofs(folder: Path, run: Run) -> Pair:
    different = prove(proof(verdict="different"), findings=(finding(),))
    return text_of(prove()), text_of(different)


PAIRS: dict[str, tuple[Callable[[Path, Run], Pair], set[Effect]]] = {
    "fuzz": (of_fuzz, {Effect.NEW}),
    "crosscheck": (of_crosscheck, {Effect.NEW}),
    "coverage": (of_coverage, {Effect.LOST}),
    "mutants": (of_mutants, {Effect.NEW}),
    "conform": (of_conform, {Effect.NEW, Effect.LOST}),
    "dispute run --all": (of_disputes, {Effect.NEW, Effect.LOST}),
    "crash-test": (of_crashes, {Effect.NEW}),
    "attack": (of_attacks, {Effect.NEW, Effect.LOST}),
    "explore": (of_explorations, {Effect.NEW, Effect.LOST}),
    "prove": (of_proofs, {Effect.NEW, Effect.LOST}),
    "cost": (of_costs, {Effect.DEARER, Effect.LOST}),
}


OPPOSITE: list[tuple[set[Effect], set[Effect]]] = [
    ({Effect.NEW}, {Effect.MENDED}),
    ({Effect.LOST}, {Effect.GAINED, Effect.ADDED}),
    ({Effect.DEARER}, {Effect.CHEAPER}),
    ({Effect.SEVERER}, {Effect.MILDER}),
]


def count(found: Comparison, effects: set[Effect]) -> int:
    return sum(one.effect in effects for one in found.changes)


def run_by(capsys: Capture) -> Run:
    return lambda *arguments: channelsim(capsys, *arguments).out


def written(folder: Path, pair: Pair) -> list[Path]:
    paths = [folder / "before", folder / "after"]
    for path, data in zip(paths, pair, strict=True):
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return paths


def changes(before: Path, after: Path, tolerance: float = 0.0) -> Comparison:
    return compare(read_document(before), read_document(after), tolerance)


def test_every_kind_is_compared_here() -> None:
    assert {kind.type.command for kind in document_kinds()} == set(PAIRS)
    assert {kind.type for kind in document_kinds()} == set(formats().values())


@pytest.mark.parametrize("kind", PAIRS)
def test_what_is_worse_is_better_the_other_way_round(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    make, expected = PAIRS[kind]
    (tmp_path / "work").mkdir()
    before, after = written(tmp_path, make(tmp_path / "work", run_by(capsys)))
    found, back = changes(before, after), changes(after, before)
    assert found.kind == kind
    assert expected <= {one.effect for one in found.changes}
    for one, other in OPPOSITE:
        assert count(found, one) == count(back, other)
        assert count(back, one) == count(found, other)
    for same in (before, after):
        assert changes(same, same).changes == ()


def test_the_command(tmp_path: Path, capsys: Capture) -> None:
    before, after = written(tmp_path, of_costs(tmp_path, run_by(capsys)))
    ran = channelsim(capsys, "compare", before, after)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "lost: cost of end move",
        "dearer: end slash most: 100 → 103 (+3.00 %)",
        "cost of nine: 1 lost, 1 dearer",
    ]
    data = json.loads(channelsim(capsys, "compare", before, after, "--format", "json").out)
    assert (data["worse"], data["better"], data["changes"][1]["after"]) == (2, 0, 103)
    assert changes(before, after, tolerance=3).summary == "1 lost"
    back = channelsim(capsys, "compare", after, before, "--format", "markdown")
    assert back.code == 0
    assert "| cheaper | end slash most | 103 → 100 (-2.91 %) |" in back.out


def test_hostile_words_stay_words_in_markdown() -> None:
    text = "<img src=x> [a](https://b) @all #1 |`x`\n\n# big\x1b[2J"
    many = tuple(Change(Effect.NEW, text) for _ in range(MOST_ROWS + 5))
    shown = as_markdown(Comparison("fuzz", text, many, (text,)))
    for raw in (" <img", " [a]", "://", "@all", "#1", "\n# big", "\x1b", " |`", " `x"):
        assert raw not in shown.replace(r"\|\`", ""), raw
    assert "and 5 more" in shown
    assert max(map(len, shown.splitlines())) < 500
    assert list(as_lines(Comparison("fuzz", None, ())))[-1] == "fuzz: nothing changed"


def wrong_files(folder: Path, capsys: Capture) -> dict[str, tuple[Any, Any, str]]:
    pairs = {kind: PAIRS[kind][0](folder, run_by(capsys)) for kind in ("conform", "cost")}
    conform, cost = (written(folder, pair)[0].read_bytes() for pair in pairs.values())
    huge = conform.replace(b'"failed": 0', b'"failed": 0, "checks": 7')
    return {
        "other kinds": (conform, cost, "is of `conform`, after of `cost`"),
        "other targets": (
            conform,
            conform.replace(b'"calpoker"', b'"ten"'),
            "is of 'calpoker', after of 'ten'",
        ),
        "a wrong key": (huge, conform, "no document of `conform --json`: key `checks`"),
        "no results": (b'{"interrupted": true}', conform, "interrupted before they had any"),
        "another version": (
            b'{"format": "channelsim document fuzz 9"}',
            conform,
            "a document of another version",
        ),
        "no document": (b"[1]", conform, "not a document that --json printed"),
        "not JSON": (b"{]", conform, "not a document"),
        "half of it": (conform[: len(conform) // 2], conform, "the JSON ends early, at line "),
        "a target": (b'name = "x"\n[programs]\n', conform, "a target, not a document"),
        "a figure": (cost, cost.replace(b"100", b"9" * 400), "most"),
    }


def test_what_cannot_be_compared_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    for one, other, said in wrong_files(tmp_path, capsys).values():
        written(Path(), (one, other))
        ran = channelsim(capsys, "compare", "before", "after")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert said in ran.err
    ran = channelsim(capsys, "compare", "before", "after", "--format", "pdf")
    assert (ran.code, "--format pdf: text, json, markdown" in ran.err) == (2, True)
    ran = channelsim(capsys, "compare", "before", "missing")
    assert (ran.code, "missing" in ran.err) == (2, True)
