"""Every option that names an output: tried before the work begins, and replaced whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path
from typing import IO

import pytest

from channelsim.channel.cli.corpora import check_fuzzed
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import append_lines
from channelsim.channel.system.interrupt import listening
from channelsim.channel.system.output import opened, write_whole
from tests.channel.command import Ran, channelsim
from tests.corpus import stored_corpus
from tests.paths import ROOT

Capsys = pytest.CaptureFixture[str]

CORPUS = stored_corpus("calpoker")
HANDS = ("play", "spacepoker", "--hands", "1", "--seed", "out")

FILES: dict[str, tuple[str, ...]] = {
    "play": (*HANDS, "--transcript"),
    "play, adversary": ("play", "spacepoker", "--adversary", "dead@3", "--transcript"),
    "dispute run": ("dispute", "run", "dead@3", "--transcript"),
    "fuzz": ("fuzz", "calpoker", "--jobs", "1", "--seconds", "0.1", "--out", "found", "--junit"),
    "crosscheck": ("crosscheck", "calpoker", "--jobs", "1", "--cases", "40", "--sarif"),
    "cost": ("cost", "calpoker", "--cases", "40", "--write"),
    "coverage": ("coverage", "calpoker", "--corpus", "corpus", "--html"),
    "vectors make": ("vectors", "make", "calpoker", "--cases", "20", "-o"),
}
"""The commands that write a file, up to its name."""

FOLDERS = {
    "fuzz --out": ("fuzz", "calpoker", "--seconds", "0.1", "--out"),
    "fuzz --corpus": ("fuzz", "calpoker", "--seconds", "0.1", "--corpus"),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a command runs, with some files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old\n")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.jsonl").write_bytes((CORPUS / "a.jsonl").read_bytes())
    return tmp_path


def refused(ran: Ran, says: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1, ran.err
    assert says in ran.err


def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every kind of work fail: none may begin."""

    def begun(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    for work in (
        *(
            "channelsim.channel.cli.sessions.Session",
            "channelsim.channel.cli.disputes.run_attacked",
        ),
        "channelsim.channel.lab.fuzz.fuzz.FuzzSearch.run",
        "channelsim.channel.lab.crosscheck.crosscheck.Crosscheck.run",
        *(
            "channelsim.channel.lab.costs.costs.measure",
            "channelsim.channel.cli.work.coverage.corpus_coverage",
        ),
        "channelsim.channel.cli.work.vectors_make.make_cases",
    ):
        monkeypatch.setattr(work, begun)


@pytest.mark.parametrize("command", FILES)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("folder", "folder: cannot be written (it is a folder)"),
        ("nowhere/file", "nowhere/file: no folder "),
        ("file/below", "file/below: cannot be written (Not a directory)"),
        ("x" * 300, "cannot be written (File name too long)"),
        ("/proc/none", "/proc/none: cannot be written ("),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_work(
    command: str, name: str, says: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_work(monkeypatch)
    option = FILES[command][-1]
    refused(channelsim(capsys, *FILES[command], name), f"channelsim: {option} ")
    refused(channelsim(capsys, *FILES[command], name), says)


@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("file", "file: not a folder"),
        ("file/below", "is not a folder"),
        ("/proc/none", "/proc/none: cannot be written ("),
    ],
)
def test_a_folder_that_cannot_be_is_refused_before_the_work(
    command: str, name: str, says: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_work(monkeypatch)
    refused(channelsim(capsys, *FOLDERS[command], name), says)


def test_a_fuzzer_adds_to_no_folder_that_is_no_corpus(
    place: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_work(monkeypatch)
    (place / "folder" / "notes.txt").write_text("mine")
    refused(channelsim(capsys, *FOLDERS["fuzz --corpus"], "folder"), "it has 'notes.txt' in it")
    (place / "folder" / "campaign.json").write_text("{}")
    refused(channelsim(capsys, *FOLDERS["fuzz --corpus"], "folder"), "the folder of a campaign")
    refused(channelsim(capsys, "replay", "folder"), "the folder of a campaign")
    check_fuzzed(place / "corpus", ("a", "b"))
    check_fuzzed(place / "new", ("a",))


@pytest.mark.parametrize("command", FILES)
def test_a_file_comes_to_its_place_when_it_is_whole(
    command: str, place: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a link, with the mode of the old one; until then the old one is there."""
    old = place / "file"
    old.chmod(0o640)
    (place / "link").symlink_to("file")
    replace = Path.replace
    seen = []

    def watched(half: Path, target: Path) -> Path:
        if target == old:
            seen.append((old.read_text(), half.parent))
        return replace(half, target)

    monkeypatch.setattr(Path, "replace", watched)
    before = set(place.iterdir())
    ran = channelsim(capsys, *FILES[command], "link")
    # So little work does not try every validator, which is said.
    assert ran.code == 0 or "never tried" in ran.err, ran
    assert seen == [("old\n", place)]
    assert (place / "link").is_symlink()
    assert old.read_text() != "old\n"
    assert old.stat().st_mode & 0o777 == 0o640
    assert set(place.iterdir()) - before <= {place / "found"}


@pytest.mark.parametrize("command", sorted(FILES.keys() - {"cost"}))
def test_what_fails_at_the_end_leaves_the_old_file(
    command: str, place: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(half: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = channelsim(capsys, *FILES[command], "file")
    assert ran.code == 2
    assert "file: cannot be written (No space left on device)" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert (place / "file").read_text() == "old\n"
    assert not [one for one in place.iterdir() if one.name.startswith(".")]


def test_a_read_only_file_is_refused(
    place: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    refused(
        channelsim(capsys, *FILES["vectors make"], "file"),
        "-o file: cannot be written (Permission denied)",
    )


def test_a_new_file_has_the_usual_mode(place: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole("--out", place / "new", b"new")
    finally:
        os.umask(before)
    assert (place / "new").stat().st_mode & 0o777 == 0o644


def test_unfinished_work_leaves_nothing(place: Path) -> None:
    before = sorted(place.iterdir())
    with opened("--out", place / "file") as file:
        file.write(b"half")
        assert len(list(place.iterdir())) == len(before) + 1
    assert sorted(place.iterdir()) == before
    assert (place / "file").read_text() == "old\n"


# --- special files ----------------------------------------------------------------------------


def run(
    *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    code = "from channelsim.channel.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_the_standard_output_has_nothing_else_on_it(name: str) -> None:
    ran = run(*FILES["vectors make"], name)
    assert ran.returncode == 0
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lines) == 20
    assert ran.stderr == f"20 cases in {name}\n".encode()


def test_a_transcript_on_the_standard_output(capsys: Capsys, place: Path) -> None:
    channelsim(capsys, *HANDS, "--transcript", "session")
    ran = channelsim(capsys, *HANDS, "--transcript", "-")
    assert ran.out == (place / "session").read_text()
    assert json.loads(ran.err)["digest"] == sha256(ran.out.encode()).hexdigest()


def test_the_file_that_the_standard_output_goes_to(place: Path) -> None:
    """Renaming over it would lose what comes afterwards."""
    with (place / "out").open("wb") as out:
        ran = run(*FILES["vectors make"], "out", stdout=out)
        os.write(out.fileno(), b"afterwards\n")
    assert ran.returncode == 0
    lines = (place / "out").read_text().splitlines()
    assert (len(lines), lines[-1]) == (21, "afterwards")


def test_devices_and_pipes_are_written_and_stay(place: Path, capsys: Capsys) -> None:
    assert channelsim(capsys, *FILES["vectors make"], "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()
    full = channelsim(capsys, *FILES["vectors make"], "/dev/full")
    refused(full, "-o /dev/full: cannot be written (No space left on device)")
    os.mkfifo(place / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((place / "pipe").read_bytes()))
    reader.start()
    assert channelsim(capsys, *FILES["vectors make"], "pipe").code == 0
    reader.join(30)
    assert received[0].count(b"\n") == 20
    assert (place / "pipe").is_fifo()


def test_an_interrupt_ends_the_wait_for_a_reader(place: Path) -> None:
    os.mkfifo(place / "pipe")
    with listening():
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with pytest.raises(KeyboardInterrupt):
            opened("--out", place / "pipe").__enter__()


# --- transcripts ------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [True, False])
def test_the_transcript_of_a_session_that_broke_off_is_written_beside(
    there: bool, place: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", gone)
    name = "file" if there else "new"
    ran = channelsim(capsys, *HANDS, "--policy", "ask", "--transcript", name)
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert last.startswith("channelsim: the input ended where a decision was needed (")
    assert f"its transcript is {name}.broken-off" in last
    assert (place / f"{name}.broken-off").read_text().count("\n") > 5
    if there:
        assert (place / "file").read_text() == "old\n"
    else:
        assert not (place / "new").exists()


def test_what_cannot_be_played_is_one_line(place: Path, capsys: Capsys) -> None:
    (place / "script").write_text('[[hand]]\nfirst = "receiver"\nactions = ["receiver raise 2"]\n')
    ran = channelsim(capsys, "play", "calpoker", "--script", "script", "--transcript", "file")
    refused(ran, "file.broken-off")
    assert (place / "file").read_text() == "old\n"


def test_a_corpus_is_added_to_whole(place: Path) -> None:
    """What is there stays, also where its last line has no end."""
    path = place / "corpus" / "b.jsonl"
    path.write_bytes(b"{}")
    append_lines(path, [b"[1]", b"[2]"])
    assert path.read_bytes() == b"{}\n[1]\n[2]\n"
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        append_lines(path, [b"[3]"])


def test_a_cut_off_file_of_cases_is_refused(place: Path, capsys: Capsys) -> None:
    assert channelsim(capsys, *FILES["vectors make"], "cases").code == 0
    whole = (place / "cases").read_bytes()
    # Only the last newline may be missing.
    (place / "cut").write_bytes(whole[:-1])
    ran = channelsim(capsys, "vectors", "check", "cut")
    assert (ran.code, ran.out) == (0, "20 passed, 0 failed\n")
    for cut in (2, len(whole.splitlines()[-1])):
        (place / "cut").write_bytes(whole[:-cut])
        refused(channelsim(capsys, "vectors", "check", "cut"), "cut: line 20, column ")
