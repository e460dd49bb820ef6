"""`channelsim dispute`, and disputes through `play` and `replay`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack import dispute_sweep
from channelsim.channel.attack.disputes import dispute_script, recorded
from channelsim.channel.campaign.directory import opened
from channelsim.channel.campaign.shards import Configuration, Plan
from channelsim.channel.cli.work.dispute_run import sweep_document
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.peer.phases import resuming
from channelsim.channel.report.account import account
from channelsim.channel.report.lanes import Lanes
from channelsim.channel.report.matrix import show
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario, reason_against
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import Sweep, SweepReport, finding_of, findings
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.channel.scenarios import dispute
from tests.sampling import one_row_in

GAME = ("spacepoker",)


def test_the_list_names_every_adversary(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "dispute", "list")
    assert ran.code == 0
    *rows, count = ran.out.splitlines()
    assert [row.split()[0] for row in rows] == list(names())
    assert count == f"{len(names())} adversaries"


def test_the_list_of_a_game_has_those_that_apply(capsys: pytest.CaptureFixture[str]) -> None:
    lines = channelsim(capsys, "dispute", "list", "--game", "calpoker").out.splitlines()
    end = next(at for at, line in enumerate(lines) if "can do something" in line)
    count, *skipped = lines[end:]
    able = [row.split()[0] for row in lines[:end]]
    assert set(names()) > set(able)
    # It has no prepared deck, and holdem has one.
    assert "used-deck" not in able
    assert not reason_against("used-deck", ("calpoker", "holdem"))
    assert all(not reason_against(name, ("calpoker",)) for name in able)
    assert all(reason_against(name, ("calpoker",)) for name in set(names()) - set(able))
    number = f"{len(able)} of {len(names())} adversaries"
    assert count == f"{number} can do something in calpoker"
    listed = [line.removeprefix("skipped: ").split(" (")[0] for line in skipped]
    assert sorted(", ".join(listed).split(", ")) == sorted(set(names()) - set(able))
    assert "skipped: overraise (calpoker: no game in which a player chooses an amount)" in skipped
    unknown = channelsim(capsys, "dispute", "list", "--game", "calpokr")
    assert (unknown.code, unknown.out) == (2, "")


def test_all_adversaries_of_one_game(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its own menus are played, with the adversaries that can do something in it."""
    tried: list[Scenario] = []

    def some(first: Scenario, before: int = 0) -> Iterator[SweepTotals]:
        tried.append(first)
        yield SweepTotals(runs=1)

    monkeypatch.setattr(dispute_sweep, "everywhere", some)
    monkeypatch.setattr(dispute_sweep, "WEATHERS", {})
    asked = ("dispute", "run", "--all", "--game", "calpoker")
    document = json.loads(channelsim(capsys, *asked).out)
    assert (document["target"], document["runs"]) == ("calpoker", len(tried))
    assert {scenario.games for scenario in tried} == {("calpoker",)}
    assert {scenario.adversary for scenario in tried} - {""} == {
        name for name in names() if not reason_against(name, ("calpoker",))
    }
    printed = channelsim(capsys, *asked, "--text").out
    assert "can do something in calpoker" in printed
    assert "skipped: overraise (" in printed


@pytest.mark.parametrize("name", ["overraise", "no-pong"])
def test_bets_are_changed_only_where_there_are_any(name: str) -> None:
    able = {game for game in registry.built_in() if not reason_against(name, (game,))}
    assert set(registry.built_in()) - able == {"calpoker", "chinese"}
    assert not reason_against(name, ("calpoker", "spacepoker"))


def test_a_run_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "dispute", "run", "silent", "--at", 7, "--seed", "a", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert (document["broken_promises"], document["summary"]) == ([], "0 findings")
    assert document["deviated"] is True
    (action,) = document["scenario"]["actions"]
    assert (action["name"], action["at"], action["side"]) == ("silent", 7, 1)
    assert sum(document["got"].values()) == 2 * 3000
    assert "ChannelSettled" in document["news"]
    named = channelsim(capsys, "dispute", "run", "silent@7", "--seed", "a")
    assert json.loads(named.out) == document


def test_a_transcript_is_played_again_to_the_same_digest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "dispute.jsonl"
    options = ("--weather", "reorgs", "--game", "spacepoker,calpoker", "--side", "initiator")
    first = channelsim(capsys, "dispute", "run", "leaver@6", *options, "--transcript", file)
    assert first.code == 0, first.err
    again = channelsim(capsys, "replay", file)
    assert again.code == 0, again.err
    assert json.loads(again.out) == json.loads(first.out)
    lines = file.read_bytes().splitlines(keepends=True)
    for broken in (
        b"".join(lines[:-1]),
        file.read_bytes().replace(b'"at":6', b'"at":5', 1),
        lines[0],
    ):
        file.write_bytes(broken)
        assert channelsim(capsys, "replay", file).code == 2


def test_a_transcript_of_another_run_is_found_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from channelsim.channel.session.transcript import Lines

    file = tmp_path / "dispute.jsonl"
    channelsim(capsys, "dispute", "run", "dead@5", "--transcript", file)
    records = [json.loads(line)[1] for line in file.read_bytes().splitlines()]
    script = records[0]["script"]
    (action,) = script["actions"]
    other = {**script, "actions": [{**action, "at": 6}]}
    heads: list[tuple[dict[str, Any], str]] = [
        ({"script": other}, "the session went differently"),
        (
            {"script": {**script, "terms": {"proposals": "none"}}},
            "line 1: not the head of a dispute",
        ),
        ({"script": {**script, "terms": {"balance": 9}}}, "does not cover one stake of 1,000"),
        ({"script": 3}, "line 1: not the head of a dispute"),
        ({"format": "channelsim dispute 9"}, "line 1: its format is 'channelsim dispute 9'"),
    ]
    for changed, reason in heads:
        with file.open("wb") as out:
            lines = Lines(lambda line, out=out: out.write(line) and None)  # type: ignore[misc]
            for record in ({**records[0], **changed}, *records[1:]):
                lines.write(record)
        ran = channelsim(capsys, "replay", file)
        assert ran.code == 2
        assert f"{file}: line " in ran.err
        assert reason in ran.err


def test_a_hand_against_an_adversary_by_play(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "play", "calpoker", "--adversary", "stale-oldest@5", "--unit", 10)
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["scenario"]["games"] == ["calpoker"]
    assert document["scenario"]["terms"]["unit"] == 10
    assert sum(document["got"].values()) == 2 * 300


def test_hands_against_an_adversary_by_play(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "hands.jsonl"
    options = ("--hands", 2, "--policy", "random,greedy", "--balance", 4100, "--quiet")
    games = "spacepoker,calpoker"
    ran = channelsim(
        capsys, "play", games, "--adversary", "dead@16", *options, "--transcript", file
    )
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["scenario"]["hands"] == 2
    assert document["scenario"]["policies"] == ["random", "greedy"]
    assert sum(document["got"].values()) == 2 * 4100
    assert document["news"].count("GameStarted") >= 3
    again = channelsim(capsys, "replay", file)
    assert json.loads(again.out)["digest"] == document["digest"]


COPIED = ("dispute", "run", "--seed", "a14", "--old-copy")


def test_an_old_copy_is_an_attacked_session_and_its_transcript_is_played_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "copy.jsonl"
    ran = channelsim(capsys, *COPIED, 24, "--json", "--transcript", file)
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert "OldCopy" in document["news"]
    assert [action["kind"] for action in document["scenario"]["actions"]] == ["old-copy"]
    assert (document["broken_promises"], document["findings"]) == ([], [])
    assert sum(document["got"].values()) == 2 * 3000
    again = channelsim(capsys, "replay", file)
    assert (again.code, json.loads(again.out)) == (0, document), again.err
    printed = channelsim(capsys, *COPIED, 24, "--text").out
    assert "an old copy" in printed
    assert "every promise is kept" in printed
    file.write_bytes(file.read_bytes().replace(b'"at":24', b'"at":23'))
    assert channelsim(capsys, "replay", file).code == 2


def test_an_old_copy_beside_an_adversary_in_a_weather(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, *COPIED, 24, "silent@9", "--weather", "reorgs", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["deviated"]
    assert document["reorgs"] > 0


def test_an_old_copy_that_is_broken_or_checks_nothing_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = channelsim(capsys, *COPIED, 999)
    assert (idle.code, "nothing was checked" in idle.err) == (1, True)
    monkeypatch.setattr(resuming, "outdated", lambda state, signed: (state, []))
    ran = channelsim(capsys, *COPIED, 24, "--json")
    document = json.loads(ran.out)
    assert ran.code == 1
    broken = [promise["how"] for promise in document["broken_promises"]]
    assert any("it was shown state" in how for how in broken)
    assert document["findings"][0]["scenario"]["format"] == "channelsim attack 1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*COPIED, "9", "--at", "3"), "is the step of an adversary"),
        ((*COPIED, "9", "--staggered"), "does not go with --old-copy"),
        ((*COPIED, "9", "--crowd", "3"), "does not go with --old-copy"),
        (("dispute", "run"), "or --all"),
        (("dispute", "run", "dead", "--all"), "or --all"),
        (("dispute", "run", "nice"), "no adversary is called 'nice'"),
        (("dispute", "run", "dead@x"), "after the @ comes a step"),
        (("dispute", "run", "dead", "--side", "carol"), "initiator or receiver"),
        (("dispute", "run", "dead", "--weather", "fog"), "weather"),
        (("dispute", "run", "dead", "--game", "chess"), "chess"),
        (("dispute", "run", "--all", "--seeds", "0"), "--seeds 0: a whole number from 1"),
        (("dispute", "run", "dead", "--hands", "0"), "--hands 0: a whole number from 1"),
        (("play", "spacepoker", "--adversary", "dead", "--hands", "101"), "101 hands"),
        (("play", "spacepoker", "--adversary", "dead", "--policy", "ask"), "--policy ask"),
        (("play", "spacepoker", "--adversary", "dead", "--policy", "nice"), "caller"),
        (("play", "spacepoker", "--adversary", "dead", "--policy", "a,b,c"), "as in"),
        (("play", "spacepoker", "--adversary", "dead", "--balance", "0"), "--balance 0"),
        (("play", "spacepoker", "--adversary", "dead", "--balance", "9"), "one stake of 1,000"),
        (("play", "spacepoker", "--adversary", "dead", "--script", "x.toml"), "--script"),
    ],
)
def test_wrong_use_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    ran = channelsim(capsys, *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.long
def test_everything_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [Scenario(GAME, "x", "dead"), Scenario(GAME, "x", "false-launcher", side=0)]
    monkeypatch.setattr(dispute_sweep, "beginnings", lambda seed, number, only: iter(few))
    monkeypatch.setattr(dispute_sweep, "WEATHERS", {})
    ran = channelsim(capsys, "dispute", "run", "--all", "--seeds", 2, "--jobs", 1, "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert (document["findings"], document["summary"]) == ([], "0 findings")
    assert document["runs"] - document["idle"] == sum(
        cell["runs"] for row in document["matrix"].values() for cell in row.values()
    )
    (cell,) = document["matrix"]["false-launcher"].values()
    assert [*document["matrix"]["false-launcher"]] == ["handshake"]
    assert cell["broken"] == 0
    assert cell["results"] == {"no channel": cell["runs"]}
    assert cell["runs"] >= 2
    assert {"handshake", "proposal", "deal", "showdown"} < set(document["matrix"]["dead"])
    assert document["blocks"] > 50
    assert document["spends"] > 10


def test_a_broken_promise_is_reported_and_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(GAME, "x", "dead", 3)
    tally = SweepTotals(runs=2)
    for promise in ("safety", "duty"):
        tally.found.append(finding_of(scenario, BrokenPromise(promise, "planted")))
    tally.cell("dead", "flop").broken = 1
    tally.cell("dead", "deal").results.update(["slashed", "slashed", "paid out"])
    monkeypatch.setattr(Sweep, "run", lambda self, place: SweepReport(tally))
    ran = channelsim(capsys, "dispute", "run", "--all")
    assert ran.code == 1
    assert json.loads(ran.out)["findings"][0]["text"] == "safety: planted"
    out = StringIO()
    document = sweep_document(SweepReport(tally), "s")
    show(document, Console(file=out, width=120, no_color=True, highlight=False))
    shown = out.getvalue()
    assert shown.splitlines()[0].split() == ["adversary", "deal", "flop"]
    assert shown.splitlines()[2].split() == ["dead", "s2", "u", "1!"]
    assert shown.count("planted") == 2
    assert shown.splitlines()[-1] == "2 findings (worst: broken promise)"


def test_the_order_of_shards_changes_no_file_of_a_finding(tmp_path: Path) -> None:
    broken = [
        finding_of(Scenario(GAME, seed, "dead", 3), BrokenPromise("safety", "planted"))
        for seed in "ab"
    ]
    configuration = Configuration("dispute run --all", "1", "t", "s", {})
    plan = Plan(configuration.digest, 2, 1)
    with opened(tmp_path, configuration, plan, "adversaries", resume=False) as directory:
        files = FindingFiles(directory.findings)
        files.write(findings(broken[1:]))
        files.write_last(findings(broken))
    (path,) = (tmp_path / "findings").iterdir()
    assert json.loads(path.read_text())["scenario"]["seed"] == "a"


@pytest.mark.parametrize(
    ("name", "step", "why"),
    one_row_in(
        2,
        [
            ("", 0, "both agreed to close"),
            ("no-funding", 0, "the funding missed its deadline"),
            ("wrong-commitment", 6, "game 1 was slashed by Initiator"),
            ("stale-oldest", 8, "preempted"),
            ("leaver", 6, "moves on chain"),
            ("dead", 9, "CH-TIME-2"),
            ("silent", 4, "Initiator broke off"),
        ],
    ),
)
def test_the_account_says_where_every_mojo_came_from(name: str, step: int, why: str) -> None:
    run = dispute(Scenario(GAME, "account", name, step)).run
    initiator, receiver, reasons = account(run)
    for line, who in ((initiator, "Initiator"), (receiver, "Receiver")):
        head, _, parts = re.sub(r"(\d),(\d)", r"\1\2", line).partition(": ")
        got, put_in = map(int, re.findall(r"\d+", head))
        assert head == f"{who} got {got} mojos, put in {put_in}"
        assert sum(int(part.split()[0]) for part in parts.split(", ") if part) == got
    assert reasons.startswith("why: ")
    assert why in reasons


def test_the_lanes_show_every_action_and_its_reason() -> None:
    scenario = Scenario(GAME, "lanes", "wrong-commitment", 6)
    lanes = Lanes(scenario.honest)
    done, digest = recorded(dispute_script(scenario), lambda line: None, lanes)
    out = StringIO()
    console = Console(file=out, width=250, no_color=True, highlight=False)
    lanes.show(console, done.run, [*done.broken, BrokenPromise("money", "planted")], digest)
    text = out.getvalue()
    for document in (
        "Receiver, wrong-commitment",
        "sends batch",
        "breaks off: CH-MOVE-5",
        "is published",
        "slashed by Initiator: Initiator 2,000, Receiver 0",
        "Initiator got 4,000 mojos, put in 3,000: 2,000 in state 8, 2,000 from game 1",
        "why: Initiator broke off (CH-MOVE-5: game 1,",
        "broken promise: money: planted",
        "1 finding (worst: theft)",
        digest,
    ):
        assert document in text, document
