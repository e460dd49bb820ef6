"""Make inputs of a path concrete, and run programs on them for real.

The solver knows nothing of SHA-256. So the hashes of an input are computed from the inside out:
what is hashed is fixed as the solver has it, and its hash set to the real one, which the rest of
the input has to agree with. A commitment follows its secret in this way. Where a path depends on
the digits of a hash, secrets are drawn until one has them (`preimages`), and others are tried that
the solver chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

import z3

from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.executor import Ending, RaisedHere, Returned
from channelsim.channel.prove.inputs import Inputs, Variable, Variables, concrete, undecided
from channelsim.channel.prove.models.byte_models import HASH
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.preimages import preimages
from channelsim.channel.prove.solver import pushed
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Lazy,
    Number,
    Symbolic,
    Term,
    Truth,
    selected,
)
from channelsim.clsp.programs import Program
from channelsim.clsp.run import (
    CostExceeded,
    Outcome,
    ProgramSlash,
    ProgramValid,
    Raised,
    outcome_word,
    run,
)
from channelsim.clsp.values import NIL, Value, serialize

ATTEMPTS = 24
"""The secrets that are tried for a path that depends on the digits of their hashes."""

TRIED = 8
"""The preimages of a hash with which all other hashes are tried."""

FEW_BITS = 9
"""The bits of a secret of which all values are tried."""


Functions: TypeAlias = Mapping[str, Callable[[int], int]]
"""What computes unknown functions that are no hashes, by their names."""


class WrongModel(InvariantError):
    """A real run ends in another way than the models of the operators say."""


@dataclass(frozen=True, slots=True)
class Example:
    """A concrete input of a path, and the values that the programs should return, by the models;
    None for one that raises, or of which nothing is known."""

    environment: Value
    values: tuple[Value | None, ...]


def example(
    solver: z3.Solver, path: Path, inputs: Inputs, endings: Sequence[Ending]
) -> Example | None:
    """A concrete input of a path, with which the solver is loaded; None if none is found."""
    results = [ending.value for ending in endings if isinstance(ending, Returned)]
    decided = dict(path.decided)
    with pushed(solver):
        _decide_shapes(solver, [inputs.environment, *results, *path.long], decided)
        terms = [*solver.assertions(), *terms_in(results, decided)]
        hashes = _hashes(terms, path.functions)
        for attempt in range(_attempts(hashes)):
            facts: list[Condition] = []
            model = _with_real_hashes(solver, hashes, facts, path)
            if model is None and not attempt:
                model = _with_drawn_preimages(solver, hashes, path)
            if model is not None:

                def evaluated(term: Term, model: z3.ModelRef = model) -> Term:
                    return model.eval(term, True)

                values = tuple(
                    concrete(ending.value, decided, evaluated)
                    if isinstance(ending, Returned)
                    else None
                    for ending in endings
                )
                return Example(concrete(inputs.environment, decided, evaluated), values)
            if not facts:
                return None
            solver.add(*facts)  # true of the real function; another secret has to be found
    return None


def _attempts(hashes: Sequence[Term]) -> int:
    """How many inputs are tried: all, where what is hashed has few bits altogether."""
    secrets = {term.arg(0).get_id(): term.arg(0).size() for term in hashes}
    bits = sum(secrets.values())
    return max(ATTEMPTS, 1 << bits) if bits <= FEW_BITS else ATTEMPTS


def _decide_shapes(
    solver: z3.Solver, values: Iterable[Symbolic], decided: dict[str, Symbolic]
) -> None:
    """Give the first possible shape to each part of which no program looked at the shape."""
    for value in values:
        while lazies := undecided(value, decided):
            for lazy in lazies:
                number = _first_possible(solver, lazy)
                if len(lazy.alternatives) > 1:
                    solver.add(selected(lazy, number))
                decided[lazy.name], conditions = lazy.alternatives[number]()
                for condition in conditions:
                    solver.add(condition)


def _first_possible(solver: z3.Solver, lazy: Lazy) -> int:
    """The first alternative; of an atom whose length was looked at, one that is possible."""
    if not lazy.longer or solver.check(lazy.selector == 0) == z3.sat:
        return 0
    if solver.check() != z3.sat:
        return 0
    chosen = solver.model().eval(lazy.selector, True).as_signed_long()
    last = len(lazy.alternatives) - 1
    return chosen if 0 <= chosen < last else last


def _with_real_hashes(
    solver: z3.Solver, hashes: Sequence[Term], facts: list[Condition], path: Path
) -> z3.ModelRef | None:
    """An input with which all hashes are real ones; adds to the `facts` what was computed.

    The solver is asked again only where its last input is none of what was added since.
    """
    with pushed(solver):
        model = _model(solver)
        if model is not None:
            model = _at_once(solver, model, hashes, path)
        for term in hashes:
            model = model or _model(solver)
            if model is None:
                return None
            text, real = _real(term, model, path)
            if not _is(model, term, real):
                near = _near(solver, term, model, path)
                if near is None:
                    model = None
                else:
                    text, real = near
                    model = solver.model()
            facts.append(term.decl()(text) == real)
            solver.add(term.arg(0) == text, term == real)
        return model or _model(solver)


def _with_drawn_preimages(
    solver: z3.Solver, hashes: Sequence[Term], path: Path
) -> z3.ModelRef | None:
    """The same with a drawn preimage of one hash."""
    for term in hashes:
        model = _model(solver)
        if model is None:
            return None
        for drawn in islice(preimages(solver, term, model, path.check_time), TRIED):
            with pushed(solver):
                solver.add(*drawn)
                real_model = _with_real_hashes(solver, hashes, [], path)
            if real_model is not None:
                return real_model
    return None


def _model(solver: z3.Solver) -> z3.ModelRef | None:
    return solver.model() if solver.check() == z3.sat else None


def _at_once(
    solver: z3.Solver, model: z3.ModelRef, hashes: Sequence[Term], path: Path
) -> z3.ModelRef:
    """An input with the real values of all hashes with none inside, or with arguments near them.

    The one that is given where there is none of all these together.
    """
    together: list[Condition] = []
    for term in hashes:
        if term.arg(0).get_id() not in _plain:
            continue
        text, real = _real(term, model, path)
        if not _is(model, term, real):
            text, real = next(_nearby(term, model, path), (text, real))
        together += [term.arg(0) == text, term == real]
    if all(_is(model, each, z3.BoolVal(True)) for each in together):
        return model
    return solver.model() if solver.check(*together) == z3.sat else model


def _real(term: Term, model: z3.ModelRef, path: Path) -> tuple[Term, Term]:
    """The argument of an unknown function in a model, and the real result."""
    text = model.eval(term.arg(0), True)
    real = z3.BitVecVal(_computed(term, text.as_long(), path.functions), term.size())
    return text, real


def _is(model: z3.ModelRef, term: Term, value: Term) -> bool:
    return bool(model.eval(term, True).eq(value))


def _nearby(term: Term, model: z3.ModelRef, path: Path) -> Iterator[tuple[Term, Term]]:
    """Other arguments that may have the result of a model, with their real results."""
    near = path.near.get(term.decl().name())
    if near is None:
        return
    text, wanted = model.eval(term.arg(0), True), model.eval(term, True)
    for changed in near(text.as_long(), wanted.as_long()):
        computed = _computed(term, changed, path.functions)
        yield z3.BitVecVal(changed, text.size()), z3.BitVecVal(computed, term.size())


def _near(
    solver: z3.Solver, term: Term, model: z3.ModelRef, path: Path
) -> tuple[Term, Term] | None:
    """The first of these that the rest of the input allows: the solver has it then."""
    for text, real in _nearby(term, model, path):
        if solver.check(term.arg(0) == text, term == real) == z3.sat:
            return text, real
    return None


def _computed(term: Term, text: int, functions: Functions) -> int:
    """The real value of an unknown function of known bytes."""
    name = term.decl().name()
    if name in functions:
        return functions[name](text)
    data = text.to_bytes(term.arg(0).size() // 8, "big")
    return int.from_bytes(sha256(data).digest(), "big")


def terms_in(values: Iterable[Symbolic], decided: dict[str, Symbolic]) -> list[Term]:
    """The terms in values whose shapes are decided."""
    terms, waiting = [], list(values)
    while waiting:
        value = waiting.pop()
        match value:
            case (left, right):
                waiting += (left, right)
            case Number(term) | Bytes(term) | Truth(term):
                terms.append(term)
            case bytes():
                pass
            case _:
                if (part := decided.get(value.name)) is not None:
                    waiting.append(part)
    return terms


def _hashes(terms: Iterable[Term], functions: Functions) -> list[Term]:
    """The hashes and other unknown functions in terms, each after those inside of it."""
    if len(_plain) > MOST_PLAIN:
        _plain.clear()
    hashes: list[Term] = []
    seen: set[int] = set()
    waiting: list[tuple[Term, Sequence[Term] | None]] = [(term, None) for term in terms]
    while waiting:
        term, parts = waiting.pop()
        number, name = term.get_id(), term.decl().name()
        if parts is not None:
            if name.startswith(HASH) or name in functions:
                hashes.append(term)
            elif not _is_unknown_function(term) and all(part.get_id() in _plain for part in parts):
                _plain[number] = term
        elif number not in seen and number not in _plain:
            seen.add(number)
            parts = term.children()
            waiting.append((term, parts))
            waiting += [(part, None) for part in parts]
    return hashes


def _is_unknown_function(term: Term) -> bool:
    return bool(term.num_args() and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


MOST_PLAIN = 100_000
_plain: dict[int, Term] = {}
"""Terms without unknown functions in them, by the solver's ids: the paths of a part share most."""


# --- real runs ---------------------------------------------------------------------------------


def outcomes(programs: Sequence[Program], environment: Value) -> tuple[Outcome, ...]:
    """Run programs for real."""
    return tuple(run(program, environment) for program in programs)


def differ(left: Outcome, right: Outcome) -> bool:
    """True if two runs end in different ways, or return different values; costs may differ."""
    if isinstance(left, ProgramValid) and isinstance(right, ProgramValid):
        return serialize(left.value) != serialize(right.value)
    return type(left) is not type(right)


def check_models(
    name: str, ending: Ending, value: Value | None, real: Outcome, environment: Value
) -> None:
    """Compare a real run with what the models say. Raises `WrongModel`."""
    match ending, real:
        case Returned(), ProgramValid(found):
            agrees = value is not None and serialize(found) == serialize(value)
        case Returned(), ProgramSlash():
            agrees = value == NIL
        case RaisedHere(), Raised():
            agrees = True
        case ((Returned() | RaisedHere()), _):
            agrees = False
        case _:
            return
    if (
        isinstance(ending, Returned)
        and isinstance(real, ProgramValid | ProgramSlash)
        and real.cost > ending.cost
    ):
        raise WrongModel(f"{name}: a run costs {real.cost}, more than its bound {ending.cost}")
    if not agrees:
        said = "a raise" if isinstance(ending, RaisedHere) else _short(value)
        got = _short(real.value) if isinstance(real, ProgramValid) else outcome_word(real)
        raise WrongModel(
            f"{name}: a model of an operator is wrong: {said} by the models, {got} in a real run"
            f" on {serialize(environment).hex()}"
        )


def _short(value: Value | None) -> str:
    text = serialize(value if value is not None else NIL).hex()
    return text if len(text) <= 80 else f"{text[:80]}…"


def cut_off(real: Outcome) -> bool:
    """True if a run was cut off at its cost limit."""
    return isinstance(real, CostExceeded)


# --- samples -----------------------------------------------------------------------------------


def sampled(chance: FastChance, words: Sequence[int]) -> Variables:
    """Draw constants for inputs: at their bounds, near `words` of the programs, or anything."""

    def draw(variable: Variable) -> Term:
        """Draw one input."""
        if variable.among:
            return z3.BitVecVal(chance.pick(variable.among), variable.bits)
        return z3.BitVecVal(_drawn(chance, words, variable.least, variable.most), variable.bits)

    return draw


def _drawn(chance: FastChance, words: Sequence[int], least: int, most: int) -> int:
    lot = chance.random()
    if lot < 0.25:
        number = chance.pick((least, most, 0, 1, -1, least + 1, most - 1))
    elif lot < 0.5 and words:
        number = chance.pick(words) + chance.pick((0, 0, 1, -1))
    elif lot < 0.75:
        bits = max(most.bit_length(), least.bit_length(), 1)
        number = chance.below(1 << (chance.below(bits) + 1)) * chance.pick((1, -1))
    else:
        return chance.between(least, most)
    return number if least <= number <= most else chance.between(least, most)
