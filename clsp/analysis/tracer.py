"""An interpreter that records which expressions and branches of a program its runs reach.

Every expression is compiled to a Python function of the environment once. Results and raises are
those of the node under its strict flags. Cost is not counted, so a run is bounded by steps instead
(see `Stopped`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Annotated, NamedTuple, TypeAlias

from msgspec import Meta

from channelsim.clsp.analysis.closures import (
    Run,
    Watcher,
    call_of,
    constant,
    deep,
    never,
    path,
    watched,
)
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.operands import OperandLog
from channelsim.clsp.analysis.shapes import is_choice, is_list, operands, quoted
from channelsim.clsp.operators import APPLY, IF, QUOTE, Operator, OperatorError, TooLong, operator
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramRaised, Raised
from channelsim.clsp.values import NIL, Value, deserialize

STEPS = 1_000_000
"""A run may apply (`a`) this many pieces of code: more than any run that fits into a block here."""


Figure: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 53)]
"""A count in a file."""


@dataclass(frozen=True, slots=True)
class CoverageCounts:
    """The numbers of nodes and branches, and of those that runs reached."""

    nodes: Figure = 0
    nodes_reached: Figure = 0
    branches: Figure = 0
    branches_reached: Figure = 0

    @property
    def whole(self) -> bool:
        """True if every node and branch was reached."""
        return (self.nodes, self.branches) == (self.nodes_reached, self.branches_reached)

    @property
    def shares(self) -> tuple[str, str]:
        """The nodes and the branches reached, each of how many, for a table."""
        return f"{self.nodes_reached}/{self.nodes}", f"{self.branches_reached}/{self.branches}"


class Reach(NamedTuple):
    """The nodes and branches that a run reached, by the ids of `clsp.analysis.code`."""

    nodes: frozenset[int]
    branches: frozenset[int]


@dataclass(slots=True)
class Coverage:
    """The nodes and branches that several runs of one program reached."""

    nodes: set[int] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)

    def add(self, reach: Reach | Coverage) -> bool:
        """Add what a run, or other runs, reached; whether any of it is new."""
        before = len(self.nodes) + len(self.branches)
        self.nodes |= reach.nodes
        self.branches |= reach.branches
        return len(self.nodes) + len(self.branches) > before

    def counts(self, tracer: Tracer) -> CoverageCounts:
        """The counts of this coverage for the tracer's program."""
        return CoverageCounts(tracer.nodes, len(self.nodes), tracer.branches, len(self.branches))


@dataclass(frozen=True, slots=True)
class Returned:
    """The run returned a value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run was cut off: too many steps, too deep, or an atom too long."""

    reason: str


End: TypeAlias = Returned | Raised | Stopped
"""The end of a traced run; its error texts are this tracer's, not the node's."""


class TooDeep(ValueError):
    """A program is nested deeper than compilers produce, and is not traced."""


class OutOfSteps(Exception):
    """The run has used up its steps."""


class Tracer:
    """Runs one program any number of times, and reports what each run reached.

    `symbols` are those of `clsp.programs.Program`; without them functions have
    no names, and an uncalled one is recognised by its shape. `log` has the operands of the last
    run. Raises `TooDeep`.

    >>> tracer = Tracer(Program(bytes.fromhex("ff10ff02ff0580")))
    >>> tracer.nodes, tracer.branches, tracer.run(bytes.fromhex("ff02ff0380"))
    (1, 0, Returned(value=b'\\x05'))
    """

    def __init__(
        self,
        program: Program,
        symbols: Mapping[str, str] | None = None,
        watcher: Watcher | None = None,
        log: OperandLog | None = None,
    ) -> None:
        self.program = program
        try:
            self.code = Code(program.value, symbols)
        except RecursionError:
            raise TooDeep("the program is nested too deep to be traced") from None
        self.nodes = len(self.code.expressions)
        self.branches = 2 * len(self.code.choices)
        # One more of each, for code that is not the program's own.
        self._hits = bytearray(self.nodes + 1)
        self._sides = bytearray(self.branches + 2)
        self._left = [0]
        self._watcher = watcher
        self._log = log
        self._paths: dict[bytes, Run] = {}
        # Code by identity: the program's own, and until the run's end what it brought along.
        self._compiled: dict[int, Run] = {}
        self._foreign: list[Value] = []

    def reach(self, arguments: bytes, steps: int = STEPS) -> Reach:
        """Run on this serialized environment and report what was reached, however the run ends.

        Raises `BadValue` for what is no serialized value.
        """
        self.run(arguments, steps)
        return Reach(
            frozenset(compress(range(self.nodes), self._hits)),
            frozenset(compress(range(self.branches), self._sides)),
        )

    def run(self, arguments: bytes, steps: int = STEPS) -> End:
        """Run on this serialized environment and report the end. Raises as `reach`."""
        own = self.program.serialized
        # A validator is given itself: most of what there is to read, and it is our own tree.
        part = (own, self.code.root) if isinstance(self.code.root, tuple) else None
        environment = deserialize(arguments, part)
        self._hits[:] = bytes(self.nodes + 1)
        self._sides[:] = bytes(self.branches + 2)
        self._left[0] = steps
        if self._log is not None:
            self._log.clear()
        try:
            with deep():
                return Returned(self._code(self.code.root)(environment))
        except OperatorError as error:
            return Raised(str(error))
        except OutOfSteps:
            return Stopped(f"more than {steps} steps")
        except (TooLong, ProgramRaised) as error:
            return Stopped(str(error))
        except RecursionError:
            return Stopped("too deep")
        finally:
            for code in self._foreign:
                del self._compiled[id(code)]
            self._foreign.clear()

    # --- compiling ----------------------------------------------------------------------------

    def _code(self, code: Value) -> Run:
        """A piece of code as a function, cached for the program or for the run."""
        if isinstance(code, bytes):
            return self._path(code)
        run = self._compiled.get(id(code))
        if run is None:
            run = self._compiled[id(code)] = self._expression(code)
            if not self.code.holds(code):
                self._foreign.append(code)
        return run

    def _path(self, atom: bytes) -> Run:
        run = self._paths.get(atom)
        if run is None:
            run = self._paths[atom] = path(atom)
        return run

    def _expression(self, node: Value) -> Run:
        if isinstance(node, bytes):
            return self._path(node)
        head, rest = node
        if head == QUOTE:
            return lambda environment: rest
        known = self.code.id_of(node)
        here = self.nodes if known is None else known
        run = self._operation(node, here)
        return run if self._watcher is None else watched(node, run, self._watcher)

    def _operation(self, node: tuple[Value, Value], here: int) -> Run:
        head, rest = node
        given = list(operands(node))
        if isinstance(head, tuple):
            inner, end = head
            # ((X) …): the operands are taken as they stand. Any atom ends the inner list.
            if isinstance(inner, tuple) or isinstance(end, tuple) or inner == QUOTE:
                return self._refused("no operator", here)
            head, compiled = inner, [constant(operand) for operand in given]
        elif not is_list(rest):
            return self._refused("a list of operands without an end", here)
        elif head == APPLY and len(given) == 2 and self._watcher is None:
            choice = given[0]
            if given[1] == b"\x01" and is_choice(choice):
                return self._branch(here, choice)
            compiled = [self._expression(operand) for operand in given]
        else:
            compiled = [self._expression(operand) for operand in given]
        if head == APPLY:
            return self._apply(compiled, here)
        if head == IF and len(compiled) == 3:
            return self._choice(node, compiled, here)
        called = operator(head)
        if self._log is not None:
            called = self._log.logged(called)
        return call_of(called, compiled, self._hits, here)

    def _refused(self, reason: str, here: int) -> Run:
        hits = self._hits

        def run(environment: Value) -> Value:
            hits[here] = 1
            raise OperatorError(reason)

        return run

    def _apply(self, given: list[Run], here: int) -> Run:
        if len(given) != 2:
            return call_of(Operator("a", never, 2, 2), given, self._hits, here)
        hits, left, compiled, code = self._hits, self._left, self._compiled, self._code
        watcher = self._watcher
        program, inner = given

        def run(environment: Value) -> Value:
            hits[here] = 1
            given = inner(environment)
            body = program(environment)
            if left[0] <= 0:
                raise OutOfSteps
            left[0] -= 1
            if watcher is not None:
                watcher.applies(body, given)
            return (compiled.get(id(body)) or code(body))(given)

        return run

    def _choice(self, node: Value, given: list[Run], here: int) -> Run:
        """An `i`: all of its operands are evaluated."""
        hits, sides, first = self._hits, self._sides, self._sides_of(node)
        test, then, otherwise = given

        def run(environment: Value) -> Value:
            hits[here] = 1
            no = otherwise(environment)
            yes = then(environment)
            if test(environment) != NIL:
                sides[first] = 1
                return yes
            sides[first + 1] = 1
            return no

        return run

    def _branch(self, here: int, choice: Value) -> Run:
        """`(a (i test (q . ONE) (q . OTHER)) 1)`, the compiled form of an `if`, in one step."""
        hits, sides, left, first = self._hits, self._sides, self._left, self._sides_of(choice)
        known = self.code.id_of(choice)
        inside = self.nodes if known is None else known
        asked, *chosen = operands(choice)
        test = self._expression(asked)
        then, otherwise = (self._expression(quoted(side) or NIL) for side in chosen)

        def run(environment: Value) -> Value:
            hits[here] = hits[inside] = 1
            if test(environment) != NIL:
                sides[first] = 1
                chosen = then
            else:
                sides[first + 1] = 1
                chosen = otherwise
            if left[0] <= 0:
                raise OutOfSteps
            left[0] -= 1
            return chosen(environment)

        return run

    def _sides_of(self, choice: Value) -> int:
        known = self.code.choice_of(choice)
        return self.branches if known is None else 2 * known
