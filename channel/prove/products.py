"""Products of two inputs, which a solver follows badly: unknown functions, and exact where needed.

What holds whatever the function is holds for the product. Where an input seems to break a claim,
and none is found, the question is asked again with the real products.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import z3

from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Number, Term, resize, width

PRODUCT = "product of "
"""The beginning of the names of these functions."""

PLAIN = 48
"""The longest product, in bits, that the solver computes at once."""


def product(path: Path, left: Number, right: Number, least: int, most: int) -> Term:
    """The product of two numbers, which lies within these bounds, in just the bits for them."""
    bits = width(least, most)
    terms = z3.simplify(left.term), z3.simplify(right.term)
    if bits <= PLAIN or any(map(z3.is_bv_value, terms)):
        return resize(terms[0], bits) * resize(terms[1], bits)
    first, second = sorted(terms, key=lambda term: (term.size(), term.hash(), term.get_id()))
    sizes = first.size(), second.size()
    name = f"{PRODUCT}{sizes[0]} and {sizes[1]} bits in {bits}"
    path.functions[name] = partial(_computed, sizes)
    path.near[name] = partial(_near, sizes)
    function = z3.Function(name, z3.BitVecSort(sum(sizes)), z3.BitVecSort(bits))
    term = function(z3.Concat(first, second))
    low, high = z3.BitVecVal(least, bits), z3.BitVecVal(most, bits)
    return z3.If(z3.And(low <= term, term <= high), term, low)


def exact(terms: Iterable[Term]) -> list[Condition]:
    """That the products in terms are real ones."""
    conditions, seen, waiting = [], set[int](), list(terms)
    while waiting:
        term = waiting.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        waiting += term.children()
        if z3.is_app(term) and term.decl().name().startswith(PRODUCT):
            conditions.append(term == _real(term))
    return conditions


def _real(term: Term) -> Term:
    words = term.decl().name().removeprefix(PRODUCT).split()
    left, bits, whole = int(words[0]), term.size(), term.arg(0)
    top = whole.size()
    parts = z3.Extract(top - 1, top - left, whole), z3.Extract(top - left - 1, 0, whole)
    return resize(parts[0], bits) * resize(parts[1], bits)


def _factors(sizes: tuple[int, int], whole: int) -> tuple[int, int]:
    parts = whole >> sizes[1], whole & ((1 << sizes[1]) - 1)
    first, second = (
        part - (1 << size) if part >> (size - 1) else part
        for part, size in zip(parts, sizes, strict=True)
    )
    return first, second


def _computed(sizes: tuple[int, int], whole: int) -> int:
    left, right = _factors(sizes, whole)
    return left * right


def _near(sizes: tuple[int, int], whole: int, wanted: int) -> Iterator[int]:
    """Other factors: those of a product like one of them, or like the one that is wanted."""
    left, right = _factors(sizes, whole)
    for pair in ((1, right), (left, 1), (1, wanted), (wanted, 1)):
        parts = list(zip(pair, sizes, strict=True))
        if all(width(part, part) <= size for part, size in parts):
            first, second = (part & ((1 << size) - 1) for part, size in parts)
            yield first << sizes[1] | second
