"""Rules on stand-ins: constructs that are followed, planted differences, wrong stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import z3

from channelsim.channel.prove.concrete_runs import WrongModel
from channelsim.channel.prove.models import byte_models
from channelsim.channel.prove.rules import builtin_models, choices, library_models, sets
from channelsim.channel.prove.rules.running import Merged
from channelsim.channel.prove.rules.standins import data, digest, unseen
from channelsim.channel.prove.rules.standins.data import Data
from channelsim.channel.prove.rules.standins.ints import Int, bool_of, number_of, symbol_of_number
from channelsim.channel.prove.symbols import as_number, make_number, resize
from tests.channel.command import channelsim
from tests.channel.prove.rules.toys import END, TO_OTHER, Toy, examined, question_of
from tests.sampling import one_in

Patch = pytest.MonkeyPatch

LIST = "numbers: Annotated[tuple[int, ...], ListOf(ByteIn(range(8), 'a number'), 3)]"
HASHED = "commit: Bytes32"
CARDS = f'''{LIST}
def check_fields(self):
    """Two are never the same."""
    if len(set(self.numbers)) < len(self.numbers):
        raise BadState("the same twice")
'''

BOUND = "(if (> MOVE 0) (if (> 11 MOVE) " + END + " ()) ())"
SIZED = "(if (= (strlen MOVE) 1) {} ())"

FOLLOWED: dict[str, Toy] = {
    "chained comparison": Toy(
        'return Valid(None) if 0 < atom_to_int(move) <= 10 else Slash("R")', BOUND
    ),
    "and, or, not": Toy(
        """
number = atom_to_int(move)
if not (number > 0 and (number < 10 or number == 10)):
    return Slash("R")
return Valid(None)
""",
        BOUND,
    ),
    "in a range, and in a tuple": Toy(
        """
if len(move) != 1 or move[0] not in range(2, 9, 3) or move in (b"\\x02", b"\\x05"):
    return Slash("R")
return Valid(None)
""",
        f"(if (= MOVE 8) {END} ())",
    ),
    "a set of what is known": Toy(
        """
if len(move) != 1 or move[0] in {1, 200}:
    return Slash("R")
return Valid(None)
""",
        SIZED.format(f"(if (any (= MOVE 1) (= MOVE 0xc8)) () {END})"),
    ),
    "the size of a set": Toy(
        """
if len(move) != 2 or len(set(move)) == 1:
    return Slash("R")
return Valid(None)
""",
        "(if (= (strlen MOVE) 2) (if (= (substr MOVE 0 1) (substr MOVE 1 2)) () " + END + ") ())",
    ),
    "parts of the pot": Toy(
        """
ours, theirs = amount * state.number // (state.number + 12), amount * 5 // 12
return Slash("R") if len(move) != 1 or share < ours or share == theirs else Valid(None)
""",
        SIZED.format(
            "(if (any (> (/ (* AMOUNT STATE) (+ STATE 12)) SHARE)"
            f" (= (/ (* 5 AMOUNT) 12) SHARE)) () {END})"
        ),
    ),
    "all and any of a generator": Toy(
        """
if len(move) != 3 or not all(97 <= letter <= 122 for letter in move):
    return Slash("R")
return Slash("R") if any(letter == 120 for letter in move) else Valid(None)
""",
        "(if (= (strlen MOVE) 3) (if (all {} {} {}) {} ()) ())".format(
            *(
                f"(> (substr MOVE {at} {at + 1}) 96) (> 123 (substr MOVE {at} {at + 1}))"
                f" (not (= (substr MOVE {at} {at + 1}) 120))"
                for at in range(3)
            ),
            END,
        ),
    ),
    "the largest byte": Toy(
        'return Valid(None) if move and max(move) < 128 else Slash("R")',
        f"(if (= (strlen MOVE) 1) (if (> MOVE -1) {END} ()) (if (= (strlen MOVE) 2)"
        " (if (all (> (substr MOVE 0 1) -1) (> (substr MOVE 1 2) -1)) " + END + " ())"
        " (if (= (strlen MOVE) 0) () (x))))",
    ),
    "match": Toy(
        """
match evidence:
    case b"":
        return Valid(None)
    case (bytes(low), (bytes(high), b"")) if len(low) == len(high) == 1:
        return Slash("R") if low < high else Valid(None)
    case _:
        return Raise("R")
""",
        "(if (l EVIDENCE) (if (l (r EVIDENCE)) (if (l (f EVIDENCE)) (x) (if (l (f (r EVIDENCE)))"
        " (x) (if (l (r (r EVIDENCE))) (x) (if (r (r EVIDENCE)) (x)"
        " (if (= (strlen (f EVIDENCE)) 1) (if (= (strlen (f (r EVIDENCE))) 1)"
        f" (if (>s (f (r EVIDENCE)) (f EVIDENCE)) () {END}) (x)) (x))))))"
        f" (x)) (if EVIDENCE (x) {END}))",
    ),
    "isinstance": Toy(
        'return Raise("R") if isinstance(evidence, tuple) else Valid(None)',
        f"(if (l EVIDENCE) (x) {END})",
    ),
    "a hash, and a cache": Toy(
        'return Valid(None) if hashed(move) == state.commit else Slash("R")',
        f"(if (= (sha256 1 MOVE) STATE) {END} ())",
        HASHED,
        "@lru_cache(maxsize=4)\ndef hashed(data):\n    return sha256(b'\\x01' + data).digest()",
    ),
    "a number in the fewest bytes": Toy(
        """
if not is_minimal(move):
    return Slash("R")
return Valid(Next("other", Other(state.number - atom_to_int(move) // 2), 5))
""",
        "(if (= MOVE (+ MOVE 0)) " + TO_OTHER.format("(- STATE (/ MOVE 2))") + " ())",
    ),
    "from_bytes, to_bytes, bits": Toy(
        """
if len(move) != 2:
    return Slash("R")
number = int.from_bytes(move, "big") ^ 0x0101
return Valid(None) if number.to_bytes(2, "big") == b"\\x02\\x02" else Slash("R")
""",
        f"(if (= MOVE 0x0303) {END} ())",
    ),
    "an item by an index that is not known": Toy(
        """
table = move[:1] + b"\\x07" + move[1:2] + b"abcdef"
if len(move) != 2 or not state.numbers:
    return Slash("R")
return Valid(None) if table[state.numbers[0]] == 7 else Slash("R")
""",
        "(if (= (strlen MOVE) 2) (if STATE (if (= (substr (concat (substr MOVE 0 1) 7"
        " (substr MOVE 1 2) 0x616263646566) (f STATE) (+ 1 (f STATE))) 7) " + END + " ()) ()) ())",
        LIST,
    ),
    "a loop over a state": Toy(
        """
total = 0
for number in state.numbers:
    total += number
return Valid(Next("other", Other(total), 5)) if len(move) == 1 else Slash("R")
""",
        SIZED.format(
            TO_OTHER.format(
                "(if STATE (if (r STATE) (if (r (r STATE)) (+ (f STATE) (f (r STATE))"
                " (f (r (r STATE)))) (+ (f STATE) (f (r STATE)))) (+ 0 (f STATE))) 0)"
            )
        ),
        LIST,
    ),
    "fields that fit each other": Toy(
        """
return Valid(None) if len(state.numbers) < 3 or len(set(state.numbers)) == 3 else Slash("R")
""",
        f"(if 1 {END} ())",
        CARDS,
    ),
    "conditions": Toy(
        'return Valid(None, ((int_to_atom(49), (move, b"")),), "R") if move else Slash("R")',
        "(if MOVE (c () (c () (c () (c (c 49 (c MOVE ())) ())))) ())",
    ),
    "a shorter end": Toy('return Slash("R") if move else Valid(None)', "(if MOVE () (c () ()))"),
    "a caught error": Toy(
        """
try:
    number = move[1]
except Exception:
    return Slash("R")
return Valid(None)
""",
        f"(if (> (strlen MOVE) 1) {END} ())",
    ),
    "a merge that needs no fork": Toy(
        """
total = 0
for place in range(8):
    total += 1 if move[0:1] and move[0] >> place & 1 else 0
return Valid(Next("other", Other(total), 5)) if len(move) == 1 else Slash("R")
""",
        SIZED.format(
            TO_OTHER.format(
                "(+ {})".format(" ".join(f"(logand 1 (lsh MOVE {-place}))" for place in range(8)))
            )
        ),
    ),
}
"""Rules that their program obeys."""


@pytest.mark.parametrize("name", one_in(6, FOLLOWED))
def test_rules_and_program_agree(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    question = question_of(FOLLOWED[name], tmp_path, monkeypatch)
    sizes = (0, 1, 2, 3) if "(strlen MOVE) 3" in FOLLOWED[name].program else (0, 1, 2)
    for size in sizes:
        result = examined(question, size)
        assert not result.counterexample
        assert not result.undecided
        assert result.paths
        assert result.confirmed == result.paths
        assert name != "a merge that needs no fork" or result.paths == 1


PLANTED: dict[str, tuple[str, str, str]] = {
    "a wrong constant": ("chained comparison", "<= 10", "<= 9"),
    "a missing check": ("and, or, not", "number > 0 and ", ""),
    "a bound that is not strict": ("chained comparison", "0 < ", "0 <= "),
    "and for or": ("and, or, not", "< 10 or", "< 10 and"),
    "a step of a range": ("in a range, and in a tuple", "(2, 9, 3)", "(2, 9)"),
    "another item of a set": ("a set of what is known", "200", "201"),
    "a set that counts twice": ("the size of a set", "len(set(move)) == 1", "len(move) == 1"),
    "a part that is rounded up": ("parts of the pot", "amount * 5 //", "(amount * 5 + 11) //"),
    "a part of more": ("parts of the pot", "(state.number + 12)", "(state.number + 13)"),
    "one letter too many": ("all and any of a generator", "<= 122", "<= 123"),
    "any for all": ("all and any of a generator", "any(letter == 120", "all(letter == 120"),
    "another order of bytes": ("match", "low < high", "low <= high"),
    "a raise for a slash": ("match", 'return Raise("R")', 'return Slash("R")'),
    "another kind of evidence": ("isinstance", "tuple", "bytes"),
    "another hash": ("a hash, and a cache", "b'\\x01' + data", "b'\\x02' + data"),
    "any encoding": ("a number in the fewest bytes", "not is_minimal(move)", "False"),
    "another next state": ("a number in the fewest bytes", "// 2", "// 2 + 1"),
    "another next limit": ("a number in the fewest bytes", ", 5))", ", 6))"),
    "another next validator": ("a number in the fewest bytes", '"other", Other', '"move", Other'),
    "a signed number": ("from_bytes, to_bytes, bits", "0x0101", "0x0100"),
    "another place": ("an item by an index that is not known", "numbers[0]", "numbers[-1]"),
    "a loop that starts late": ("a loop over a state", "total = 0", "total = 1"),
    "a missing item": ("fields that fit each other", "< 3 or", "< 2 or"),
    "another condition": ("conditions", "int_to_atom(49)", "int_to_atom(50)"),
    "no condition": ("conditions", '((int_to_atom(49), (move, b"")),)', "()"),
    "a judge that raises": ("a caught error", "except Exception", "except ValueError"),
}
"""Changes of rules that their program does not follow."""


@pytest.mark.parametrize("name", one_in(3, PLANTED))
def test_a_planted_difference_is_shown(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    where, old, new = PLANTED[name]
    toy = FOLLOWED[where]
    rules, helpers = toy.rules.replace(old, new), toy.helpers.replace(old, new)
    assert (rules, helpers) != (toy.rules, toy.helpers)
    state = toy.state
    if name == "a missing item":  # without it the reader refuses what differs
        state = LIST
    question = question_of(Toy(rules, toy.program, state, helpers), tmp_path, monkeypatch)
    assert any(examined(question, size).counterexample for size in (1, 2, 3, 0))


# --- what outlives a judgement --------------------------------------------------------------------

REMEMBERS = {
    "a list that grows": ("SEEN = [0]", "SEEN.append(len(move))"),
    "a dictionary": ("SEEN = {0: 0}", "SEEN[len(SEEN)] = 1"),
    "a name": ("SEEN = 0", "global SEEN\nSEEN = SEEN + 1000"),
}
"""Rules that follow their program now, and need not do so after some judgements."""


@pytest.mark.parametrize("name", REMEMBERS)
def test_rules_that_remember_are_not_proved(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    toy = FOLLOWED["chained comparison"]
    helper, line = REMEMBERS[name]
    remembering = replace(toy, rules=f"{line}\n{toy.rules}", helpers=f"{toy.helpers}\n{helper}")
    result = examined(question_of(remembering, tmp_path, monkeypatch), 1)
    assert not result.counterexample
    assert any(
        reason.startswith("the rules change toy_rules_")
        and reason.endswith(".SEEN, which outlives a judgement")
        for reason, _, _ in result.undecided
    )


# --- wrong stand-ins -----------------------------------------------------------------------------


def _above(self: Int, other: object) -> Any:
    left, right = as_number(self.symbol), as_number(symbol_of_number(other))
    bits = max(left.term.size(), right.term.size())
    return bool_of(z3.UGT(resize(left.term, bits), resize(right.term, bits)))


def _rounded(self: Int, other: int) -> Any:
    number = as_number(self.symbol)
    wide = resize(number.term, 80)
    return number_of(make_number(wide / other, -(1 << 70), 1 << 70))


def _signed_byte(atom: Any, at: int) -> Any:
    return number_of(as_number(byte_models.sliced(atom, at, at + 1)))


def _next_item(self: Data, index: Any) -> Any:
    return list(self)[1] if type(index) is Int else _item(self, index)


_item = Data.__getitem__


def _counted_twice(self: sets.SymbolicSet) -> int:
    return len(self.items)


def _one_too_few(container: Any, item: Any) -> Any:
    return _has(list(container)[:-1] if isinstance(container, range) else container, item)


_has = choices.has

_ordered = data.ordered


def _swapped(this: Any, other: Any, swapped: bool, flipped: bool) -> Any:
    return _ordered(this, other, not swapped, flipped)


WRONG: dict[str, tuple[str, Callable[[Patch], object]]] = {
    "`>` of unsigned numbers": (
        "chained comparison",
        lambda patch: patch.setattr(Int, "__gt__", _above),
    ),
    "`//` rounds towards zero": (
        "a number in the fewest bytes",
        lambda patch: patch.setattr(Int, "__floordiv__", _rounded),
    ),
    "bytes are signed": (
        "a set of what is known",
        lambda patch: patch.setattr(data, "_byte", _signed_byte),
    ),
    "an index is the second one": (
        "an item by an index that is not known",
        lambda patch: patch.setattr(Data, "__getitem__", _next_item),
    ),
    "a set has its items twice": (
        "the size of a set",
        lambda patch: patch.setattr(sets.SymbolicSet, "count", _counted_twice),
    ),
    "a range ends early": (
        "in a range, and in a tuple",
        lambda patch: patch.setattr(choices, "has", _one_too_few),
    ),
    "every encoding is the shortest": (
        "a number in the fewest bytes",
        lambda patch: patch.setattr(library_models, "minimal", lambda atom: True),
    ),
    "`and` is `or`": (
        "and, or, not",
        lambda patch: patch.setattr(choices, "chosen_by_and", choices.chosen_by_or),
    ),
    "`not` is nothing": (
        "and, or, not",
        lambda patch: patch.setattr(choices, "opposite", lambda value: value),
    ),
    "`max` is `min`": (
        "the largest byte",
        lambda patch: patch.setitem(builtin_models.BUILTINS, "max", builtin_models.BUILTINS["min"]),
    ),
    "a hash of what is known": (
        "a hash, and a cache",
        lambda patch: patch.setattr(digest, "data_of", lambda symbol: bytes(32)),
    ),
    "both sides of a choice are the first": (
        "a merge that needs no fork",
        lambda patch: patch.setattr(choices, "merged", lambda condition, then, other: Merged(then)),
    ),
    "bytes in another order": (
        "match",
        lambda patch: [patch.setattr(file, "ordered", _swapped) for file in (data, unseen)],
    ),
}
"""Mistakes in what stands for Python, each with rules that show it."""


@pytest.mark.parametrize("name", one_in(3, WRONG))
def test_a_wrong_stand_in_shows_itself(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    where, plant = WRONG[name]
    question = question_of(FOLLOWED[where], tmp_path, monkeypatch)
    plant(monkeypatch)
    with pytest.raises(WrongModel):
        _ = [examined(question, size) for size in range(3)]


@pytest.mark.long
def test_a_game_obeys_its_rules_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--validator", "b", "--jobs", 1)
    ran = channelsim(capsys, "prove", "calpoker", *options)
    assert ran.code == 0
    assert "proved: b of calpoker (rules) on every input within the bounds: 18 paths" in ran.out
