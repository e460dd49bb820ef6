"""Attacked sessions in which others fill blocks, and in which decks are prepared."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack, hostile_side
from channelsim.channel.attack.company import HEAVY_PINNER
from channelsim.channel.attack.drawing import arranged, draw
from channelsim.channel.attack.filled_blocks import (
    FILL,
    LENGTHS,
    MARKETS,
    MOST_AMOUNT,
    SAME_LIMITS,
    filled_by,
    filled_chain,
)
from channelsim.channel.attack.kinds import KINDS, LIMIT_FEES
from channelsim.channel.attack.world import run
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.peer.fees import paying
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.games.chance import Chance
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.sampling import one_in

TABLE = {fault.name: fault for fault in faults()}

DEAR = max(MARKETS, key=lambda market: market.rate)

LEAVES = Action("go-on-chain", 0, 20)
FULL = tuple(Action(FILL, 0, at, 11) for at in (1, 13))


def attack(*actions: Action) -> Attack:
    return Attack(("calpoker",), "filled", actions)


def test_spends_get_into_full_blocks_for_a_fee(monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(attack(LEAVES, *FULL))
    assert {*session.done} == {LEAVES, *FULL}
    assert session.violations == ()

    monkeypatch.setattr(paying, "wanted_fee", lambda *given, **more: 1)
    without = run(attack(LEAVES, *FULL))
    assert without.blocks > session.blocks
    assert "CH-FEE" in " ".join(violation.text for violation in without.violations)


RESTARTED = (
    Action("power-loss", 0, 8, since="link"),
    Action("store-full", 1, 35),
    Action("go-on-chain", 1, 16),
    Action(FILL, 1, 3, 21, since="link"),
)


def test_a_process_that_starts_looks_at_the_chain_before_it_goes_on_chain() -> None:
    """Its first bundle has a fee coin, and pays what its node asks by then."""
    script = Attack(("spacepoker",), "final-1128/390", RESTARTED)
    with fast_signatures():
        session = run(script)
        assert {*session.done} == {*RESTARTED}
        assert session.violations == ()
        with ExitStack() as stack:
            TABLE["acts-before-it-looks"].plant(stack, Reach())
            hasty = run(script)
    assert "CH-FEE-3: it begins with 0 mojos" in " ".join(one.text for one in hasty.violations)


COMMANDED = (
    Action("crash", 0, 13, pause=1),
    Action("go-on-chain", 0, 13),
    Action(FILL, 0, 0, 70, since="chain"),
)
"""The command comes with the first fee rate after the restart, before the first block."""


def test_a_command_waits_for_the_first_look_at_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Attack(("spacepoker",), "notice-3/21", COMMANDED, snapshots=3)
    with fast_signatures():
        session = run(script)
        assert {*session.done} == {*COMMANDED}
        assert session.violations == ()
        monkeypatch.setattr(PeerRunner, "has_looked", True)
        hasty = run(script)
    assert "CH-FEE-3: it begins with 0 mojos" in " ".join(one.text for one in hasty.violations)


HIDDEN = (LEAVES, *(Action("solutions-hidden", 1, at, pause=120) for at in (30, 60, 90)))


def test_a_side_goes_on_without_the_solutions_of_spends() -> None:
    with fast_signatures():
        session = run(attack(*HIDDEN))
        assert {*session.done} == {*HIDDEN}
        assert session.violations == ()
        with ExitStack() as stack:
            TABLE["needs-solutions"].plant(stack, Reach())
            waiting = run(attack(*HIDDEN))
    assert "times" in {violation.monitor for violation in waiting.violations}


LIMITED = (Action("limit-fees", 0, 10, 1), Action("stop", 0, 4, since="restart"), *FULL)


def test_maxima_of_fees_that_a_player_sets_stay_over_a_restart() -> None:
    with fast_signatures():
        session = run(attack(*LIMITED))
        assert {*session.done} == {*LIMITED}
        assert session.violations == ()
        assert session.lives[0] == 3
        with ExitStack() as stack:
            TABLE["stores-no-fee-limits"].plant(stack, Reach())
            forgetful = run(attack(*LIMITED))
    assert "restart" in {violation.monitor for violation in forgetful.violations}


UNDERESTIMATED = tuple(
    Action(FILL, 0, 1, 5 + LENGTHS * MARKETS.index(DEAR), since=since)
    for since in ("chain", "counts")
)


def broken_with(*names: str) -> str:
    """What a session breaks in which nodes ask too little, with these faults."""
    with ExitStack() as stack:
        stack.enter_context(fast_signatures())
        for name in names:
            TABLE[name].plant(stack, Reach())
        script = Attack(("calpoker",), "a", (LEAVES, Action("propose", 1, 16), *UNDERESTIMATED))
        return " ".join(one.text for one in run(script).violations)


def test_fees_that_have_to_rise_are_raised_and_a_wallet_is_split() -> None:
    assert broken_with() == ""
    found = broken_with("never-raises-a-fee", "splits-nothing")
    assert "that waits for 1 block" in found
    assert "does not split it" in found
    assert "does not look for its fee coin" in broken_with("pays-no-fees")


SCARCE = MARKETS.index(min((m for m in MARKETS if m.most_fees), key=lambda m: m.most_fees))


@pytest.mark.parametrize(
    "lowered", one_in(3, [(), *((Action("limit-fees", side, 15, 1),) for side in (0, 1))])
)
def test_fees_end_at_the_maximum_of_all_also_where_it_is_lowered_below_what_is_paid(
    lowered: tuple[Action, ...],
) -> None:
    full = Action(FILL, 0, 1, LENGTHS * SCARCE + 3, since="chain")
    script = Attack(("spacepoker",), "a", (Action("go-on-chain", 0, 24), full, *lowered), hands=1)
    session = run(script)
    assert {*session.done} == {*script.actions}
    assert session.violations == ()
    for fault in ("counts-no-paid-fees", "knows-no-maximum-of-fees"):
        with ExitStack() as stack:
            TABLE[fault].plant(stack, Reach())
            violations = run(script).violations
        assert violations
        for violation in violations:
            assert "are paid and offered in all, at most" in violation.text


def test_what_a_reorganisation_may_bring_back_leaves_less_for_a_fee() -> None:
    actions = (
        Action("go-on-chain", 1, 16),
        Action("watch-fails", 0, 2),
        Action("reorganise", 0, 1, 4, since="chain"),
        Action(FILL, 0, 1, LENGTHS * SCARCE + 2, since="unroll"),
    )
    session = run(
        Attack(("spacepoker",), "campaign-30/2792", actions, hands=1, policies=("aggressive", ""))
    )
    assert {*session.done} == {*actions}
    assert session.violations == ()


def test_beside_a_hostile_side_there_is_money_for_every_pin() -> None:
    hostile = [
        script
        for number in range(400)
        if hostile_side((script := draw(("calpoker",), f"money/{number}")).actions) is not None
    ]
    fills = [action for script in hostile for action in script.actions if action.kind == FILL]
    assert len(fills) > 20
    assert all(action.amount // LENGTHS != SCARCE for action in fills)


def test_a_side_keeps_its_maxima_where_a_pin_costs_half_a_block() -> None:
    """Half of them would not pay for a bundle that replaces such a pin."""
    heavy = Action("deviate", 0, 11, name=HEAVY_PINNER)
    half = Action(LIMIT_FEES, 1, 13, amount=0)
    pinned = Attack(("calpoker",), "maxima", (heavy, half))
    assert arranged(pinned, Chance(b"")).actions[1].amount == SAME_LIMITS
    lighter = replace(pinned, actions=(replace(heavy, name="pinner"), half))
    assert arranged(lighter, Chance(b"")).actions == lighter.actions


def test_a_claim_without_a_fee_follows_a_move_whose_time_is_over() -> None:
    """No mempool has the move any more, so the claim need not have its fee coin."""
    actions = (
        Action("push-forgotten", 0, 357, blocks=9),
        Action(FILL, 0, 6, LENGTHS * SCARCE + 3),
        Action("go-on-chain", 1, 29),
        Action("limit-fees", 1, 30, 1),
        Action("think", 0, 21, pause=122),
        Action("think", 0, 12, pause=148),
        Action("propose", 1, 0, since="acted"),
    )
    session = run(
        Attack(("spacepoker",), "ga1/709", actions, policies=("caller", "aggressive"), snapshots=7)
    )
    assert {*session.done} == {*actions}
    assert session.violations == ()


def test_a_market_has_its_prices_and_fills_no_more_blocks_than_it_may() -> None:
    poor = next(number for number, market in enumerate(MARKETS) if market.longest < LENGTHS)
    script = attack(*(Action(FILL, 0, at, LENGTHS * poor + 11) for at in (1, 2)))
    chain = filled_chain(SimulatedChain(0), script)
    assert chain is not None
    assert chain.market is MARKETS[poor]
    assert chain.fee_rate() == MARKETS[poor].asks[0]
    for _ in range(2):
        chain.fill(filled_by(script.actions[0]))
    assert chain.left == MARKETS[poor].longest
    assert filled_chain(SimulatedChain(0), attack(LEAVES)) is None
    assert KINDS[FILL].most == MOST_AMOUNT


def test_scripts_of_full_blocks_or_of_decks_have_what_goes_with_them_of_the_chosen_kinds() -> None:
    for game, kind, others in (
        ("calpoker", FILL, ("go-on-chain", "propose", "reset", "deviate")),
        ("five-stud", "crash", ("prepare", "duplicate", "drop")),
    ):
        scripts = [draw((game,), f"company/{number}", (kind, *others)) for number in range(60)]
        scripts = [one for one in scripts if kind in {action.kind for action in one.actions}]
        drawn = [{action.kind for action in one.actions} for one in scripts]
        assert all(any(other in kinds for kinds in drawn) for other in others)
        alone = [draw((game,), f"company/{number}", (kind,)) for number in range(20)]
        assert {action.kind for one in alone for action in one.actions} == {kind}


@pytest.mark.long
def test_decks_are_prepared_for_the_hand_and_for_the_pool() -> None:
    another = Action("prepare", 1, 12)
    session = run(Attack(("five-stud",), "decks", (another,), hands=1))
    assert session.done == (another,)
    assert session.violations == ()
    assert not session.on_chain
