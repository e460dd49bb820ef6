"""Makes the stored corpus of the poker programs: ``python -m tests.poker_corpus``.

All poker games share their programs, so that only together they reach all of them. Of cases made
around hands of every game, and of openings that are faulty in every way, those are kept that reach
a node or a branch which the ones kept before do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from channelsim.channel.lab.coverage.corpus import case_entry
from channelsim.channel.lab.coverage.program_coverage import ProgramCoverage, corpus_coverage
from channelsim.channel.lab.crosscheck.vectors import make
from channelsim.channel.lab.target.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Raise, Slash, Valid
from channelsim.games.deck.group import real_group
from channelsim.games.judge import hashes_of
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.vectors import Case, verdict
from tests.paths import DATA

FOLDER = DATA / "corpus" / "poker"
CASES = 1200
"""Cases that are made of each game."""

LEGAL, ILLEGAL = 20, 3
"""Cases that are tried for each validator, and for each rule that they break."""

SEED = "poker corpus"

SCALAR_AT = {"mid": 1, "rows": 13}
"""Where the first scalar of a move is, unless it is at the start."""


def main() -> None:
    kept = corpus()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, cases in kept.items():
        lines = b"".join(msgspec.json.encode(case) + b"\n" for case in cases)
        (FOLDER / f"{name}.jsonl").write_bytes(lines)


def corpus() -> dict[str, list[Case]]:
    """The cases to keep, by program."""
    found: dict[str, ProgramCoverage] = {}
    kept: dict[str, list[Case]] = {}
    for game in VARIANTS:
        target = of_game(registry.get(game))
        programs = corpus_coverage(target, [])
        for case in _tried(target):
            name = case.validator
            if found.setdefault(name, programs[name]).add(case_entry(target, case)):
                kept.setdefault(name, []).append(case)
    return kept


def _tried(target: Target) -> Iterator[Case]:
    """A few cases for each rule, more that are legal, and faulty openings."""
    tried: Counter[object] = Counter()
    spoilt: set[str] = set()
    hashes = hashes_of(target.game)
    for case in make(target, CASES, f"{SEED} {target.name}"):
        found = verdict(case, target.game, hashes)
        legal = isinstance(found, Valid)
        kind = (case.validator, found.rule if isinstance(found, Slash | Raise) else "")
        tried[kind] += 1
        if tried[kind] <= (LEGAL if legal else ILLEGAL):
            yield case
        if legal and case.validator not in spoilt:
            faulty = list(faults(target, case))
            spoilt |= {case.validator} if faulty else set()
            yield from faulty


def faults(target: Target, case: Case) -> Iterator[Case]:
    """A legal case with its first opening, or the card in it, replaced by a faulty one."""
    move = bytes.fromhex(case.move)
    start = SCALAR_AT.get(case.validator, 0)
    scalar, card = move[start : start + 32], start + 32
    if len(scalar) < 32:
        return
    changed = {
        "scalar-above": real_group().order.to_bytes(32, "big"),
        "scalar-negative": b"\x80" + scalar[1:],
        "scalar-zero": bytes(32),
        "scalar-other": scalar[:-1] + bytes((scalar[-1] ^ 1,)),
    }
    for tag, wrong in changed.items():
        yield _judged(target, case, tag, move[:start] + wrong + move[card:])
    for byte in (52, 128, 255):
        wrong = move[:card] + bytes((byte,)) + move[card + 1 :]
        yield _judged(target, case, f"card-{byte}", wrong)


def _judged(target: Target, case: Case, tag: str, move: bytes) -> Case:
    """The case with another move, and what the rules say about that."""
    changed = msgspec.structs.replace(
        case, id=f"{case.id}-{tag}", tag=tag, move=move.hex(), expect="slash", next=None
    )
    found = verdict(changed, target.game, hashes_of(target.game))
    assert not isinstance(found, Valid | Raise), (changed.id, found)
    return changed


if __name__ == "__main__":
    main()
