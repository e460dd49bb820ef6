"""`vectors check` with conversations of decks: what passes, what fails, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.cli.commands.vectors.check import VectorsCheckOptions
from channelsim.channel.cli.work.vectors_check import check_vectors
from channelsim.channel.errors import UsageError
from channelsim.games.deck.vectors import BadDeckLine, read
from tests.paths import DATA

TEXT = (DATA / "deck" / "conversations.jsonl").read_text("utf-8")
LINES: list[dict[str, Any]] = [json.loads(line) for line in TEXT.splitlines()]
WHOLE = LINES[0]
ALTERED = {line["expect"]: line for line in LINES if line.get("of") == WHOLE["id"]}


def run(tmp_path: Path, *lines: dict[str, Any]) -> int:
    path = tmp_path / "decks.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return check_vectors(VectorsCheckOptions(files=[path]))


def test_a_file_of_conversations_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A whole one, messages that are refused and accepted, and lines that are wrong."""
    refused = ALTERED["PD-7"]
    lines = (
        WHOLE,
        *ALTERED.values(),
        {**refused, "id": "one", "expect": "accepted"},
        {**refused, "id": "two", "expect": "PD-5"},
        {**ALTERED["accepted"], "id": "three", "expect": "PD-1"},
        {**refused, "id": "four", "of": "nowhere"},
        {**ALTERED["PD-1"], "id": "five", "expect": "PD-7"},
    )
    assert run(tmp_path, *lines) == 1
    out = capsys.readouterr().out
    assert f"{len(ALTERED) + 2} passed, 4 failed" in out
    for line in (
        "one (dup48): PD-7: ",
        "instead of accepted",
        "two (dup48): PD-7: ",
        "three (bit): accepted, instead of PD-1",
        "four (dup48): there is no conversation 'nowhere' above it",
    ):
        assert line in out


def test_every_stated_value_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = {
        **WHOLE,
        "messages": [*WHOLE["messages"][:4], WHOLE["messages"][4][:-2] + "00"],
        "deck_id": "00" * 32,
        "root": "11" * 32,
        "D": WHOLE["K"],
        "K": WHOLE["L"],
        "L": WHOLE["D"],
        "cards": WHOLE["cards"][::-1],
    }
    assert run(tmp_path, other, ALTERED["PD-1"]) == 1
    out = capsys.readouterr().out
    for name in ("message 5", "deck_id", "root", "D", "K", "L", "cards"):
        assert f"{name} is another one" in out
    assert "message 4 is" not in out
    assert f"the conversation '{WHOLE['id']}' failed" in out


Change = Callable[[dict[str, Any]], object]

BAD: dict[str, Change] = {
    "`terms`: PD-8": lambda line: line.update(terms=line["terms"][:-2] + "09"),
    "a text is not hex": lambda line: line.update(terms="zz" * 39),
    "has not as many locks": lambda line: line["a"]["locks"].pop(),
    "`permutation` is none": lambda line: line["b"].update(permutation=[1] * 52),
    "a scalar is out of range": lambda line: line["a"].update(mask="ff" * 32),
    "the key `root` is missing": lambda line: line.pop("root"),
    "unknown key `more`": lambda line: line.update(more=1),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_is_named(reason: str) -> None:
    line = json.loads(json.dumps(WHOLE))
    BAD[reason](line)
    with pytest.raises(BadDeckLine, match=reason) as caught:
        list(read(["", json.dumps(line)]))
    assert str(caught.value).startswith("line 2")


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"expect": "PD-99"}, "neither"), ({"message": "abc"}, "not hex"), ({"step": 6}, "<= 5")],
)
def test_a_bad_message_is_named(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadDeckLine, match=reason):
        list(read([json.dumps({**ALTERED["PD-1"], **change})]))


def test_a_target_has_nothing_to_do_with_decks(tmp_path: Path) -> None:
    path = tmp_path / "decks.jsonl"
    path.write_text(json.dumps(ALTERED["PD-1"]), "utf-8")
    target = tmp_path / "target.toml"
    target.write_text('name = "x"\nrules = "spacepoker"\n', "utf-8")
    with pytest.raises(UsageError):
        check_vectors(VectorsCheckOptions(files=[path], target=target))
