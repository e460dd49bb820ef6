"""Models of operators on pairs and truth values, and of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from channelsim.channel.prove.models.byte_models import size_of, sliced
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Lazy,
    Raises,
    Symbolic,
    Term,
    bits_of,
    equal,
    make_truth,
    merge,
    resize,
)
from channelsim.channel.prove.undecided_lengths import by_length, has_size, same_as_number
from channelsim.clsp.values import NIL


def choose(path: Path, test: Symbolic, then: Symbolic, otherwise: Symbolic) -> Symbolic:
    """Model `i` of operands that have been evaluated."""
    condition = path.truth(test)
    known = path.known(condition)
    if known is None:
        merged = merge(condition, then, otherwise)
        if merged is not None:
            return merged
        known = path.branch(condition)
    return then if known else otherwise


def first(path: Path, pair: Symbolic) -> Symbolic:
    """Model `f`."""
    return _pair(path, pair)[0]


def rest(path: Path, pair: Symbolic) -> Symbolic:
    """Model `r`."""
    return _pair(path, pair)[1]


def _pair(path: Path, pair: Symbolic) -> tuple[Symbolic, Symbolic]:
    shape = path.shape(pair)
    if isinstance(shape, tuple):
        return shape
    raise Raises


def is_pair(path: Path, value: Symbolic) -> Symbolic:
    """Model `l`."""
    return make_truth(isinstance(path.shape(value), tuple))


def fail(path: Path, *values: Symbolic) -> Symbolic:
    """Model `x`."""
    raise Raises


# --- truth -----------------------------------------------------------------------------------


def negate(path: Path, value: Symbolic) -> Symbolic:
    """Model `not`."""
    condition = path.truth(value)
    return make_truth(not condition if isinstance(condition, bool) else z3.Not(condition))


def any_of(path: Path, *values: Symbolic) -> Symbolic:
    """Model `any`."""
    conditions = [path.truth(value) for value in values]
    if True in [condition for condition in conditions if isinstance(condition, bool)]:
        return make_truth(True)
    terms = [condition for condition in conditions if not isinstance(condition, bool)]
    return make_truth(z3.Or(*terms) if terms else False)


def all_of(path: Path, *values: Symbolic) -> Symbolic:
    """Model `all`."""
    conditions = [path.truth(value) for value in values]
    if False in [condition for condition in conditions if isinstance(condition, bool)]:
        return make_truth(False)
    terms = [condition for condition in conditions if not isinstance(condition, bool)]
    return make_truth(z3.And(*terms) if terms else True)


def same(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `=`, which compares bytes; a length that is not decided only with the other one."""
    mine, theirs = path.shape(left), path.shape(right)
    if mine is theirs and isinstance(mine, Lazy) and path.is_long(mine):
        return make_truth(True)
    numbers = same_as_number(path, mine, theirs)
    if numbers is not None:
        return make_truth(numbers)
    for undecided, other in ((mine, theirs), (theirs, mine)):
        if (
            isinstance(undecided, Lazy)
            and isinstance(other, bytes | Bytes)
            and not has_size(path, undecided, size_of(other))
        ):
            return NIL
    return make_truth(equal(path.atom(mine), path.atom(theirs)))


def greater(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `>` of signed numbers."""
    a, b = path.number(left), path.number(right)
    if a.least > b.most:
        return make_truth(True)
    if a.most <= b.least:
        return make_truth(False)
    bits = max(a.term.size(), b.term.size())
    return make_truth(resize(a.term, bits) > resize(b.term, bits))


def greater_bytes(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `>s`, which compares byte by byte; of an undecided length without a fork."""
    mine, theirs = path.shape(left), path.shape(right)
    cases = by_length(path, mine)
    if cases is None:
        a = path.bytes(mine)
        cases = by_length(path, theirs)
        if cases is None:
            return make_truth(_is_after(a, path.bytes(theirs)))
        return make_truth(_by_cases([(case, _is_after(a, b)) for case, b in cases]))
    b = path.bytes(theirs)
    return make_truth(_by_cases([(case, _is_after(a, b)) for case, a in cases]))


def _by_cases(cases: Sequence[tuple[Condition, Condition]]) -> Condition:
    """What holds in the case that applies; the last one applies where no other does."""
    term = _as_term(cases[-1][1])
    for case, condition in reversed(cases[:-1]):
        term = z3.If(case, _as_term(condition), term)
    return term


def _as_term(condition: Condition) -> Term:
    return z3.BoolVal(condition) if isinstance(condition, bool) else condition


def _is_after(a: bytes | Bytes, b: bytes | Bytes) -> Condition:
    """Where bytes come after others, of which they may be a longer continuation."""
    longer, common = size_of(a) > size_of(b), min(size_of(a), size_of(b))
    if not common:
        return longer
    mine, theirs = bits_of(sliced(a, 0, common)), bits_of(sliced(b, 0, common))
    return z3.UGE(mine, theirs) if longer else z3.UGT(mine, theirs)
