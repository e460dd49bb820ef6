"""The example of docs/lab.md, tried as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copytree

import pytest

from channelsim.channel.lab.laws import laws
from channelsim.clsp.build import SOURCE
from tests.channel.command import channelsim
from tests.paths import DATA, ROOT

PAGE = (ROOT / "docs" / "lab.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def block(kind: str) -> str:
    return blocks(kind)[0]


def test_the_example_prints_what_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copytree(SOURCE, tmp_path / "onchain")
    Path("broken.toml").write_text(block("toml"), "utf-8")
    shown = next(one for one in blocks("console") if one.startswith("$ channelsim crosscheck "))
    command = shown.strip().removeprefix("$ channelsim ").split()
    source = tmp_path / "onchain" / "spacepoker" / "commitA.clsp"
    source.write_text(source.read_text().replace("(= MOVER_SHARE (/ AMOUNT 2))", "1"))
    ran = channelsim(capsys, *command)
    assert ran.code == 1
    example = next(
        text for text in blocks("text") if ": commitA: the program accepts a move " in text
    )
    assert example.strip() in " ".join(ran.out.split())


def test_the_traced_case_looks_as_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = next(text for text in blocks("text") if text.startswith("spacepoker, end: "))
    name = shown.split()[2]
    cases = DATA / "vectors" / "spacepoker.jsonl"
    assert channelsim(capsys, "trace", cases, "--case", name).out == shown


def test_every_law_is_on_the_page() -> None:
    assert all(f"| {law.name} | " in PAGE for law in laws())
