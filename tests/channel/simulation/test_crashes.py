"""Peers that are killed at any instant come back and go on as if nothing had happened."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import condition, signed_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Received, Send
from channelsim.channel.peer.machine import TRANSITIONS, Peer, Phase
from channelsim.channel.peer.peer_state import Transition
from channelsim.channel.protocol.messages import Batch, Request, decode
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.peer_driver import Actor, PeerStopped
from channelsim.channel.session.result import Result
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import Handled, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.crashes import (
    CrashedRun,
    Dies,
    crashes,
    run_killed,
    scenario_of,
)
from channelsim.channel.simulation.kills import AIMS, LOST, Kill, Stage
from channelsim.channel.simulation.peer_process import PeerProcess
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.side_process import Work
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.keys_file import FILE, write_keys
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.referee import CREATE_COIN
from tests.channel.campaign.running import done
from tests.channel.simulation.instants import every_instant
from tests.channel.table import sit


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    """All runs sign the same; and so a different signature is a different message."""
    with bls.remembered():
        yield


# --- honest sessions -----------------------------------------------------------------------------


def play(game: str, wrap: Callable[[Peer], Actor]) -> tuple[Result, list[bytes]]:
    """A session of two hands, and the different batches of both sides as they were made."""
    setup = Setup((game,), "crash", 2, 100, 10, 10_000, ("random", "random"))
    batches: dict[bytes, None] = {}

    def listen(event: SessionEvent) -> None:
        if isinstance(event, Handled):
            sent = [effect.message for effect in event.effects if isinstance(effect, Send)]
            batches.update((blob, None) for blob in sent if isinstance(decode(blob), Batch))

    session = Session(Deciders(setup), [listen], wrap=wrap)
    return session.run(), [*batches]


@cache
def undisturbed(game: str) -> tuple[Result, list[bytes], dict[Side, list[Kill]]]:
    """The session when nobody is killed, and the instants that each side lives through."""
    instants: dict[Side, list[Kill]] = {side: [] for side in Side}

    def wrap(peer: Peer) -> Actor:
        def lives(kill: Kill) -> bool:
            instants[peer.config.side].append(kill)
            return False

        return RemoteActor(peer, lives)

    result, batches = play(game, wrap)
    return result, batches, instants


def same_end(game: str, kills: dict[Side, set[Kill]]) -> None:
    """The session with these kills ends as it does without, over the same batches."""
    result, batches, _ = undisturbed(game)
    killed: list[RemoteActor] = []

    def wrap(peer: Peer) -> Actor:
        due = kills.get(peer.config.side, set())
        killed.append(RemoteActor(peer, due.__contains__))
        return killed[-1]

    replayed, said = play(game, wrap)
    assert said == batches, kills
    assert (replayed.balances, replayed.hands, replayed.checks.conserved) == (
        result.balances,
        result.hands,
        True,
    )
    assert {kill for peer in killed for kill in peer.kills} == set().union(*kills.values())


@pytest.mark.parametrize("side", Side)
def test_a_session_with_one_kill_ends_as_it_does_without(side: Side) -> None:
    for kill in undisturbed("calpoker")[2][side][int(side) :: 17]:
        same_end("calpoker", {side: {kill}})


@pytest.mark.long
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("game", ["spacepoker", "calpoker"])
def test_a_session_with_one_kill_at_any_instant_ends_as_it_does_without(
    game: str, side: Side
) -> None:
    for kill in undisturbed(game)[2][side]:
        same_end(game, {side: {kill}})


@pytest.mark.parametrize("effects", [LOST, 0, 1], ids=("lost", "before", "amid"))
def test_a_session_with_many_kills_ends_as_it_does_without(effects: int) -> None:
    """Both peers are killed at every eighth event: before it is stored, or in its effects.

    A new connection is several events, so more kills would leave no time to play.
    """
    killed: list[RemoteActor] = []

    def wrap(peer: Peer) -> Actor:
        killed.append(
            RemoteActor(peer, lambda kill: kill.event % 8 == 0 and kill.effects == effects)
        )
        return killed[-1]

    result, batches, _ = undisturbed("spacepoker")
    replayed, said = play("spacepoker", wrap)
    assert said == batches
    assert replayed.balances == result.balances
    assert sum(len(peer.kills) for peer in killed) > 4


# --- disputes ------------------------------------------------------------------------------------

DISPUTES = (
    Scenario(("calpoker",), "crash", "leaver", step=6),
    Scenario(("spacepoker",), "crash", "silent", step=9, side=0),
    Scenario(("spacepoker",), "crash", "stale-previous", step=9, weather="reorgs"),
)


def at(side: int, kill: Kill) -> Dies:
    return lambda peer, now: (peer, now) == (side, kill)


def harmless(run: CrashedRun) -> bool:
    return not (run.contradictions or run.broken)


def one_kill(scenario: Scenario, side: int, first: int, step: int) -> None:
    for kill in every_instant(scenario, side)[first::step]:
        run = run_killed(scenario, at(side, kill))
        assert run.kills[side] == (kill,)
        assert harmless(run), run


@pytest.mark.parametrize("scenario", DISPUTES, ids=lambda scenario: scenario.adversary)
def test_a_dispute_with_a_kill_breaks_no_promise(scenario: Scenario) -> None:
    one_kill(scenario, scenario.honest, first=55, step=110)


def test_a_completed_bundle_that_is_repeated_before_play_is_ignored() -> None:
    scenario = Scenario(
        ("spacepoker",), "ops-2000/17/22", "deck-flood", step=0, side=1, weather="cut-off", hands=1
    )
    run = run_killed(scenario, at(0, Kill(4, 0)))
    assert run.kills[0] == (Kill(4, 0),)
    assert harmless(run), run


@pytest.mark.long
@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("scenario", DISPUTES, ids=lambda scenario: scenario.adversary)
def test_a_dispute_with_a_kill_at_any_instant_breaks_no_promise(
    scenario: Scenario, quarter: int
) -> None:
    one_kill(scenario, scenario.honest, first=quarter, step=4)


@pytest.mark.parametrize("mixed", [False, True])
def test_many_kills_in_many_scenarios(mixed: bool) -> None:
    totals = done(crashes(3, "few kills", mixed=mixed), 1)
    assert totals.kills == 3
    assert totals.failed == []


@pytest.mark.long
def test_a_thousand_kills() -> None:
    totals = done(crashes(1000, "long"), 2)
    assert totals.kills == 1000
    assert totals.failed == []


def test_scenarios_differ_and_have_every_weather() -> None:
    drawn = [scenario_of("x", count, AIMS[count % len(AIMS)]) for count in range(60)]
    assert len({(scenario.adversary, scenario.games, scenario.weather) for scenario in drawn}) > 40
    assert {scenario.side for scenario in drawn} == {0, 1}
    assert len({scenario.adversary for scenario in drawn}) > 20
    prepared = [scenario for scenario in drawn if scenario.agreed and scenario.dealer]
    assert len(prepared) == 12, "each run aimed at a step of a deck prepares decks"


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("stage", AIMS)
def test_a_scenario_has_the_stage_that_it_is_for(stage: Stage) -> None:
    """One of a few: some adversaries end a session early."""
    lived: set[Stage] = set()

    def lives(side: int, kill: Kill) -> bool:
        lived.add(kill.stage)
        return False

    for count in range(4):
        if stage not in lived:
            run_killed(scenario_of("stages", count, stage), lives)
    assert stage in lived


@pytest.mark.usefixtures("few_rounds")
def test_kills_reach_every_stage() -> None:
    totals = done(crashes(25, "stages"), 1)
    assert sum(totals.stages.values()) == totals.kills == 25
    assert min(totals.stages[stage] for stage in AIMS) >= 2, totals.stages


# --- planted faults ------------------------------------------------------------------------------


class ForgettingStore(MemoryStore):
    """A store that says that events are durable when all but the last are."""

    def __init__(self) -> None:
        super().__init__()
        self._late: Sequence[bytes] = ()

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        late, self._late = self._late, events
        super().append(late, overview)

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        self.append(())
        super().save_snapshot(snapshot, states, erases=erases)

    def load(self) -> Contents:
        self._late = ()
        return super().load()


def test_a_store_that_forgets_its_last_event_is_noticed() -> None:
    scenario = Scenario(("spacepoker",), "forgets", policies=("random", "random"))
    outcomes = []
    for kill in every_instant(scenario, 0)[40::17]:
        run = run_killed(scenario, at(0, kill), ForgettingStore)
        outcomes.append(harmless(run))
    assert not all(outcomes)


def test_a_peer_that_fails_to_handle_a_message_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on chain and loses nothing, but an honest side must not fail."""

    def fail(*given: object) -> Transition:
        raise InvariantError("planted")

    monkeypatch.setitem(TRANSITIONS[Phase.PLAYING], Request, fail)
    scenario = Scenario(("spacepoker",), "fails", policies=("random", "random"))
    run = run_killed(scenario, lambda side, kill: False)
    (how, *_) = {one.how for one in run.broken if "failed to handle an event" in one.how}
    assert how.endswith("InvariantError: planted")
    assert all("failed to handle" in one.how or one.promise == "law" for one in run.broken)
    # Without a store it is raised as it is.
    with pytest.raises(InvariantError, match="planted"):
        Arena(scenario).run()


# --- processes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mixed", [False, True])
def test_killed_processes_come_back_from_the_disk(mixed: bool) -> None:
    totals = done(crashes(1, "processes", processes=True, mixed=mixed), 1)
    assert totals.kills == 1
    assert totals.failed == []


@pytest.mark.long
def test_many_killed_processes_come_back_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are killed before an event is on disk, and some after. No temporary file remains."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        totals = done(crashes(300, "many processes", processes=True), 2)
        assert list(Path(folder).iterdir()) == []
    assert totals.kills == 300
    assert totals.failed == []


def test_a_killed_node_makes_the_same_blocks(tmp_path: Path) -> None:
    """It is killed at every second change, and no block or bundle is lost or made twice."""
    key = wallet_key(b"", "wallet")
    second = cycle((False, True))
    node = ProcessNode(tmp_path / "chain", 7, lambda: next(second), Chance(b""))
    with closing(node):
        chains = []
        for chain in (SimulatedChain(7), node):
            coin = chain.give(address_of(key), 1)
            paid = to_list([condition(CREATE_COIN, bytes(32), int_to_atom(coin.amount))])
            assert chain.push(signed_spend(key, coin, paid, chain.agg_sig_data())).benign
            chain.farm(2)
            chain.reorganise(1, 2, keep=False)
            chain.farm()
            chains.append((chain.peak(), chain.coin(coin.id), chain.children(coin.id)))
    assert chains[0] == chains[1]
    assert node.kills == 2


def test_a_process_that_reacts_otherwise_than_its_copy_is_noticed(tmp_path: Path) -> None:
    ann, ben = (end.peer for end in sit().ends)
    process = PeerProcess(ann.config, Work(tmp_path))
    process.child.kill()
    (tmp_path / FILE).unlink()
    write_keys(tmp_path, ben.config)
    process.child.begin()
    actor = RemoteActor(Peer(ann.config), process=process)
    with closing(actor), pytest.raises(InvariantError, match="react differently"):
        actor.start(1)


def killed_when_done(folder: Path) -> RemoteActor:
    """A peer whose process is killed as soon as it has handled an event."""
    process = PeerProcess(sit().ends[0].peer.config, Work(folder))

    def strike(chance: Chance) -> None:
        process.child.receive()
        process.child.kill()

    process.child.strike = strike  # type: ignore[method-assign]
    return RemoteActor(Peer(sit().ends[0].peer.config), lambda kill: True, process=process)


def test_a_killed_process_goes_on_from_what_it_has_stored(tmp_path: Path) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        with pytest.raises(PeerStopped) as stopped:
            actor.handle(Received(b"no message"))
        assert stopped.value.effects
        actor.start(1)
        assert actor.peer.phase is Phase.FAILED
        assert [kill.effects for kill in actor.kills] == [0]


def test_a_process_that_was_killed_before_it_stored_an_event_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        keep_first(monkeypatch, 1)
        with pytest.raises(PeerStopped) as stopped:
            actor.handle(Received(b"no message"))
        assert stopped.value.effects is None
        assert [kill.effects for kill in actor.kills] == [LOST]


def test_a_store_that_lost_more_than_the_newest_event_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        keep_first(monkeypatch, 0)
        with pytest.raises(InvariantError, match="neither"):
            actor.handle(Received(b"no message"))


def keep_first(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let stores of processes have so many events."""
    stored = PeerProcess.stored

    def kept(process: PeerProcess) -> Contents:
        contents = stored(process)
        return replace(contents, events=contents.events[:count])

    monkeypatch.setattr(PeerProcess, "stored", kept)
