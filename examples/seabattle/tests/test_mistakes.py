"""The mistakes of `mistakes.toml`: each is one change, and a case of the corpus shows it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from shutil import copytree

import pytest
from seabattle import GAME

from channelsim.clsp.compiler import compile_source
from channelsim.games import vectors

PACKAGE = Path(__file__).parents[1]
MISTAKES = tomllib.loads((PACKAGE / "mistakes.toml").read_text("utf-8"))["mistake"]


def test_there_are_eighteen() -> None:
    assert len({mistake["id"] for mistake in MISTAKES}) == len(MISTAKES) == 18
    assert sum(mistake["kind"] == "hidden" for mistake in MISTAKES) == 9


ENDLESS = "seabattle-board-length"
"""Its program runs until it has used all the cost that a block has: some seconds."""


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(
            mistake, id=mistake["id"], marks=[pytest.mark.long] * (mistake["id"] == ENDLESS)
        )
        for mistake in MISTAKES
    ],
)
def test_a_case_of_the_corpus_shows_it(mistake: dict[str, str], tmp_path: Path) -> None:
    folder, name = copytree(PACKAGE / "seabattle", tmp_path / "copy"), mistake["validator"]
    file = folder / Path(mistake["file"]).name
    text = file.read_text("utf-8")
    assert text.count(mistake["old"]) == 1
    file.write_text(text.replace(mistake["old"], mistake["new"]), "utf-8")
    program = compile_source(folder / f"{name}.clsp", [folder], GAME.programs)
    assert program.hash != GAME.programs[name].hash
    programs = {**GAME.programs, name: program}
    with (PACKAGE / "tests" / "corpus" / f"{name}.jsonl").open("rb") as lines:
        cases = list(vectors.read(lines))
    assert any(vectors.check_program(case, GAME.name, programs) for case in cases)
