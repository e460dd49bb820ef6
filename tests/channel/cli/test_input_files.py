"""Reading the files that a user names: any bytes end in a value or in the one usage error."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channelsim.channel.documents.document_files import read_document
from channelsim.channel.errors import UsageError
from channelsim.channel.findings import finding, finding_files
from channelsim.channel.lab.cases import corpus
from channelsim.channel.lab.cases.corpus import site_cases
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.targets.loading import read as read_target
from channelsim.channel.lab.targets.sources import read_hex
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.lab.testing.checking import stored_cases
from channelsim.channel.lab.trace import trace_text
from channelsim.channel.session import script, transcript
from channelsim.channel.system import input_files, toml_files
from channelsim.channel.system.file_kinds import Kind, kind_of
from channelsim.clsp import chialisp
from channelsim.games import registry
from tests.channel.cli.test_bad_files import SOURCE, SPENDS, VECTORS
from tests.channel.command import channelsim
from tests.channel.written_documents import EVERY, text
from tests.corpus import stored_corpus

TARGET = of_game(registry.get("calpoker"))
COSTS = (
    'target = "x"\ncases = 1\nseed = "x"\n[validators.a]\n"honest move" = { runs = 1, least = 1,'
    " mean = 1, median = 1, most = 1 }\n[bundles]\n"
)
SCRIPT = (
    'seed = "x"\nunit = 3\n[[hand]]\nfirst = "receiver"\n'
    'actions = ["initiator fold", "receiver raise 3"]\n'
)
FINDING: dict[str, Any] = {
    "format": finding.FORMAT,
    **dict.fromkeys(("target", "source", "rule", "place", "severity", "cause", "text"), "x"),
    "differs": [],
    "fields": [1, 1],
    "also": [],
    "vector": None,
    "probe": {},
    "brun": {},
    "pytest": "",
}


def in_a_corpus(name: str, read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def moved(path: Path) -> Any:
        path.rename(path.with_name(name))
        return read(path.parent)

    return moved


READERS: dict[str, tuple[Callable[[Path], Any], bytes]] = {
    "target": (read_target, b'name = "x"\nrules = "calpoker"\n[programs]\na = "gone.clsp"\n'),
    "script": (script.read, SCRIPT.encode()),
    "costs": (snapshot.read, COSTS.encode()),
    "transcript": (
        transcript.read,
        b'["' + b"0" * 64 + b'",{"format":"channelsim transcript 1","setup":{}}]\n',
    ),
    "finding": (finding_files.load, msgspec.json.encode(FINDING)),
    "document": (read_document, text(EVERY["conform"]).encode()),
    "cases": (stored_cases, VECTORS.read_bytes()[:700]),
    "trace": (trace_text.read, VECTORS.read_bytes()[:700]),
    "corpus": (
        in_a_corpus("a.jsonl", lambda folder: list(corpus.read(TARGET, folder))),
        (stored_corpus("calpoker") / "a.jsonl").read_bytes(),
    ),
    "spends": (
        in_a_corpus("referee.jsonl", lambda folder: list(corpus.read(TARGET, folder))),
        SPENDS.read_bytes().partition(b"\n")[0],
    ),
    "corpus of a fuzzer": (
        in_a_corpus("a.jsonl", lambda folder: site_cases(TARGET, folder)),
        (stored_corpus("calpoker") / "a.jsonl").read_bytes(),
    ),
    "hex": (read_hex, b"ff10ff02ffff010180"),
    "chialisp": (
        lambda path: list(chialisp.tokens(input_files.read_text(path, input_files.SOURCE))),
        SOURCE.encode(),
    ),
}


def mutated(good: bytes) -> st.SearchStrategy[bytes]:
    """A right file with a part replaced."""
    size = st.integers(0, len(good))
    words = st.one_of(
        st.binary(max_size=8),
        st.sampled_from([b"null", b"1e999", b"-1", b"[[", b"{}", b'"\\ud800"', b"9" * 30, b"\0"]),
        st.sampled_from([b"true", b'""', b"[]", b"1.5", b"\xe2\x80\xa8", b'"\\u0000"', b"0x"]),
    )
    return st.builds(
        lambda a, b, word: good[: min(a, b)] + word + good[max(a, b) :], size, size, words
    )


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=30, deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_any_bytes_end_in_a_value_or_the_one_error(
    reader: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    read, good = READERS[reader]
    written = data.draw(st.one_of(st.binary(max_size=60), mutated(good), mutated(good)))
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(written)
    said = str(path)
    try:
        read(path)
    except UsageError as error:
        said = str(error)
    assert str(path.parent) in said
    assert said.isprintable()
    kind_of(written)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("byte", [b"\x80", b"\0", b"\xe2\x80\xa8", b"\n", b'"'])
def test_an_odd_byte_anywhere_ends_in_a_value_or_the_one_error(
    reader: str, byte: bytes, tmp_path: Path
) -> None:
    read, good = READERS[reader]
    for at in range(0, len(good), max(len(good) // 12, 1)):
        path = tmp_path / str(at) / "file"
        path.parent.mkdir()
        path.write_bytes(good[:at] + byte + good[at:])
        try:
            read(path)
        except UsageError:
            continue


def test_a_good_file_of_each_reader_is_read(tmp_path: Path) -> None:
    for reader, (read, good) in READERS.items():
        if reader in ("target", "transcript"):
            continue  # these name other files, or a chain of hashes
        folder = tmp_path / reader
        folder.mkdir()
        path = folder / "file"
        path.write_bytes(good.rpartition(b"\n")[0] if reader in ("cases", "trace") else good)
        read(path)


@pytest.mark.parametrize("size", [0, 100, 70_000])
def test_a_pipe_of_the_shell_is_read_up_to_the_limit(size: int) -> None:
    ours, theirs = os.pipe()
    writer = threading.Thread(target=_write, args=(theirs, size))
    writer.start()
    path = Path(f"/dev/fd/{ours}")
    try:
        if size > 1000:
            with pytest.raises(UsageError, match="too large, more than 1 kB"):
                input_files.read(path, 1024)
        else:
            assert input_files.read(path, 1024) == b"x" * size
    finally:
        os.close(ours)
        writer.join()


def _write(file: int, size: int) -> None:
    try:
        os.write(file, b"x" * size)
    except BrokenPipeError:
        pass
    finally:
        os.close(file)


def test_a_file_at_its_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10)
    assert input_files.read(path, 10) == b"x" * 10
    with pytest.raises(UsageError, match="file: too large"):
        input_files.read(path, 9)


def test_a_name_that_is_none() -> None:
    with pytest.raises(UsageError, match="no name of a file"):
        input_files.read(Path("a\0b"), 10)


TARGETS = {
    'name = "x"\n\n[programs]\na = "a.clsp"\nb = 7\n': "line 5, column 1: [programs] b: Expected",
    'nmae = "x"\n[programs]\n': "line 1, column 1: unknown key `nmae`; did you mean `name`?",
    'name = "x"\n[programs]\na = "a"\n[ply]\nhonest = "x"\n': (
        "line 4, column 2: unknown key `ply`; did you mean `play`?"
    ),
    'name = "x"\n[programs]\na = "a"\n[play]\nhonset = "x"\n': (
        "line 5, column 1: play: unknown key `honset`; did you mean `honest`?"
    ),
    'name = "x"\n[programs\n': "line 2, column 10: not TOML",
    'name = "x"\n\na = ': "line 3, column 5: not TOML",
    'name = "x"\nname = "y"\n': "not TOML",
    'rules = "calpoker"\n[programs]\na = "a"\n': "the key `name` is missing",
    'name = """\nprograms = 3\n"""\nprograms = 3\n': "line 4, column 1: programs: Expected",
    'name = "x"\nrules = "calpokr"\n[programs]\na = "a"\n': "line 2, column 1: rules: no game",
}


SCRIPTS = {
    '[[hand]]\nfirst = "receiver"\n[[hand]]\nfirst = "carol"\n': (
        "line 3, column 3: hand 2: first is"
    ),
    '[[hand]]\n[[hand]]\naction = ["x"]\n': "line 3, column 1: hand 2: unknown key `action`; did",
    "[[hand]]\nactions = [3]\n": "line 2, column 1: hand 1.actions 1: Expected",
    "hand = 3\n": "line 1, column 1: hand: Expected",
    "a = 1\n[[hand": "not TOML",
}


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        *((read_target, text, says) for text, says in TARGETS.items()),
        *((script.read, text, says) for text, says in SCRIPTS.items()),
    ],
)
def test_a_wrong_toml_file_is_named_with_line_column_and_key(
    read: Callable[[Path], Any], text: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_wrong_figure_is_named_among_many(tmp_path: Path) -> None:
    path = tmp_path / "costs.toml"
    lines = [f"p{number} = {COSTS.splitlines()[4].partition(' = ')[2]}" for number in range(50)]
    lines[31] = lines[31].replace("most", "moist")
    path.write_text("\n".join([*COSTS.splitlines()[:4], *lines, "[bundles]", ""]))
    with pytest.raises(
        UsageError, match=r"line 36, column \d+: \[validators.a\] p31: the key `most`"
    ):
        snapshot.read(path)


def test_where_a_key_stands(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SCRIPT)
    file = toml_files.read(path, script.Script, Kind.SCRIPT)
    assert file.where("hand", 0, "actions") == f"{path}: line 5, column 1"
    assert file.where("unit") == f"{path}: line 2, column 1"
    assert file.where("stack") == str(path)


LINES = {
    '{"id": "x", "tag": 1}': "line 2: key `tag`: Expected `str`",
    '{"id": "x",}': "line 2, column 12: JSON is malformed",
    '{"id": "x", "tga": "y"}': "line 2: unknown key `tga`; did you mean `tag`?",
    '{"id": "x"': "line 2, column 11: ",
    '{"id": "é", x': "line 2, column 13: ",
    "[" * 100_000: "line 2: Expected `object`",
    '{"id": ' + "[" * 100_000: "line 2: key `id`: Expected",
}


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_a_wrong_case_is_named_with_line_column_and_key(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    good = VECTORS.read_text("utf-8").partition("\n")[0]
    path.write_text(f"{good}\n{line}\n")
    for arguments in (("vectors", "check", path), ("trace", path, "--case", "none")):
        ran = channelsim(capsys, *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"{path}: {LINES[line]}" in ran.err


def test_the_nearest_case_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "trace", VECTORS, "--case", "spacepoker-comitA-00003")
    assert ran.code == 2
    assert "did you mean `spacepoker-commitA-00003`?" in ran.err


def test_an_altered_choice_of_a_person_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A transcript whose chain is whole, but whose player does what nobody can."""
    from channelsim.channel.session.setup import Setup

    setup = Setup(
        games=("calpoker",), seed="x", hands=1, unit=100, stack=10, balance=1000,
        policies=("ask", "random"),
    )  # fmt: skip
    for record in (
        {"decided": "initiator"},
        {"decided": "initiator", "verb": "fly", "amount": 1},
        {"decided": "initiator", "verb": 3, "amount": "x"},
    ):
        path = tmp_path / "t.jsonl"
        written: list[bytes] = []
        lines = transcript.Lines(written.append)
        head: dict[str, Any] = {"format": transcript.FORMAT, "setup": msgspec.to_builtins(setup)}
        one: dict[str, Any]
        taken = {"answered": "initiator", "accepts": True}
        for one in (head, taken, record, {"end": {}}):
            lines.write(one)
        path.write_bytes(b"".join(written))
        ran = channelsim(capsys, "replay", path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "internal error" not in ran.err


@pytest.mark.parametrize("text", ["; ;" * 40_000, ";\n" * 40_000, " \n" * 40_000, "(;" * 40_000])
def test_the_kind_of_a_long_text_is_found_at_once(text: str) -> None:
    assert kind_of(text.encode()) in (None, Kind.SOURCE)


@pytest.mark.parametrize("key", ["x" * 500_000, " - at `$" * 50_000, "`" * 50_000])
def test_a_long_name_is_cut(key: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'"{key}" = 1\nname = "x"\n[programs]\n')
    with pytest.raises(UsageError) as caught:
        read_target(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 1000
