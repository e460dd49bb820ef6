"""Plans cover the work once, and results merge in any order."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.channel.campaign.shards import Plan, Shard, in_order, merged
from channelsim.channel.errors import InvariantError

plans = st.builds(
    Plan,
    st.just("digest"),
    st.integers(1, 300),
    st.integers(1, 40),
    st.integers(1, 9),
)


def numbers(plan: Plan, shard: Shard) -> range:
    """The work of a shard, as numbers from 0 to the plan's total."""
    first = shard.first * plan.unit
    return range(first, first + shard.budget)


@given(plans, st.data())
def test_shards_and_their_halves_cover_the_work_once(plan: Plan, data: st.DataObject) -> None:
    shards = plan.shards()
    assert len(shards) == plan.size
    assert [n for one in shards for n in numbers(plan, one)] == list(range(plan.total))
    assert all(map(plan.covers, shards))
    one = data.draw(st.sampled_from(shards))
    halves = plan.halves(one)
    assert all(map(plan.covers, halves))
    wrong = data.draw(st.sampled_from(("number", "first", "count", "budget")))
    assert not plan.covers(msgspec.structs.replace(one, **{wrong: 10**12}))
    less = msgspec.structs.replace(one, budget=one.budget - 1)
    assert plan.covers(less) == (one.count == 1 and less.budget > 0)
    if one.count > 1:
        both = [n for half in halves for n in numbers(plan, half)]
        assert both == list(numbers(plan, one))
    else:
        assert [half.budget for half in halves] == [one.budget // 2] * (one.budget > 1)


@given(plans, st.data())
def test_results_merge_in_any_order_and_any_number_of_times(
    plan: Plan, data: st.DataObject
) -> None:
    shards = plan.shards()
    results = {one: [n * n for n in numbers(plan, one)] for one in shards}
    parts = [
        {one: results[one] for one in some}
        for some in data.draw(
            st.lists(st.lists(st.sampled_from(shards), unique=True), min_size=3, max_size=3)
        )
    ]
    a, b, c = parts
    assert merged(a, b) == merged(b, a)
    assert merged(merged(a, b), c) == merged(a, merged(b, c))
    assert merged(merged(a, b), b) == merged(a, b)
    shuffled = dict(data.draw(st.permutations(list(merged(results, a).items()))))
    assert [n for part in in_order(shuffled) for n in part] == [n * n for n in range(plan.total)]


@given(plans, st.data())
def test_what_is_left_and_lost_follows_from_the_results(plan: Plan, data: st.DataObject) -> None:
    shards = plan.shards()
    done = data.draw(st.lists(st.sampled_from(shards), unique=True))
    left = plan.shards(done)
    assert set(left) == set(shards) - set(done)
    assert sum(one.budget for one in plan.lost(done)) == sum(one.budget for one in left)
    one = data.draw(st.sampled_from(shards))
    if one.count > 1:
        first, second = plan.halves(one)
        rest = set(shards) - {one}
        assert plan.shards({first, *rest}) == [second]
    elif halved := plan.halves(one):
        (lost,) = plan.lost({*halved, *set(shards) - {one}})
        assert (lost.first, lost.budget) == (one.first, one.budget - halved[0].budget)


def test_two_results_of_one_shard_are_refused() -> None:
    (shard,) = Plan("digest", 1, 1).shards()
    with pytest.raises(InvariantError, match="two results of shard 0"):
        merged({shard: 1}, {shard: 2})
