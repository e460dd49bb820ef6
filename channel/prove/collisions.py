"""The assumption that the hashes that occur in a proof do not collide, pair by pair.

An axiom for all inputs would be inconsistent, since SHA-256 has more inputs than results. Facts
about the few hashes that occur are true of the real function, unless somebody has found a
collision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import combinations

import z3

from channelsim.channel.prove.models.byte_models import HASH
from channelsim.channel.prove.symbols import Condition, Term, Undecided

ASSUMED = "the hashes that occur in one proof step do not collide, pair by pair"

MOST_PAIRS = 5000
"""The most pairs of hashes of which it is assumed."""


def no_collisions(terms: Iterable[Condition], known: Sequence[bytes] = ()) -> list[Term]:
    """What holds of the hashes that occur in these terms, and of those of `known` bytes.

    Raises `Undecided` if there are too many of them.
    """
    hashes = hashes_in(terms)
    if len(hashes) * (len(hashes) + 2 * len(known)) // 2 > MOST_PAIRS:
        raise Undecided(f"{len(hashes)} hashes: too many to assume of each pair that it differs")
    facts: list[Term] = []
    for left, right in combinations(hashes, 2):
        if left.decl().eq(right.decl()):
            facts.append(z3.Implies(left == right, left.arg(0) == right.arg(0)))
        else:
            facts.append(left != right)
    for text in dict.fromkeys(known):
        digest = z3.BitVecVal(int.from_bytes(sha256(text).digest(), "big"), 256)
        for term in hashes:
            bits = term.arg(0).size()
            same = False
            if bits == 8 * len(text):
                same = term.arg(0) == z3.BitVecVal(int.from_bytes(text, "big"), bits)
            facts.append(z3.Implies(term == digest, same))
    return facts


def hashes_in(terms: Iterable[Condition]) -> list[Term]:
    """The different hashes of bytes that are not known, in these terms."""
    seen: set[int] = set()
    hashes: list[Term] = []
    waiting = [term for term in terms if not isinstance(term, bool)]
    while waiting:
        term = waiting.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_app(term) and term.decl().name().startswith(HASH):
            hashes.append(term)
        waiting += term.children()
    return hashes
