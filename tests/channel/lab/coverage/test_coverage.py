"""`coverage` tells what was never reached, as text, as data and as a page of its own."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.values import tree_hash
from channelsim.games import registry
from channelsim.games.referee import infohash
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file
from tests.corpus import stored_corpus
from tests.paths import DATA

WHOLE = stored_corpus("spacepoker")


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """A corpus with one case, which is legal, and nothing for the other programs."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    vectors = DATA / "vectors" / "spacepoker.jsonl"
    (folder / "commitA.jsonl").write_text(vectors.read_text("utf-8").splitlines()[0])
    return folder


def test_complete_coverage_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", WHOLE)
    assert ran.code == 0
    assert "never reached" not in ran.out
    assert re.search(r"^end +\d+ +282/282 +48/48$", ran.out, re.MULTILINE)
    assert re.search(r"^  showdown +12/12 +0/0$", ran.out, re.MULTILINE)
    assert re.search(r"^referee +\d+ +241/241 +36/36$", ran.out, re.MULTILINE)


def test_what_was_never_reached_is_marked(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", part)
    assert re.search(r"^commitA +1 +14/14 +2/4$", ran.out, re.MULTILINE)
    shown = ran.out.split("commitA: what is marked")[1].split("\n\n")[0].splitlines()
    assert re.fullmatch(r"main   ; spacepoker/commitA\.clsp:\d+", shown[1])
    assert shown[2:] == [
        "  (if (= (strlen MOVE) 32)",
        "    (if (= MOVER_SHARE (f (divmod AMOUNT 2)))",
        "      (list commitB's hash (list bet_unit MOVE) 32)",
        "!     ())",
        "!   ())",
    ]
    assert (ran.code, ran.err) == (
        1,
        "channelsim: spacepoker: never tried: commitB, begin_round, mid_round, end;"
        f" add cases to {part}\n",
    )


def test_as_data(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", part, "--json", "--all")
    report = json.loads(ran.out)
    assert report["target"] == "spacepoker"
    one = report["programs"]["commitA"]
    assert (one["cases"], one["total"]["nodes"], one["total"]["nodes_reached"]) == (1, 14, 14)
    assert (one["total"]["branches"], one["total"]["branches_reached"]) == (4, 2)
    assert one["differs"] == []
    assert one["functions"] == {
        "main": {"nodes": 14, "nodes_reached": 14, "branches": 4, "branches_reached": 2}
    }
    assert [place["code"] for place in one["unreached"]] == [
        "() of (if (= MOVER_SHARE (f …)) (list commitB's hash (list bet_unit MOVE) 32) ())",
        "() of (if (= (strlen MOVE) 32) (if (= MOVER_SHARE …) (list commitB's hash … 32) ()) ())",
    ]
    assert report["programs"]["referee"]["total"]["nodes_reached"] == 0


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {"src", "onclick", "onload", "style"} & {name for name, _ in attrs}
        assert all(value and value.startswith("#") for name, value in attrs if name == "href")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else_and_escapes_everything(
    tmp_path: Path, part: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = target_file(tmp_path, "spacepoker")
    evil = "<script>alert('x')</script>&"
    target.write_text(target.read_text().replace('"a copy"', json.dumps(evil)))
    page = tmp_path / "page.html"
    ran = channelsim(capsys, "coverage", target, "--corpus", part, "--html", page)
    assert "never tried" in ran.err
    html = page.read_text("utf-8")
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert not tags.seen & {"script", "link", "img", "iframe", "object"}
    assert "url(" not in html
    assert "@import" not in html
    assert f"Coverage of {evil}" in tags.text
    assert "(if (> (strlen MOVE) 31)" in tags.text
    assert '<span class="never">' in html
    assert "14 of 14" in tags.text
    assert channelsim(
        capsys, "coverage", target, "--corpus", part, "--html", tmp_path / "no" / "page"
    ).err.startswith("channelsim: --html ")


def test_a_target_without_names_or_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = of_game(registry.get("spacepoker")).programs["end"]
    (tmp_path / "end.hex").write_text(program.serialized.hex())
    path = tmp_path / "t.toml"
    path.write_text('name = "mine"\n[programs]\nend = "end.hex"\n')
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "end.jsonl").write_bytes((WHOLE / "end.jsonl").read_bytes())
    ran = channelsim(capsys, "coverage", path, "--corpus", folder)
    assert re.search(r"^end +\d+ +282/282 +48/48$", ran.out, re.MULTILINE)
    assert "function 1" in ran.out


def test_another_outcome_than_expected_is_reported(
    part: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = part / "commitA.jsonl"
    file.write_text(file.read_text().replace('"mover_share":20', '"mover_share":21') + "\n")
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", part)
    assert "commitA: spacepoker-commitA-00000: program: expected valid, got slash" in ran.out


def test_a_spend_may_hold_the_code_of_a_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = of_game(registry.get("spacepoker"))
    previous = infohash(target.programs["commitA"].hash, tree_hash(b"\x05")).hex()
    keys = ["0x" + "aa" * 48, "0x" + "bb" * 48]
    spend = {
        "id": "one",
        "tag": "slash",
        "puzzle": [*keys, 15, 40, {"program": "referee"}, 4, 1, 32, 0, 20, f"0x{previous}"],
        "solution": [5, {"source": "commitA"}, 0, "0x" + "0a" * 32],
        "expect": "valid",
    }
    (tmp_path / "referee.jsonl").write_text(json.dumps(spend))
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", tmp_path, "--json")
    one = json.loads(ran.out)["programs"]["referee"]
    assert (one["differs"], one["cases"]) == ([], 1)
    assert 0 < one["total"]["nodes_reached"] < one["total"]["nodes"]


SPEND = '{"id":"x","tag":"y","puzzle":%s,"solution":%s,"expect":"valid"}'
FIELDS = "[1,2,3,4,5,6,7,8,9,10,11]"
BAD = {
    "no such folder": (None, "", "no such folder"),
    "nothing in it": ("notes.txt", "", "has no .jsonl files"),
    "no such program": ("ludo.jsonl", "{}", "no program 'ludo'"),
    "no JSON": ("end.jsonl", "{", "end.jsonl: the JSON ends early, at line 1"),
    "not text": ("end.jsonl", '{"id": "\udcff"}', "end.jsonl: line 1"),
    "no case": ("end.jsonl", '\n{"id":"x"}', "line 2: the key `tag` is missing"),
    "another validator's": ("end.jsonl", None, "is a case of commitA, not of end"),
    "no spend": ("referee.jsonl", '{"id":"x"}', "line 1: the key `tag` is missing"),
    "too few fields": ("referee.jsonl", SPEND % ("[1]", "0"), "1 fields, not 11"),
    "no value": ("referee.jsonl", SPEND % (FIELDS, "true"), "key `solution`"),
    "no such source": (
        "referee.jsonl",
        SPEND % (FIELDS, '{"source": "ludo"}'),
        "no program 'ludo'",
    ),
    "deep": ("referee.jsonl", SPEND % (FIELDS, "[" * 5000 + "]" * 5000), "line 1"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_corpus_is_one_line(
    kind: str, part: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, text, said = BAD[kind]
    case = (part / "commitA.jsonl").read_text()
    (part / "commitA.jsonl").unlink()
    if name is None:
        part.rmdir()
    else:
        (part / name).write_text(case if text is None else text, errors="surrogateescape")
    ran = channelsim(capsys, "coverage", "spacepoker", "--corpus", part)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err
