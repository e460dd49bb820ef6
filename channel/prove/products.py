"""Products and quotients of two inputs, which a solver follows badly: unknown functions, and exact
where needed.

What holds whatever the function is holds for the product. The function depends on the bits of the
operands and of the result, so `agreements` say that equal operands have equal results. Where an
input seems to break a claim, and none is found, the question is asked again with the real products
and quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import z3

from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Number, Result, Term, resize, width

PLAIN = 48
"""The longest product or dividend, in bits, with which the solver computes at once."""


@dataclass(frozen=True)
class Operation:
    """A function of two numbers: its result, that of the solver, and the operands to try for a
    result that is wanted, from two operands that have another one."""

    result: Callable[[int, int], int]
    term: Callable[[Term, Term], Term]
    near: Callable[[int, int, int], tuple[tuple[int, int], ...]]


PRODUCT, QUOTIENT, REMAINDER = "product", "quotient", "remainder"

OPERATIONS = {
    PRODUCT: Operation(
        lambda left, right: left * right,
        lambda left, right: left * right,
        lambda left, right, wanted: ((1, right), (left, 1), (1, wanted), (wanted, 1)),
    ),
    QUOTIENT: Operation(
        lambda left, right: left // right if right else 0,
        z3.UDiv,
        lambda left, right, wanted: ((wanted * right, right), (wanted, 1), (left, 1)),
    ),
    REMAINDER: Operation(
        lambda left, right: left % right if right else 0,
        z3.URem,
        lambda left, right, wanted: (
            *((left - left % right + wanted, right) for right in [right] if right),
            *((wanted, right), (wanted, wanted + 1)),
        ),
    ),
}
"""By the word that the names of their functions begin with. Only a product may be below 0, or have
an operand below 0."""


def product(path: Path, left: Number, right: Number, least: int, most: int) -> Term:
    """The product of two numbers, which lies within these bounds, in just the bits for them."""
    bits = width(least, most)
    terms = z3.simplify(left.term), z3.simplify(right.term)
    if bits <= PLAIN or any(map(z3.is_bv_value, terms)):
        return resize(terms[0], bits) * resize(terms[1], bits)
    first, second = sorted(terms, key=lambda term: (term.size(), term.hash(), term.get_id()))
    return _unknown(path, PRODUCT, first, second, least, most)


def divided(path: Path, left: Number, right: Number, most: tuple[int, int]) -> tuple[Term, Term]:
    """The quotient and the remainder of two numbers that are not negative, the second above 0.

    Each has just the bits for what it is at most.
    """
    terms = z3.simplify(left.term), z3.simplify(right.term)
    bits = max(term.size() for term in terms) + 1
    if bits <= PLAIN or all(map(z3.is_bv_value, terms)):
        dividend, divisor = (resize(term, bits) for term in terms)
        return z3.UDiv(dividend, divisor), z3.URem(dividend, divisor)
    kinds = zip((QUOTIENT, REMAINDER), most, strict=True)
    quotient, remainder = (_unknown(path, kind, *terms, 0, largest) for kind, largest in kinds)
    return quotient, remainder


def agreements(path: Path) -> list[Condition]:
    """Conditions by which equal operands have equal results on a path, whatever their bits.

    They are true of the real results, which are within their bounds on this path. Raises
    `Undecided` when it is late.
    """
    return [
        condition
        for kind, results in path.results.items()
        for first, second in combinations(results, 2)
        if (condition := _agreement(path, kind, first, second)) is not None
    ]


def exact(terms: Iterable[Term]) -> list[Condition]:
    """Conditions by which the products and quotients in terms are real ones."""
    return [term == _real(term) for term in _applied(terms)]


def draw_operands(solver: z3.Solver, draw: Callable[[int], int]) -> None:
    """Tell the solver operands of the products and quotients in its terms, and the real results.

    Each operand is drawn, or is one that the solver has where it cannot be that one. `draw` draws
    a number below the one that it gets.
    """
    for term in [*_applied(solver.assertions())]:
        for part in _parts(term):
            bits = 1 + draw(part.size())
            chosen = part == z3.BitVecVal(draw(1 << bits) >> 1, part.size())
            if solver.check(chosen) != z3.sat:
                if solver.check() != z3.sat:
                    return
                chosen = part == solver.model().eval(part, True)
            solver.add(chosen)
        solver.add(term == _real(term))


def _applied(terms: Iterable[Term]) -> Iterator[Term]:
    """The products and quotients in terms, each after those in its operands."""
    seen, waiting = set[int](), [(term, False) for term in terms]
    while waiting:
        term, is_left = waiting.pop()
        if is_left:
            if z3.is_app(term) and term.decl().name().partition(" of ")[0] in OPERATIONS:
                yield term
        elif term.get_id() not in seen:
            seen.add(term.get_id())
            waiting.append((term, True))
            waiting += ((child, False) for child in term.children())


def _unknown(path: Path, kind: str, first: Term, second: Term, least: int, most: int) -> Term:
    """The result of an unknown function, within these bounds."""
    sizes, bits = (first.size(), second.size()), width(least, most)
    name = f"{kind} of {sizes[0]} and {sizes[1]} bits in {bits}"
    path.functions[name] = partial(_computed, kind, sizes)
    path.near[name] = partial(_near, kind, sizes)
    function = z3.Function(name, z3.BitVecSort(sum(sizes)), z3.BitVecSort(bits))
    term = function(z3.Concat(first, second))
    low, high = z3.BitVecVal(least, bits), z3.BitVecVal(most, bits)
    bounded = z3.If(z3.And(low <= term, term <= high), term, low)
    path.note_result(kind, Result(first, second, bounded, least, most))
    return bounded


def _agreement(path: Path, kind: str, one: Result, other: Result) -> Condition | None:
    """Equal operands have equal results; None where the function says so itself."""
    operands = [(one.first, other.first), (one.second, other.second)]
    bounds = (one.least, one.most) == (other.least, other.most)
    if bounds and all(a.size() == b.size() for a, b in operands):
        return None
    same = z3.And(*(_equal(*pair) for pair in operands))
    if kind == PRODUCT:
        crossed = z3.And(_equal(one.first, other.second), _equal(one.second, other.first))
        same = z3.Or(same, crossed)
    path.check_time()
    if path.linear.refutes(same):
        return None
    equal = _equal(one.term, other.term)
    return equal if path.linear.refutes(z3.Not(same)) else z3.Implies(same, equal)


def _equal(left: Term, right: Term) -> Condition:
    bits = max(left.size(), right.size())
    return resize(left, bits) == resize(right, bits)


def _real(term: Term) -> Term:
    kind, bits, parts = term.decl().name().partition(" of ")[0], term.size(), _parts(term)
    wide = bits if kind == PRODUCT else max(bits, *(part.size() for part in parts))
    first, second = (resize(part, wide) for part in parts)
    return resize(OPERATIONS[kind].term(first, second), bits)


def _parts(term: Term) -> tuple[Term, Term]:
    """The operands of a product or quotient."""
    words, whole = term.decl().name().partition(" of ")[2], term.arg(0)
    left, top = int(words.split()[0]), whole.size()
    return z3.Extract(top - 1, top - left, whole), z3.Extract(top - left - 1, 0, whole)


def _operands(sizes: tuple[int, int], whole: int) -> tuple[int, int]:
    parts = whole >> sizes[1], whole & ((1 << sizes[1]) - 1)
    first, second = (
        part - (1 << size) if part >> (size - 1) else part
        for part, size in zip(parts, sizes, strict=True)
    )
    return first, second


def _computed(kind: str, sizes: tuple[int, int], whole: int) -> int:
    return OPERATIONS[kind].result(*_operands(sizes, whole))


def _near(kind: str, sizes: tuple[int, int], whole: int, wanted: int) -> Iterator[int]:
    """Other operands: those of a result like one of them, or like the one that is wanted."""
    for pair in OPERATIONS[kind].near(*_operands(sizes, whole), wanted):
        parts = list(zip(pair, sizes, strict=True))
        if all(width(part, part) <= size for part, size in parts):
            first, second = (part & ((1 << size) - 1) for part, size in parts)
            yield first << sizes[1] | second
