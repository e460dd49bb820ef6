"""Campaigns of attacked sessions: counted, shrunk, stored, and run again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.attack import campaign as campaigns
from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.campaign import Broken, attacks, findings
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.campaign.campaign import here
from channelsim.channel.crypto import bls
from channelsim.channel.documents.attack import AttackDocument
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.session.peer_runner import PeerRunner
from tests.channel.command import channelsim

GAMES = ("spacepoker", "calpoker")


def test_a_campaign_has_the_same_digest_with_any_number_of_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where it learns from a generation before."""
    monkeypatch.setattr(campaigns, "GENERATION", 5)
    campaign = attacks(8, "jobs", GAMES)
    alone, shared = (campaign.run(here(campaign, jobs)) for jobs in (1, 2))
    assert alone.totals.counts["sessions"] == 8
    assert alone.findings == []
    assert alone.digest == shared.digest
    assert alone.totals.actions == shared.totals.actions
    assert alone.scripts == shared.scripts > 3
    other = attacks(2, "others", GAMES)
    assert other.run(here(other)).digest != alone.digest


async def connected_once(runner: PeerRunner, link: object) -> None:
    """Use a new connection, and report only the first one to the peer."""
    if not hasattr(runner, "reported"):
        vars(runner)["reported"] = True
        await connected(runner, link)  # type: ignore[arg-type]
    vars(runner)["_link"] = link


connected = PeerRunner.connected


def test_a_planted_fault_is_found_shrunk_and_replayed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(PeerRunner, "connected", connected_once)
    options = ("--runs", 1, "--seed", "s4", "--faults", "connection", "--json")
    ran = channelsim(capsys, "attack", "spacepoker", *options)
    assert ran.code == 1, ran.err
    document = msgspec.json.decode(ran.out, type=AttackDocument)
    assert document.sessions == 1
    assert document.faults == ("reset", "silence")
    assert document.broken_promises >= len(document.findings) >= 1
    assert {finding.rule for finding in document.findings} <= {
        *("chain", "accused", "settled", "pace"),
    }
    fewest = min(
        len(finding.scenario["actions"]) for finding in document.findings if finding.scenario
    )
    assert fewest == 1
    files = FindingFiles(tmp_path).write(document.findings)
    page = tmp_path / "page.html"
    assert channelsim(capsys, "report", files[0], "-o", page).code == 0
    html = page.read_text()
    assert all(text in html for text in ("Initiator", "Receiver", "Chain", '"fault"', "replay"))
    again = channelsim(capsys, "replay", files[0])
    assert (again.code, again.out.splitlines()[-1]) == (1, "it still happens")
    monkeypatch.undo()
    mended = channelsim(capsys, "replay", files[0], "--json")
    assert mended.code == 0
    assert json.loads(mended.out)["happens"] is False


def test_a_finding_with_an_impossible_script_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (finding,) = findings([Broken(Attack(("spacepoker",), "x"), "chain", "it left")])
    for key, wrong in (("actions", [["crash"]]), ("games", ["nothing"]), ("hands", 0)):
        file = tmp_path / f"{key}.json"
        scenario = {**(finding.scenario or {}), key: wrong}
        file.write_bytes(msgspec.json.encode(msgspec.structs.replace(finding, scenario=scenario)))
        ran = channelsim(capsys, "replay", file)
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1
        assert str(file) in ran.err


def test_mistakes_that_differ_in_numbers_only_are_one_finding_by_the_shortest_script() -> None:
    long = Attack(("spacepoker",), "x", tuple(Action("drop", 0, at) for at in (1, 2, 3)))
    short = Attack(("spacepoker",), "y", (Action("drop", 0, 1),))
    cases = [
        Broken(long, "chain", "it left at height 17"),
        Broken(short, "chain", "it left at height 9"),
        Broken(long, "money", "5 mojos became 4"),
    ]
    first, second = findings(cases)
    assert (first.times, first.scenario and first.scenario["seed"]) == (2, "y")
    assert (second.severity, second.times) == ("theft", 1)


def test_shrinking_leaves_what_is_needed_and_stops_after_so_many_runs() -> None:
    script = Attack(
        ("spacepoker",),
        "x",
        tuple(Action("crash", side, at, 3, 20) for side in (0, 1) for at in range(4)),
        hands=2,
        watched=True,
        snapshots=3,
    )
    runs: list[Attack] = []

    def needs_two(attack: Attack) -> bool:
        runs.append(attack)
        wanted = {(1, 2), (0, 1)}
        return wanted <= {(action.side, action.at) for action in attack.actions}

    plainest = shrunk(script, needs_two)
    assert {(one.side, one.at, one.amount, one.pause) for one in plainest.actions} == {
        *((0, 1, 0, 0), (1, 2, 0, 0))
    }
    assert (plainest.hands, plainest.watched, plainest.snapshots) == (1, False, 50)
    runs.clear()
    assert len(shrunk(script, needs_two, most_runs=3).actions) >= 4
    assert len(runs) == 3


def test_shrinking_finds_the_least_time_and_amount_that_are_needed() -> None:
    script = Attack(("spacepoker",), "x", (Action("crash", 0, 9, 6, blocks=14),), hands=4)
    plainest = shrunk(
        script,
        lambda one: (
            one.hands > 1
            and any(action.blocks > 10 and action.amount > 1 for action in one.actions)
        ),
    )
    assert plainest.hands == 2
    assert (plainest.actions[0].blocks, plainest.actions[0].amount) == (11, 2)


def test_a_search_for_some_time_tries_the_stored_findings_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "found"
    search = ("attack", "spacepoker", "--seed", "planted", "--faults", "connection", "--jobs", 1)
    timed = (*search, "--seconds", 0.5, "--out", folder)
    monkeypatch.setattr(PeerRunner, "connected", connected_once)
    assert channelsim(capsys, *search, "--runs", 1, "--out", tmp_path / "campaign").code in (0, 1)
    (finding,) = findings([Broken(RESETS, "settled", "the initiator is not done after the faults")])
    (file,) = FindingFiles(folder).write([finding])
    monkeypatch.undo()
    (folder / "torn.json").write_text("{")
    said = " ".join(channelsim(capsys, *timed).out.split())  # long paths wrap
    assert f"{file}: no longer happens" in said
    assert "torn.json: cannot be tried" in said
    document = json.loads(channelsim(capsys, *timed, "--json").out)
    assert (document["mended"], document["stopped"]) == ([str(file)], True)
    wrong = channelsim(capsys, *search, "--seconds", 1, "--out", tmp_path / "campaign")
    assert wrong.code == 2
    assert "the folder of a campaign" in wrong.err


RESETS = Attack(("spacepoker",), "x", (Action("reset", 0, 9),))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--faults", "diks"), "did you mean disk"),
        (("--faults", "crahs,drop"), "crash"),
        (("--seconds", 1, "--runs", 3), "--runs"),
        (("--seconds", 1, "--resume"), "--resume"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], options: tuple[object, ...], why: str
) -> None:
    ran = channelsim(capsys, "attack", "spacepoker", *options)
    assert ran.code == 2
    assert why in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_game_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "attack", "spacepokr")
    assert ran.code == 2
    assert "spacepoker" in ran.err


@pytest.mark.long
def test_fast_mode_reaches_the_same_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    real, fast = (attacks(6, "modes", GAMES, fast=fast) for fast in (False, True))
    alone, shared = (fast.run(here(fast, jobs)) for jobs in (1, 2))
    assert alone.digest == shared.digest
    slow = real.run(here(real))
    assert slow.digest != alone.digest
    for counts in ("counts", "actions", "goals"):
        assert getattr(slow.totals, counts) == getattr(alone.totals, counts)
    options = ("attack", "spacepoker", "--runs", 1, "--fast")
    assert "fast mode: a keyed hash" in channelsim(capsys, *options).out
    document = json.loads(channelsim(capsys, *options, "--json").out)
    assert document["signatures"].startswith("fast mode")
    assert bls.stand_in() is None


def test_what_real_signatures_do_not_confirm_is_counted_and_no_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def only_fast(runner: PeerRunner, link: object) -> None:
        await (connected if bls.stand_in() is None else connected_once)(runner, link)  # type: ignore[arg-type]

    monkeypatch.setattr(PeerRunner, "connected", only_fast)
    monkeypatch.setattr(campaigns, "shrunk", lambda attack, breaks: attack)  # it has its own tests
    search = ("attack", "spacepoker", "--runs", 1, "--seed", "s3")
    options = (*search, "--faults", "connection", "--fast", "--json")
    ran = channelsim(capsys, *options)
    document = msgspec.json.decode(ran.out, type=AttackDocument)
    assert (ran.code, document.findings) == (0, ())
    assert document.not_confirmed >= 1
    monkeypatch.setattr(PeerRunner, "connected", connected_once)
    ran = channelsim(capsys, *options)
    document = msgspec.json.decode(ran.out, type=AttackDocument)
    assert (ran.code, document.not_confirmed) == (1, 0)
    assert all("confirmed with real signatures" in one.text for one in document.findings)
