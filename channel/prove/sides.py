"""Digests of everything that a proof depends on: programs, and the source of rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system import input_files
from channelsim.games.registry import package_of

RULES = ("channelsim.games", "channelsim.clsp")
"""The packages of this project whose modules belong to rules, if these import them."""


def side_digests(targets: tuple[Target, ...], validator: str) -> dict[str, str]:
    """Digests in hex by what they are of.

    The tree hashes of the validator's programs; the SHA-256 of the source of its rules, which also
    say which states there are; and that of the hashes of all programs, which states may hold.
    """
    digests: dict[str, str] = {}
    for number, target in enumerate(targets):
        name = target.name if target.name not in [each.name for each in targets[:number]] else ""
        name = name or f"{target.name}, second"
        digests[f"program of {name}"] = target.programs[validator].hash.hex()
        hashes = b"".join(name.encode() + target.hashes[name] for name in sorted(target.hashes))
        digests[f"programs of {name}"] = sha256(hashes).hexdigest()
        rules = _rules_digest(target, validator)
        if rules:
            digests[f"rules of {name}"] = rules
    return digests


def _rules_digest(target: Target, validator: str) -> str:
    """The SHA-256 of the source of a validator's rules; "" where there are none."""
    if target.judge(validator) is None:
        return ""
    if target.rules is None:
        assert target.rules_file is not None
        data = input_files.read(target.rules_file, input_files.SOURCE)
        modules = tuple(_imported(data, "", {}))
        return _digest(modules, data)
    own = _module_of(target.game.validators[validator].judge)
    package = package_of(target.rules)
    return _digest((own,) if find_spec_of(own) is not None else (package,))


def _module_of(judge: Callable[..., Any]) -> str:
    """The module of a judge: a function, a method, a partial call, or an object."""
    while isinstance(judge, partial):
        judge = judge.func
    return str(getattr(judge, "__module__", "") or type(judge).__module__)


@cache
def _digest(first: tuple[str, ...], data: bytes = b"") -> str:
    """The SHA-256 of the sources of modules, and of those that they import."""
    sources: dict[str, bytes] = {}
    tops = (*RULES, *(name.partition(".")[0] for name in first if not name.startswith(RULES)))
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        inside = any(name == top or name.startswith(f"{top}.") for top in tops)
        path = find_spec_of(name) if inside and name not in sources else None
        if path is None:
            continue
        sources[name] = path.read_bytes()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imported(sources[name], package, sources)
    contents = sha256(data)
    for name in sorted(sources):
        contents.update(f"\0{name}\0{sha256(sources[name]).hexdigest()}".encode())
    return contents.hexdigest()


def find_spec_of(name: str) -> Path | None:
    """The source file of a module; None for what is no module with a source."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    path = None if spec is None or spec.origin is None else Path(spec.origin)
    return path if path is not None and path.suffix == ".py" and path.is_file() else None


def _imported(source: bytes, package: str, known: dict[str, bytes]) -> Iterator[str]:
    """The names that a source imports, which may be modules or parts of them."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                parents = package.split(".")[: len(package.split(".")) - level + 1]
                base = module or "" if not level else ".".join([*parents, *filter(None, [module])])
                if base and base not in known:
                    yield base
                yield from (f"{base}.{alias.name}" for alias in names if base)
