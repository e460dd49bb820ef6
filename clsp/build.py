"""Build `clsp/compiled` from `clsp/source`, and check that it is up to date.

The names of the programs' functions are stored beside them, for tracing.

A program that names another one by its tree hash includes `hashes/<name>.clinc`, which
exists only while building. These includes also give the order: the named program first.

A build stamps what it compiled and what came out. While neither changes, the programs are fresh
and a check compiles nothing.
"""

import json
import tempfile
from collections.abc import Mapping
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path
from shutil import copytree

from channelsim.clsp.compile_process import compile_copy
from channelsim.clsp.compiler import named_hashes, write_hash
from channelsim.clsp.programs import COMPILED, SOURCE, SYMBOLS, Program

STAMP = "stamp.json"


def build(compiled: Path = COMPILED) -> dict[str, Program]:
    """Compile all sources into `compiled`, a line of hex each; delete files without a source.

    Raises `CompileError`.
    """
    programs = compile_all()
    fresh = _texts(programs)
    for name in _stored(compiled).keys() - fresh.keys():
        (compiled / name).unlink()
    for name, text in fresh.items():
        path = compiled / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # The compiler's own files are readable by their owner alone.
        path.write_text(text, "utf-8")
    (compiled / STAMP).write_text(stamp(compiled), "ascii")
    return programs


def stale(compiled: Path = COMPILED) -> list[str]:
    """List the files of `compiled` that differ from a fresh build, one line each.

    Compiles nothing if the stamp is that of these sources and programs.
    """
    expected = stamp(compiled)
    stamped = compiled / STAMP
    if stamped.is_file() and stamped.read_text("utf-8") == expected:
        return []
    fresh, stored = _texts(compile_all()), _stored(compiled)
    complaints = [
        f"{name.removesuffix('.hex')}: {_complaint(fresh.get(name), stored.get(name))}"
        for name in sorted(fresh.keys() | stored.keys())
        if fresh.get(name) != stored.get(name)
    ]
    return [*complaints, f"{STAMP}: stale, it is of other sources or programs"]


def stamp(compiled: Path) -> str:
    """The digests of all sources, and of the programs in `compiled`, as a document in JSON."""
    digests = {"sources": digest(SOURCE, "*.cl*"), "programs": digest(compiled, "*.hex", SYMBOLS)}
    return json.dumps(digests, indent=1) + "\n"


def digest(folder: Path, *patterns: str) -> str:
    """The digest, in hex, of the names and contents of the files of these patterns in a folder."""
    digests = sorted(
        (path.relative_to(folder).as_posix(), sha256(path.read_bytes()).hexdigest())
        for pattern in patterns
        for path in folder.rglob(pattern)
    )
    return sha256(json.dumps(digests).encode()).hexdigest()


def _texts(programs: Mapping[str, Program]) -> dict[str, str]:
    """The texts of all compiled files, by their names in the folder."""
    texts = {f"{name}.hex": f"{program.serialized.hex()}\n" for name, program in programs.items()}
    symbols = {name: programs[name].symbols for name in sorted(programs)}
    return texts | {SYMBOLS: json.dumps(symbols, indent=1) + "\n"}


def _stored(compiled: Path) -> dict[str, str]:
    files = (*compiled.rglob("*.hex"), *compiled.glob(SYMBOLS))
    return {path.relative_to(compiled).as_posix(): path.read_text("utf-8") for path in files}


def _complaint(fresh: str | None, stored: str | None) -> str:
    if stored is None:
        return "missing, never compiled"
    if fresh is None:
        return "extra, it has no source"
    return "stale, its source compiles to something else"


def compile_all() -> dict[str, Program]:
    """Compile every source, in the order of dependency; nothing is written to the package."""
    with tempfile.TemporaryDirectory(prefix="clsp-build-") as scratch:
        return compile_tree(Path(scratch))


def compile_tree(folder: Path) -> dict[str, Program]:
    """Copy the sources to `folder/source` and compile them there.

    The hashes that they include stay beside the copy, so that another compiler can compile the
    same tree, with the search path `folder/source`.
    """
    tree = folder / "source"
    copytree(SOURCE, tree)
    programs = {}
    for name in build_order():
        copy = tree / f"{name}.clsp"
        programs[name] = compile_copy(copy, folder / "out.hex", [tree], SOURCE / f"{name}.clsp")
        write_hash(tree / f"hashes/{name}.clinc", programs[name])
    return programs


def build_order() -> list[str]:
    """The names of all programs, each after those whose hashes it includes.

    >>> order = build_order()
    >>> order.index("spacepoker/end") < order.index("spacepoker/mid_round")
    True
    """
    needs = {
        path.relative_to(SOURCE).with_suffix("").as_posix(): named_hashes(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.clsp"))
    }
    return list(TopologicalSorter(needs).static_order())
