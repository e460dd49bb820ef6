"""The tool that proves argued mutants, group by group."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.targets.loading import load
from scripts.tools.mutant_groups import groups, main


def test_every_argued_mutant_is_in_one_group() -> None:
    target = load("spacepoker")
    for name in ("mid_round", "begin_round"):
        members = [mutant for group in groups(target, name) for mutant in group.mutants]
        argued = [key for key in stored_reasons(target).reasons if key[0] == name]
        assert sorted((each.validator, each.function, each.change) for each in members) == sorted(
            argued
        )
        assert members


@pytest.mark.long
def test_all_groups_of_commitments_are_proved(capsys: pytest.CaptureFixture[str]) -> None:
    main(["chinese", "--validator", "commit", "--seconds", "0"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "4 groups: 4 proved"
    assert all(line.startswith("proved: chinese, commit, ") for line in lines[:-1])
