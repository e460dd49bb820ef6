"""The group in which decks are made, BLS12-381 G1; tests and demonstrations use a small one.

A point is its canonical encoding, in bytes. Whoever takes a point from a message checks it first
(`Group.is_point`, rule PD-1); all other methods take checked points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Protocol

from chia_rs import G1Element

from channelsim.clsp.run import ProgramRaised, ProgramValid, run_serialized
from channelsim.clsp.values import Value, from_list, serialize_atom

SCALAR_SIZE = 32
"""Bytes of a scalar: unsigned, big-endian."""


class Group(Protocol):
    """A group of prime order in which the discrete logarithm is hard."""

    @property
    def order(self) -> int:
        """The number of points, a prime."""
        ...

    @property
    def point_size(self) -> int:
        """The bytes of a point."""
        ...

    @property
    def base(self) -> bytes:
        """A point whose logarithm to every other mapped point is unknown."""
        ...

    def is_point(self, data: bytes) -> bool:
        """True if these bytes are the canonical encoding of a point other than the neutral one."""
        ...

    def map(self, message: bytes) -> bytes:
        """Hash a message to a point of unknown logarithm."""
        ...

    def multiply(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Multiply each point by its scalar, from 0 to the order."""
        ...

    def subtract(self, differences: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Subtract the second point of each pair from the first one."""
        ...


_CONS, _SUBTRACT, _MULTIPLY, _MAP = b"\x04", b"\x31", b"\x32", b"\x38"
_COST = 100_000_000_000
"""More than any preparation needs: a multiplication costs 0.7 million."""


Observer = Callable[[Sequence[tuple[int, bytes]]], None]
"""Called with the products of every multiplication in G1, as `Group.multiply` gets them."""

_observers: list[Observer] = []


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer` for all multiplications in G1 in this block (for measurements)."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


class _Memory:
    """The products of a block: each point that was made has its factor and the point it is of.

    A product of a product is one of the first point, so both ways to a point are known as one.
    """

    def __init__(self) -> None:
        self._made: dict[bytes, tuple[int, bytes]] = {}
        self._products: dict[tuple[int, bytes], bytes] = {}

    def multiplied(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Multiply each point by its scalar, unless the product is known."""
        keys = [self._key(*product) for product in products]
        new = [at for at, key in enumerate(keys) if key not in self._products]
        # By the first points, of which some have tables.
        for at, point in zip(new, _multiplied([keys[at] for at in new]), strict=True):
            self._products[keys[at]] = point
            self._made.setdefault(point, keys[at])
        return [self._products[key] for key in keys]

    def named(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Name each product by its factor and the first point, which equal products share."""
        keys = (self._key(*product) for product in products)
        return [factor.to_bytes(SCALAR_SIZE, "big") + first for factor, first in keys]

    def _key(self, scalar: int, point: bytes) -> tuple[int, bytes]:
        factor, first = self._made.get(point, (1, point))
        return scalar * factor % G1.order, first


_memory: ContextVar[_Memory | None] = ContextVar("products", default=None)


@contextmanager
def remembered() -> Iterator[None]:
    """Compute each product once in this block, in which both sides of a deck are: what one proves,
    the other computes again. A block inside another one shares its products."""
    if _memory.get() is not None:
        yield
        return
    token = _memory.set(_Memory())
    try:
        yield
    finally:
        _memory.reset(token)


_names_hashed: ContextVar[bool] = ContextVar("names what is hashed", default=False)


@contextmanager
def named_in_proofs() -> Iterator[None]:
    """Hash the names of products in place of their points, in a block of `remembered` in this one.

    For searching only: shuffles' proofs are wrong outside, and their products are most of a deck's
    time. A product that one side knows and the other does not has another name, as a point would.
    """
    token = _names_hashed.set(True)
    try:
        yield
    finally:
        _names_hashed.reset(token)


def multiplied_to_hash(group: Group, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
    """Multiply points that are hashed, and not used for anything else."""
    memory = _memory.get()
    if memory is None or not _names_hashed.get() or not isinstance(group, G1):
        return group.multiply(products)
    for observer in _observers:
        observer(products)
    return memory.named(products)


class G1:
    """BLS12-381 G1, by CLVM's operators: the program that judges an opening on chain uses the same.

    >>> G1().base.hex()[:12], G1().point_size
    ('8d06f6f98bd2', 48)
    """

    __slots__ = ("base",)

    order = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
    point_size = 48

    def __init__(self) -> None:
        self.base = self.map(b"deck1:H")

    def is_point(self, data: bytes) -> bool:
        """True if these are 48 canonical bytes of a point of the subgroup, not infinity."""
        return _is_point(data)

    def map(self, message: bytes) -> bytes:
        """CLVM's `g1_map` with its default domain."""
        return _mapped(message)

    def multiply(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Multiply points that occur often by tables of multiples, others in one run of CLVM."""
        for observer in _observers:
            observer(products)
        memory = _memory.get()
        return _multiplied(products) if memory is None else memory.multiplied(products)

    def subtract(self, differences: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Subtract all points in one run of CLVM."""
        return _evaluate([_call(_SUBTRACT, *points) for points in differences])


def _multiplied(products: Sequence[tuple[int, bytes]]) -> list[bytes]:
    times = Counter(point for _, point in products)
    tables = {point: _multiples(point) for point, count in times.items() if count >= OFTEN}
    base = real_group().base
    if base in times:
        tables[base] = _multiples_of_base(base)
    others = [
        (k.to_bytes(SCALAR_SIZE, "big"), point) for k, point in products if point not in tables
    ]
    multiplied = iter(_evaluate([_call(_MULTIPLY, point, k) for k, point in others]))
    return [
        _by_table(tables[point], k) if point in tables else next(multiplied)
        for k, point in products
    ]


OFTEN = 10
"""Products of one point for which a table of its multiples takes less time than runs of CLVM."""

Table = tuple[tuple[G1Element, ...], ...]
"""The multiples of a point by each digit of a scalar, from its low end."""


def _multiples(point: bytes, digit: int = 4) -> Table:
    """The table of a point, for digits of so many bits."""
    rows = []
    unit = G1Element.from_bytes(point)
    for _ in range(0, G1.order.bit_length(), digit):
        row = [G1Element()]
        for _ in range(1, 1 << digit):
            row.append(row[-1] + unit)
        rows.append(tuple(row))
        unit = row[-1] + unit
    return tuple(rows)


@cache
def _multiples_of_base(base: bytes) -> Table:
    """A larger table, which is made once."""
    return _multiples(base, 6)


def _by_table(table: Table, scalar: int) -> bytes:
    """Multiply the point of a table by a scalar, in a half or a third of the time of CLVM."""
    total = G1Element()
    mask, digit = len(table[0]) - 1, (len(table[0]) - 1).bit_length()
    for row in table:
        total += row[scalar & mask]
        scalar >>= digit
    return bytes(total)


@cache
def real_group() -> G1:
    """The group of every deck outside tests and demonstrations."""
    return G1()


@lru_cache(maxsize=1 << 11)
def _is_point(data: bytes) -> bool:
    """The points of a few decks: what checks a proof, and then goes on, asks for each again."""
    if len(data) != G1.point_size or data[0] & 0x40:
        return False
    try:
        return bytes(G1Element.from_bytes(data)) == data
    except ValueError:
        return False


@lru_cache(maxsize=1 << 10)
def _mapped(message: bytes) -> bytes:
    """The cards of some decks, which are public: both sides map each of them several times."""
    return _evaluate([_call(_MAP, message)])[0]


def _call(operator: bytes, *atoms: bytes) -> bytes:
    quoted = b"".join(b"\xff\xff\x01" + serialize_atom(atom) for atom in atoms)
    return b"\xff" + operator + quoted + b"\x80"


def _evaluate(calls: Sequence[bytes]) -> list[bytes]:
    """Evaluate several expressions in one program, which returns their values as a list."""
    if not calls:
        return []
    head = b"".join(b"\xff" + _CONS + b"\xff" + call + b"\xff" for call in calls)
    outcome = run_serialized(head + b"\x80" + b"\x80" * len(calls), b"\x80", _COST)
    if not isinstance(outcome, ProgramValid):
        raise ProgramRaised(f"an operation on points: {outcome}")
    return [_atom(value) for value in from_list(outcome.value)]


def _atom(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise ProgramRaised("an operation on points made a pair")
    return value
