"""The stored corpus of both games: verdicts agree, and every place of every program is reached."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.lab.cases.corpus import read
from channelsim.channel.lab.coverage.coverage import corpus_coverage
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.analysis.tracer import CoverageCounts
from channelsim.games import registry, vectors
from tests.corpus import corpus, spends, stored_corpus
from tests.menu import each_game_without_a_deck

UNREACHABLE: dict[tuple[str, str], dict[str, str]] = {}
"""By game and program: each place that no run reaches, as `channelsim coverage` writes it, with
the reason why. None: whoever adds one explains it here."""


@each_game_without_a_deck
def test_the_corpus_reaches_all_and_verdicts_agree(game: str) -> None:
    target = of_game(registry.get(game))
    found = corpus_coverage(target, read(target, stored_corpus(game)))
    assert set(found) == {*target.programs, REFEREE}
    for name, one in found.items():
        assert one.entries > 1
        assert one.differs == []
        known = UNREACHABLE.get((game, name), {})
        assert {place for _, place in one.unreached()} == set(known)
        assert one.total.whole or known


@each_game_without_a_deck
def test_rules_and_programs_agree_on_it(game: str) -> None:
    for path in stored_corpus(game).glob("*.jsonl"):
        if path.stem != REFEREE:
            cases = list(vectors.read(path.read_text("utf-8").splitlines()))
            assert [vectors.check(case) for case in cases] == [[]] * len(cases)


@pytest.mark.long
@each_game_without_a_deck
def test_it_is_what_its_script_makes(game: str) -> None:
    for name, lines in corpus(of_game(registry.get(game))).items():
        stored = (stored_corpus(game) / f"{name}.jsonl").read_bytes()
        assert stored == b"".join(line + b"\n" for line in lines), "run: python -m tests.corpus"


@each_game_without_a_deck
def test_no_line_of_it_is_needless(game: str) -> None:
    target = of_game(registry.get(game))
    found = corpus_coverage(target, [])
    for name, one in found.items():
        entries = [entry for entry in read(target, stored_corpus(game)) if entry.program == name]
        reaches = [one.tracer.reach(entry.arguments) for entry in entries]
        for left_out in range(len(reaches)):
            others = reaches[:left_out] + reaches[left_out + 1 :]
            nodes = frozenset[int]().union(*(reach.nodes for reach in others))
            branches = frozenset[int]().union(*(reach.branches for reach in others))
            assert (len(nodes), len(branches)) < (one.tracer.nodes, one.tracer.branches)


@each_game_without_a_deck
def test_all_spends_end_as_they_should(game: str, tmp_path: Path) -> None:
    target = of_game(registry.get(game))
    file = tmp_path / "referee.jsonl"
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in spends()))
    found = corpus_coverage(target, read(target, tmp_path))
    assert found[REFEREE].differs == []
    assert found[REFEREE].total.whole
    assert found["a" if game == "calpoker" else "end"].total.nodes_reached == 0


def test_shares_of_a_program_add_up() -> None:
    target = of_game(registry.get("spacepoker"))
    for one in corpus_coverage(target, read(target, stored_corpus("spacepoker"))).values():
        parts = one.functions.values()
        assert one.total == CoverageCounts(
            *(
                sum(getattr(part, key) for part in parts)
                for key in ("nodes", "nodes_reached", "branches", "branches_reached")
            )
        )
