"""The crosscheck: its counts are the seed's, its report is complete, and it says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import ThisProcess
from channelsim.channel.campaign.job import Job, ShardResult
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.lab.cases.trial import SAMPLES
from channelsim.channel.lab.crosscheck import crosscheck as module
from channelsim.channel.lab.crosscheck.chunks import CHUNK, run_chunk, trials
from channelsim.channel.lab.crosscheck.crosscheck import ChunkTally, crosscheck
from channelsim.channel.lab.laws import laws_for
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.channel.lab.broken import ENDLESS, target_file
from tests.menu import DECKS, each_game, each_program
from tests.sampling import one_in

GAME = "spacepoker"


def test_the_same_seed_counts_the_same_with_any_number_of_processes() -> None:
    target = of_game(registry.get(GAME))
    one, two = (crosscheck(target, CHUNK + 100, "s", jobs).tally for jobs in (1, 2))
    assert one == two
    assert crosscheck(target, 200, "t", 1).tally != crosscheck(target, 200, "s", 1).tally


class Stored:
    """A journal with the results of all shards, to which none may be added."""

    def __init__(self, results: dict[Shard, bytes]) -> None:
        self._results = results

    def stored(self, job: Job[ChunkTally]) -> dict[Shard, ChunkTally]:
        return {shard: job.decode(data) for shard, data in self._results.items()}

    def record(self, shard: Shard, result: ShardResult) -> None:
        raise AssertionError(f"shard {shard.number} was done again")

    def note(self, status: CampaignStatus) -> None:
        pass


@pytest.mark.long
def test_halved_shards_add_up_to_what_whole_ones_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 300)
    monkeypatch.setattr(module, "MOST_SHARDS", 3)
    target, cases = of_game(registry.get(GAME)), 3500
    campaign = module.crosscheck_of(target, cases, "s")
    plan = campaign.plan
    assert (plan.size, plan.seeds_per_shard) == (3, 4)
    work = campaign.worker()
    halves = [half for shard in plan.shards() for half in plan.halves(shard)]
    one = crosscheck(target, cases, "s")
    stored: Any = Stored({half: work(half) for half in halves})
    two = campaign.run(Place(ThisProcess, stored))
    assert (one.cases, one.earlier, two.earlier) == (cases, 0, cases)
    assert one.tally == two.tally
    assert one.digest == two.digest


@pytest.mark.parametrize("times", one_in(3, [5, 1, 2]))
def test_a_halved_seed_does_all_the_work_that_is_not_lost(times: int) -> None:
    """So the cases done and those named as lost are all cases, and the part repeats the whole."""
    target, cases = of_game(registry.get(GAME)), 2656
    job = module.crosscheck_of(target, cases, "s")
    plan = job.plan
    (whole,) = (part,) = plan.shards()
    for _ in range(times):
        (part,) = plan.halves(part)
    done, everything = (job.decode(job.worker()(one)) for one in (part, whole))
    (lost,) = plan.lost([part])
    assert done.cases == sum(n.total() for n in done.tally.outcomes.values()) == part.budget
    assert done.cases + lost.budget == everything.cases == cases
    for name, outcomes in done.tally.outcomes.items():
        assert outcomes <= everything.tally.outcomes[name]


def test_later_shards_store_fewer_samples() -> None:
    target, cases = of_game(registry.get(GAME)), 40 * CHUNK
    job = module.crosscheck_of(target, cases, "s")
    first, *_, last = job.plan.shards()
    work = job.worker()
    sizes = {}
    for shard in (first, last):
        tally = job.decode(work(shard)).tally
        ends = {name: {end for end, _ in prints} for name, prints in tally.prints.items()}
        assert {name: set(by_end) for name, by_end in tally.samples.items()} == ends
        sizes[shard] = {len(runs) for by_end in tally.samples.values() for runs in by_end.values()}
    assert max(sizes[first]) == SAMPLES
    assert sizes[last] == {1}


@each_game
def test_every_validator_ends_in_every_way_that_it_can(game: str) -> None:
    target = of_game(registry.get(game))
    tally = run_chunk(target, "ways", 1, CHUNK)
    assert sum(counts.total() for counts in tally.outcomes.values()) == CHUNK
    said = {path for prints in tally.prints.values() for path, _ in prints}
    rules = {rule for rule in target.game.rules if "-TERMS-" not in rule}
    assert said <= rules | {"valid"}
    if game not in DECKS:  # of those, games share rules that only some of them can break
        assert said == rules | {"valid"}


@each_program
def test_ten_cases_reach_every_validator(game: str) -> None:
    target = of_game(registry.get(game))
    tally = crosscheck(target, 10, "ten", jobs=1).tally
    assert set(tally.outcomes) == set(target.programs)
    assert sum(counts.total() for counts in tally.outcomes.values()) == 10


def test_cases_are_patched_as_a_challenger_would_write_them() -> None:
    from channelsim.clsp.values import serialize
    from channelsim.games.judge import NO_ADDRESS
    from channelsim.games.referee import GameCoin, validator_arguments

    target = of_game(registry.get(GAME))
    for trial in trials(target, "bytes", 0, 2000):
        site = trial.site
        for case in trial.cases:
            coin = GameCoin(
                mover_key=b"\xaa" * 48,
                waiter_key=b"\xbb" * 48,
                timeout=15,
                amount=site.amount,
                mod_hash=target.referee.hash,
                nonce=4,
                move=case.move,
                max_move_size=0,
                infohash_b=b"",
                mover_share=case.share,
                infohash_a=b"\x78",
            )
            program = target.programs[site.validator]
            arguments = (coin, site.state, program, case.evidence, NO_ADDRESS)
            assert case.arguments == validator_arguments(*arguments)
        assert serialize(trial.cases[0].evidence) in trial.cases[0].arguments
        assert (trial.cases[0].move, trial.cases[0].share) == (site.play.move, site.play.share)


def test_the_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "crosscheck", GAME, "--cases", 1000, "--jobs", 1, "--json")
    assert ran.code == 0
    report = json.loads(ran.out)
    assert (report["cases"], report["disagreements"], report["findings"]) == (1000, 0, [])
    assert report["cases_per_second"] > 0
    assert set(report["tried"]) == {law.name for law in laws_for(of_game(registry.get(GAME)))}
    reached = report["coverage"]["commitA"]["reached"]
    assert (reached["nodes"], reached["branches"]) == (
        reached["nodes_reached"],
        reached["branches_reached"],
    )


def test_a_broken_target_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = ("spacepoker/commitA.clsp", "(= MOVER_SHARE (/ AMOUNT 2))", "1")
    path = target_file(tmp_path, GAME, change)
    ran = channelsim(capsys, "crosscheck", path, "--cases", 1000, "--jobs", 1)
    assert ran.code == 1
    assert "unslashable cheat: commitA: Alice takes" in ran.out
    ran = channelsim(capsys, "crosscheck", path, "--cases", 1000, "--jobs", 1, "--json")
    report = json.loads(ran.out)
    assert report["disagreements"] >= report["findings"][0]["times"] > 0
    # The case is one that `vectors check` takes: right for the rules, wrong for this program.
    file = tmp_path / "found.jsonl"
    file.write_text(json.dumps(report["findings"][0]["vector"]) + "\n")
    assert channelsim(capsys, "vectors", "check", file).code == 0
    assert channelsim(capsys, "vectors", "check", "--target", path, file).code == 1


def test_a_target_without_rules_has_nothing_to_be_held_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.hex").write_text(load(GAME).programs["end"].serialized.hex())
    path = tmp_path / "t.toml"
    path.write_text('name = "mine"\n[programs]\nend = "a.hex"\n')
    ran = channelsim(capsys, "crosscheck", path)
    assert (ran.code, ran.out) == (2, "")
    assert "mine: names no rules" in ran.err


def test_wrong_counts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("--cases", 0), ("--jobs", 0), ("--cases", "many")):
        ran = channelsim(capsys, "crosscheck", GAME, *arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1)


@pytest.mark.usefixtures("early_cut_offs")
def test_a_program_that_never_ends_is_found_and_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker")
    (tmp_path / "tree" / "calpoker" / "d.clsp").write_text(ENDLESS)
    tally = crosscheck(load(str(path)), 400, "s", 1).tally
    assert tally.runaway == {"d"}
    assert {finding.place for finding in tally.findings} == {"d"}
    assert tally.outcomes["e"].total() > 0


ZERO_SECRET = (
    *("spacepoker/end.clsp", "(= (strlen MOVE) 17) "),
    "(= (strlen MOVE) 17) (if (= (+ 0 (substr MOVE 0 4)) 0) 0 1) ",
)
"""A preimage that begins with four zero bytes is refused: chance has one in 2^32."""


def test_secrets_that_nobody_draws_are_tried(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", ZERO_SECRET)))
    slashed, causes = "a legal move is slashed", set[str]()
    for number in range(12):
        causes |= {finding.cause for finding in run_chunk(target, "s", number, CHUNK).findings}
        if slashed in causes:
            break
    assert {slashed} <= causes <= {slashed, f"{slashed}: SP-END-4", "SP-END-5: slash"}
