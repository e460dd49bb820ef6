"""Paths: the decisions of one run of programs on symbolic arguments, and all runs in turn.

A run asks its path which side of a branch to take. Where both are possible, the path takes one and
remembers the other; the runs after it replay the decisions up to there and take the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import thread_time
from typing import Any, NoReturn, TypeVar

import z3

from channelsim.channel.errors import InvariantError
from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.facts import Facts
from channelsim.channel.prove.linear import Linear
from channelsim.channel.prove.solver import (
    CHECK_SECONDS,
    HARD,
    LATE,
    MOST_VALUES,
    Frames,
    few_values,
    pushed,
)
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Hidden,
    Lazy,
    Number,
    Raises,
    Result,
    Symbolic,
    Term,
    Truth,
    Undecided,
    as_number,
    fits,
    make_number,
    name_of,
    selected,
    sizes,
    truth_of,
)
from channelsim.clsp.run import MAX_COST
from channelsim.clsp.values import NIL

T = TypeVar("T")

SPECULATED = 20_000
"""The most steps, and `DEEPEST` choices inside each other, in which two sides are merged."""
DEEPEST = 40

Decisions = tuple[Any, ...]
"""The side of each branch, whether a choice was merged, and the values that a number may have, or
why these are not known."""


class CannotMerge(Exception):
    """Two sides of a choice need paths of their own."""


class Impossible(Exception):
    """No input takes this path."""


class Path:
    """The decisions and conditions of one run. `cost` bounds what the run costs from above;
    `bounded`: it looks at a shape of which larger ones are left out. `read_as_numbers` are the
    bytes that arithmetic took for numbers, by their `name_of`; `hashed` are known bytes whose hash
    was computed. `functions` compute the solver's unknown functions that stand for other code than
    hashes, by their names; `near` are other arguments, whose result may be the one named. `long`
    are the long atoms that were read as numbers; `linear` has the conditions about sums. `results`
    are those of products and quotients that are unknown functions, by the kind of these.

    Without a solver every condition has to be known: the arguments are constants. Paths that are
    followed one after the other share their solvers, with the `frames` of conditions in them.
    """

    def __init__(
        self,
        solver: z3.Solver | None,
        replayed: Decisions,
        deadline: float,
        frames: Frames | None = None,
        linear: Linear | None = None,
    ) -> None:
        self._solver = solver
        self._frames = frames or _frames_of(solver)
        self._replayed = replayed
        self._deadline = deadline
        self._taken: list[Any] = []
        self._facts = Facts()
        self._speculating = 0
        self._budget = 0
        self._steps = 0
        self._model: z3.ModelRef | None = None
        self.decided: dict[str, Symbolic] = {}
        self.alternatives: list[Decisions] = []
        self.conditions: list[Term] = []
        self._ids: list[int] = []
        self.cost = 0
        self.bounded = False
        self.read_as_numbers: dict[bytes | int, bytes | Bytes] = {}
        self.hashed: list[bytes] = []
        self.linear = linear or Linear()
        self.long: list[Lazy] = []
        self.functions: dict[str, Callable[[int], int]] = {}
        self.near: dict[str, Callable[[int, int], Iterable[int]]] = {}
        self.results: dict[str, list[Result]] = {}
        # By the id of a product's term, with the product, so that the id stays its own.
        self._factors: dict[int, tuple[Number, tuple[Number, ...]]] = {}

    @property
    def speculating(self) -> bool:
        """True while two sides of a choice are tried without a fork."""
        return self._speculating > 0

    def load(self) -> z3.Solver | None:
        """The solver, with the conditions of this path and no others; None without one."""
        if self._frames is not None:
            self._frames.agree(self.conditions, self._ids)
        return self._solver

    # --- branches ------------------------------------------------------------------------------

    def branch(self, condition: Condition) -> bool:
        """Decide a condition, by a fork if both sides are possible."""
        known, term = self._facts.simplified(condition)
        if known is not None:
            return known
        if self._speculating:
            raise CannotMerge
        if self._solver is None:
            raise InvariantError("a condition on known inputs is not known")
        at = len(self._taken)
        if at < len(self._replayed):
            side = bool(self._replayed[at])
        else:
            self.check_time()
            can, model = self._possible(term)
            cannot, _ = self._possible(z3.Not(term))
            if not can and not cannot:
                raise Impossible
            side = can
            if can and cannot:
                self.alternatives.append((*self._taken, False))
            self._model = model if can else None
        self._taken.append(side)
        self._add(term, side)
        return side

    def settle(self, attempt: Callable[[], T | None], worth: bool) -> T | None:
        """Try what may fail, if it is worth it; with the same success in each replay."""
        if self._speculating:
            return attempt()
        at = len(self._taken)
        if at < len(self._replayed):
            worth = self._replayed[at]
            result = attempt() if worth else None
            if worth and result is None:
                raise InvariantError("a path is not what it was when it forked")
        else:
            result = attempt() if worth else None
        self._taken.append(result is not None)
        return result

    def assume(self, condition: Condition) -> None:
        """Add a condition that inputs on this path fulfil."""
        if self._speculating:
            raise CannotMerge
        known, term = self._facts.simplified(condition)
        if known is True:
            return
        if known is False:
            raise Impossible
        self._add(term, True)

    def _add(self, term: Term, side: bool) -> None:
        self._facts.learn(term, side)
        condition = term if side else z3.Not(term)
        self.conditions.append(condition)
        self._ids.append(condition.get_id())
        if self._model is not None and not z3.is_true(self._model.eval(condition, True)):
            self._model = None
        if self._solver is not None:
            self.linear.add(condition)

    def known(self, condition: Condition) -> bool | None:
        """The truth of a condition, where this path knows it without the solver."""
        return self._facts.simplified(condition)[0]

    def _possible(self, term: Term) -> tuple[bool, z3.ModelRef | None]:
        """False if no input of this path fulfils a condition; else an input, if one is known."""
        if self._model is not None and z3.is_true(self._model.eval(term, True)):
            return True, self._model
        if self.linear.refutes(term):
            return False, None
        solver = self.load()
        assert solver is not None
        with pushed(solver):
            solver.add(term)
            answer = solver.check()
            return bool(answer != z3.unsat), solver.model() if answer == z3.sat else None

    def check_time(self) -> None:
        """Let the solver work until the deadline. Raises `Undecided` after it."""
        left = self._deadline - thread_time()
        if left < 0:
            raise Undecided(LATE)
        if self._solver is not None and left < CHECK_SECONDS:
            self._solver.set("timeout", int(1000 * left) + 1)

    def spend(self, cost: int) -> None:
        """Count what an operation may cost at most. Raises `Undecided` beyond a run's limit."""
        self.cost += cost
        self._steps += 1
        if not self._steps % 1024:
            self.check_time()
        if self._speculating:
            self._budget -= 1
            if self._budget < 0:
                raise CannotMerge
        if self.cost > MAX_COST:
            raise Undecided("the cost limit cannot be excluded")

    # --- merging -------------------------------------------------------------------------------

    def speculate(self, term: Term, side: bool, run: Callable[[], T]) -> T | None:
        """The result of `run` where a condition has this truth; None if it needs a fork, or raises.

        Nothing is decided by it.
        """
        if self._speculating >= DEEPEST:
            return None
        if not self._speculating:
            self._budget = SPECULATED
        self._speculating += 1
        new = self._facts.learn(z3.simplify(term), side)
        try:
            return run()
        except (CannotMerge, Raises, RecursionError):
            return None
        except Undecided as undecided:
            if undecided.reason == LATE:
                raise  # a replay would not fail in the same way
            return None
        finally:
            self._speculating -= 1
            self._facts.forget(new)

    # --- shapes --------------------------------------------------------------------------------

    def choose(self, conditions: Iterable[tuple[Condition, T]]) -> T:
        """The first of several cases, of which one must apply, that this path decides for."""
        for condition, value in conditions:
            if self.branch(condition):
                return value
        return self._refute()

    def _refute(self) -> NoReturn:
        """Give a path up, but not one that some input takes: no case may be left out."""
        solver = self.load()
        answer = z3.sat if solver is None else solver.check()
        if answer == z3.sat:
            raise InvariantError("the cases of a path leave some inputs out")
        if answer == z3.unknown:
            raise Undecided(HARD)
        raise Impossible

    def shape(self, value: Symbolic) -> Symbolic:
        """A value that is a pair, an atom, or an atom of undecided length that is not empty."""
        while isinstance(value, Lazy) and not value.longer:
            value = self._decide(value)
        if isinstance(value, Hidden):
            raise Undecided(f"{value.name} has no form that is known")
        return value

    def atom(self, value: Symbolic) -> bytes | Number | Bytes | Truth:
        """A value as an atom; a pair raises."""
        while isinstance(value, Lazy):
            value = self._decide(value)
        if isinstance(value, Hidden):
            raise Undecided(f"{value.name} has no form that is known")
        if isinstance(value, tuple):
            raise Raises
        return value

    def _decide(self, lazy: Lazy) -> Symbolic:
        value = self.decided.get(lazy.name)
        if value is None:
            if self._speculating:
                raise CannotMerge
            number = self.choose(
                (selected(lazy, number), number) for number in range(len(lazy.alternatives))
            )
            value, conditions = lazy.alternatives[number]()
            for condition in conditions:
                self.assume(condition)
            self.decided[lazy.name] = value
            self.bounded = self.bounded or lazy.bounded
        return value

    def note_numbers(self, values: Iterable[Symbolic]) -> None:
        """Note that arithmetic has taken these for numbers."""
        for value in values:
            atom = value
            while isinstance(atom, Lazy) and atom.name in self.decided:
                atom = self.decided[atom.name]
            if isinstance(atom, bytes | Bytes):
                self.read_as_numbers[name_of(atom)] = atom

    def number(self, value: Symbolic) -> Number:
        """A value as a number; a pair raises."""
        value = self.shape(value)
        if isinstance(value, Lazy) and self.is_long(value) and long_atoms.has_number(value):
            minimal = self.branch(long_atoms.is_minimal(value))
            negative = self.branch(long_atoms.is_negative(value))
            self.long.append(value)
            number = long_atoms.number_of(value, minimal, negative)
            self.assume(long_atoms.within_bounds(value, number))
            return number
        return as_number(self.atom(value))

    def narrowed(self, number: Number) -> Number:
        """A number with the bounds that it has on this path.

        Two sides that follow one number by other bounds would get unlike products of it.
        """
        if self._solver is None:
            return number
        least, most = self.linear.bounds(number.term)
        least, most = max(least, number.least), min(most, number.most)
        # Bounds that exclude each other: no input takes this path.
        return as_number(make_number(number.term, least, most)) if least <= most else number

    def note_result(self, kind: str, result: Result) -> None:
        """Note a result of an unknown function of this kind, once."""
        known = self.results.setdefault(kind, [])
        if not any(result.term.eq(other.term) for other in known):
            known.append(result)

    def note_factors(self, product: Number, factors: Sequence[Number]) -> None:
        """Note the factors of a product."""
        if len(factors) > 1:
            self._factors[product.term.get_id()] = product, tuple(factors)

    def factors_of(self, number: Number) -> tuple[Number, ...]:
        """The factors of a product that was noted; any other number is its own only one."""
        noted = self._factors.get(number.term.get_id())
        return noted[1] if noted is not None else (number,)

    def is_long(self, value: Symbolic) -> bool:
        """True for a long atom of which the length is not decided."""
        if not isinstance(value, Lazy) or value.long is None:
            return False
        return value.name not in self.decided

    def bytes(self, value: Symbolic) -> bytes | Bytes:
        """A value as bytes of known length; a number is split into cases by its length."""
        atom = self.atom(value)
        if isinstance(atom, Truth):
            return b"\x01" if self.branch(atom.term) else NIL
        if not isinstance(atom, Number):
            return atom
        size = self.choose((fits(atom, size), size) for size in sizes(atom))
        if not size:
            return NIL
        wide = (
            atom.term
            if atom.term.size() >= 8 * size
            else z3.SignExt(8 * size - atom.term.size(), atom.term)
        )
        return Bytes(z3.simplify(z3.Extract(8 * size - 1, 0, wide)), size)

    def truth(self, value: Symbolic) -> Condition:
        """True where a value is not the empty atom."""
        value = self.shape(value)
        if isinstance(value, tuple | Lazy):
            return True
        assert not isinstance(value, Hidden)
        return truth_of(value)

    def value(self, number: Number, least: int, most: int) -> int | None:
        """The number, by cases; None where it is outside of these bounds. Raises `Undecided`."""
        low, high = max(least, number.least), min(most, number.most)
        if low > high:
            return None
        if z3.is_bv_value(term := z3.simplify(number.term)):
            constant = int(term.as_signed_long())
            return constant if least <= constant <= most else None
        if high - low >= MOST_VALUES:
            inside = z3.And(number.term >= low, number.term <= high)
            return self._each_value(number) if self.branch(inside) else None
        for constant in range(low, high + 1):
            if self.branch(number.term == constant):
                return constant
        if low > number.least or high < number.most:
            return None
        return self._refute()

    def _each_value(self, number: Number) -> int:
        """The number, by cases, where it has few values of a wide range. Raises `Undecided`."""
        if self._speculating:
            raise CannotMerge
        at = len(self._taken)
        values = self._replayed[at] if at < len(self._replayed) else self._values_or_reason(number)
        self._taken.append(values)
        if isinstance(values, str):
            raise Undecided(values)
        for constant in values:
            if self.branch(number.term == constant):
                return int(constant)
        return self._refute()

    def _values_or_reason(self, number: Number) -> tuple[int, ...] | str:
        """All values of a number, or the reason why they are not known: a replay has the same."""
        try:
            return few_values(self.load(), number, self.check_time)
        except Undecided as undecided:
            if undecided.reason == LATE:
                raise
            return undecided.reason


def explore(
    run: Callable[[Path], T], solver: z3.Solver, deadline: float
) -> Iterator[tuple[Path, T]]:
    """Run on every path, each with the solver at its conditions; raises `Undecided` when late.

    What `run` raises, other than that a path is impossible, ends all. A path leaves its conditions
    in the solver, since the next one mostly begins with the same.
    """
    waiting: list[Decisions] = [()]
    frames, linear = _frames_of(solver), Linear()
    while waiting:
        linear.begin()
        path = Path(solver, waiting.pop(), deadline, frames, linear)
        path.check_time()
        try:
            result = run(path)
        except Impossible:
            continue
        finally:
            waiting += path.alternatives
        path.load()
        yield path, result


def _frames_of(solver: z3.Solver | None) -> Frames | None:
    if solver is None:
        return None
    return Frames(solver.push, solver.pop, lambda conditions: solver.add(*conditions))
