"""Corpora merge in any order, and a minimised one reaches what the whole one reaches."""

from __future__ import annotations

import json
from functools import reduce
from itertools import permutations
from operator import or_
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.channel.lab.cases.corpus import read
from channelsim.channel.lab.coverage.corpora import MeasuredCase, StoredCorpus, least_cover, line_of
from channelsim.channel.lab.coverage.coverage import corpus_coverage
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from channelsim.games.vectors import Case
from tests.channel.command import channelsim
from tests.corpus import stored_corpus
from tests.paths import DATA

VECTORS = (DATA / "vectors" / "spacepoker.jsonl").read_bytes().splitlines(keepends=True)


def case(name: str, amount: int, id: str) -> Case:
    return Case(id, "play", "nine", name, amount, 0, 1, "", 0, 0, "valid")


def content(line: bytes) -> bytes:
    """A line without what only names it."""
    data = {key: value for key, value in json.loads(line).items() if key not in ("id", "tag")}
    return json.dumps(data).encode()


@st.composite
def corpora(draw: st.DrawFn) -> StoredCorpus:
    cases = st.builds(
        case, st.sampled_from("ab"), st.integers(0, 3), st.sampled_from(["x", "y", "z"])
    )
    found = StoredCorpus()
    for one in draw(st.lists(cases, max_size=6)):
        lines = {line_of(msgspec.structs.replace(one, id="", tag="")): one}
        found |= StoredCorpus({one.validator: lines}, frozenset((one.game,)))
    return found


@given(st.lists(corpora(), min_size=1, max_size=3))
def test_a_union_depends_on_the_cases_alone(some: list[StoredCorpus]) -> None:
    merged = reduce(or_, some)
    assert all(reduce(or_, order) == merged for order in permutations(some))
    assert merged | merged == merged
    assert all(merged | one == merged for one in some)


measured = st.lists(
    st.builds(
        MeasuredCase, st.binary(max_size=3), st.integers(0, 63), st.integers(0, 4), st.booleans()
    ),
    unique_by=lambda one: one.content,
    max_size=12,
)


@given(measured, st.randoms(use_true_random=False))
def test_a_least_cover_reaches_all_and_has_nothing_needless(
    cases: list[MeasuredCase], chance: Random
) -> None:
    def reached(some: list[MeasuredCase]) -> tuple[int, int]:
        return reduce(or_, (one.reached for one in some), 0), max(
            (one.cost for one in some), default=0
        )

    chosen = least_cover(cases)
    assert reached(chosen) == reached(cases)
    for one in chosen:
        assert reached([other for other in chosen if other is not one]) != reached(cases)
    assert least_cover(chance.sample(cases, len(cases))) == chosen


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path]:
    """Two corpora that share cases."""
    found = (tmp_path / "monday.jsonl", tmp_path / "tuesday.jsonl")
    for path, lines in zip(found, (VECTORS[:120:2], VECTORS[:120:3]), strict=True):
        path.write_bytes(b"".join(lines))
    return found


def test_corpora_are_merged_and_minimised(
    parts: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both, small = tmp_path / "both", tmp_path / "small"
    assert channelsim(capsys, "corpus", "merge", *parts, "-o", both).code == 0
    written = {path.name: path.read_bytes() for path in both.iterdir()}
    assert channelsim(capsys, "corpus", "merge", parts[1], both, "-o", both).code == 0
    assert {path.name: path.read_bytes() for path in both.iterdir()} == written
    lines = {line for data in written.values() for line in data.splitlines(keepends=True)}
    assert lines <= {*VECTORS[:120:2], *VECTORS[:120:3]}
    assert sorted(map(content, lines)) == sorted({*map(content, lines | {*VECTORS[:120:2]})})

    ran = channelsim(capsys, "corpus", "minimize", both, "-o", small, "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["target"], report["cases"]) == (0, "spacepoker", len(lines))
    assert 0 < report["needed"] < len(lines) / 2
    target = of_game(registry.get("spacepoker"))
    whole, part = (corpus_coverage(target, read(target, folder)) for folder in (both, small))
    assert {name: one.total for name, one in whole.items()} == {
        name: one.total for name, one in part.items()
    }
    assert part["commitA"].total.nodes_reached
    again = channelsim(capsys, "corpus", "minimize", small, "-o", small, "--json")
    assert json.loads(again.out)["needed"] == report["needed"]


REFUSED = {
    "another game": (
        ("merge", "monday.jsonl", stored_corpus("calpoker")),
        "has cases of 'calpoker', not",
    ),
    "another target": (
        ("minimize", "monday.jsonl", "--target", "calpoker"),
        "of 'spacepoker', not",
    ),
    "an unknown game": (("minimize", "nine.jsonl"), "of 'nine', which is not installed"),
    "another corpus": (("merge", "monday.jsonl", "-o", "other"), "has another corpus in it"),
    "no folder": (("merge", "missing"), "missing: cannot be read"),
    "no corpus": (("minimize", "campaign"), "campaign: a campaign without a corpus; only `fuzz`"),
    "no cases": (("minimize", "empty.jsonl"), "has no cases"),
    "no case": (("merge", "bad.jsonl"), "line 2: the key `tag` is missing"),
    "a wrong file": (("merge", "other"), "is a case of commitA, not of end"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_corpus_of_the_target_is_one_line(
    kind: str,
    parts: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.jsonl").write_bytes(b"\n")
    Path("bad.jsonl").write_bytes(b'\n{"id":"x"}\n')
    Path("nine.jsonl").write_bytes(line_of(case("a", 1, "x")))
    Path("campaign").mkdir()
    Path("campaign", "campaign.json").write_bytes(b"{}")
    Path("other").mkdir()
    Path("other", "end.jsonl").write_bytes(VECTORS[0])
    arguments, said = REFUSED[kind]
    out = () if "-o" in arguments else ("-o", "out")
    ran = channelsim(capsys, "corpus", *arguments, *out)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err
    assert not Path("out").exists()


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "a\0b", "", "x" * 300])
def test_a_case_writes_no_file_outside_of_the_folder(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(line_of(case(name, 1, "x")) + b"\n")
    ran = channelsim(capsys, "corpus", "merge", file, "-o", tmp_path / "both")
    assert ran.code == 2
    assert "line 1" in ran.err
    assert [one.name for one in tmp_path.iterdir()] == ["cases.jsonl"]
