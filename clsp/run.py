"""Run programs, and classify the result of a validator.

A run ends in one of four ways. They are distinguished because they protect different sides:
`()` slashes the move, a raise only makes the slash *attempt* fail.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from chia_rs import MEMPOOL_MODE, LazyNode, run_chia_program

from channelsim.clsp.programs import Program
from channelsim.clsp.values import MAX_BYTES, NIL, BadValue, NotAList, Value, serialize

MAX_COST = 11_000_000_000
"""The cost of a whole block: no run may exceed it."""

STRICT = MEMPOOL_MODE
"""The flags of a node that takes a spend into its mempool: unknown operators raise."""

# chia_rs raises ValueError(reason, ...) for everything; these two reasons are no raise.
_COST_EXCEEDED = "cost exceeded"
_NOT_CLVM = "bad encoding"

OUT_OF_MEMORY = ("too many pairs", "too many atoms", "Out of Memory")
"""The interpreter's reasons where an endless run uses up memory before cost."""


MAX_PAIRS = 1 << 17
MAX_ATOM_BYTES = 1 << 22
"""The most pairs, and bytes of atoms, that are read of a result. A few bytes of CLVM can describe
lists with shared parts that would fill any memory when written out."""

FEWEST_PAIRS = 1 << 12
"""The pairs of a result that are read in any case, however little a run may cost."""


class ProgramRaised(Exception):
    """A program that should have returned a value raised, or ran out of cost."""


class TooLarge(ValueError):
    """A CLVM value has more pairs, or more bytes in its atoms, than the reader allows."""


@dataclass(frozen=True, slots=True)
class ProgramValid:
    """The run returned something other than `()`."""

    value: Value
    cost: int


@dataclass(frozen=True, slots=True)
class ProgramSlash:
    """The run returned `()`: for a validator, the move is illegal."""

    cost: int


@dataclass(frozen=True, slots=True)
class Raised:
    """The run raised, with the interpreter's reason; or its result is too large to read.

    A referee, which has to hash what a validator returns, fails on such a result as well.
    """

    error: str


@dataclass(frozen=True, slots=True)
class CostExceeded:
    """The run was cut off at its maximum cost."""


Outcome: TypeAlias = ProgramValid | ProgramSlash | Raised | CostExceeded
"""Every way in which a run can end."""


Observer: TypeAlias = Callable[[bytes, bytes], None]
"""Called with every run: the program and its arguments, serialized."""

_observers: list[Observer] = []

KNOWN = 16
"""The newest runs that were cut off at the cost of a block, of which the outcome is known."""

_cut_off: dict[tuple[bytes, bytes, int], Outcome] = {}
"""Their outcomes: such a run takes seconds, and whoever describes it asks for it again."""


_cut_offs = [0]


def cut_offs() -> int:
    """The number of runs so far in this process that were cut off at the cost of a block, or ran
    out of memory: each takes seconds."""
    return _cut_offs[0]


MOST_REMEMBERED = 1 << 13
"""The most runs that a block of `remembered` knows: the last that were asked for."""

MOST_ARGS, MOST_PAIRS, MOST_BYTES = 1 << 14, 1 << 9, 1 << 14
"""The bytes of arguments, and the pairs and the bytes of a result, of which more is not
remembered."""

_memory: ContextVar[OrderedDict[tuple[bytes, bytes, int], Outcome] | None] = ContextVar(
    "memory", default=None
)


@contextmanager
def remembered() -> Iterator[None]:
    """Run each program on the same arguments once in this block: both sides of a game run it.

    A run is a function of its bytes. Observers hear of each, remembered or not. A block inside
    another one shares its results.
    """
    if _memory.get() is not None:
        yield
        return
    token = _memory.set(OrderedDict())
    try:
        yield
    finally:
        _memory.reset(token)


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer` for each run in this block (for measurements)."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def is_cut_off(outcome: Outcome) -> bool:
    """True if the run came to no end of its own: it used up all cost, or the memory."""
    return isinstance(outcome, CostExceeded) or (
        isinstance(outcome, Raised) and outcome.error in OUT_OF_MEMORY
    )


def run(program: Program, args: Value, max_cost: int = MAX_COST) -> Outcome:
    """Run a program on its environment, usually a list of arguments.

    >>> run(Program(bytes.fromhex("ff10ff02ff0580")), (b"\\x02", (b"\\x03", b"")))
    ProgramValid(value=b'\\x05', cost=856)
    """
    return run_serialized(program.serialized, serialize(args), max_cost)


def run_serialized(program: bytes, args: bytes, max_cost: int = MAX_COST) -> Outcome:
    """Run serialized bytes: the fast path for callers that patch arguments instead of rebuilding.

    Raises `BadValue` when the program or the arguments are no CLVM.
    """
    for observer in _observers:
        observer(program, args)
    key = program, args, max_cost
    memory = _memory.get() if len(args) <= MOST_ARGS else None
    if memory is not None and (known := memory.get(key)) is not None:
        memory.move_to_end(key)
        return known
    if _cut_off and (known := _cut_off.get(key)):
        return known
    outcome: Outcome
    is_small = True
    try:
        cost, result = run_chia_program(program, args, max_cost, STRICT)
    except ValueError as error:
        outcome = _failed(error)
        if max_cost == MAX_COST and is_cut_off(outcome):
            _cut_offs[0] += 1
            if len(_cut_off) == KNOWN:
                del _cut_off[next(iter(_cut_off))]
            _cut_off[key] = outcome
    else:
        try:
            is_slash = result.atom == NIL
            value = NIL if is_slash else to_value(result, MOST_PAIRS, MOST_BYTES)
            outcome = ProgramSlash(cost) if is_slash else ProgramValid(value, cost)
        except TooLarge:
            outcome, is_small = _large(result, cost, max_cost), False
    if memory is not None and is_small:
        memory[key] = outcome
        if len(memory) > MOST_REMEMBERED:
            memory.popitem(last=False)
    return outcome


def _failed(error: ValueError) -> Outcome:
    """The outcome of a run that the interpreter ended. Raises `BadValue` for what is no CLVM."""
    reason = str(error.args[0]) if error.args else ""
    if reason == _NOT_CLVM:
        raise BadValue("the program or its arguments are not serialized CLVM") from error
    return CostExceeded() if reason.startswith(_COST_EXCEEDED) else Raised(reason)


def most_pairs(max_cost: int) -> int:
    """The most pairs that are read of the result of a run which may cost so much.

    Whoever gives a program less to spend wants to spend less time on its result.

    >>> most_pairs(MAX_COST), most_pairs(MAX_COST // 100)
    (131072, 4096)
    """
    return max(FEWEST_PAIRS, MAX_PAIRS * min(max_cost, MAX_COST) // MAX_COST)


def _large(result: LazyNode, cost: int, max_cost: int) -> Outcome:
    """The outcome of a run with a large result, which may be too large."""
    try:
        return ProgramValid(to_value(result, most_pairs(max_cost)), cost)
    except TooLarge as error:
        return Raised(f"its result is too large to read: {error}")


def evaluate(program: Program, args: Value, max_cost: int = MAX_COST) -> Value:
    """Run a puzzle, or any program whose result is a plain value.

    Raises `ProgramRaised` when there is no result.
    """
    match run(program, args, max_cost):
        case ProgramValid() as valid:
            return valid.value
        case ProgramSlash():
            return NIL
        case Raised(error):
            raise ProgramRaised(error)
        case CostExceeded():
            raise ProgramRaised(f"{_COST_EXCEEDED}: more than {max_cost}")


def to_value(
    root: LazyNode, max_pairs: int = MAX_PAIRS, max_atom_bytes: int = MAX_ATOM_BYTES
) -> Value:
    """Convert an interpreter's node, counting shared parts each time they occur.

    Raises `TooLarge` before more than `max_pairs` pairs, or soon after `max_atom_bytes`
    bytes of atoms, are read.
    """
    # As values.tree_hash: a node is taken apart, None puts the last two values together.
    waiting: list[LazyNode | None] = [root]
    values: list[Value] = []
    pairs = size = 0
    while waiting:
        node = waiting.pop()
        if node is None:
            right = values.pop()
            values[-1] = (values[-1], right)
            continue
        atom = node.atom
        if atom is not None:
            size += len(atom)
            if size > max_atom_bytes:
                raise TooLarge(f"more than {max_atom_bytes} bytes of atoms")
            values.append(atom)
            continue
        if (pair := node.pair) is None:
            raise TypeError("a node that is neither an atom nor a pair")
        pairs += 1
        if pairs > max_pairs:
            raise TooLarge(f"more than {max_pairs} pairs")
        left, rest = pair
        waiting += (None, rest, left)
    return values[0]


def read_node(blob: bytes) -> LazyNode:
    """The interpreter's view of one serialized value, for reading only parts of it.

    Unlike `deserialize` it takes back-references, and time in proportion to
    the part that is read. Raises `BadValue`.
    """
    if len(blob) > MAX_BYTES:
        raise BadValue(f"{len(blob):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        # The program `1` returns its whole environment.
        return run_chia_program(b"\x01", blob, MAX_COST, 0)[1]
    except ValueError as error:
        raise BadValue(f"not serialized CLVM: {error.args[0]}") from None


def items(node: LazyNode, most: int) -> list[LazyNode]:
    """The items of a proper list, none of them read.

    Raises `NotAList`, and `TooLarge` for more than `most` items.
    """
    inside: list[LazyNode] = []
    while (pair := node.pair) is not None:
        if len(inside) == most:
            raise TooLarge(f"a list of more than {most} items")
        item, node = pair
        inside.append(item)
    if node.atom != NIL:
        raise NotAList(f"a list of {len(inside)} items does not end in ()")
    return inside


def outcome_word(outcome: Outcome) -> str:
    """The name of an outcome, as conformance cases have it.

    >>> outcome_word(ProgramSlash(1)), outcome_word(CostExceeded())
    ('slash', 'cost exceeded')
    """
    return _WORDS[type(outcome)]


_WORDS: dict[type[Outcome], str] = {
    ProgramValid: "valid",
    ProgramSlash: "slash",
    Raised: "raise",
    CostExceeded: "cost exceeded",
}
