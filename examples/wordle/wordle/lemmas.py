"""The marks of a guess, of which the prover shows by itself that program and rules agree."""

from __future__ import annotations

from channelsim.games.forms import Atom
from channelsim.games.lemma import Lemma
from wordle.marks import marks

MARKS = Lemma(
    name="the marks of a guess",
    function="marks",
    python=marks,
    arguments=(Atom(5), Atom(5)),
    result=Atom(5),
    cost=10_000_000,
    solvable=True,
)
