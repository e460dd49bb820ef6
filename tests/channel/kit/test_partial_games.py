"""Every command with Python alone, with Chialisp alone, with `rules.py`, and with both.

The table in docs/author.md says which of them work; each of its cells is tried.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.channel.cli.test_plugins import PARITY, without_programs
from tests.installed import install, run
from tests.markdown import read
from tests.paths import ROOT

TARGETS = ("bare", "alone.toml", "pieces.toml", "parity")
"""The columns of the table."""

DRIVER = """
from hashlib import sha256
from channelsim.channel.kit.driver import Move, Start

def hand(chance):
    secret, odd = chance.bytes(16), chance.below(2)
    yield Start("commit", amount=200, max_move_size=32)
    yield Move(sha256(secret).digest())
    yield Move(odd)
    yield Move(secret, share=200 if secret[-1] & 1 == odd else 0)
"""

RULES = """
from channelsim.games.contract import Next, Slash, Valid

def commit(state, move, share, amount, evidence, hashes):
    return Valid(Next("guess", move, 1)) if len(move) == 32 else Slash("COMMIT-1")
"""


def table() -> dict[str, tuple[str, ...]]:
    """The cells of the table by command."""
    rows = re.findall(r"^\| (`.+) \|$", read(ROOT / "docs" / "author.md"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    return {
        command: tuple(row[1:])
        for row in cells
        if len(row) == 1 + len(TARGETS)
        for command in re.findall(r"`([^`]+)`", row[0])
    }


def packages(site: Path) -> None:
    """A game without programs, a game, and two targets with its programs."""
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    (site / "bare.py").write_text(without_programs(text, "bare"))
    install(site, "bare", {"games": ["bare = bare:GAME"]})
    install(site, "parity-game", {"games": ["parity = parity:GAME"]})
    for source in (PARITY / "parity").glob("*.clsp"):
        shutil.copy(source, site)
    programs = "\n".join(f'{name} = "{name}.clsp"' for name in ("commit", "guess", "reveal"))
    play = '[play]\nhonest = "honest.jsonl"\ndriver = "driver.py"\n'
    for name, rules in (("alone", ""), ("pieces", 'rules = "rules.py"\n')):
        head = f'name = "{name}"\n{rules}'
        (site / f"{name}.toml").write_text(f"{head}[programs]\n{programs}\n{play}")
    (site / "driver.py").write_text(DRIVER)
    (site / "rules.py").write_text(RULES)


def commands(target: str) -> dict[str, list[object]]:
    """Each command of the table, on a target."""
    quick = ("--seconds", 0.3, "--jobs", 1)
    session, cases, corpus = f"{target}.session", f"{target}.jsonl", f"{target}.corpus"
    own = [] if target in ("bare", "parity") else ["--target", target]
    cases = "honest.jsonl" if own else cases
    return {
        "record": ["record", target, "--hands", 4],
        "play": ["play", target, "--hands", 1, "--seed", "x", "--transcript", session],
        "replay": ["replay", session],
        "vectors make": ["vectors", "make", target, "--cases", 20, "-o", cases],
        "vectors check": ["vectors", "check", cases, *own],
        "crosscheck": ["crosscheck", target, "--cases", 60, "--jobs", 1],
        "fuzz": ["fuzz", target, *quick, "--corpus", corpus],
        "coverage": ["coverage", target, "--corpus", corpus],
        "trace": ["trace", cases, *own],
        "cost": ["cost", target, "--cases", 20],
        "mutants": ["mutants", target, "--validator", "guess", *quick],
        "dispute run": ["dispute", "run", "silent@1", "--game", target],
        "conform": ["conform", target, "--cases", 60, *quick],
    }


@pytest.mark.parametrize("answer", ["no", pytest.param("yes", marks=pytest.mark.long)])
def test_the_table_of_commands_says_what_works(answer: str, tmp_path: Path) -> None:
    packages(tmp_path)
    rows = table()
    assert rows.keys() == commands("").keys()
    before = [["record", "alone.toml", "--hands", 12]]
    before += [["vectors", "make", "bare", "--cases", 9, "-o", "bare.jsonl"]]
    asked = [
        (target, command)
        for at, target in enumerate(TARGETS)
        for command in commands(target)
        if rows[command][at].startswith(answer)
    ]
    assert asked
    made = run(
        (tmp_path, PARITY),
        [*before, *(commands(target)[command] for target, command in asked)],
    )
    assert [one.code for one in made[: len(before)]] == [0, 0]
    for place, ran in zip(asked, made[len(before) :], strict=True):
        if answer == "yes":
            assert ran.code in (0, 1), (place, ran.err)
            assert ran.out, place
        else:
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), (place, ran)
            assert "Error" not in ran.err, place
