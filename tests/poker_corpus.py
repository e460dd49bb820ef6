"""Makes the stored corpus of the poker programs: ``python -m tests.poker_corpus``.

All poker games share their programs, so that only together they reach all of them. Of cases made
around hands of every game, and of openings that are faulty in every way, those are kept that reach
a node or a branch which the ones kept before do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from channelsim.channel.lab.cases.corpus import CaseRuns
from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.coverage.coverage import ProgramCoverage, corpus_coverage
from channelsim.channel.lab.crosscheck.vectors import make
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Raise, Slash, Valid
from channelsim.games.deck.group import real_group
from channelsim.games.judge import hashes_of
from channelsim.games.poker.arranging import commitment
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.states import Score
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.vectors import Case, NextRecord, verdict
from tests.games.poker.hands import ROWS, Hand, Turn, stakes_of
from tests.paths import ROOT

FOLDER = ROOT / "games" / "poker" / "corpus"
CASES = 1200
"""Cases that are made of each game."""

HANDS = (
    # The best five at the bottom: a straight flush in two rows, and trips; quads and a wheel.
    ("chinese", "chinese", 0, "2c2d2h 3c4c5c6c7c 8dTdJdQd9d 3d4h7s AhKs8hTh9s AsAdKd8c5h"),
    ("chinese", "chinese", 0, "QdQhTs Ah2s3h4h5s 9c9d9h9sKc 2c3c7d 4c6c8cTcQc JcJdJhKdKh"),
    ("chinese", "chinese", 0, "2c3c7d 4c6c8cTcQc JcJdJhKdKh QdQhTs Ah2s3h4h5s 9c9d9h9sKc"),
    ("chinese", "chinese", 0, "2c3d4h 5c5d7h8s9c JcJdJhKdKh 2d3h4s 5h5s7c8d9d TcTdThQdQh"),
    # A straight flush from the ace against quads, on one board.
    ("holdem", "holdem", 0, "Ac2c 9c9d 3c4c5c 9h 9s"),
    ("omaha", "omaha", 1, "AcQd2cQh 9c9dKdKh 3c4c5c 9h 9s"),
    ("five-draw", "five-draw", 2, ""),
    ("five-draw-blinds", "five-draw", 0, ""),
    ("five-stud-open", "five-stud", 2, ""),
    ("seven-stud-high", "seven-stud", 1, ""),
)
"""Games, the registered ones with their programs, betting structures, and the first cards."""

HANDS_EACH = 6

STAKE, MAX_SIZE = 20, 1698
OMAHA_CARDS = 4
"""Private cards that are shown before the selection."""

ARRANGED_AT = {"rows": 0, "score": 13 * 33}
"""Where the positions in an arrangement begin."""

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
            if found.setdefault(name, programs[name]).add(CaseRuns(target).stored(case)):
                kept.setdefault(name, []).append(case)
    for target, case in _chosen():
        if found[case.validator].add(CaseRuns(target).stored(case)):
            kept[case.validator].append(case)
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


def _chosen() -> Iterator[tuple[Target, Case]]:
    """Hands with rare cards, in forms of the games that are not registered too, and what is wrong
    with their arrangements and selections."""
    for name, game, structure, deck in HANDS:
        variant, target = ROWS[name], of_game(registry.get(game))
        cards = _cards(deck)
        stakes = stakes_of(variant, Structure(structure), STAKE)
        for number in range(HANDS_EACH):
            hand = Hand(f"{SEED} {deck} {number}", stakes, variant, deck=cards, rows=cards)
            for at, turn in enumerate(hand.turns()):
                case = _case(target, turn, f"{name}-{number}-{at}")
                yield target, case
                if isinstance(turn.state, Score):
                    yield target, _committed_wrongly(target, case, turn.state, turn.move)
                for tag, move in _misplaced(case):
                    yield target, _judged(target, case, tag, move)


def _committed_wrongly(target: Target, case: Case, state: Score, move: bytes) -> Case:
    """The end of a hand whose mover committed to an arrangement with a card twice."""
    start = ARRANGED_AT["score"]
    order, salt = move[start : start + 13], move[start + 13 :]
    order = order[:1] + order[:1] + order[2:]
    wrong = msgspec.structs.replace(state, commitment=commitment(order, salt))
    changed = msgspec.structs.replace(case, state=described_value(wrong.value(), target))
    return _judged(target, changed, "committed-twice", move[:start] + order + salt)


def _misplaced(case: Case) -> Iterator[tuple[str, bytes]]:
    """Moves with a card twice in an arrangement, and with other selections of cards."""
    move = bytes.fromhex(case.move)
    if (at := ARRANGED_AT.get(case.validator)) is not None:
        yield "card-twice", move[: at + 1] + move[at : at + 1] + move[at + 2 :]
    if case.validator == "end" and case.game.startswith("omaha"):
        start = OMAHA_CARDS * 33
        for mask in (b"\xff\xff", b"\x7f\xff"):
            yield f"mask-{mask.hex()}", move[:start] + mask + move[start + 2 :]


def _case(target: Target, turn: Turn, tag: str) -> Case:
    """A turn of a hand as a case."""
    assert isinstance(turn.verdict, Valid)
    step, record = turn.verdict.next, None
    if step is not None:
        state = described_value(step.state.value(), target)
        record = NextRecord(step.validator, state, step.max_move_size)
    return Case(
        id=f"{target.name}-{turn.validator}-{tag}",
        tag="chosen",
        game=target.name,
        validator=turn.validator,
        amount=2 * 10 * STAKE,
        mover_share=turn.share,
        max_move_size=MAX_SIZE,
        move=turn.move.hex(),
        state=described_value(turn.state.value(), target),
        evidence=described_value(turn.evidence, target),
        expect="valid",
        next=record,
    )


def _cards(text: str) -> tuple[int, ...]:
    """Cards in two letters each."""
    text = text.replace(" ", "")
    return tuple(
        4 * "23456789TJQKA".index(text[at]) + "cdhs".index(text[at + 1])
        for at in range(0, len(text), 2)
    )


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
