"""The facts of one path through functions: what was decided, and what follows for each term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.terms import Term, Terms
from channelsim.channel.prove.modular.types import (
    ANY,
    NIL_TYPE,
    NONE,
    Type,
    meet,
    of_atom,
    of_atoms,
)
from channelsim.clsp.values import NIL, atom_to_int

OPEN: Final = Type(types.ANY_ATOM, ANY, ANY, False, False, False)
"""A set of every value that is not the one of `ANY`, so that its parts can be told apart."""

Fork = Callable[[], bool]


class Impossible(Exception):
    """No value takes this path."""


class Raised(Exception):
    """The program raises."""


class Unsupported(Exception):
    """Nothing can be said; the argument is the reason."""


class State:
    """The decisions of one path, the first of which are replayed.

    `alternatives` are the decisions of other paths that fork from it. `declared` are the values of
    inputs and of `calls`.
    """

    def __init__(
        self, terms: Terms, replayed: tuple[bool, ...] = (), two_sided: bool = False
    ) -> None:
        self.terms, self.two_sided = terms, two_sided
        self._replayed = replayed
        self._taken: list[bool] = []
        self.alternatives: list[tuple[bool, ...]] = []
        self.truths: dict[Term, bool] = {}
        self.refined: dict[Term, Type] = {}
        self.declared: dict[Term, Type] = {}
        self.calls: list[Term] = []
        self.bodies: frozenset[int] = frozenset()
        self._types: dict[Term, Type] = {}
        self._canonical: dict[Term, Term] = {}
        self.operations: Callable[[State, Term], Type] = lambda state, term: ANY
        self.rebuilt: Callable[[State, Term], Term] = lambda state, term: term

    # --- what is known ---------------------------------------------------------------------------

    def type_of(self, term: Term) -> Type:
        """The values that a term may have on this path."""
        found = self._types.get(term)
        if found is None:
            found = self._types[term] = self._type(term)
        return found

    def _type(self, term: Term) -> Type:
        held = self._plain(term)
        if term in self.truths and term.kind in TRUTHS:
            held = of_atom(b"\x01" if self.truths[term] else NIL)
        refined = self.refined.get(term)
        return held if refined is None else meet(held, refined)

    def _plain(self, term: Term) -> Type:
        match term.kind:
            case "atom":
                return of_atom(term.parts[0])
            case "code":
                return ANY
            case "pair":
                left, right = term.parts
                return types.of_pair(self.type_of(left), self.type_of(right))
            case "f" | "r":
                whole = self.type_of(term.parts[0])
                part = whole.first if term.kind == "f" else whole.rest
                return NONE if part is None else part
            case _ if term in self.declared:
                return self.declared[term]
        return self.operations(self, term)

    def only(self, term: Term) -> bytes | None:
        """The only atom that a term can be; None for others."""
        if term.kind == "atom":
            value: bytes = term.parts[0]
            return value
        if term.kind in ("pair", "code"):
            return None
        return self.type_of(term).only

    def number(self, term: Term) -> int | None:
        """The only number that a term can be read as; None for others."""
        atom = self.only(term)
        return None if atom is None else atom_to_int(atom)

    @property
    def decisions(self) -> int:
        """The number of forks so far."""
        return len(self._taken)

    # --- decisions -------------------------------------------------------------------------------

    def branch(self, term: Term, known: bool | None) -> bool:
        """Decide the truth of a term, by a fork where nothing is known of it."""
        if known is None:
            known = self.truths.get(term)
        if known is None and self.two_sided:
            plain = self.rebuilt(self, term)
            known = next(
                (
                    truth
                    for other, truth in self.truths.items()
                    if other.kind == term.kind and self.rebuilt(self, other) is plain
                ),
                None,
            )
        if known is not None:
            return known
        at = len(self._taken)
        if at < len(self._replayed):
            side = self._replayed[at]
        else:
            side = True
            self.alternatives.append((*self._taken, False))
        self._taken.append(side)
        self.learn(term, side)
        return side

    def learn(self, term: Term, truth: bool) -> None:
        """Add a fact. Raises `Impossible`."""
        self.truths[term] = truth
        self._forget()
        self._follow(term, truth)

    def follow_all(self) -> None:
        """Follow each fact again, with what is known now. Raises `Impossible` if two contradict
        each other."""
        for _ in range(ROUNDS):
            before = dict(self.refined)
            for term, truth in list(self.truths.items()):
                plain = self.rebuilt(self, term) if term.kind in TRUTHS else term
                if plain.kind == "atom" and (plain.parts[0] != NIL) != truth:
                    raise Impossible
                if term.kind != "nonempty" or term.parts[0].kind not in TRUTHS:
                    self._follow(term, truth)
            if self.refined == before:
                break
        plain_truths: dict[Term, bool] = {}
        for term, truth in self.truths.items():
            if (
                term.kind not in TRUTHS
                and plain_truths.setdefault(self.rebuilt(self, term), truth) is not truth
            ):
                raise Impossible

    def narrow(self, term: Term, held: Type) -> None:
        """Add that a term is in a set. Raises `Impossible`."""
        now = self.type_of(term)
        narrowed = meet(now, held)
        if narrowed is NONE:
            raise Impossible
        if narrowed is not now:
            self.refined[term] = narrowed
            self._forget()
            if term.kind == "strlen" and narrowed.atoms is not None:
                low, high = narrowed.atoms.least or 0, narrowed.atoms.most
                self.narrow(term.parts[0], of_atoms(types.atoms(max(low, 0), high)))

    def _forget(self) -> None:
        self._types.clear()
        self._canonical.clear()

    def _follow(self, term: Term, truth: bool) -> None:
        """Narrow what a fact is about."""
        match term.kind:
            case "is pair":
                (inner,) = term.parts
                held = self.type_of(inner)
                if held.any:
                    held = OPEN
                if truth:
                    self.narrow(inner, types.of_pair(held.first or NONE, held.rest or NONE))
                else:
                    self.narrow(inner, of_atoms(held.atoms))
            case "nonempty":
                (inner,) = term.parts
                self._follow_truth(inner, truth)
            case "=":
                left, right = term.parts
                self._follow_equal(left, right, truth)
            case ">":
                left, right = term.parts
                self._follow_greater(left, right, truth)
            case "ok":
                if truth and term.parts[0].kind == "substr":
                    text, _, end = term.parts[0].parts
                    if isinstance(end, int):
                        self.narrow(text, of_atoms(types.atoms(shortest=end)))

    def _follow_truth(self, inner: Term, truth: bool) -> None:
        if inner.kind in TRUTHS:
            self.learn(inner, truth)
            return
        held = self.type_of(inner)
        if not truth:
            self.narrow(inner, NIL_TYPE)
            return
        atoms = types.without(held.atoms, NIL)
        if held.any:
            held = OPEN
        if held.first is None:
            self.narrow(inner, of_atoms(atoms))
        elif held.again or held.rest is not None:
            assert held.rest is not None
            self.narrow(inner, types.exactly(atoms, held.first, held.rest))

    def _follow_equal(self, left: Term, right: Term, truth: bool) -> None:
        if truth:
            self.narrow(left, self.type_of(right))
            self.narrow(right, self.type_of(left))
            for whole, part in ((left, right), (right, left)):
                if whole.kind == "sum" and whole.parts == (0, ((part, 1),)):
                    minimal = types.atoms(minimal=True)
                    self.narrow(part, of_atoms(minimal))
                if whole.kind == "substr" and whole.parts[1:] == (0, 1):
                    self._follow_first_byte(whole.parts[0], part)
            return
        for one, other in ((left, right), (right, left)):
            atom = self.only(other)
            if atom is not None:
                self.narrow(one, of_atoms(types.without(self.type_of(one).atoms, atom)))

    def _follow_first_byte(self, text: Term, byte: Term) -> None:
        known = self.number(byte)
        if known is not None and known > 0:
            self.narrow(text, of_atoms(types.atoms(shortest=1, least=1)))

    def _follow_greater(self, left: Term, right: Term, truth: bool) -> None:
        mine, theirs = self.type_of(left).atoms, self.type_of(right).atoms
        if mine is None or theirs is None:
            return
        step = 1 if truth else 0
        if not truth:
            left, right, mine, theirs = right, left, theirs, mine
        # left >= right + step
        if theirs.least is not None:
            self.narrow(left, of_atoms(types.atoms(least=theirs.least + step)))
        if mine.most is not None:
            self.narrow(right, of_atoms(types.atoms(most=mine.most - step)))

    # --- one term for what is equal --------------------------------------------------------------

    def canonical(self, term: Term) -> Term:
        """The term that stands for a term, as far as this path knows."""
        found = self._canonical.get(term)
        if found is None:
            found = self._canonical[term] = self._made_canonical(term)
        return found

    def _made_canonical(self, term: Term) -> Term:
        only = self.only(term)
        if only is not None:
            return self.terms.constant(only)
        if term.kind in ("atom", "code", "input"):
            return term
        if term.kind == "pair":
            return self.terms.make("pair", *(self.canonical(part) for part in term.parts))
        return self.rebuilt(self, term)


ROUNDS = 3
"""The rounds in which all facts are followed again."""

TRUTHS = frozenset({"=", ">", ">s"})
"""The terms that are 1 or empty."""
