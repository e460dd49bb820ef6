"""Terms of attacked sessions, and scenarios of disputes as scripts."""

from __future__ import annotations

import pytest

from channelsim.channel.attack.actions import Attack, check
from channelsim.channel.attack.disputes import dispute_script, play, scenario_in
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.kinds import WEATHERS
from channelsim.channel.attack.world import run_observed
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import GameStarted
from channelsim.channel.simulation.scenario import FEES, Scenario
from channelsim.channel.simulation.terms import Proposals, Terms
from tests.channel.scenarios import changed
from tests.sampling import one_in

BOTH = ("calpoker", "spacepoker")


@pytest.mark.parametrize("weather", WEATHERS)
def test_a_script_says_which_scenario_it_is_of(weather: str) -> None:
    scenario = Scenario(BOTH, "terms", "silent", 7, 0, weather, hands=2, mixed=True)
    scenario = changed(scenario, fees=FEES)
    more = {"proposals": Proposals.STAGGERED, "crowd": 3, "max_fee": 9, "most_states": 40}
    for one in (scenario, changed(scenario, **more)):
        script = dispute_script(one)
        assert scenario_in(check(script)) == one
        assert scenario_in(dispute_script(one, old_copy=20)) is None


def test_a_balance_covers_all_games_of_a_proposal() -> None:
    terms = Terms(proposals=Proposals.STAGGERED, balance=1000)
    assert check(Attack(BOTH, "s", terms=terms)).terms == terms
    with pytest.raises(UsageError, match="does not cover one stake of 2,000"):
        check(Attack(BOTH, "s", terms=Terms(proposals=Proposals.TOGETHER, balance=1000)))


@pytest.mark.parametrize("proposals", [Proposals.TOGETHER, Proposals.STAGGERED])
def test_all_games_of_a_menu_are_played(proposals: Proposals) -> None:
    scenario = changed(Scenario(BOTH, "menu", hands=2), proposals=proposals)
    dispute = play(dispute_script(scenario))
    assert dispute.broken == []
    started = [
        news.game.terms.game for news in dispute.run.party.news if isinstance(news, GameStarted)
    ]
    assert sorted(started) == sorted(BOTH * 2)


@pytest.mark.parametrize("games", one_in(2, [("holdem", "razz"), ("calpoker", "chinese")]))
def test_dealers_name_the_games_of_their_hands(games: tuple[str, ...]) -> None:
    """A deck is prepared where a game of the list needs one, whatever its dealer names."""
    attack = Attack(games, "dealers", hands=3, terms=Terms(proposals=Proposals.CHOSEN))
    with fast_mode():
        session, ran = run_observed(attack)
    assert session.violations == ()
    chosen = [news.game.terms for news in ran.party.news if isinstance(news, GameStarted)]
    assert len(chosen) == 3
    assert {terms.game for terms in chosen} <= {*games}


@pytest.mark.long
def test_a_crowd_and_fees_are_for_the_honest_side() -> None:
    """What its node asks is not enough for blocks that are full: the fee has to rise."""
    scenario = changed(Scenario(("calpoker",), "crowd", "stale-oldest"), fees=FEES, crowd=2)
    dispute = play(dispute_script(scenario))
    assert dispute.broken == []
    honest, other = (dispute.run.parties[side].peer.config for side in (0, 1))
    assert (honest.fees is not None, other.fees) == (True, None)
    assert dispute.run.blocks > play(dispute_script(changed(scenario, crowd=0))).run.blocks
