"""The cache of compiled programs: by content, and only what this user alone can have written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from channelsim.clsp import program_cache
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import Program

MOD = '(mod (x) (include *standard-cl-23*) (include "lib/integers.clinc") (is_minimal x))'
KEY = "ab" * 32
PROGRAM = Program(b"\xff\x02\x80", {"00": "main"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "channelsim" / "compiled"


def stored(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_a_program_is_compiled_once_for_one_content(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "one.clsp"
    source.write_text(MOD)
    made = compile_source(source)
    (kept,) = stored(folder)
    again = compile_source(source)
    assert (again, again.symbols) == (made, made.symbols)
    # What is under the key is returned, so that nothing was compiled.
    program_cache.write(kept.name, PROGRAM)
    assert compile_source(source) == PROGRAM
    assert compile_source(source).symbols == PROGRAM.symbols
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "integers.clinc").write_text("((defun is_minimal (x) 7))")
    assert compile_source(source) != PROGRAM
    assert compile_source(source, others={"end": PROGRAM}) != PROGRAM
    assert len(stored(folder)) == 3


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def swapped(file: Path) -> None:
    program_cache.write("cd" * 32, Program(b"\x01"))
    os.replace(file.with_name("cd" * 32), file)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def linked(file: Path) -> None:
    os.rename(file, file.with_name("other"))
    file.symlink_to(file.with_name("other"))


def writable(file: Path) -> None:
    file.chmod(0o620)


def in_a_shared_folder(file: Path) -> None:
    file.parent.chmod(0o777)


def in_a_linked_folder(file: Path) -> None:
    os.rename(file.parent, file.parent.with_name("elsewhere"))
    file.parent.symlink_to(file.parent.with_name("elsewhere"))


def a_named_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


@pytest.mark.parametrize(
    "spoil",
    [
        truncated,
        swapped,
        empty,
        linked,
        writable,
        in_a_shared_folder,
        in_a_linked_folder,
        a_named_pipe,
    ],
)
def test_what_others_may_have_written_is_not_read(
    folder: Path, spoil: Callable[[Path], None]
) -> None:
    program_cache.write(KEY, PROGRAM)
    program = program_cache.read(KEY)
    assert program == PROGRAM
    assert program is not None
    assert program.symbols == PROGRAM.symbols
    assert stored(folder) == [folder / KEY]
    spoil(folder / KEY)
    assert program_cache.read(KEY) is None


def test_a_cache_that_cannot_be_written_changes_nothing(folder: Path, tmp_path: Path) -> None:
    folder.parent.parent.write_text("a file in the way")
    source = tmp_path / "one.clsp"
    source.write_text(MOD)
    assert compile_source(source) == compile_source(source)
