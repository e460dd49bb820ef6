"""Properties of all output: whole words, plain letters, colours, JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from channelsim import channel
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say, wrapped
from tests.channel.cli.test_command_line import COMMANDS, Command
from tests.channel.command import channelsim
from tests.corpus import stored_corpus
from tests.paths import DATA
from tests.sampling import one_in

Capsys = pytest.CaptureFixture[str]

VECTORS = DATA / "vectors" / "calpoker.jsonl"
CORPUS = stored_corpus("calpoker")

WORDS = st.text("abc0123456789,.%-", min_size=1, max_size=12)
CELLS = st.lists(WORDS, max_size=4).map(" ".join)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int]:
    columns = draw(st.integers(1, 6))
    row = st.lists(CELLS, min_size=columns, max_size=columns)
    headings = draw(st.lists(WORDS, min_size=columns, max_size=columns))
    return headings, draw(st.lists(row, max_size=4)), draw(st.integers(1, columns))


@settings(max_examples=50)
@example((["0"] * 5, [["", "", "000000000", "", ""]], 4), 20, "utf-8")
@given(tables(), st.integers(20, 120), st.sampled_from(["utf-8", "ascii"]))
def test_a_table_keeps_words_and_numbers_whole(
    table: tuple[list[str], list[list[str]], int], width: int, encoding: str
) -> None:
    headings, rows, left = table
    raw = BytesIO()
    file = TextIOWrapper(raw, encoding=encoding, write_through=True)
    show_table(Console(file=file, width=width), headings, rows, left=left)
    lines = raw.getvalue().decode(encoding).splitlines()
    shown = " ".join(lines).replace(", ", " ").split()
    for cell in (cell for row in rows for cell in row):
        assert set(cell.replace(", ", " ").split()) <= {*shown, *" ".join(lines).split()}
    for line in lines:
        assert len(line) <= width or len(line.split()) == 1


@given(st.lists(WORDS).map(" ".join), st.integers(1, 60))
def test_a_line_is_broken_between_words_only(text: str, width: int) -> None:
    lines = [line.plain for line in wrapped(Text(text), width)]
    assert " ".join(lines).split() == text.split()
    for line in lines:
        assert len(line) <= width or " " not in line
    out = StringIO()
    say(Console(file=out, width=width), text)
    assert out.getvalue().split() == text.split()


def test_what_strangers_wrote_moves_no_cursor() -> None:
    out = StringIO()
    screen = Console(file=out, width=80)
    say(screen, "a\x1b[2Jb\rc\nd")
    show_table(screen, ["x\x1b]0;t\x07"], [["\x1b[31m"]])
    assert out.getvalue().replace("\n", "").isprintable()
    assert out.getvalue().startswith("a?[2Jb?c\nd\n")


def test_consoles_and_tables_are_made_in_one_place() -> None:
    folder = Path(channel.__file__).parent
    made = re.compile(r"\b_?Console\(|rich\.table import Table")
    found = {path for path in folder.rglob("*.py") if made.search(path.read_text("utf-8"))}
    assert found == {folder / "report" / "terminal.py"}


# --- colours -------------------------------------------------------------------------------------


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "0"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], terminal: bool, pipe: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for stderr in (False, True):
        for stream, coloured in ((Screen(), terminal), (StringIO(), pipe)):
            monkeypatch.setattr(sys, "stderr" if stderr else "stdout", stream)
            say(console(stderr=stderr), "careful", "bold red")
            assert ("\x1b[" in stream.getvalue()) == coloured


@pytest.mark.parametrize("columns", ["", "abc", "-3", "0", "5", "9" * 5000])
def test_a_width_that_is_none(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", StringIO())
    assert console().width > 1000


# --- every command -------------------------------------------------------------------------------

Arguments = tuple[object, ...]


@pytest.fixture(scope="session")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from channelsim.channel.cli.commands.play import PlayOptions
    from channelsim.channel.cli.option_groups import FeeOptions, SessionFiles, StakeOptions
    from channelsim.channel.cli.options import OutputForm
    from channelsim.channel.cli.work.play import play

    path = tmp_path_factory.mktemp("output") / "session.jsonl"
    files = SessionFiles(form=OutputForm(json=True), transcript=path)
    stakes, fees = StakeOptions(hands=1), FeeOptions()
    play(PlayOptions(game="calpoker", stakes=stakes, files=files, fees=fees, quiet=True))
    return path


CHEAP: dict[Command, Callable[[Path, Path], Arguments]] = {
    ("play",): lambda old, new: ("spacepoker", "--hands", 1, "--seed", "été — ♠"),
    ("replay",): lambda old, new: (old,),
    ("games",): lambda old, new: (),
    ("crosscheck",): lambda old, new: ("calpoker", "--cases", 100, "--jobs", 1),
    ("cost",): lambda old, new: ("calpoker", "--cases", 60),
    ("coverage",): lambda old, new: ("calpoker", "--corpus", CORPUS),
    ("trace",): lambda old, new: (VECTORS,),
    ("fuzz",): lambda old, new: ("calpoker", "--seconds", 0.1, "--jobs", 1, "--out", new),
    ("dispute", "list"): lambda old, new: (),
    ("dispute", "run"): lambda old, new: ("dead@5", "--seed", "été — ♠"),
    ("crash-test",): lambda old, new: ("--kills", 2, "--seed", "été — ♠"),
    ("attack",): lambda old, new: ("--runs", 1, "--seed", "été — ♠"),
    ("explore",): lambda old, new: ("spacepoker", "--states", 1, "--seed", "été — ♠"),
    ("vectors", "check"): lambda old, new: (VECTORS,),
    ("vectors", "make"): lambda old, new: ("calpoker", "--cases", 9, "-o", new / "été.jsonl"),
    ("prove",): lambda old, new: (
        *("spacepoker", "--validator", "commitA", "--against", "spacepoker", "--jobs", 1),
    ),
    ("new-game",): lambda old, new: ("my_dice", new / "été"),
    ("corpus", "merge"): lambda old, new: (CORPUS, "-o", new / "été"),
}
DEAR: dict[Command, Callable[[Path, Path], Arguments]] = {
    ("corpus", "minimize"): lambda old, new: (CORPUS, "-o", new / "été"),
    ("mutants",): lambda old, new: ("calpoker", "--seconds", 0.01, "--validator", "a"),
    ("conform",): lambda old, new: ("calpoker", "--cases", 100, "--seconds", 0.1, "--disputes", 0),
}
EVERY = [
    *one_in(3, CHEAP),
    *(pytest.param(path, marks=pytest.mark.long) for path in DEAR),
]

FOREIGN: set[Command] = {("report",), ("record",), ("view",)}
"""What they do is up to a plug-in, to an author's driver, or to a browser."""

ENDLESS: set[Command] = {("node",), ("debug",)}
"""They end with Ctrl-C, or the end of their input: see `tests/channel/cli`."""

OF_NODES: set[Command] = {
    ("chain", name) for name in ("fund", "make", "reorganise", "revert", "snapshot")
}
"""They need a node that runs: see `tests/channel/cli/test_chain.py`."""

OF_PEERS: set[Command] = {
    *(("peer", name) for name in ("connect", "identity", "listen")),
    *((name,) for name in ("channels", "close", "recover", "watch")),
}
"""They need a channel on disk: see `tests/channel/cli/test_peer.py` and those beside it."""

ELSEWHERE: set[Command] = {("compare",), ("view",)}
"""See `tests/channel/comparisons` and `tests/channel/cli/test_report_pages.py`."""

CODE = {("trace",), ("coverage",)}
"""What they print is code, whose lines stay as they are."""


def test_every_command_is_among_them() -> None:
    assert {*CHEAP, *DEAR, *FOREIGN, *ENDLESS, *OF_NODES, *OF_PEERS, *ELSEWHERE} == set(COMMANDS)


def options(path: Command) -> set[str]:
    return {name for one in COMMANDS[path].params for name in one.opts}


@pytest.mark.parametrize("path", one_in(2, EVERY))
def test_the_locale_c_gets_plain_letters_in_whole_words(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, transcript: Path, tmp_path: Path, path: Command
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    given = {**CHEAP, **DEAR}[path](transcript, tmp_path)
    text = ("--text",) if "--text" in options(path) else ()
    ran = channelsim(capsys, *path, *given, *text)
    assert ran.code in (0, 1)
    assert ran.out
    assert not ran.out.startswith("{")
    assert ran.out.isascii()
    assert ran.err.isascii()
    for line in ran.out.splitlines():
        assert path in CODE or len(line) <= 60 or len(line.split()) == 1, line


@pytest.mark.parametrize("path", one_in(3, [one for one in CHEAP if "--json" in options(one)]))
def test_json_is_one_document_in_any_locale(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, transcript: Path, tmp_path: Path, path: Command
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    ran = channelsim(capsys, *path, *CHEAP[path](transcript, tmp_path), "--json")
    assert ran.out.isascii()
    document = json.loads(ran.out)
    if path == ("play",):
        assert document["seed"] == "été — ♠"
        assert document["no_more_hands"] == "all hands are played"


@pytest.mark.parametrize("path", [("play",), ("dispute", "run"), ("coverage",)])
def test_colours_of_commands_in_a_pipe(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, transcript: Path, tmp_path: Path, path: Command
) -> None:
    given = CHEAP[path](transcript, tmp_path)
    text = ("--text",) if "--text" in options(path) else ()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in channelsim(capsys, *path, *given, *text).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in channelsim(capsys, *path, *given, *text).out


def test_why_no_hand_was_played(capsys: Capsys, tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[hand]]\ndecline = "receiver"\n')
    document = json.loads(channelsim(capsys, "play", "spacepoker", "--script", script).out)
    assert (document["hands"], document["no_more_hands"]) == ([], "the receiver declined hand 1")
    assert document["hands_asked"] == 1
    ran = channelsim(capsys, "play", "spacepoker", "--script", script, "--text")
    assert "0 of 1 hand played: the receiver declined hand 1." in ran.out
