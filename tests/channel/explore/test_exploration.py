"""The command `explore`: real peers, planted mistakes, paths that are walked again."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.campaign.campaign import here
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.errors import UsageError
from channelsim.channel.explore import exploration
from channelsim.channel.explore.exploration import Root, explorations
from channelsim.channel.explore.search import LOOK, search, walked
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.peer.onchain import scan
from channelsim.channel.peer.onchain.dispute import Findings
from channelsim.channel.peer.peer_state import play_of
from channelsim.channel.peer.phases import resuming
from channelsim.channel.store import durable_peer
from channelsim.channel.store.snapshots import decode_snapshot
from tests.channel.command import channelsim

GAMES = ("spacepoker",)


def unpreempted(view: Any, state: Any, seen: Any) -> Findings:
    """Leave every published state to its timeout."""
    return Findings()


def test_two_honest_peers_keep_all_promises_with_one_fault_anywhere() -> None:
    """The whole of a search, to its ends."""
    with fast_signatures():
        visited = search(Root(GAMES, "whole", faults=1).world())
    assert visited.broken == []
    assert visited.frontier == 0
    assert visited.states > 500
    assert visited.ends > 5
    assert visited.counts["the connection is lost"] > 20
    assert visited.counts["the receiver is killed"] > 20


@pytest.mark.parametrize("fault", ["repeats nothing", "forgets a wish", "a wrong play"])
def test_a_fault_of_resumption_or_restart_is_found(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "repeats nothing":
        monkeypatch.setattr(resuming, "_repeated", lambda state, message: [])
    else:
        changes: dict[str, Any] = (
            {"closing": False} if fault == "forgets a wish" else {"potato": True}
        )
        right = decode_snapshot

        def wrong(*given: Any) -> Any:
            state, *rest = right(*given)
            play = msgspec.structs.replace(play_of(state), **changes)
            return (msgspec.structs.replace(state, play=play), *rest)

        monkeypatch.setattr(durable_peer, "decode_snapshot", wrong)
    root = Root(GAMES, "planted", faults=1)
    with fast_signatures():
        visited = search(root.world(), 1500, lambda seen: bool(seen.broken))
        assert visited.broken
    monkeypatch.undo()
    with fast_signatures(), suppress(UsageError):  # the path may not be there any more
        assert walked(root.world(), visited.broken[0].path) == []


def test_a_planted_mistake_is_found_confirmed_and_walked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scan, "_unspent_unroll", unpreempted)
    ran = channelsim(capsys, "explore", "spacepoker", "--states", 40, "--jobs", 1, "--json")
    assert ran.code == 1, ran.err
    document = msgspec.json.decode(ran.out, type=ExploreDocument)
    assert document.not_confirmed == 0
    duty = next(one for one in document.findings if "preempt state 0" in one.text)
    assert (duty.rule, "confirmed with real signatures" in duty.text) == ("duty", True)
    assert duty.scenario is not None
    assert duty.scenario["path"] == ["the thief publishes state 0"]
    (file,) = FindingFiles(tmp_path).write([duty])
    assert channelsim(capsys, "replay", file).out.splitlines()[-1] == "it still happens"
    monkeypatch.undo()
    mended = channelsim(capsys, "replay", file, "--json")
    assert (mended.code, json.loads(mended.out)["happens"]) == (0, False)
    scenario = {**duty.scenario, "path": ["flies"]}
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(duty, scenario=scenario)))
    refused = channelsim(capsys, "replay", file)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)


def test_what_only_the_keyed_hash_breaks_is_counted_and_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = scan._unspent_unroll  # noqa: SLF001
    monkeypatch.setattr(
        scan,
        "_unspent_unroll",
        lambda *given: right(*given) if bls.stand_in() is None else Findings(),
    )
    campaign = explorations((GAMES,), "s", 12)
    report = campaign.run(here(campaign))
    assert report.findings == []
    assert report.totals.counts["not confirmed"] > 0


@pytest.mark.long
def test_a_part_says_so_and_is_the_same_with_any_number_of_processes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    campaign = explorations((GAMES,), "jobs", 4)
    alone, shared = (campaign.run(here(campaign, jobs)) for jobs in (1, 2))
    assert alone.digest == shared.digest
    assert alone.totals.counts["frontier"] > 0
    ran = channelsim(capsys, "explore", "spacepoker", "--states", 3)
    assert ran.code == 0
    assert "this is a part, with a frontier of" in ran.out
    assert "fast mode" in ran.out


def test_unknown_games_and_games_with_decks_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for game in ("spacepokr", "holdem"):
        ran = channelsim(capsys, "explore", game)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)


def test_a_search_that_is_interrupted_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = explorations((GAMES,), "s", 150)
    campaign = explorations((GAMES,), "s", 150, folder=tmp_path / "searches")
    campaign, whole = (replace(one, roots=one.roots[:2]) for one in (campaign, whole))
    with monkeypatch.context() as patches:
        patches.setattr(exploration, "Reporter", lambda: lambda work, counts: counts()["states"])
        part = campaign.run(here(campaign))
    assert part.totals.counts["states"] == 2 * LOOK
    assert len(list((tmp_path / "searches").iterdir())) == 2
    assert campaign.run(here(campaign)).totals == whole.run(here(whole)).totals
    assert not list((tmp_path / "searches").iterdir())
    (tmp_path / "searches" / "0.search").write_bytes(b"of something else")
    with pytest.raises(UsageError, match=r"0\.search: no stored search"):
        campaign.run(here(campaign))
