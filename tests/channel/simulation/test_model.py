"""The reference model: which messages keep to the rules, worked out apart from the engine."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.adversaries.rules.breaker import UNBREAKABLE, name_of
from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.attack.hostile_side import Surroundings
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import Blame
from channelsim.channel.peer.interface import BrokenOff, Received, Send, Tell
from channelsim.channel.protocol.messages import Accept, Batch, Cancel, Move, Settle, decode, encode
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.simulation.model.batch_rules import judge
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.run import Run, valid_news
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import Proposals, Terms
from tests.channel.scenarios import changed, dispute
from tests.sampling import one_in

GAMES = ("spacepoker", "calpoker")
POLICIES = ("random", "random")

STAGGERED = Terms(proposals=Proposals.STAGGERED)

TIGHT = changed(
    Scenario(GAMES, "tight", "breaks-ch-accept-3", policies=POLICIES, terms=STAGGERED), balance=1000
)
"""Each game takes all that there is, and the second is offered while the first is played."""


def broken_by(rule: str) -> tuple[Dispute, Conversation]:
    """A run in which the adversary of a rule does what it is for."""
    name = name_of(rule)
    for number in range(24):
        # Who never says a word has begun nothing, and owes nothing.
        step = {"CH-TIME-1": 1, "CH-TIME-2": 6}.get(rule, number // 2 % 3)
        seed = f"lawful {number}"
        scenario = Scenario(GAMES[:1], seed, name, step, number % 2, policies=POLICIES)
        if rule == "CH-ACCEPT-3":
            scenario = replace(TIGHT, seed=seed, side=number % 2)
        done = dispute(scenario)
        if done.run.deviated:
            # A message that gets lost is sent again as the peer made it.
            talk = conversation(done.run)
            if rule in talk.rules or rule.startswith("CH-TIME"):
                return done, talk
    raise AssertionError(f"{name} never does what it is for")


def test_every_rule_has_its_adversary_or_a_reason_why_not() -> None:
    adversaries = {name_of(rule) for rule in RULES}
    missing = {rule for rule in RULES if name_of(rule) not in names()}
    assert missing == set(UNBREAKABLE)
    assert {name for name in names() if name.startswith("breaks-")} <= adversaries


AT_THE_LINK = {"CH-MSG-1"}
"""Rules by which a link closes its connection, before the peer sees the message."""


@pytest.mark.parametrize("rule", one_in(6, sorted(set(RULES) - set(UNBREAKABLE) - AT_THE_LINK)))
def test_each_rule_breaker_breaks_its_rule_and_is_accused_of_it(rule: str) -> None:
    """By the model, which the engine has no part in, and by the honest side."""
    done, talk = broken_by(rule)
    assert done.broken == []
    run = done.run
    told = valid_news(run.parties[run.scenario.honest].news)
    accused = [report.blame.rule for report in told if isinstance(report, BrokenOff)]
    assert len(accused) == 1
    if rule.startswith("CH-TIME"):
        assert accused == [rule]
    else:
        assert rule in talk.rules
        assert accused[0] in talk.rules or not accused[0].startswith("CH-")


def test_honest_peers_break_no_rule() -> None:
    scenario = Scenario(GAMES, "lawful", hands=2, policies=POLICIES, terms=STAGGERED)
    done = dispute(scenario).run
    for side in (0, 1):
        talk = conversation(replace(done, scenario=replace(done.scenario, side=1 - side)))
        assert (talk.broken, talk.rules) == ([], set())
        assert max(talk.accounts) > 16


def with_message(run: Run, old: bytes, new: bytes, *, sent: bool) -> Run:
    """The same run, in which the honest side received, or sent, another message."""
    end = run.parties[run.scenario.honest]
    journal = []
    for turn in end.journal:
        event, effects = turn.event, list(turn.effects)
        if not sent and event == Received(old):
            event = Received(new)
        if sent:
            effects = [Send(new) if effect == Send(old) else effect for effect in effects]
        journal.append(replace(turn, event=event, effects=tuple(effects)))
    parties = list(run.parties)
    parties[run.scenario.honest] = replace(end, journal=journal)
    return replace(run, parties=(parties[0], parties[1]))


@pytest.mark.parametrize("sent", [False, True])
def test_each_byte_of_a_batch_is_judged(sent: bool) -> None:
    """A wrong batch stays wrong for either side, even if the other one answered it."""
    run = dispute(Scenario(GAMES[:1], "bytes", policies=POLICIES)).run
    journal = run.parties[run.scenario.honest].journal
    heard = [turn.event.message for turn in journal if isinstance(turn.event, Received)]
    said = [
        effect.message for turn in journal for effect in turn.effects if isinstance(effect, Send)
    ]
    batches = [blob for blob in (said if sent else heard) if isinstance(decode(blob), Batch)]
    for blob in batches:
        batch = decode(blob)
        assert isinstance(batch, Batch)
        changes: list[dict[str, object]] = [
            {"number": batch.number + 1},
            {"unroll_half": batch.channel_half},
            {"channel_half": batch.unroll_half},
            {"actions": (*batch.actions, Settle(999))},
        ]
        if any(isinstance(action, Move | Settle) for action in batch.actions):
            changes.append({"actions": ()})
        for change in changes:
            new = encode(msgspec.structs.replace(batch, **change))
            talk = conversation(with_message(run, blob, new, sent=sent))
            assert len(talk.broken) == 1, change
            assert talk.broken[0].startswith("it sent a batch" if sent else "it accepted what")


def test_a_false_accusation_is_found() -> None:
    run = dispute(Scenario(GAMES[:1], "cause", policies=POLICIES)).run
    end = run.parties[run.scenario.honest]
    at = next(
        number
        for number, turn in enumerate(end.journal)
        if isinstance(turn.event, Received) and isinstance(decode(turn.event.message), Batch)
    )
    for rule, event in (
        ("CH-BATCH-4", end.journal[at].event),
        ("CH-TIME-1", next(t.event for t in end.journal[at:] if not isinstance(t.event, Received))),
    ):
        news = Tell(BrokenOff(Blame("receiver", "play", rule, "planted"), 1))
        turn = replace(end.journal[at], event=event, effects=(news,))
        journal = [*end.journal[:at], turn]
        parties = list(run.parties)
        parties[run.scenario.honest] = replace(end, journal=journal)
        talk = conversation(replace(run, parties=(parties[0], parties[1])))
        assert talk.broken, rule


def test_a_batch_about_unknown_games_breaks_a_rule_with_each_action() -> None:
    run = dispute(Scenario(GAMES[:1], "nothing")).run
    talk = conversation(run)
    agreed = talk.handshake.agreed
    assert agreed is not None
    actions = (Settle(4), Cancel(4, ""), Accept(4), Move(4, b"", 0, 0, b""))
    batch = Batch(2, actions, bytes(96), bytes(96))
    verdict = judge(talk.accounts[1], batch, 1, agreed, {}, holder=1, asked=False)
    assert verdict.rules == {"CH-SETTLE-1", "CH-CANCEL-1", "CH-ACCEPT-1", "CH-MOVE-1"}
    assert verdict.after is None


def test_the_random_choices_of_an_adversary_depend_on_its_step() -> None:
    """By chance alone: the same adversary, in the same session, some messages later."""
    chain = SimulatedChain(1)
    around = Surroundings(
        *(b"choices", GAMES[:1], chain, lambda back, bundle=None: False),
        took_place=lambda action: None,
        reconnect=lambda: None,
    )

    def picked(step: int) -> tuple[int, ...]:
        chance = around.plan(Action("deviate", 1, step, name="madman")).chance
        return tuple(chance.below(1000) for _ in range(2))

    assert len({picked(step) for step in range(12)}) == 12
    assert picked(3) == picked(3)
