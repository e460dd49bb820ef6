"""The news of spent coins at the end, beside a chain that hides nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.paid_facts import wrong_at_the_end
from channelsim.channel.chain.coins import REMARK, Coin
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.unroll import timeout_form
from channelsim.clsp.values import list_of, serialize

UNROLL, PAID = bytes([1]) * 32, Coin(bytes([1]) * 32, bytes(32), 5)
CONDITIONS = list_of(list_of(REMARK, 4))


@pytest.mark.parametrize("preempted", [True, False])
@pytest.mark.parametrize("timed_out", [True, False])
def test_a_state_that_its_timeout_has_paid_has_preempted_none(
    timed_out: bool, preempted: bool
) -> None:
    """By the coins alone, a preemption may look as a timeout: that is no mistake."""
    solution = serialize(timeout_form(CONDITIONS, 20) if timed_out else CONDITIONS)
    coins = {UNROLL: SimpleNamespace(solution=solution)}
    fact = StateCounts(4, preempted, False, (PAID, None), (), 14)
    peer = SimpleNamespace(state=SimpleNamespace(dispute=SimpleNamespace(reported=(fact,))))
    party = SimpleNamespace(peer=peer)
    run: Any = SimpleNamespace(parties=(party, party), chain=SimpleNamespace(coin=coins.get))
    found = [*wrong_at_the_end(run, Side.INITIATOR)]
    assert bool(found) is (timed_out and preempted)
