"""Each argument that names a file, with each kind of wrong file: one line, exit code 2."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, get_type_hints

import pytest

from channelsim.channel.cli.app import commands
from channelsim.channel.system.file_kinds import Kind, kind_of
from tests.channel.command import Ran, channelsim
from tests.channel.written_documents import crosscheck, prove
from tests.channel.written_documents import text as document_text
from tests.corpus import stored_corpus
from tests.paths import DATA
from tests.sampling import one_in

Capsys = pytest.CaptureFixture[str]

VECTORS = DATA / "vectors" / "spacepoker.jsonl"
SPENDS = stored_corpus("calpoker") / "referee.jsonl"

SOURCE = "(mod (A)\n  (include *standard-cl-23*)\n  (include lib.clinc)\n  (twice A))\n"
LIBRARY = "(\n  (defun twice (X) (+ X X))\n)\n"
TARGET = 'name = "x"\n[programs]\na = "{program}"\n[play]\nhonest = "honest.jsonl"\n'
HEX = "ff10ff02ffff010180\n"


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """A file that is waited for is a failure, not a test that never ends."""

    def hung(signum: int, frame: object) -> None:
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --- files ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, bytes]:
    """A right file of each of our kinds."""
    folder = tmp_path_factory.mktemp("good")
    from channelsim.channel.cli.commands.play import PlayOptions
    from channelsim.channel.cli.option_groups import FeeOptions, SessionFiles, StakeOptions
    from channelsim.channel.cli.options import OutputForm
    from channelsim.channel.cli.work.play import play
    from channelsim.channel.findings.finding import FORMAT

    session = folder / "session.jsonl"
    with redirect_stdout(StringIO()) as printed:
        play(
            PlayOptions(
                game="calpoker",
                stakes=StakeOptions(hands=1),
                seed="x",
                files=SessionFiles(form=OutputForm(json=True), transcript=session),
                fees=FeeOptions(),
                quiet=True,
            )
        )
    costs = 'target = "x"\ncases = 1\nseed = "x"\n[validators.a]\n[bundles]\n'
    return {
        Kind.TRANSCRIPT: session.read_bytes(),
        Kind.FINDING: json.dumps({"format": FORMAT, "rule": "x"}, indent=2).encode(),
        Kind.DOCUMENT: document_text(crosscheck()).encode(),
        Kind.PROOFS: prove().proof_file().json(),
        Kind.SESSION: printed.getvalue().encode(),
        Kind.PAGE: b"<!DOCTYPE html>\n<html></html>\n",
        Kind.CASES: VECTORS.read_bytes().partition(b"\n")[0],
        Kind.DECKS: b'{"kind": "deck-message"}\n',
        Kind.SPENDS: SPENDS.read_bytes(),
        Kind.TARGET: TARGET.format(program="a.clsp").encode(),
        Kind.SCRIPT: b'seed = "x"\n[[hand]]\nactions = ["initiator fold"]\n',
        Kind.COSTS: costs.encode(),
        Kind.REASONS: b"[[equivalent]]\n",
        Kind.UNREACHABLE: b"[[unreachable]]\n",
        Kind.PROGRAM: HEX.encode(),
        Kind.SOURCE: SOURCE.encode(),
    }


def test_each_kind_is_known_by_its_content(good: dict[Kind, bytes]) -> None:
    assert set(good) == set(Kind)
    assert {kind: kind_of(data) for kind, data in good.items()} == {kind: kind for kind in Kind}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def socket_at(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 << 20)


def written(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


BAD: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "a named pipe": fifo,
    "a socket": socket_at,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "/dev/null": lambda path: path.symlink_to("/dev/null"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path),
    "too large": too_large,
    "empty": written(b""),
    "blank": written(b" \n\n"),
    "random bytes": written(Random(1).randbytes(3000)),
    "not UTF-8": written('name = "é"\n'.encode("latin-1")),
    "NUL": written(b"name = 1\n\0\n"),
    "prose": written(b"Dear all,\n\nthis is a text.\n"),
    "a huge line": written(b"x" * 500_000),
    "deep arrays": written(b"[" * 100_000),
    "deep objects": written(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "deep TOML": written(b"a = " + b"[" * 5_000 + b"]" * 5_000),
    "deep parentheses": written(b"(" * 100_000 + b")" * 100_000),
    "deep bytes in hex": written(b"ff" * 100_000),
    "a huge number": written(b"name = " + b"9" * 10_000),
    "a terminal's codes": written(b'"\x1b[31mred" = 1\n'),
}

# --- arguments --------------------------------------------------------------------------------

Arguments = Callable[[Path, Path], tuple[object, ...]]
"""The command line with a file as this argument; the folder is the file's own."""


def program(name: str) -> Arguments:
    """The file as a program of a target."""

    def arguments(file: Path, folder: Path) -> tuple[object, ...]:
        (folder / "lib.clinc").write_text(LIBRARY)
        (folder / "honest.jsonl").write_text(HONEST)
        file.rename(folder / name) if os.path.lexists(file) else None
        path = folder / "target.toml"
        path.write_text(TARGET.format(program=name))
        return "crosscheck", path

    return arguments


HONEST = (
    '{"id": "one", "tag": "t", "game": "x", "validator": "a", "amount": 2, "mover_share": 1,'
    ' "max_move_size": 32, "move": "00", "state": 1, "evidence": "0x", "expect": "valid"}\n'
)


def beside(name: str, source: str = SOURCE, more: str = "") -> Arguments:
    """The file as something that a target needs besides."""

    def arguments(file: Path, folder: Path) -> tuple[object, ...]:
        for other, text in (("lib.clinc", LIBRARY), ("honest.jsonl", HONEST), ("a.clsp", source)):
            if other != name:
                (folder / other).write_text(text)
        file.rename(folder / name) if os.path.lexists(file) else None
        path = folder / "target.toml"
        path.write_text(TARGET.format(program="a.clsp") + more)
        return "crosscheck", path

    return arguments


def corpus(command: str, stem: str) -> Arguments:
    """The file as one of a corpus."""

    def arguments(file: Path, folder: Path) -> tuple[object, ...]:
        there = folder / "corpus"
        there.mkdir()
        (there / "other.txt").write_text("")
        if os.path.lexists(file):
            file.rename(there / f"{stem}.jsonl")
        return command, "calpoker", "--corpus", there

    return arguments


DOCUMENTS = {Kind.FINDING, Kind.DOCUMENT}
ARGUMENTS: dict[str, tuple[Arguments, set[Kind]]] = {
    "replay files": (lambda file, _: ("replay", file), {Kind.TRANSCRIPT, Kind.FINDING}),
    "vectors check files": (
        lambda file, _: ("vectors", "check", file),
        {Kind.CASES, Kind.DECKS},
    ),
    "vectors check target": (
        lambda file, _: ("vectors", "check", VECTORS, "--target", file),
        {Kind.TARGET},
    ),
    "report file": (lambda file, _: ("report", file, "markdown"), DOCUMENTS | {Kind.SESSION}),
    "report file, as a page": (
        lambda file, here: ("report", file, "-o", here / "page.html"),
        DOCUMENTS | {Kind.TRANSCRIPT},
    ),
    "view file": (
        lambda file, here: ("view", file, "-o", here / "page.html"),
        DOCUMENTS | {Kind.TRANSCRIPT, Kind.PAGE},
    ),
    "trace file": (lambda file, _: ("trace", file), {Kind.CASES, Kind.FINDING}),
    "trace target": (lambda file, _: ("trace", VECTORS, "--target", file), {Kind.TARGET}),
    "play script": (lambda file, _: ("play", "calpoker", "--script", file), {Kind.SCRIPT}),
    "cost target": (lambda file, _: ("cost", file), {Kind.TARGET}),
    "cost check": (lambda file, _: ("cost", "calpoker", "--check", file), {Kind.COSTS}),
    "crosscheck target": (lambda file, _: ("crosscheck", file), {Kind.TARGET}),
    "mutants game": (lambda file, _: ("mutants", file), {Kind.TARGET}),
    "fuzz target": (lambda file, _: ("fuzz", file), {Kind.TARGET}),
    "prove target": (
        lambda file, _: ("prove", file, "--validator", "a", "--against", "calpoker"),
        {Kind.TARGET},
    ),
    "prove target, against": (
        lambda file, _: ("prove", "calpoker", "--validator", "a", "--against", file),
        {Kind.TARGET},
    ),
    "conform target": (lambda file, _: ("conform", file), {Kind.TARGET}),
    "conform costs": (lambda file, _: ("conform", "calpoker", "--costs", file), {Kind.COSTS}),
    "conform proofs": (lambda file, _: ("conform", "calpoker", "--proofs", file), {Kind.PROOFS}),
    "record target": (lambda file, _: ("record", file), {Kind.TARGET}),
    "coverage target": (
        lambda file, _: ("coverage", file, "--corpus", stored_corpus("calpoker")),
        {Kind.TARGET},
    ),
    "coverage corpus": (corpus("coverage", "a"), {Kind.CASES}),
    "coverage corpus, referee": (corpus("coverage", "referee"), {Kind.SPENDS}),
    "mutants corpus": (corpus("mutants", "a"), {Kind.CASES}),
    "fuzz corpus": (corpus("fuzz", "a"), {Kind.CASES}),
    "conform corpus": (corpus("conform", "a"), {Kind.CASES}),
    "compare before": (lambda file, _: ("compare", file, file), {Kind.COSTS, Kind.DOCUMENT}),
    "compare after": (
        lambda file, _: ("compare", DATA / "costs" / "calpoker.toml", file),
        {Kind.COSTS, Kind.DOCUMENT},
    ),
    "corpus merge files": (
        lambda file, here: ("corpus", "merge", file, "-o", here / "merged"),
        {Kind.CASES, Kind.SPENDS},
    ),
    "corpus minimize corpus": (
        lambda file, here: ("corpus", "minimize", file, "-o", here / "small"),
        {Kind.CASES, Kind.SPENDS},
    ),
    "corpus minimize target": (
        lambda file, here: ("corpus", "minimize", VECTORS, "-o", here / "small", "--target", file),
        {Kind.TARGET},
    ),
    "a target's source": (program("a.clsp"), {Kind.SOURCE}),
    "a target's program": (program("a.hex"), {Kind.PROGRAM}),
    "a source's include": (beside("lib.clinc"), {Kind.SOURCE}),
    "a target's referee": (
        beside("r.clsp", more='[referee]\nprogram = "r.clsp"\n'),
        {Kind.SOURCE},
    ),
    "a target's honest play": (beside("honest.jsonl"), {Kind.CASES}),
}
"""Each argument that names a file to read, with the kinds that it takes."""

OPTIONAL = {"fuzz corpus", "conform corpus"}
NOTHING = {"missing", "a dangling link", "a link to itself", "empty", "blank"}
"""Where a file that is missing or empty is no fault."""

CHECKING = (
    *("fuzz", "crosscheck", "conform", "mutants", "cost", "crash-test", "vectors check"),
    *("attack", "explore", "dispute run", "coverage"),
)
"""Commands that write reports for continuous integration."""

WRITTEN = {
    "play transcript",
    "dispute run transcript",
    *("play report", "dispute run report", "report output", "view output"),
    *("corpus merge output", "corpus minimize output"),
    *(
        f"{command} out"
        for command in ("attack", "conform", "crosscheck", "dispute run", "explore", "mutants")
    ),
    "vectors make output",
    "cost write",
    *("coverage html", "coverage lcov_file"),
    "fuzz out",
    *(f"{command} {report}" for command in CHECKING for report in ("junit", "sarif")),
    *(f"prove {name}" for name in ("out", "proof", "junit", "sarif")),
    "record output",
    "new-game folder",
}
"""What commands write: other tests are about these."""

TARGETS = {
    "replay target",
    "vectors make game",
    "play game",
    "dispute run game",
    "dispute list game",
    "debug target",
}
"""Targets behind another file, and names of games, that are no files."""


NODE = ("--node", "http://127.0.0.1:1")
LISTEN = ("peer", "listen")
NEW = (*NODE, "--peer", "00" * 32, "--game", "calpoker", "--wallet-key")

OF_PEERS: dict[str, Arguments] = {
    "channels directory": lambda file, _: ("channels", file),
    "channels passphrase_file": lambda file, here: ("channels", here, "--passphrase-file", file),
    "close directory": lambda file, _: ("close", file, *NODE),
    "recover directory": lambda file, _: ("recover", file, *NODE),
    "recover cert": lambda file, here: ("recover", here, *NODE, "--cert", file, "--key", file),
    "watch folder": lambda file, _: ("watch", file, *NODE),
    "watch cert": lambda file, here: ("watch", here, *NODE, "--cert", file, "--key", file),
    "node state": lambda file, _: ("node", "--state", file),
    "peer listen directory": lambda file, _: (*LISTEN, file, *NEW, file),
    "peer listen wallet_key": lambda file, here: (*LISTEN, here / "x", *NEW, file),
}
"""Files and folders of peers, which are no kinds of files that others take too."""

LIKE_THEM = {
    *(f"{command} {name}" for command in ("close", "recover") for name in ("cert", "key")),
    *(f"{command} passphrase_file" for command in ("close", "recover", "peer identity")),
    *(f"peer listen {name}" for name in ("cert", "key", "passphrase_file", "game")),
    *(f"peer connect {name}" for name in ("cert", "key", "passphrase_file", "game")),
    *("peer connect directory", "peer connect wallet_key", "peer identity directory", "watch key"),
    "watch fee_key",  # a bad one is reported, and the watcher goes on without fees
}
"""Arguments that are read as those are, and names of games."""


def test_the_table_has_every_argument_that_names_a_file() -> None:
    known = {name.partition(",")[0] for name in ARGUMENTS} | WRITTEN | TARGETS
    known |= {*OF_PEERS, *LIKE_THEM}
    found = set(_arguments(commands.commands))
    assert len(found) > 15
    assert found <= known, found - known


def _arguments(commands: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in commands.items():
        if hasattr(command, "commands"):
            yield from _arguments(command.commands, (*names, name))
            continue
        for parameter, kind in get_type_hints(command.callback).items():
            if "Path" in str(kind) or parameter in ("target", "game"):
                yield " ".join((*names, name, parameter))


def refused(ran: Ran) -> str:
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert len(ran.err) < 1500
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
    assert ran.err.strip().isprintable()
    return ran.err


# The quick tests try every third kind of file for an argument, each kind for some arguments.
EVERY = [3, pytest.param(1, marks=pytest.mark.long)]


def tried(argument: str, number: int, every: int) -> bool:
    """True if the kind of file with this number is tried for an argument."""
    return (number + list(ARGUMENTS).index(argument)) % every == 0


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("argument", one_in(2, ARGUMENTS))
def test_an_unsuitable_file_is_refused_in_one_line(
    argument: str, every: int, tmp_path: Path, capsys: Capsys
) -> None:
    arguments, _ = ARGUMENTS[argument]
    for number, (kind, make) in enumerate(BAD.items()):
        if not tried(argument, number, every) or (argument in OPTIONAL and kind in NOTHING):
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / "bad-file"
        make(file)
        said = refused(channelsim(capsys, *arguments(file, folder)))
        assert str(folder) in said, (kind, said)


@pytest.mark.parametrize("argument", OF_PEERS)
def test_an_unsuitable_file_of_a_peer_is_refused_in_one_line(
    argument: str, tmp_path: Path, capsys: Capsys
) -> None:
    for number, (kind, make) in enumerate(BAD.items()):
        if argument == "node state" and kind in NOTHING:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / "bad-file"
        make(file)
        said = refused(channelsim(capsys, *OF_PEERS[argument](file, folder)))
        assert str(folder) in said, (kind, said)


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("argument", one_in(2, ARGUMENTS))
def test_a_file_of_another_kind_is_named_with_the_command_for_it(
    argument: str, every: int, good: dict[Kind, bytes], tmp_path: Path, capsys: Capsys
) -> None:
    arguments, takes = ARGUMENTS[argument]
    for number, (kind, data) in enumerate(good.items()):
        if kind in takes or not tried(argument, number, every):
            continue
        folder = tmp_path / kind.name
        folder.mkdir()
        file = folder / "other-file"
        file.write_bytes(data)
        said = refused(channelsim(capsys, *arguments(file, folder)))
        assert f": {kind.title}, not " in said, (kind, said)
        assert kind.use in said


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_half_a_file_is_refused(
    argument: str, good: dict[Kind, bytes], tmp_path: Path, capsys: Capsys
) -> None:
    arguments, takes = ARGUMENTS[argument]
    for kind in sorted(takes, key=lambda one: one.name):
        folder = tmp_path / kind.name
        folder.mkdir()
        file = folder / "half-a-file"
        data = good[kind].rstrip()
        file.write_bytes(data[: len(data) - 5])
        said = refused(channelsim(capsys, *arguments(file, folder)))
        assert str(folder) in said


@pytest.mark.parametrize("command", ["replay", "trace"])
def test_a_finding_without_its_case_is_called_one(
    command: str, good: dict[Kind, bytes], tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "finding.json"
    for text in (good[Kind.FINDING], json.dumps(json.loads(good[Kind.FINDING])).encode()):
        file.write_bytes(text)
        said = refused(channelsim(capsys, command, file))
        assert f"{file}: no finding: the key" in said
