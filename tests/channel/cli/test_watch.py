"""`--watch`: a round for each change of the files, and the exit code of the last one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from channelsim import watchdog
from channelsim.channel.cli.watch import Check, Round, watch
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target_inputs import target_files
from channelsim.channel.system.file_changes import snapshot
from channelsim.channel.system.user_code import load
from channelsim.watchdog import watching
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy
from tests.paths import DATA, ROOT

VECTORS = DATA / "vectors" / "calpoker.jsonl"
COMMAND = "from channelsim.channel.cli import main; main()"


def test_a_file_has_changed_with_its_content(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a")
    before = snapshot([one, two])
    os.utime(one, (1, 1))
    assert before.changed(snapshot([one, two], before)) == []  # touched, and still the same
    one.write_text("b")
    two.write_text("")
    assert before.changed(snapshot([one, two], before)) == [one, two]
    one.unlink()
    assert before.changed(snapshot([one], before)) == [one]
    assert snapshot([tmp_path]).changed(snapshot([tmp_path])) == []


def test_the_files_of_a_target_are_those_that_it_may_read(tmp_path: Path) -> None:
    target = toy(tmp_path)
    for name in ("lib/masks.clinc", "lib/deep/more.clib", "notes.txt", ".git/x.clsp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    names = {path.relative_to(tmp_path).as_posix() for path in target_files(target)}
    assert names == {
        *("toy.toml", "commit.clsp", "bid.clsp", "reveal.clsp", "honest.jsonl"),
        *("lib/masks.clinc", "lib/deep/more.clib"),
    }
    target.write_text("[programs")
    assert list(target_files(target)) == [target]
    assert list(target_files(tmp_path / "gone.toml")) == [tmp_path / "gone.toml"]


class Rounds:
    """Rounds one after the other on one file, which each of them saves; then Ctrl-C."""

    def __init__(self, file: Path, *steps: Callable[[Rounds, Check], Round]) -> None:
        self.file, self.steps, self.saves = file, list(steps), 0
        self.save()

    def __call__(self, check: Check) -> Round:
        if not self.steps:
            raise KeyboardInterrupt
        return self.steps.pop(0)(self, check)

    def save(self) -> None:
        self.saves += 1
        self.file.write_text(str(self.saves))


def clean(rounds: Rounds, check: Check) -> Round:
    rounds.save()
    return Round(0, "clean")


def failed(rounds: Rounds, check: Check) -> Round:
    rounds.save()
    return Round(1, "1 finding")


def compiles_not(rounds: Rounds, check: Check) -> Round:
    rounds.save()
    raise UsageError("end.clsp: this `(` is never closed")


def stopped(rounds: Rounds, check: Check) -> Round:
    rounds.save()
    while True:
        check()


def fails(rounds: Rounds, check: Check) -> Round:
    """Run a function of the author's that raises."""
    rounds.save()
    author = rounds.file.with_name("rules.py")
    author.write_text("def judge():\n    raise SystemExit('no')\n")
    load(author).judge()
    raise AssertionError


def never_ends(rounds: Rounds, check: Check) -> Round:
    """Run a function of the author's that takes too long."""
    rounds.save()
    author = rounds.file.with_name("loop.py")
    author.write_text("def judge():\n    while True:\n        pass\n")
    with watching():
        load(author).judge()
    raise AssertionError


def interrupted(rounds: Rounds, check: Check) -> Round:
    return Round(130, "", interrupted=True)


@pytest.mark.parametrize(
    ("steps", "code", "lines"),
    [
        ((clean, failed), 1, ["round 1: clean", "round 2 (end.clsp changed): 1 finding"]),
        ((failed, clean), 0, ["round 1: 1 finding", "round 2 (end.clsp changed): clean"]),
        (
            (clean, compiles_not),
            2,
            ["round 1: clean", "round 2 (end.clsp changed): end.clsp: this `(` is never closed"],
        ),
        (
            (fails, never_ends, clean),
            0,
            [
                "round 1: SystemExit: no (rules.py, line N)",
                "round 2 (end.clsp changed): Overrun: judge: not done after 0.2 seconds of"
                " processor time (loop.py, line N)",
                "round 3 (end.clsp changed): clean",
            ],
        ),
        ((stopped, failed), 1, ["round 1 (end.clsp changed): 1 finding"]),
        ((clean, interrupted), 0, ["round 1: clean"]),
        ((interrupted,), 130, []),
        ((), 130, []),
    ],
)
def test_rounds(
    steps: tuple[Callable[[Rounds, Check], Round], ...],
    code: int,
    lines: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("channelsim.channel.cli.watch.PERIOD", 0.001)
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "TICK", 0.05)
    rounds = Rounds(tmp_path / "end.clsp", *steps)
    assert watch(lambda: [rounds.file], rounds) == code
    out = capsys.readouterr().out.replace(f"{tmp_path}/", "")
    assert re.sub("line [23]\\)", "line N)", out).splitlines() == lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fuzz", "calpoker", "--watch"), "--watch: calpoker: no target file"),
        (("crosscheck", "gone.toml", "--watch"), "--watch: gone.toml: no target file"),
        (("crosscheck", "gone.toml", "--watch", "--json"), "--json: does not go with --watch"),
        (("fuzz", "gone.toml", "--watch", "--junit", "x"), "--junit: does not go with --watch"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = channelsim(capsys, *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert words in ran.err


def started(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments), "--watch"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_vectors_are_checked_again_when_they_are_saved(tmp_path: Path) -> None:
    line = VECTORS.read_text("utf-8").splitlines()[0]
    file = tmp_path / "cases.jsonl"
    file.write_text(line)
    with started(tmp_path, "vectors", "check", file) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "round 1: 1 passed, 0 failed\n"
        file.write_text(line.replace('"mover_share":0', '"mover_share":"x"'))
        broken = process.stdout.readline()
        assert broken.startswith("round 2 (cases.jsonl changed): ")
        assert "mover_share" in broken
        file.write_text(line.replace('"max_move_size":16', '"max_move_size":17'))
        assert "0 passed, 1 failed; " in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("command", ["fuzz", "crosscheck"])
def test_a_target_is_compiled_again_when_a_source_is_saved(command: str, tmp_path: Path) -> None:
    target, source = toy(tmp_path), tmp_path / "reveal.clsp"
    text = source.read_text()
    many = ("--seconds", 1) if command == "fuzz" else ("--cases", 500)
    with started(tmp_path, command, target, "--jobs", 1, *many) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("round 1: ")
        for changed, words in (
            (text.replace("(= MOVER_SHARE number)", "1"), "theft"),
            (text[:-4], "never closed"),
            (text, "0 "),
        ):
            source.write_text(changed)
            line = process.stdout.readline()
            assert " (reveal.clsp changed): " in line
            assert words in line
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0
