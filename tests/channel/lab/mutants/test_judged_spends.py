"""Spends of game coins: rules and referee agree on them, and every rule is tried."""

from __future__ import annotations

from channelsim.channel.lab.mutants.judged_cases import differs
from channelsim.channel.lab.mutants.judged_spends import diverse, fresh
from channelsim.channel.lab.mutants.report import all_mutants, hunted
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.programs import load
from channelsim.games import registry
from channelsim.games.referee import RULES

TARGET = of_game(registry.get("calpoker"))


def test_the_referee_does_what_its_rules_say() -> None:
    program = load("channel/referee").serialized
    pool, limit = diverse(TARGET, "s")
    cases = [*pool, *fresh(TARGET, "s", 1)]
    assert not [case for case in cases if differs(program, case, limit)]
    refused = sum(case.result is None for case in cases)
    assert 0.2 * len(cases) < refused < 0.8 * len(cases)
    assert fresh(TARGET, "s", 1) == fresh(TARGET, "s", 1) != fresh(TARGET, "s", 2)


def test_every_rule_that_refuses_is_met() -> None:
    from channelsim.channel.lab.mutants.judged_spends import judged

    said = {rule for number in range(2) for rule, _ in judged(TARGET, "s", number)}
    emitted = {"REF-TIMEOUT-3", "REF-TIMEOUT-4", "REF-MOVE-10", "REF-SLASH-3"}
    assert said - {"timeout", "move", "slash"} == RULES.keys() - emitted
    assert {"timeout", "move", "slash"} <= said


def test_a_sample_of_the_referees_mutants_is_killed() -> None:
    sample = all_mutants(TARGET, REFEREE)[::9]
    report = hunted(TARGET, sample, seed="s", seconds=60, jobs=1, chunks=2)
    assert not report.failed(60)
    assert report.count().share > 0.97
