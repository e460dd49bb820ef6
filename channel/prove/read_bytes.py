"""The bytes of an input that terms depend on."""

from __future__ import annotations

from collections.abc import Iterable

import z3

from channelsim.channel.prove.symbols import Bytes, Condition


def read_bytes(atom: Bytes, terms: Iterable[Condition]) -> set[int]:
    """The bytes of an input, numbered from 0, on which some of these terms depend."""
    read: set[int] = set()
    seen: set[int] = set()
    waiting = [term for term in terms if not isinstance(term, bool)]
    while waiting:
        term = waiting.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if term.eq(atom.term):
            return set(range(atom.size))
        if z3.is_app_of(term, z3.Z3_OP_EXTRACT) and term.arg(0).eq(atom.term):
            high, low = term.params()
            read |= {atom.size - 1 - bit // 8 for bit in range(low, high + 1)}
            continue
        waiting += term.children()
    return read
