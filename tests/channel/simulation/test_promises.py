"""The promises hold in every scenario that is tried, and planted faults are found by them."""

from __future__ import annotations

from contextvars import Context
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack import dispute_sweep
from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.attack.mortal_peer import NotedPeer
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    GameEnded,
    IllegalOnChain,
    LeftForChain,
    Undone,
)
from channelsim.channel.peer.interface import Cancelled, Effect, Event, Push
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.onchain import decisions
from channelsim.channel.protocol.messages import Advisory, Batch, Move, decode, encode
from channelsim.channel.simulation import sweep as everything
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.promises.secrecy import games_played, moves_in
from channelsim.channel.simulation.run import Disclosure, Run
from channelsim.channel.simulation.scenario import Scenario, adversaries_for, reason_against
from channelsim.channel.simulation.scenario import check as check_scenario
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.terms import Proposals
from channelsim.games.chance import Chance
from tests.channel.campaign.running import done
from tests.channel.scenarios import changed, check, dispute, honest_sides_are
from tests.channel.table import sit, total
from tests.sampling import one_in, one_row_in

GAME = ("spacepoker",)
OF_DECKS = {"wrong-opening", "swapped-openings", "wrong-card", "free-look"}
OF_DECKS |= {"used-deck", "one-deck-twice", "another-root"}
"""Adversaries that cheat in games with a deck only: see `test_deck_adversaries.py`."""

BOTH = ("calpoker", "spacepoker")

AT_LENGTH = [
    pytest.param(name, marks=pytest.mark.long)
    for name in ("staller", "late-mover", "wrong-size", "leaver")
]
"""Adversaries that some tests meet only in the long run; each is run in a test of all of them."""


def ended(name: str, step: int = 8, side: int = 1, **other: Any) -> Dispute:
    return dispute(changed(Scenario(GAME, "promises", name, step, side), **other))


def run(name: str, step: int = 8, side: int = 1, **other: Any) -> Run:
    return ended(name, step, side, **other).run


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", one_in(3, names()))
def test_an_adversary_does_nothing_before_there_is_a_channel(name: str, side: int) -> None:
    """A block may come between any two messages, the first ones of the opening too."""
    table = sit("early")
    plan = Plan(0, Chance(b"early"), table.chain, lambda back, bundle=None: False, GAME)
    actor = get(name)(table.ends[side].peer, plan)
    actor.start(table.chain.peak())
    actor.sent_count = 50
    actor.handle(Block(table.chain.peak() + 1))
    actor.last()
    assert actor.phase in (Phase.OPENING, Phase.FAILED)


@pytest.mark.parametrize(
    "name",
    one_in(
        18, ["", *sorted({name for name in names() if not name.startswith("breaks-")} - OF_DECKS)]
    ),
)
def test_every_adversary_on_both_sides(name: str) -> None:
    """One step here, or more until it has deviated; the others are in `dispute run --all`.

    Those that break a rule are in `test_lawful.py`.
    """
    deviated = not name
    number = 0
    while number < 1 or not deviated:
        assert number < 16, f"{name} never does what it is for"
        # From the very beginning too, where there is no channel yet.
        step = (sum(map(ord, name)) + 5 * number) % 12 if number else 0
        weather = WEATHERS[(len(name) + number) % len(WEATHERS)]
        done = ended(name, step, number % 2, weather=weather, seed=f"promises {number // 2}")
        assert done.broken == [], (name, number)
        deviated = deviated or done.run.deviated
        number += 1


@pytest.mark.parametrize("name", one_in(2, ["dead", "leaver", "stale-previous", "silent"]))
def test_two_live_games_at_a_few_steps(name: str) -> None:
    for step in (3, 6, 11):
        done = ended(name, step, step % 2, games=BOTH, seed=f"two {step}")
        assert done.broken == [], (name, step)


@pytest.mark.parametrize("name", one_in(2, ["", "stale-any", *AT_LENGTH]))
def test_successive_hands_and_staggered_games(name: str) -> None:
    at_once = hands = 0
    for step, proposals in (
        (9, Proposals.STAGGERED),
        (17, Proposals.TOGETHER),
        (22, Proposals.STAGGERED),
    ):
        done = ended(name, step, step % 2, games=BOTH, hands=2, proposals=proposals)
        assert done.broken == [], (name, step)
        accounts = conversation(done.run).accounts.values()
        at_once = max(at_once, *(len(account.games) for account in accounts))
        hands = max(hands, len({game for account in accounts for game in account.games}))
    assert (at_once, hands) == (2, 4)


def test_an_unaffordable_proposal_is_cancelled_and_play_goes_on() -> None:
    policies = ("aggressive", "aggressive")
    dispute = ended("", games=GAME, hands=4, balance=1000, policies=policies)
    assert dispute.broken == []
    done = dispute.run
    honest = done.parties[done.scenario.honest]
    reasons = [news.reason for news in honest.news if isinstance(news, Cancelled)]
    assert reasons
    assert {*reasons} == {"a balance no longer covers the stake"}
    assert done.parties[0].peer.phase is Phase.CLOSED


def test_a_fold_in_one_game_excuses_nothing_in_another() -> None:
    """The honest side accepted the result of the first hand; in the second it must still move."""
    hands: dict[str, Any] = {"hands": 2, "policies": ("caller", "caller"), "seed": "faultsa"}
    failures = [faulty("silent", step, "move", **hands) for step in (16, 18)]
    assert failures == [{"safety", "spends"}, {"safety", "spends"}]


@pytest.mark.parametrize("name", ["pinner", "stale-any", *AT_LENGTH])
def test_a_side_that_pays_fees(name: str) -> None:
    paid = 0
    for step, weather in ((5, "calm"), (7, "slow"), (9, "reorgs")):
        done = ended(name, step, step % 2, weather=weather, fees=10)
        assert done.broken == [], (name, step)
        end = done.run.party
        paid += any("+fee" in what for what, _, _ in end.pushed)
    assert paid


def test_the_same_scenario_is_the_same_run() -> None:
    first, second = run("silent", weather="reorgs"), run("silent", weather="reorgs")
    assert [end.sent for end in first.parties] == [end.sent for end in second.parties]
    assert [[str(n) for n in end.news] for end in first.parties] == [
        [str(n) for n in end.news] for end in second.parties
    ]
    assert (first.blocks, first.reorgs) == (second.blocks, second.reorgs)


def test_a_few_seeds_begin_every_adversary_on_both_sides_with_every_menu() -> None:
    known = {"", *adversaries_for(menu.games for menu in everything.menus())}
    combined = 2 * len(everything.menus())
    taken = [list(everything.beginnings("s", number)) for number in range(combined)]
    for scenarios in taken:
        assert {scenario.adversary for scenario in scenarios} == known
        assert len(scenarios) == len(known)
        assert {scenario.side for scenario in scenarios} == {0, 1}
    begun = {
        (s.adversary, s.side, s.games, s.hands, s.terms) for scenarios in taken for s in scenarios
    }
    fitting = [
        menu
        for name in known
        for menu in everything.menus()
        if not name or not reason_against(name, menu.games)
    ]
    assert len(begun) == 2 * len(fitting)
    assert all(check_scenario(scenario) for scenarios in taken for scenario in scenarios)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "wrong-size",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("dead", "late-mover-2")),
    ],
)
def test_each_deviation_is_run_once_wherever_there_is_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Run] = []
    count = SweepTotals.count

    def kept(self: SweepTotals, run: Run, row: str, part: str, broken: int) -> None:
        runs.append(run)
        count(self, run, row, part, broken)

    monkeypatch.setattr(SweepTotals, "count", kept)
    tally = SweepTotals()
    with bls.remembered():
        for part in dispute_sweep.everywhere(Scenario(GAME, "once", name)):
            tally.merge(part)
    assert tally.found == []
    said = at(runs[-1]).intended
    places = [adversary.deviated_at for adversary in map(at, runs) if adversary.done]
    assert len(set(places)) == len(places)
    if name == "dead":
        # It can deviate with each thing that it says, and dies there.
        assert places == list(range(1, len(said) + 1))
        assert tally.matrix[name]["handshake"].results["no channel"] >= 2
    elif name == "wrong-size":
        moves = [number for number, blob in enumerate(said, 1) if has_move(blob)]
        assert places == moves
        assert tally.idle == 1
    else:
        assert tally.runs > len(places) >= 1
    assert sum(cell.runs for cell in tally.matrix[name].values()) == len(places)


def at(run: Run) -> Adversary:
    """The adversary of a run."""
    actor = run.parties[run.scenario.side].actor
    assert isinstance(actor, Adversary)
    return actor


def has_move(blob: bytes) -> bool:
    """True if a message is a batch with a move in it."""
    message = decode(blob)
    return isinstance(message, Batch) and any(
        isinstance(action, Move) for action in message.actions
    )


def test_remembered_signatures_change_no_run() -> None:
    scenario = Scenario(GAME, "same", "wrong-reveal", 5, weather="reorgs")
    # Nothing is remembered in a new context.
    alone = Context().run(lambda: dispute(scenario).session.digest)
    with bls.remembered():
        assert [dispute(scenario).session.digest for _ in range(2)] == [alone, alone]


@pytest.mark.long
def test_everything_for_one_seed() -> None:
    """Each adversary with one menu, on one side; more seeds are for `dispute run --all`."""
    tally = done(dispute_sweep.sweep_of_all("long", 1)).totals
    assert tally.found == []
    assert tally.matrix[dispute_sweep.COPIED]


# --- planted faults ------------------------------------------------------------------------------


def faulty(name: str, step: int, *lost: str, **other: Any) -> set[str]:
    """The promises that break where the pushes of the honest side under some names are lost."""

    class Losing(NotedPeer):
        def start(self, peak: int) -> list[Effect]:
            return left(super().start(peak))

        def handle(self, event: Event) -> list[Effect]:
            return left(super().handle(event))

    def left(effects: list[Effect]) -> list[Effect]:
        return [e for e in effects if not (isinstance(e, Push) and e.name in lost)]

    scenario = changed(Scenario(GAME, "faults", name, step), **other)
    with honest_sides_are(Losing):
        return {breach.promise for breach in dispute(scenario).broken}


@pytest.mark.parametrize(
    ("name", "step", "lost"),
    one_row_in(
        4,
        [
            ("stale-previous", 6, ("preempt",)),
            ("stale-oldest", 9, ("preempt",)),
            ("dead", 6, ("claim",)),
            ("dead", 6, ("unroll",)),
            ("dead", 6, ("unroll-timeout",)),
            ("wrong-commitment", 6, ("slash",)),
            ("silent", 6, ("move", "redo")),
        ],
    ),
)
def test_lost_spends_of_the_honest_side_are_found(
    name: str, step: int, lost: tuple[str, ...]
) -> None:
    assert any(faulty(name, step + more, *lost) for more in (0, 1, 2))


def test_an_illegal_move_of_the_honest_side_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger judges the honest side, too."""
    caught = run("illegal-on-chain", 6, seed="caught")
    monkeypatch.setattr(Scenario, "honest", property(lambda scenario: scenario.side))
    hows = [breach.how for breach in check(caught)]
    assert any("illegal move" in how or "slashed" in how for how in hows), hows


def test_a_key_in_a_message_is_found() -> None:
    done = run("")
    end = done.parties[done.scenario.honest]
    (game_id,) = games_played(done)
    for hidden in (end.peer.config.secret, end.peer.config.entropy(game_id)[32:]):
        end.disclosures.append(Disclosure(1, "message", encode(Advisory(0, b"..." + hidden))))
        assert [breach.promise for breach in check(done)] == ["secrecy"]
        end.disclosures.pop()
    assert check(done) == []


def test_a_move_may_reveal_the_secret_bytes_of_its_game() -> None:
    """They are of this game alone; a message before the move may not have them."""
    done = run("")
    end = done.parties[done.scenario.honest]
    (game_id,) = games_played(done)
    secret = end.peer.config.entropy(game_id)[:32]
    move = Move(game_id, secret, 0, 1, bytes(32))
    batch = Batch(99, (move,), bytes(96), bytes(96))
    early = Disclosure(1, "message", encode(Advisory(game_id, secret)))
    end.disclosures.append(Disclosure(1, "batch", encode(batch)))
    assert check(done) == []
    end.disclosures.insert(-1, early)
    assert "secrecy" in [breach.promise for breach in check(done)]


@pytest.mark.parametrize("name", ["", "leaver"])
def test_a_value_disclosed_before_its_move_is_found(name: str) -> None:
    """As soon as it is in anything else, a bundle's solution or a message of any kind."""
    done = run(name, 6)
    end = done.parties[done.scenario.honest]
    (values,) = {tuple(_revealed_by(done))}
    assert len(values) >= 3
    hello = end.disclosures[0]
    assert isinstance(hello.content, bytes)
    for value in values:
        said = msgspec.structs.replace(decode(hello.content), reward_address=value[:32].ljust(32))
        end.disclosures[0] = Disclosure(hello.height, "message", encode(said))
        assert [breach.promise for breach in check(done)] == ["secrecy"], value
    end.disclosures[0] = hello
    assert check(done) == []


def _revealed_by(run: Run) -> list[bytes]:
    """The values of the honest side's moves, each once."""
    parts = map(moves_in, run.parties[run.scenario.honest].disclosures)
    return list(dict.fromkeys(move[:32] for moves in parts for move in moves if len(move) >= 16))


def test_a_move_on_chain_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "LAST_CHANCE", 1000)
    breaches = [breach for step in (5, 6) for breach in ended("leaver", step).broken]
    assert {breach.promise for breach in breaches} == {"secrecy"}
    assert all("blocks deep" in breach.how for breach in breaches)


def test_false_news_is_found() -> None:
    done = run("silent", 6)
    end = done.parties[done.scenario.honest]
    told = [*end.news]
    assert check(done) == []
    ended = next(news for news in told if isinstance(news, GameEnded))
    settled = next(news for news in told if isinstance(news, ChannelSettled))
    for news, how in (
        ([*told, GameEnded(ended.game_id, 1, 1)], "ended more than once"),
        ([news for news in told if news != ended], "began"),
        ([*told, Undone(settled), settled], "final news was undone"),
        (
            [
                msgspec.structs.replace(report, ours=1) if report == settled else report
                for report in told
            ],
            "settled at 1 mojo,",
        ),
        ([*told, LeftForChain("a", 1), LeftForChain("b", 1)], "went on chain more than once"),
    ):
        end.news[:] = news
        (broken,) = check(done)
        assert broken.promise == "news"
        assert how in broken.how


@pytest.mark.parametrize(
    ("name", "step", "kind", "how"),
    [
        ("short-timeouts", 6, Cancelled, "did not end in the news"),
        ("long-timeouts", 6, Cancelled, "did not end in the news"),
        ("illegal-on-chain", 6, IllegalOnChain, "an illegal move on chain was not reported"),
    ],
)
def test_hidden_news_is_found(name: str, step: int, kind: type, how: str) -> None:
    done = run(name, step)
    end = done.parties[done.scenario.honest]
    assert check(done) == []
    assert any(isinstance(news, kind) for news in end.news)
    end.news[:] = [news for news in end.news if not isinstance(news, kind)]
    breaches = check(done)
    assert {breach.promise for breach in breaches} == {"news"}
    assert all(how in breach.how for breach in breaches)


def test_only_a_deep_reorganisation_undoes_a_final_shutdown() -> None:
    done = run("undoes-shutdown", 0)
    end = done.parties[done.scenario.honest]
    closed = [news for news in end.news if isinstance(news, ChannelClosed)]
    assert [news.fact for news in end.news if isinstance(news, Undone)] == closed[:1]
    assert check(done) == []
    shallow = replace(done, deepest_reorg=done.scenario.confirmations)
    assert [breach.how for breach in check(shallow)] == ["final news was undone: ChannelClosed"]
    end.news += [Undone(closed[-1]), closed[-1]]
    assert [breach.how for breach in check(done)] == ["final news was undone: ChannelClosed"]


def test_the_ledger_and_the_engine_agree_on_every_state() -> None:
    """Worked out apart from each other, for every state of a session."""
    done = run("")
    states = conversation(done).accounts
    assert len(states) > 10
    for end in done.parties:
        for link in end.peer.play.history:
            account = states[link.state.number]
            assert account.balances == link.state.balances
            live = sum(game.amount for game in account.games.values())
            assert sum(account.balances) + live == total(link.state)
            assert {*account.games} == {game.id for game in link.state.games}
            for game in link.state.games:
                standing = account.games[game.id]
                assert (standing.share(0), standing.share(1)) == game.shares()
                assert standing.validator == game.position.validator
                assert not standing.illegal


# --- the registry --------------------------------------------------------------------------------


def test_each_adversary_has_a_unique_name_and_a_description() -> None:
    for name in names():
        kind = get(name)
        assert kind.name == name
        assert kind.about[0].islower()
        assert not kind.about.endswith(".")
    for name, about in (("", "does nothing"), ("nice", ""), ("dead", "is there already")):
        with pytest.raises(InvariantError, match=repr(name)):
            adversary(name, about)(type("Nice", (Adversary,), {}))
    with pytest.raises(UsageError, match="no adversary is called 'nice'"):
        get("nice")


@pytest.mark.parametrize(
    "change",
    [
        {"games": ()},
        {"games": ("chess",)},
        {"side": 2},
        {"step": -1},
        {"weather": "fog"},
        {"fees": -1},
        {"unit": 0},
        {"stack": 0},
        {"unit": 10**12},
        {"hands": 0},
        {"hands": 1000},
        {"balance": 999},
        {"balance": -1},
        {"policies": ("", "ask")},
        {"policies": ("nice", "")},
    ],
)
def test_an_impossible_scenario_is_wrong_use(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        check_scenario(changed(Scenario(GAME, "x"), **change))
    assert check_scenario(Scenario(GAME, "x")).balance == 3000


def test_exceptions_are_counted_and_the_other_runs_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [Scenario(GAME, "x", "dead"), Scenario(GAME, "x", "leaver")]
    monkeypatch.setattr(dispute_sweep, "beginnings", lambda *given: iter(few))
    monkeypatch.setattr(dispute_sweep, "WEATHERS", {})
    monkeypatch.setattr(dispute_sweep, "MOST_STEPS", 1)
    monkeypatch.setattr(
        Peer, "start", lambda self, peak: (_ for _ in ()).throw(InvariantError("planted"))
    )
    tally = done(dispute_sweep.sweep_of_all("x", 1)).totals
    assert (tally.runs, len(tally.found)) == (2, 2)
    assert "planted" in tally.found[0].text


def test_before_its_step_an_adversary_sends_what_its_peer_made() -> None:
    """Before its step every message is what the peer made."""
    done = run("greedy-share", 9)
    (side,) = {done.scenario.side}
    said = [heard for heard in done.delivered if heard.sender == side]
    assert all(heard.honest for heard in said[:9])
    changed = [heard for heard in said if not heard.honest]
    assert len(changed) == done.deviated == 1
    assert isinstance(decode(changed[0].message), Batch)
    assert done.parties[done.scenario.honest].peer.phase is Phase.CLOSED
