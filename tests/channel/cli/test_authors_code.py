"""Python files of others that never end, use up the memory, leave, or print: one line each."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from channelsim import watchdog
from tests.channel.command import Ran, channelsim
from tests.channel.lab.crosscheck.test_own_rules import RAW, with_rules
from tests.installed import install, run

Capsys = pytest.CaptureFixture[str]

ENDLESS = "def endless():\n    while True:\n        pass\n"
HUNGRY = "def endless():\n    kept = []\n    while True:\n        kept.append(bytes(4096))\n"
STUBBORN = """
def endless():
    while True:
        try:
            len(b"")
        except Exception:
            pass
"""
BEGINS = "    if len(move) != 32 or share:\n"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "TICK", 0.05)


def rules_that(does: str, folder: Path, name: str = "commit") -> Path:
    """A target whose rules call `endless` at the first call of a judge."""
    rules = RAW.replace(BEGINS, f"    endless()\n{BEGINS}")
    return with_rules(folder, f"{does}\n{rules}")


def refused(ran: Ran, *parts: str) -> None:
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    for part in parts:
        assert part in ran.err


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("command", "does"),
    [
        ("crosscheck", ENDLESS),
        ("fuzz", STUBBORN),
        pytest.param("conform", ENDLESS, marks=pytest.mark.long),
    ],
)
def test_rules_that_never_end_are_named(
    command: str, does: str, tmp_path: Path, capsys: Capsys
) -> None:
    target = rules_that(does, tmp_path)
    own = ["--out", tmp_path / "found"] if command == "fuzz" else []
    ran = channelsim(capsys, command, target, "--jobs", 1, *own)
    refused(ran, "commit: not done after 0.2 seconds", f"{tmp_path}/rules.py, line ")


def test_rules_that_only_wait_are_named(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "WAITING", 0.5)
    target = rules_that("import time\ndef endless():\n    time.sleep(3600)\n", tmp_path)
    ran = channelsim(capsys, "crosscheck", target, "--jobs", 1)
    refused(ran, "commit: not done after 0.5 seconds", f"{tmp_path}/rules.py, line ")


@pytest.mark.usefixtures("impatient")
def test_a_file_that_never_ends_is_named(tmp_path: Path, capsys: Capsys) -> None:
    target = rules_that(f"{ENDLESS}\nendless()\n", tmp_path)
    refused(channelsim(capsys, "crosscheck", target), "<module>: not done after 0.2 seconds")


def test_rules_that_use_up_the_memory_are_named(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "TICK", 0.02)
    monkeypatch.setattr(watchdog, "MEMORY", 30 << 20)
    ran = channelsim(capsys, "crosscheck", rules_that(HUNGRY, tmp_path), "--jobs", 1)
    refused(ran, "commit: takes more than 30 MB of memory", "rules.py, line ")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("class Odd(BaseException): ...\n    raise Odd('x')", "Odd: x"),
    ],
)
def test_rules_that_leave_are_an_error(
    does: str, said: str, jobs: int, tmp_path: Path, capsys: Capsys
) -> None:
    target = rules_that(f"def endless():\n    {does}\n", tmp_path)
    ran = channelsim(capsys, "crosscheck", target, "--jobs", jobs, "--cases", 9000)
    refused(ran, "rules.py: line ", said)


def test_what_rules_print_is_in_no_document(tmp_path: Path, capsys: Capsys) -> None:
    target = rules_that("def endless():\n    print('seen')\n", tmp_path)
    ran = channelsim(capsys, "crosscheck", target, "--cases", 8, "--jobs", 1, "--json")
    assert json.loads(ran.out)["cases"] == 8
    assert "seen" in ran.err


PLUGIN = """
from channelsim.channel.lab.laws import Needs

class Leaves:
    name, every, needs = "leaves", 1, Needs.NOTHING
    def check(self, trial):
        print("seen")
        {does}
        yield from ()

LAW = Leaves()
"""


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_plugin_that_leaves_is_an_error(jobs: int, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN.format(does="raise SystemExit(0)"))
    install(tmp_path, "mine", {"laws": ["leaves = mine:LAW"]})
    (ran,) = run(
        (tmp_path,), [("crosscheck", "calpoker", "--cases", 9000, "--jobs", jobs, "--json")]
    )
    assert ran.code == 2
    assert "SystemExit: 0" in ran.err
    assert f"{tmp_path}/mine.py, line 8" in ran.err


@pytest.mark.long
def test_the_limits_hold_in_other_processes(tmp_path: Path, capsys: Capsys) -> None:
    target = rules_that(ENDLESS, tmp_path)
    ran = channelsim(capsys, "crosscheck", target, "--jobs", 2, "--cases", 9000)
    # On a slow machine, lines of progress stand before the message.
    *before, last = ran.err.splitlines(keepends=True)
    assert all(line.startswith("crosscheck: 0 of 9,000 cases") for line in before)
    refused(replace(ran, err=last), "commit: not done after 30 seconds", "rules.py, line ")


def burn(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_looks_that_take_longer_than_a_tick_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def slow(file: str) -> bool:
        looks.append(file)
        burn(0.01)
        return False

    monkeypatch.setattr(watchdog, "TICK", 0.004)
    monkeypatch.setattr(watchdog, "is_authors", slow)
    with watchdog.watching():
        burn(0.3)
    assert looks
