"""Each long command, stopped by Ctrl-C and by SIGTERM, prints what it has."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from channelsim.channel.cli import main
from channelsim.channel.system.interrupt import exit_code, finishing, held, listening
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file
from tests.corpus import stored_corpus
from tests.paths import DATA, ROOT
from tests.sampling import one_in

VECTORS = DATA / "vectors" / "spacepoker.jsonl"
GUARD = 60
"""Seconds after which a command hangs."""


COMMAND = "from channelsim.channel.cli import main; main()"
BENCH = "from runpy import run_module; run_module('scripts.tools.bench', run_name='__main__')"


@dataclass(frozen=True)
class Long:
    """A command that would take minutes; `begun` is on its line once there is something to keep.

    `keys` are in its document, `says` in its text, and `code` runs it.
    """

    arguments: str
    begun: str
    keys: tuple[str, ...] = ()
    says: str = "interrupted"
    code: str = COMMAND


BUSY = """
import sys
from channelsim.channel.campaign.engine import run
from channelsim.channel.campaign.executors import Processes
from channelsim.channel.system.interrupt import listening
from tests.channel.campaign.summing import PLAN, Squares

def on_status(status):
    if status.live:
        print("begun", file=sys.stderr, flush=True)

with listening():
    run(Squares(seconds=900, returns_early=True), PLAN, Processes(2), on_status=on_status)
"""
"""Work that ignores the first signal."""

COMMANDS = {
    "crosscheck": Long(
        "crosscheck spacepoker --cases 10000000 --jobs 1", r"\d of 10,000,000", ("cases",)
    ),
    "crosscheck, two jobs": Long(
        "crosscheck calpoker --cases 10000000 --jobs 2", r"\d of 10,000,000", ("outcomes",)
    ),
    "cost": Long("cost calpoker --cases 10000000", r"\d of 10,000,000", ("validators",)),
    "bench": Long("--seconds 300", "signed hand", ("interrupted",), code=BENCH),
    "fuzz": Long(
        "fuzz calpoker --seconds 900 --jobs 1 --out {tmp}", r"\d runs", ("runs", "findings")
    ),
    "fuzz, two jobs": Long(
        "fuzz calpoker --seconds 900 --jobs 2 --out {tmp}", r"\d runs", ("stopped",)
    ),
    "mutants": Long(
        "mutants calpoker --validator e --jobs 1", r"of [\d,]+ mutants", ("made", "killed")
    ),
    "mutants, two jobs": Long(
        "mutants calpoker --validator e --jobs 2", r"of [\d,]+ mutants", ("open",)
    ),
    "prove, two jobs": Long(
        "prove calpoker --validator e --against calpoker --seconds 900 --jobs 2",
        r"\d of 20",
        ("proofs", "parts"),
    ),
    "play": Long("play spacepoker --hands 99", r"1 of 99|hand 2", ("hands", "balances")),
    "play, asked": Long("play spacepoker --policy ask", "your move> ", ("hands",)),
    "play, adversary": Long(
        "play spacepoker --adversary silent@999 --hands 99", r"\d blocks|\d", ("scenario",)
    ),
    "dispute run": Long("dispute run silent@999 --hands 99", r"\d blocks", ("scenario",)),
    "dispute run --all": Long(
        "dispute run --all --seeds 9 --jobs 1", r"\d runs", ("runs", "matrix")
    ),
    "dispute run --all, two jobs": Long(
        "dispute run --all --seeds 9 --jobs 2", r"\d runs", ("broken_promises",)
    ),
    "coverage": Long("coverage calpoker --corpus {corpus}", r"\d cases read", ("programs",)),
    "replay": Long("replay {transcript}", r"\d of \d|hand 2", ("hands",)),
    "vectors check": Long("vectors check {vectors}", r"\d of \d", says="passed, 0 failed; interr"),
    "vectors make": Long("vectors make calpoker --cases 999999 -o {tmp}/v", r"\d of \d"),
    "trace": Long("trace {endless}", "trace"),
}

NO_JSON = ("vectors check", "vectors make", "trace")


def files(tmp: Path, arguments: str) -> list[str]:
    """The arguments, with the files made that they name."""
    made = {"tmp": str(tmp)}
    if "{corpus}" in arguments:
        made["corpus"] = str(tmp / "corpus")
        (tmp / "corpus").mkdir()
        stored = (stored_corpus("calpoker") / "e.jsonl").read_text()
        (tmp / "corpus" / "e.jsonl").write_text(stored * 500)
    if "{transcript}" in arguments:
        made["transcript"] = str(tmp / "t.jsonl")
        recorded = ("play", "spacepoker", "--hands", "12", "--transcript", made["transcript"])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["channelsim", *recorded])
            with pytest.raises(SystemExit):
                main()
    if "{vectors}" in arguments:
        made["vectors"] = " ".join([str(VECTORS)] * 50)
    if "{endless}" in arguments:
        endless = "(mod (H A) (include *standard-cl-23*) (defun go (x) (go (+ 1 x)))"
        target = target_file(tmp, "calpoker")
        (tmp / "tree" / "calpoker" / "d.clsp").write_text(endless + " (go (f (r (r A)))))")
        cases = (DATA / "vectors" / "calpoker.jsonl").read_text().splitlines()
        (one,) = [line for line in cases if json.loads(line)["validator"] == "d"][:1]
        (tmp / "d.jsonl").write_text(one + "\n")
        made["endless"] = f"{tmp / 'd.jsonl'} --target {target}"
    return arguments.format(**made).split()


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    shown: str


def stopped(
    arguments: list[str], begun: str, *signals: signal.Signals, tty: bool, code: str = COMMAND
) -> Ended:
    """Run a command with its stderr, and its stdout if asked for, on a terminal; send the first
    signal once it has begun, each other one a little later, and wait for its end."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=slave,
        stdout=slave if tty else subprocess.PIPE,
        stderr=slave,
        env={**environment, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    os.close(slave)
    shown = out = b""
    left, guard = list(signals), time.monotonic() + GUARD
    sources = [master, *([] if process.stdout is None else [process.stdout.fileno()])]
    try:
        sent = 0.0
        while sources:
            assert time.monotonic() < guard, (arguments, shown)
            for source in select.select(sources, [], [], 0.05)[0]:
                try:
                    some = os.read(source, 65536)
                except OSError:  # the other end is closed
                    some = b""
                if not some:
                    sources.remove(source)
                elif source == master:
                    shown += some
                else:
                    out += some
            ready = re.search(begun, shown.decode(errors="replace"))
            if left and ready and time.monotonic() - sent > 0.3:
                # A terminal sends its signals to all processes of the command.
                os.killpg(process.pid, left.pop(0))
                sent = time.monotonic()
            elif len(signals) > 1 and not left and time.monotonic() - sent > 3:
                # Two signals count as one if the process had no time between them.
                os.killpg(process.pid, signals[-1])
                sent = time.monotonic()
        process.wait(GUARD)
        for _ in range(100):
            if not living(process.pid):
                break
            time.sleep(0.1)
        assert not living(process.pid)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert not left, text
    assert "Traceback" not in text
    assert "Exception" not in text
    return Ended(process.returncode, out.decode() if not tty else text, text)


def living(group: int) -> bool:
    """True if a process of this group still runs."""
    listed = subprocess.run(
        ["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split() for line in listed.splitlines()]
    return any(pgid == str(group) and not stat.startswith("Z") for pgid, stat in lines)


def check(name: str, number: signal.Signals, tmp: Path, *, tty: bool) -> None:
    command = COMMANDS[name]
    arguments = files(tmp, command.arguments)
    as_json = not tty and name not in NO_JSON
    arguments += ["--json"] * as_json
    ended = stopped(arguments, command.begun, number, tty=tty, code=command.code)
    assert ended.code == 128 + number, ended
    if as_json:
        document = json.loads(ended.out)
        assert document["interrupted"] is True
        assert set(command.keys) <= document.keys()
    else:
        assert command.says in ended.out + ended.shown


SOON = ("crosscheck, two jobs", "vectors check")


@pytest.mark.parametrize("name", one_in(2, SOON))
def test_a_command_prints_what_it_has(name: str, tmp_path: Path) -> None:
    number, tty = (signal.SIGTERM, False) if SOON.index(name) else (signal.SIGINT, True)
    check(name, number, tmp_path, tty=tty)


@pytest.mark.long
@pytest.mark.parametrize("tty", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_what_it_has(
    name: str, number: signal.Signals, tty: bool, tmp_path: Path
) -> None:
    check(name, number, tmp_path, tty=tty)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_second_signal_ends_at_once(number: signal.Signals) -> None:
    ended = stopped([], "begun", number, number, tty=True, code=BUSY)
    assert ended.code == 128 + number


EARLY = """
import os, signal, sys

# As at a terminal, also where a shell started this in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            del sys.argv[1]
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from channelsim.__main__ import main
main()
"""
"""The command, which is interrupted where it imports the module that the first argument names."""


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("channelsim.channel.cli", b""),
        ("channelsim.channel.system.interrupt", b""),
        ("channelsim.channel.cli.copied_checkout", b"channelsim: interrupted\n"),
        ("typer", b"channelsim: interrupted\n"),
    ],
)
def test_an_interrupt_before_the_command_begins(module: str, said: bytes) -> None:
    """A command that only imports so far says at most one line, and has no traceback."""
    ran = subprocess.run(
        [sys.executable, "-c", EARLY, module, "games"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=GUARD,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", said)


def test_an_interrupted_make_leaves_the_old_file(tmp_path: Path) -> None:
    old = tmp_path / "v.jsonl"
    old.write_text("old\n")
    arguments = ["vectors", "make", "calpoker", "--cases", "999999", "-o", str(old)]
    ended = stopped(arguments, r"[1-9]\d* of 999,999", signal.SIGINT, tty=True)
    assert f"{old} is left as it was" in " ".join(ended.out.split())
    assert old.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [old]


def test_an_interrupted_make_writes_no_new_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> Iterator[object]:
        os.kill(os.getpid(), signal.SIGINT)
        yield from ()

    monkeypatch.setattr("channelsim.channel.cli.work.vectors_make.make_cases", interrupted)
    new = tmp_path / "v.jsonl"
    ran = channelsim(capsys, "vectors", "make", "calpoker", "-o", new)
    assert (ran.code, ran.out) == (
        130,
        f"interrupted after 0 of 1,000 cases; {new} is not written\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_broken_off_session_is_saved_beside_the_old_transcript(tmp_path: Path) -> None:
    old = tmp_path / "t.jsonl"
    old.write_text("old\n")
    arguments = ["play", "spacepoker", "--hands", "99", "--transcript", str(old)]
    ended = stopped(arguments, "hand 3: Space Poker", signal.SIGTERM, tty=True)
    assert f"its transcript is {old}.broken-off" in ended.out.replace("\r\n", "")
    assert old.read_text() == "old\n"
    kept = (tmp_path / "t.jsonl.broken-off").read_text().splitlines()
    assert sum('{"hand":' in line for line in kept) >= 1
    assert len(list(tmp_path.iterdir())) == 2


def test_an_uninterruptible_block_ends_before_the_interrupt() -> None:
    done = []

    def work() -> None:
        with held():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append(1)

    with listening():
        with pytest.raises(KeyboardInterrupt):
            work()
        assert exit_code() == 143
        assert exit_code(failed=True) == 1
    assert done == [1]


def test_an_interrupt_of_the_report_comes_too_late() -> None:
    with listening(), finishing():
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), listening():
        os.kill(os.getpid(), signal.SIGINT)
