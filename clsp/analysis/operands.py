"""Operands that a run compares, measures, cuts, computes and hashes: a log for searches.

A comparison tells what an input would have to be: a search copies one of its sides into the place
that the other one stems from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, TypeAlias

from channelsim.clsp.operators import Operator
from channelsim.clsp.values import Value

MOST = 400
"""The most entries of each kind in a log: what comes after them is not noted."""

Compared: TypeAlias = tuple[bytes, bytes]
"""Two operands that a run compared."""

_COMPARING = frozenset(("=", ">", ">s", "-", "logxor"))
"""Operators of two operands that tell a difference; by the last two programs test for equality."""

_COMPUTING = frozenset(("+", "-", "*"))

_MULTIPLYING = frozenset(("pubkey_for_exp", "g1_multiply", "g2_multiply"))
"""Operators whose last operand is a scalar."""


class Operands(NamedTuple):
    """The operands of one run, each once, in the order in which they came.

    `compared` has pairs of atoms: the operands of comparisons, and of two compared hashes that the
    run computed of equally many atoms, also these. `computed` has sums, differences and products,
    `lengths` the atoms that were measured, by their length, and `parts` what was cut out of atoms.
    `scalars` are the numbers by which points were multiplied.
    """

    compared: tuple[Compared, ...] = ()
    computed: tuple[bytes, ...] = ()
    lengths: Mapping[int, tuple[bytes, ...]] = {}
    parts: tuple[bytes, ...] = ()
    scalars: tuple[bytes, ...] = ()


class OperandLog:
    """Notes the operands of a tracer's last run."""

    def __init__(self) -> None:
        self._compared: dict[Compared, None] = {}
        self._computed: dict[bytes, None] = {}
        self._measured: dict[bytes, None] = {}
        self._cut: dict[bytes, None] = {}
        self._multiplied: dict[bytes, None] = {}
        self._hashed: dict[bytes, tuple[bytes, ...]] = {}

    def clear(self) -> None:
        """Forget everything, before another run."""
        for noted in (self._compared, self._computed, self._measured, self._cut, self._multiplied):
            noted.clear()
        self._hashed.clear()

    @property
    def operands(self) -> Operands:
        """The operands of the last run."""
        compared = dict(self._compared)
        for left, right in self._compared:
            mine, theirs = self._hashed.get(left, ()), self._hashed.get(right, ())
            if len(mine) == len(theirs):
                compared.update(dict.fromkeys(zip(mine, theirs, strict=True)))
        lengths: dict[int, tuple[bytes, ...]] = {}
        for atom in self._measured:
            lengths[len(atom)] = (*lengths.get(len(atom), ()), atom)
        return Operands(
            tuple(islice(compared, MOST)),
            tuple(self._computed),
            lengths,
            tuple(self._cut),
            tuple(self._multiplied),
        )

    @property
    def hashed(self) -> Mapping[bytes, tuple[bytes, ...]]:
        """The hashes of the last run, the first one first, each with the atoms that it is of."""
        return self._hashed

    def logged(self, operator: Operator) -> Operator:
        """The same operator, which notes its operands here if searches can use them."""
        name, call = operator.name, operator.call
        if name in _COMPARING or name in _COMPUTING:
            logged = self._compare(call, name in _COMPARING, name in _COMPUTING)
        elif name == "strlen":
            logged = self._measure(call)
        elif name == "substr":
            logged = self._cut_out(call)
        elif name in _MULTIPLYING:
            logged = self._multiply(call)
        elif name == "sha256":
            logged = self._hash(call)
        else:
            return operator
        return operator._replace(call=logged)

    def _compare(
        self, call: Callable[..., Value], comparing: bool, computing: bool
    ) -> Callable[..., Value]:
        compared, computed = self._compared, self._computed

        def compare(*values: Value) -> Value:
            """Note two operands, and what is computed of them."""
            if comparing and len(values) == 2 and len(compared) < MOST:
                left, right = values
                if isinstance(left, bytes) and isinstance(right, bytes):
                    compared[left, right] = None
            value = call(*values)
            if computing and isinstance(value, bytes) and len(computed) < MOST:
                computed[value] = None
            return value

        return compare

    def _measure(self, call: Callable[..., Value]) -> Callable[..., Value]:
        measured = self._measured

        def measure(*values: Value) -> Value:
            """Note an atom whose length is taken."""
            for atom in _atoms(values):
                if len(measured) < MOST:
                    measured[atom] = None
            return call(*values)

        return measure

    def _cut_out(self, call: Callable[..., Value]) -> Callable[..., Value]:
        cut = self._cut

        def cut_out(*values: Value) -> Value:
            """Note the part that is cut out."""
            value = call(*values)
            if isinstance(value, bytes) and len(cut) < MOST:
                cut[value] = None
            return value

        return cut_out

    def _multiply(self, call: Callable[..., Value]) -> Callable[..., Value]:
        multiplied = self._multiplied

        def multiply(*values: Value) -> Value:
            """Note the scalar."""
            if values and isinstance(values[-1], bytes) and len(multiplied) < MOST:
                multiplied[values[-1]] = None
            return call(*values)

        return multiply

    def _hash(self, call: Callable[..., Value]) -> Callable[..., Value]:
        hashed = self._hashed

        def hash_atoms(*values: Value) -> Value:
            """Note the atoms of which a hash is computed."""
            value = call(*values)
            if isinstance(value, bytes) and len(hashed) < MOST:
                hashed[value] = tuple(_atoms(values))
            return value

        return hash_atoms


def _atoms(values: tuple[Value, ...]) -> Iterator[bytes]:
    for value in values:
        if isinstance(value, bytes):
            yield value
