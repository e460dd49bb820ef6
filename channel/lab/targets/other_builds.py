"""Other builds of a target's programs, to name a hash that is not the one expected.

The same source has other hashes when it is compiled in another dialect, hashed in another way, or
as an older file beside the source has it. A game that stores one of them does not find its program.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.sources import read_hex
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.compiler import DIALECTS, in_dialect
from channelsim.games import registry


def other_build(target: Target, name: str, unknown: bytes) -> str:
    """Describe an unknown hash that stands where that of the program `name` belongs."""
    for known, what in _builds(target, name):
        if known == unknown:
            return f"the hash of {what}"
    return f"not the hash of {name}, nor of another build of it"


def _builds(target: Target, name: str) -> Iterator[tuple[bytes, str]]:
    """Other hashes for the program, the cheap ones first."""
    program = target.programs[name]
    yield sha256(program.serialized).digest(), f"{name}'s bytes (SHA-256), not of its tree"
    if target.rules is not None:
        own = registry.get(target.rules).programs.get(name)
        if own is not None:
            yield own.hash, f"the program {name} of the installed {target.rules}"
    source = target.sources.programs.get(name) if target.sources is not None else None
    if target.sources is None or source is None:
        return
    for path in sorted(source.parent.glob("*.hex")):
        if path.name.startswith(source.name.split(".")[0]) and path != source:
            try:
                yield read_hex(path).hash, f"{path.name}, a compiled file beside the source"
            except UsageError:
                continue
    for dialect in DIALECTS:
        compiled = in_dialect(source, dialect, target.sources.include, target.programs)
        if compiled is not None:
            yield compiled.hash, f"{name} compiled as {dialect}"
