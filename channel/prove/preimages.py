"""Preimages: inputs whose hashes have the few digits that a path wants, by drawing them.

No solver finds one. What a path wants of a hash is seen when the rest of its input is fixed: a
byte, two equal bytes, a remainder. Hashes of drawn bytes are computed until one has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

import z3

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.models.byte_models import HASH
from channelsim.channel.prove.symbols import Condition, Term

MOST_FIXED = 18
"""The most bits of a hash that a path may want: more would take minutes."""

DRAWN = 1 << 20
"""The most secrets that are drawn for a hash, 5 µs each."""

EVALUATED = 1 << 16
"""The most of them for which the solver evaluates a term, 0.05 ms each."""

CHECKED = 1 << 10
"""The secrets after which the time is looked at."""

STEPS = 500_000
"""The most steps of the solver on one question about a hash alone."""


def preimages(
    solver: z3.Solver, term: Term, model: z3.ModelRef, check_time: Callable[[], None]
) -> Iterator[Sequence[Condition]]:
    """Secrets and their real hashes, with which the conditions of a solver on a hash seem to hold
    if all else is as in a model.

    Commitments of the input are real ones, too, as are hashes inside of what is hashed. A secret
    need not be possible: the solver has to be asked.
    """
    conditions = [*_parts(solver.assertions())]
    commitments = _commitments(conditions)
    chain = _chain(term, commitments)
    if not chain:
        return
    text = chain[0].arg(0)
    secret = z3.BitVec("secret", text.size())
    digits = [z3.BitVec(f"digits {number}", each.size()) for number, each in enumerate(chain)]
    names = _parts_of_secret(text, secret, model)
    by_hash = {each.get_id(): name for each, name in zip(chain, digits, strict=True)}
    names |= by_hash
    for constant, hashed in commitments.items():
        if hashed.get_id() in by_hash:
            names[constant] = by_hash[hashed.get_id()]
    wanted = _wanted(conditions, digits[-1], names, model)
    bits = _fixed_bits(wanted, digits[-1])
    if bits is None:
        return
    mask, value = bits
    later_texts = [_closed(hashed.arg(0), names, model) for hashed in chain[1:]]
    known = model.eval(text, True).as_long().to_bytes(text.size() // 8, "big")
    chance = FastChance(known)
    places = _free_bytes(solver, text, known, chance)
    evaluated = 0
    for count in range(DRAWN if places else 0):
        if not count % CHECKED:
            check_time()
        drawn = bytearray(known)
        for place, byte in zip(places, chance.bytes(len(places)), strict=True):
            drawn[place] = byte
        numbers = [int.from_bytes(drawn, "big"), _hashed(drawn)]
        for later_text in later_texts:
            whole = _evaluated(later_text, [secret, *digits], numbers)
            numbers.append(_hashed(whole.as_long().to_bytes(whole.size() // 8, "big")))
        evaluated += bool(later_texts)
        if numbers[-1] & mask == value:
            evaluated += 1
            if z3.is_true(_evaluated(wanted, [secret, *digits], numbers)):
                terms = zip([text, *chain], numbers, strict=True)
                yield [each == number for each, number in terms]
        if evaluated >= EVALUATED:
            return


def _is_hash(term: Term) -> bool:
    return bool(term.num_args() == 1 and term.decl().name().startswith(HASH))


def _commitments(conditions: Sequence[Condition]) -> dict[int, Term]:
    """The hashes that constants of an input are equal to, by the solver's ids of these."""
    found: dict[int, Term] = {}
    for condition in conditions:
        if z3.is_eq(condition):
            left, right = condition.children()
            for hashed, other in ((left, right), (right, left)):
                if _is_hash(hashed) and z3.is_const(other):
                    found[other.get_id()] = hashed
    return found


def _chain(term: Term, commitments: Mapping[int, Term]) -> list[Term]:
    """The hashes that a hash depends on, and itself, each after those that it depends on; none if
    it depends on another unknown function, or on itself."""
    chain: list[Term] = []
    open_ids: set[int] = set()

    def visit(hashed: Term) -> bool:
        """Add a hash after those that it depends on; False for another function."""
        if any(hashed.eq(known) for known in chain):
            return True
        if hashed.get_id() in open_ids or not _is_hash(hashed):
            return False
        open_ids.add(hashed.get_id())
        for part in _inside(hashed.arg(0)):
            part = commitments.get(part.get_id(), part)
            if part.num_args() and not visit(part):
                return False
        chain.append(hashed)
        return True

    return chain if visit(term) else []


def _parts_of_secret(text: Term, secret: Term, model: z3.ModelRef) -> dict[int, Term]:
    """The constants that are in what is hashed, by the solver's ids, as parts of a secret; their
    other bits are as in a model."""
    text = z3.simplify(text)
    found: dict[int, Term] = {}
    end = secret.size()
    for part in text.children() if text.decl().kind() == z3.Z3_OP_CONCAT else [text]:
        end -= part.size()
        own = z3.Extract(end + part.size() - 1, end, secret)
        if part.decl().kind() == z3.Z3_OP_EXTRACT:
            high, low = part.params()
            whole = part.arg(0)
            known = found.get(whole.get_id(), model.eval(whole, True))
            above = (
                [z3.Extract(whole.size() - 1, high + 1, known)] if high + 1 < whole.size() else []
            )
            below = [z3.Extract(low - 1, 0, known)] if low else []
            pieces = [*above, own, *below]
            found[whole.get_id()] = z3.Concat(*pieces) if len(pieces) > 1 else own
        else:
            found[part.get_id()] = own
    return found


def _hashed(data: bytes | bytearray) -> int:
    return int.from_bytes(sha256(data).digest(), "big")


def _evaluated(expression: Term, names: Sequence[Term], numbers: Sequence[int]) -> Term:
    """An expression of names, of which the first ones have these numbers."""
    pairs = zip(names, numbers, strict=False)
    known = [(name, z3.BitVecVal(number, name.size())) for name, number in pairs]
    return z3.simplify(z3.substitute(expression, *known))


def _wanted(
    conditions: Sequence[Condition], last: Term, names: Mapping[int, Term], model: z3.ModelRef
) -> Condition:
    """The conditions on the last hash.

    Conditions that want more digits than can be found are left out: such as the equality with a
    commitment, which can be the real one.
    """
    kept: list[Condition] = []
    for condition in conditions:
        if any(names.get(part.get_id()) is last for part in _inside(condition)):
            own = _closed(condition, names, model)
            if _fixed_bits(own, last) is not None:
                kept.append(own)
    return z3.simplify(z3.And(*kept))


def _parts(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """Conditions without the conjunctions around them."""
    for condition in conditions:
        if z3.is_and(condition):
            yield from _parts(condition.children())
        else:
            yield condition


def _inside(expression: Term) -> Iterator[Term]:
    """The constants, and the applications of unknown functions, in an expression."""
    seen: set[int] = set()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield part
        waiting += part.children()


def _closed(expression: Term, names: Mapping[int, Term], model: z3.ModelRef) -> Term:
    """An expression of the named terms alone: all else is as in a model."""
    pairs = [
        (part, names[part.get_id()] if part.get_id() in names else model.eval(part, True))
        for part in _inside(expression)
    ]
    return z3.simplify(z3.substitute(expression, *pairs))


def _fixed_bits(wanted: Condition, digits: Term) -> tuple[int, int] | None:
    """The bits of a hash that conditions fix, as a mask, and their values; None for too many."""
    solver = z3.Solver()
    solver.set("rlimit", STEPS)
    solver.add(wanted)
    answer = solver.check()
    if answer != z3.sat:
        return None if answer == z3.unsat else (0, 0)
    value = solver.model().eval(digits, True).as_long()
    mask = 0
    waiting = [(digits.size() - 1, 0)]
    while waiting and mask.bit_count() <= MOST_FIXED:
        high, low = waiting.pop()
        others = ~(value >> low) & ((1 << (high - low + 1)) - 1)
        if solver.check(z3.Extract(high, low, digits) == others) != z3.unsat:
            continue
        if high == low:
            mask |= 1 << low
        else:
            middle = (high + low) // 2
            waiting += [(high, middle + 1), (middle, low)]
    return (mask, value & mask) if mask.bit_count() <= MOST_FIXED else None


def _free_bytes(solver: z3.Solver, text: Term, known: bytes, chance: FastChance) -> Sequence[int]:
    """The places of the bytes that may be any others, as far as drawn ones tell."""
    other = int.from_bytes(chance.bytes(len(known)), "big")
    if solver.check(text == other) == z3.sat:
        return range(len(known))
    places: list[int] = []
    for place in range(len(known)):
        changed = bytearray(known)
        changed[place] ^= 1 + chance.below(255)
        if solver.check(text == int.from_bytes(changed, "big")) == z3.sat:
            places.append(place)
    return places
