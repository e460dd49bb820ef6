"""A stored case that fails, fails: in every command that reads one, and whoever is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest

from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import Effort, Subject
from channelsim.channel.lab.targets.loading import load
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy
from tests.corpus import stored_corpus

RULES = """
from channelsim.games.contract import Slash, Valid

def reveal(state, move, share, amount, evidence, hashes):
    return Slash("NEVER-1")
"""
FUZZ = ("--seconds", 0.1, "--jobs", 1)


def wrong_corpus(folder: Path, expect: str) -> Path:
    """A corpus with one case of the toy, in a state that no play reaches; its move is too short."""
    case = {
        "id": "odd one",
        "tag": "state x",
        "game": "toy",
        "validator": "reveal",
        "amount": 1000,
        "mover_share": 7,
        "max_move_size": 16,
        "evidence": 0,
        "state": [f"0x{bytes(32).hex()}", 7],
        "move": "07",
        "expect": expect,
    }
    folder.mkdir()
    (folder / "reveal.jsonl").write_text(json.dumps(case) + "\n")
    return folder


def test_a_corpus_with_a_wrong_case_fails_in_every_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target, text = toy(tmp_path), "the stored case odd one: program: expected raise, got slash"
    corpus = wrong_corpus(tmp_path / "wrong", "raise")
    out = tmp_path / "findings"
    ran = channelsim(
        capsys, "fuzz", target, *FUZZ, "--corpus", corpus, "--out", out, "--junit", tmp_path / "j"
    )
    assert ran.code == 1
    assert f"disagreement: reveal: Nobody is known to lose money by this: {text}" in ran.out
    assert "this is a stored case" in ran.out
    suite = ElementTree.parse(tmp_path / "j").getroot()
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [
        "stored cases"
    ]
    (finding,) = out.glob("*.json")
    assert channelsim(capsys, "replay", finding).code == 1
    covered = channelsim(capsys, "coverage", target, "--corpus", corpus)
    assert covered.code == 1
    assert "reveal: odd one: program: expected raise, got slash" in covered.out
    options = ("--cases", 20, "--coverage", 0, *FUZZ, "--corpus", corpus)
    conformed = channelsim(capsys, "conform", target, *options)
    assert conformed.code == 1
    assert f"vectors: reveal: {text}" in conformed.out  # without rules nobody knows what it breaks
    assert re.search(r"24 cases and \d+ stored ones?", conformed.out)
    right = wrong_corpus(tmp_path / "right", "slash")
    fuzz = ("fuzz", target, "--work", 60_000, "--jobs", 1, "--out", tmp_path / "campaign")
    assert channelsim(capsys, *fuzz, "--corpus", right).code == 0


def test_rules_that_differ_from_a_stored_case_fail_as_well(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, corpus = toy(tmp_path), wrong_corpus(tmp_path / "cases", "slash")
    (tmp_path / "rules.py").write_text(RULES)
    path.write_text(path.read_text().replace("[programs]", 'rules = "rules.py"\n[programs]'))
    # Of the target's own file, and of a corpus on which both agree.
    result = CHECKS["vectors"](Subject(load(str(path)), Effort(cases=10, corpus=corpus)))
    texts = [failure.text for failure in result.failures]
    assert texts == [
        f"reveal-{number} (honest): python: expected valid, got slash" for number in range(8)
    ]
    ran = channelsim(capsys, "crosscheck", path, "--cases", 20, "--jobs", 1)
    assert ran.code == 1
    assert "a recorded case: python: expected valid, got slash" in ran.out


def test_the_corpus_of_a_package_is_only_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = copytree(stored_corpus("calpoker"), tmp_path / "copy")
    for path in part.iterdir():
        path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n")
    fuzz = (
        "fuzz",
        "calpoker",
        "--work",
        100_000,
        "--jobs",
        1,
        "--corpus",
    )
    before = {path.name: path.read_bytes() for path in part.iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr("channelsim.channel.cli.corpora.files", lambda package: tmp_path)
        ran = channelsim(capsys, *fuzz, part)
        assert ran.code == 0
        assert f"for {part}, none added: it is in a package" in ran.out
        assert {path.name: path.read_bytes() for path in part.iterdir()} == before
        assert channelsim(capsys, *fuzz, part, "--update-corpus").code == 0
    after = {path.name: path.read_bytes() for path in part.iterdir()}
    assert all(after[name].startswith(cases) for name, cases in before.items())
    assert after != before
    assert "none added" in channelsim(capsys, *fuzz, stored_corpus("calpoker")).out
    alone = channelsim(capsys, "fuzz", "calpoker", *FUZZ, "--update-corpus")
    assert (alone.code, alone.err) == (
        *(2, "channelsim: --update-corpus: needs --corpus DIR, the folder of cases\n"),
    )
