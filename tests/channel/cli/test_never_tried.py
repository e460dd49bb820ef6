"""Programs that were never tried are named, and the exit code is 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.channel.command import Ran, channelsim
from tests.paths import DATA
from tests.sampling import one_in

Capsys = pytest.CaptureFixture[str]

HERE = ("--jobs", 1)


def never(ran: Ran) -> str:
    """The line that says what was never tried; what was found out is printed all the same."""
    assert ran.code == 1, ran
    assert ran.out
    (line,) = ran.err.splitlines()
    assert line.startswith("channelsim: ")
    return line


@pytest.mark.parametrize("json_too", [False, True])
def test_validators_that_no_case_reached(capsys: Capsys, tmp_path: Path, json_too: bool) -> None:
    (tmp_path / "a.jsonl").write_text(
        (DATA / "vectors" / "calpoker.jsonl").read_text().splitlines()[0]
    )
    more = ("--json",) if json_too else ()
    for command in (
        ("crosscheck", "calpoker", "--cases", 1, *HERE),
        ("cost", "calpoker", "--cases", 1),
        ("coverage", "calpoker", "--corpus", tmp_path),
    ):
        ran = channelsim(capsys, *command, *more)
        assert "calpoker: never tried: b, c, d, e;" in never(ran)
        assert not json_too or json.loads(ran.out)


def test_enough_cases_reach_them_all(capsys: Capsys) -> None:
    ran = channelsim(capsys, "crosscheck", "calpoker", "--cases", 100, *HERE)
    assert (ran.code, ran.err) == (0, "")


def test_programs_of_a_target_without_a_vector(capsys: Capsys, tmp_path: Path) -> None:
    from channelsim.games import registry

    game = registry.get("calpoker")
    for name, program in game.programs.items():
        (tmp_path / f"{name}.hex").write_text(program.serialized.hex())
    target = tmp_path / "target.toml"
    programs = "".join(f'{name} = "{name}.hex"\n' for name in game.programs)
    target.write_text(f'name = "mine"\nrules = "calpoker"\n[programs]\n{programs}')
    vectors = DATA / "vectors" / "calpoker.jsonl"
    ran = channelsim(capsys, "vectors", "check", vectors, "--target", target)
    assert (ran.code, ran.err) == (0, "")
    one = tmp_path / "one.jsonl"
    one.write_text(vectors.read_text().splitlines()[0])
    ran = channelsim(capsys, "vectors", "check", one, "--target", target)
    assert "never tried: b, c, d, e;" in never(ran)
    assert ran.out == "1 passed, 0 failed\n"
    # Without a target the cases are what is asked about.
    assert channelsim(capsys, "vectors", "check", one).code == 0


@pytest.mark.parametrize("way", one_in(2, ["--json", "--text"]))
def test_an_adversary_that_found_nothing_to_change(
    capsys: Capsys, tmp_path: Path, way: str
) -> None:
    file = tmp_path / "idle.jsonl"
    for command in (
        ("dispute", "run", "silent", "--at", 999, "--transcript", file),
        ("play", "spacepoker", "--adversary", "silent@999"),
        ("replay", file),
    ):
        ran = channelsim(capsys, *command, way)
        assert "silent found nothing to change from step 999 on as the receiver" in never(ran)
        assert way == "--text" or json.loads(ran.out)["deviated"] is False
