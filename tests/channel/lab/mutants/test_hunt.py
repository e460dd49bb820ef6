"""The hunt kills every mutant that a run distinguishes, on any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.campaign import Place, Work
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import ThisProcess
from channelsim.channel.campaign.shards import Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.mutants import hunt as hunting
from channelsim.channel.lab.mutants.hunt import HuntJob, Prepared, hunt
from channelsim.channel.lab.mutants.judged_cases import JudgedCase, differs, diverse, fresh, stored
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.report import all_mutants, hunt_configuration, hunted
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.run import MAX_COST
from channelsim.clsp.values import NIL, serialize, to_list
from channelsim.games import registry
from tests.channel.lab.mutants.programs import code
from tests.corpus import stored_corpus
from tests.menu import each_game_without_a_deck

TARGET = of_game(registry.get("calpoker"))
SMALL = [mutant for name in "ab" for mutant in all_mutants(TARGET, name)]


def mutant(program: bytes, validator: str = "a") -> Mutant:
    return replace(SMALL[0], validator=validator, program=program)


def test_every_mutant_of_small_programs_is_killed_at_once() -> None:
    report = hunted(TARGET, SMALL, seed="s", seconds=1, jobs=1)
    assert not report.failed(60)
    assert report.survivors == []
    total = report.count()
    assert (total.made, total.killed, total.open) == (len(SMALL), len(SMALL), 0)
    assert total.median_runs is not None
    assert report.hunt.chunks == 0
    assert max(result.runs for result in report.hunt.results) < 60


def test_the_original_itself_lives() -> None:
    one = mutant(TARGET.programs["a"].serialized)
    report = hunted(TARGET, [one], seed="s", seconds=60, jobs=1, chunks=2)
    assert report.failed(60)
    (left,) = report.survivors
    assert left.runs > 100
    assert report.hunt.chunks == 2


def test_stored_calls_come_first() -> None:
    calls = stored(TARGET, stored_corpus("calpoker"))
    assert set(calls) == {*TARGET.programs, REFEREE}
    for name, some in calls.items():
        program = TARGET.with_referee[name].serialized
        assert not [call for call in some if differs(program, call, MAX_COST)]
    original = mutant(TARGET.programs["a"].serialized)
    wrong = JudgedCase(calls["a"][0].arguments, None)
    report = hunted(
        TARGET, [original], seed="s", seconds=1, jobs=1, chunks=0, stored={"a": [wrong]}
    )
    assert [(one.killed, one.runs) for one in report.hunt.results] == [(True, 1)]


def test_a_stored_case_that_the_program_does_not_fulfil_is_refused(tmp_path: Path) -> None:
    lines = (stored_corpus("calpoker") / "a.jsonl").read_bytes().splitlines()
    illegal = next(line for line in lines if b'"expect":"slash"' in line)
    (tmp_path / "a.jsonl").write_bytes(illegal.replace(b'"expect":"slash"', b'"expect":"raise"'))
    with pytest.raises(UsageError, match=r"--corpus .*: a: .*expected raise"):
        stored(TARGET, tmp_path)


@pytest.mark.long
def test_a_sample_of_all_is_killed_at_once() -> None:
    """Some of the reach of the whole campaign, which takes an hour: see the long test."""
    target = of_game(registry.get("spacepoker"))
    sample = all_mutants(target)[::480]
    report = hunted(target, sample, seed="mutants", seconds=60, jobs=1, chunks=0)
    assert report.count().killed >= 0.9 * len(sample) > 3


@pytest.mark.long
@each_game_without_a_deck
@pytest.mark.parametrize("name", [None, REFEREE])
def test_every_mutant_is_killed_or_argued(game: str, name: str | None) -> None:
    """The mutants of the poker programs are in `test_poker_mutants.py`, with stored cases."""
    target = of_game(registry.get(game))
    every = all_mutants(target, name)
    report = hunted(target, every, seed="mutants", seconds=60, jobs=1)
    assert [one for one in report.survivors if one.reason is None] == []
    assert report.count().share >= 0.98


@pytest.mark.long
def test_the_number_of_processes_changes_nothing() -> None:
    some = [*SMALL[::16], *all_mutants(TARGET, "d")[::50], mutant(TARGET.programs["a"].serialized)]
    results = [
        [
            (f.killed, f.runs)
            for f in hunted(TARGET, some, seed="s", seconds=9, jobs=jobs, chunks=2).hunt.results
        ]
        for jobs in (1, 2)
    ]
    assert results[0] == results[1]
    assert not results[0][-1][0]


@pytest.mark.usefixtures("early_cut_offs")
def test_an_endless_mutant_dies_of_its_cost() -> None:
    endless = serialize(code((2, 1, 1)))
    (result,) = hunted(TARGET, [mutant(endless)], seed="s", seconds=1, jobs=1).hunt.results
    assert (result.killed, result.runs) == (True, 1)
    raises = JudgedCase(NIL, None)
    assert differs(endless, replace_arguments(raises, b"\x80"), 10_000_000)


def replace_arguments(case: JudgedCase, arguments: bytes) -> JudgedCase:
    return JudgedCase(arguments, case.result, case.ends)


def test_what_differs() -> None:
    def quoted(*items: bytes) -> bytes:
        return serialize((b"\x01", to_list(items)))

    arguments = b"\x80"
    ends = JudgedCase(arguments, to_list((NIL, NIL, NIL)), True)
    assert not differs(quoted(NIL, NIL, NIL), ends, 10**6)
    assert not differs(quoted(NIL), ends, 10**6)  # what is absent counts as ()
    assert differs(quoted(NIL, NIL, b"\x01"), ends, 10**6)
    assert differs(quoted(NIL), JudgedCase(arguments, to_list((NIL, NIL, NIL))), 10**6)
    slashes, raises = JudgedCase(arguments, NIL), JudgedCase(arguments, None)
    assert not differs(quoted(), slashes, 10**6)
    assert differs(quoted(NIL), slashes, 10**6)
    fails = serialize(code((8,)))
    assert not differs(fails, raises, 10**6)
    assert differs(fails, slashes, 10**6)
    assert differs(quoted(), raises, 10**6)


@pytest.mark.long
@pytest.mark.parametrize("game", ["spacepoker", "calpoker"])
def test_the_rules_and_the_programs_agree_on_every_prepared_case(game: str) -> None:
    target = of_game(registry.get(game))
    pool, limits, _ = diverse(target, "agree", target.programs)
    chunks = [fresh(target, "agree", number, target.programs) for number in (8,)]
    for name, program in target.programs.items():
        cases = [*pool[name], *(case for chunk in chunks for case in chunk[name])]
        assert not [case for case in cases if differs(program.serialized, case, limits[name])]
        assert len({case.arguments for case in pool[name]}) == len(pool[name])


def opening(
    stopped_after: int | None = None, folder: Path | None = None
) -> Callable[[Work, str], AbstractContextManager[Place]]:
    """Opens places in this process and in a folder; the hunt is interrupted once so many shards of
    fresh chunks are done."""

    @contextmanager
    def opened(work: Work, name: str) -> Iterator[Place]:
        def on_status(status: CampaignStatus) -> None:
            if (
                stopped_after is not None
                and work.unit == "chunk"
                and status.shards >= stopped_after
            ):
                raise KeyboardInterrupt

        with ExitStack() as stack:
            stored: CampaignDirectory[Any] | None = None
            if folder is not None:
                path = folder / name
                resume = directory.is_campaign(path)
                stored = stack.enter_context(
                    directory.opened(path, work.configuration, work.plan, work.units, resume=resume)
                )
            yield Place(ThisProcess, stored, on_status)

    return opened


def test_an_interrupt_keeps_the_results_so_far() -> None:
    alive = mutant(TARGET.programs["a"].serialized)
    some = [*SMALL[:3], alive]
    report = hunted(TARGET, some, seed="s", seconds=60, open_place=opening(1))
    assert report.hunt.interrupted
    assert report.hunt.digest is None
    assert [one.killed for one in report.hunt.results] == [True] * 3 + [False]
    (left,) = report.hunt.alive
    assert 0 < left.seconds < 60
    assert not report.failed(60)
    assert report.failed(left.seconds / 2)


def test_only_the_requested_mutants_are_hunted_on() -> None:
    original = mutant(TARGET.programs["a"].serialized)
    some = [original, replace(original, number=7)]
    made = hunt_configuration(TARGET, some, "s", 60.0)
    done = hunt(TARGET, some, made, 60.0, opening(), lambda one: one is original, chunks=1)
    spared, other = done.results
    assert not done.interrupted
    assert (spared.work, spared.killed, other.killed) == (0, False, False)
    assert other.runs > spared.runs > 0


def test_a_hunt_goes_on_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of one shard each: those after the interrupt need the results of those before."""
    monkeypatch.setattr(hunting, "FIRST_ROUND", 1)
    monkeypatch.setattr(hunting, "LATER_ROUNDS", 2)
    some = [*SMALL[:40:8], mutant(TARGET.programs["a"].serialized)]
    hunt_here = partial(hunted, TARGET, some, seed="s", seconds=60.0, chunks=4)
    whole = hunt_here()
    stopped = hunt_here(open_place=opening(2, tmp_path))
    (slices,) = directory.read_shards(tmp_path / "prepared")
    rest = hunt_here(open_place=opening(folder=tmp_path))
    assert list(directory.read_shards(tmp_path / "prepared")) == [slices]
    assert (stopped.hunt.interrupted, stopped.hunt.chunks) == (True, 2)
    assert (whole.hunt.chunks, rest.hunt.chunks) == (4, 4)
    assert whole.hunt.digest == rest.hunt.digest is not None
    assert whole.hunt.results == rest.hunt.results


def test_a_stored_chunk_names_mutants_whatever_else_is_alive() -> None:
    """A resumed hunt may have fewer alive, if it could do a chunk that was lost before."""
    programs = {3: TARGET.programs["a"].serialized, 7: SMALL[0].program}
    killed = []
    for alive in (programs, {7: programs[7]}):
        configuration = hunt_configuration(TARGET, [], "s", 1.0)
        known = Prepared({"a": MAX_COST}, {"a": 1.0})
        plan = Plan(configuration.digest, 1, 1)
        job = HuntJob(TARGET, configuration, plan, {"a": alive}, prepared=known, until={"a": 1})
        (chunk,) = job.decode(job.worker()(Shard("", 0, first=0, count=1, budget=1)))
        killed.append(chunk.killed)
    assert killed[0] == killed[1]
    assert list(killed[0]["a"]) == [7]
