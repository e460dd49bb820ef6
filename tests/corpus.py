"""Makes the stored corpora: ``python -m tests.corpus`` writes ``games/GAME/corpus`` anew.

Of the stored conformance cases, and of the spends below, those are kept that reach a node or a
branch which the ones kept before do not; then every one that the others make needless goes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.lab.cases.corpus import CaseRuns, RefereeSpend
from channelsim.channel.lab.coverage.coverage import corpus_coverage
from channelsim.channel.lab.targets.target import REFEREE, Target, of_game
from channelsim.clsp.analysis.tracer import Coverage
from channelsim.clsp.values import NIL, Value, tree_hash
from channelsim.games import registry
from channelsim.games.referee import infohash
from channelsim.games.vectors import Case, read, read_value
from tests.paths import DATA, ROOT


def stored_corpus(game: str) -> Path:
    """The folder of cases in the package of a game."""
    return ROOT / "games" / game / "corpus"


def main(*games: str) -> None:
    for game in games or ("calpoker", "spacepoker"):
        for name, lines in corpus(of_game(registry.get(game))).items():
            path = stored_corpus(game) / f"{name}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(line + b"\n" for line in lines))


def corpus(target: Target) -> dict[str, list[bytes]]:
    """The lines to keep, by program."""
    text = (DATA / "vectors" / f"{target.name}.jsonl").read_text("utf-8")
    stored = list(read(text.splitlines()))
    written: list[Case | RefereeSpend] = [*stored, *padded(stored), *spends()]
    return {
        name: [
            msgspec.json.encode(one)
            for one in least(target, name, [w for w in written if _program(w) == name])
        ]
        for name in (*target.programs, REFEREE)
    }


def least(
    target: Target, name: str, written: Sequence[Case | RefereeSpend]
) -> list[Case | RefereeSpend]:
    """Of these, few that reach together what all reach."""
    entries = [CaseRuns(target).stored(one) for one in written]
    found = corpus_coverage(target, [])[name]
    new = [number for number, entry in enumerate(entries) if found.add(entry)]
    reaches = {number: found.tracer.reach(entries[number].arguments) for number in new}
    for number in new:
        others = Coverage()
        for one, reach in reaches.items():
            if one != number:
                others.add(reach)
        if others == found.reached:
            del reaches[number]
    return [written[number] for number in reaches]


def _program(one: Case | RefereeSpend) -> str:
    return one.validator if isinstance(one, Case) else REFEREE


# --- what the conformance cases do not reach --------------------------------------------------


def padded(stored: Sequence[Case]) -> Iterator[Case]:
    """An opening of a street whose bet is written with a byte too many (SP-BEGIN-5)."""
    for case in stored:
        bet = case.move[64:]
        if case.validator == "begin_round" and case.expect == "valid" and bet:
            changed = {"move": f"{case.move[:64]}00{bet}", "expect": "slash", "next": None}
            yield msgspec.structs.replace(case, id=f"{case.id}-p", tag="bet-padded", **changed)
            return


# --- spends of a game coin --------------------------------------------------------------------

KEYS = ("0x" + "aa" * 48, "0x" + "bb" * 48)
MOD_HASH, PAID, OTHER = "0x" + "cc" * 32, "0x" + "0a" * 32, "0x" + "0b" * 32
NEXT, FOLLOWS = "0x" + "dd" * 32, [1, [2, "0x0003"]]
"""The hash of some next program, and a state for it."""

AMOUNT = 1000


def coin(
    *,
    share: int = 400,
    size: int = 17,
    next_: object = NEXT,
    previous: object = "0x78",
    amount: int = AMOUNT,
) -> list[object]:
    """The eleven fields of a coin."""
    return [*KEYS, 15, amount, MOD_HASH, 4, "0x1234", size, next_, share, previous]


def spends() -> Iterator[RefereeSpend]:
    """Every path of the referee, each rule kept and broken."""
    for number, (tag, puzzle, solution, expect) in enumerate((*timeouts(), *moves(), *slashes())):
        yield RefereeSpend(f"referee-{number:03}", tag, puzzle, solution, expect)  # type: ignore[arg-type]


Written = tuple[str, list[Any], object, str]


def timeouts() -> Iterator[Written]:
    yield "timeout", coin(), [PAID, OTHER], "valid"
    yield "timeout-all", coin(share=AMOUNT), [PAID, 0], "valid"
    yield "timeout-nothing", coin(share=0), [0, OTHER], "valid"
    yield "timeout-no-address", coin(), [0, OTHER], "raise"
    yield "timeout-needless-address", coin(share=0), [PAID, OTHER], "raise"
    yield "timeout-one-address", coin(), [PAID], "raise"


def moves() -> Iterator[Written]:
    good = {"move": "0x" + "ee" * 17, "commits": NEXT, "share": 300, "size": 42}

    def move(**changed: object) -> list[object]:
        return list((good | changed).values())

    yield "move", coin(), move(), "valid"
    yield "move-to-the-end", coin(), move(commits=0), "valid"
    yield "move-after-the-end", coin(next_=0), move(), "raise"
    yield "move-too-long", coin(size=16), move(), "raise"
    yield "move-share-negative", coin(), move(share=-1), "raise"
    yield "move-share-above", coin(), move(share=AMOUNT + 1), "raise"
    yield "move-share-long", coin(), move(share="0x00012c"), "raise"
    yield "move-size-long", coin(), move(size=40000), "raise"
    yield "move-size-negative", coin(), move(size=-1), "raise"
    yield "move-size-padded", coin(), move(size="0x002a"), "raise"
    yield "move-short-commitment", coin(), move(commits="0x1234"), "raise"
    yield "move-and-more", coin(), [*move(), 1], "raise"


def slashes() -> Iterator[Written]:
    """By validators of one quote, which return what stands in it."""
    state = [7, ["0x00ff"]]

    def slash(
        result: list[object],
        *more: object,
        paid: object = PAID,
        other: bool = False,
        **changed: Any,
    ) -> tuple[list[Any], list[object]]:
        validator: list[object] = [1, *result]
        previous = hash_of(9 if other else validator, state)
        return coin(previous=previous, **changed), [state, validator, 0, paid, *more]

    follows = hash_of_next(NEXT, FOLLOWS)
    extra = [[49, KEYS[0], "0x0102"], [1, "0x03"]]
    yield "slash", *slash([]), "valid"
    yield "slash-other-program", *slash([MOD_HASH, FOLLOWS, 17], next_=follows), "valid"
    yield "slash-other-size", *slash([NEXT, FOLLOWS, 18], next_=follows), "valid"
    yield "slash-not-the-end", *slash([0, 0, 0]), "valid"
    yield "slash-short-result", *slash([0], next_=0), "valid"
    yield "slash-no-state", *slash([NEXT], next_=follows), "valid"
    yield "slash-on-conditions", *slash([NEXT, FOLLOWS, 17, *extra], next_=follows), "valid"
    yield "slash-of-a-legal-move", *slash([NEXT, FOLLOWS, 17], next_=follows), "raise"
    yield "slash-of-a-legal-end", *slash([0, 0, 0], next_=0, size=0), "raise"
    yield "slash-of-another-state", *slash([], other=True), "raise"
    yield "slash-and-more", *slash([], 1), "raise"
    yield "slash-without-address", *slash([], paid=0), "raise"
    yield "slash-of-nothing", *slash([], paid=0, amount=0), "valid"


def hash_of(validator: object, state: object) -> str:
    """The commitment of a coin to this validator and this state."""
    return "0x" + infohash(tree_hash(_value(validator)), tree_hash(_value(state))).hex()


def hash_of_next(program_hash: str, state: object) -> str:
    return "0x" + infohash(bytes.fromhex(program_hash[2:]), tree_hash(_value(state))).hex()


def _value(described: object) -> Value:
    return read_value(described, "state", lambda name: NIL)


if __name__ == "__main__":
    main(*sys.argv[1:])
