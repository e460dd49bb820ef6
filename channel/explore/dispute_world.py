"""One honest peer against everything on chain that the other side's signatures allow.

The other side, the thief, has played by the rules until a path begins, and stops then. With each
block it may get one bundle in, of one or two spends, before those of the honest side: any state
that it can complete, preemptions, timeouts, claims, and moves, legal or not. It may also replace
the last block once, and the honest player may go on chain of its own accord.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from msgspec.structs import replace as changed

from channelsim.channel.chain.coins import Bundle, joined
from channelsim.channel.explore.explored_side import ExploredSide, Log, conflicts
from channelsim.channel.explore.fingerprints import Ages, chain_key, digest, side_key
from channelsim.channel.explore.remembered import Same, once
from channelsim.channel.explore.signed_play import CONFIRMATIONS, Moment, scenario_of
from channelsim.channel.explore.small_chain import SmallChain, spent_by
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.chain_news import Undone
from channelsim.channel.peer.interface import GoOnChain, Push
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.channel.protocol.game_spends import claim_bundle, move_bundle
from channelsim.channel.protocol.half_signed import (
    SignedState,
    preempt,
    publish,
    time_out,
    unroll_coin,
)
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.promises.due_spends import omissions, other_moves
from channelsim.channel.simulation.promises.news import FINAL
from channelsim.channel.simulation.run import Run
from channelsim.games.amounts import counted

NOTHING, LEAVE = "a block", "the honest player goes on chain"

SILENCE = Times().move + Times().margin + 4
"""Blocks after which a side with a live game does not wait any more, also if one was replaced."""


@dataclass(frozen=True, slots=True, eq=False)
class DisputeState:
    """A state of the world. `reorgs` are left, and `replaced` were made; `blocks` since the start.

    `offered` was pending for the honest side when the last block was made. The honest side is
    `over` for so many steps: what is final has to stay so when another block is replaced. `earlier`
    is its last reaction before the newest step.
    """

    chain: SmallChain
    honest: ExploredSide
    thief: ExploredSide
    reorgs: int
    replaced: int = 0
    blocks: int = 0
    may_leave: bool = True
    offered: tuple[Bundle, ...] = ()
    over: int = 0
    earlier: Log | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A step of a path, as people read it: what the thief gets in, and how the block comes about.

    `back`: the last block is replaced by this one and another; with `keeps`, the honest spends of
    the replaced block come back.
    """

    text: str
    bundle: Bundle | None = None
    back: bool = False
    keeps: bool = False
    leaves: bool = False


class DisputeWorld:
    """The states that follow from one moment of honest play, with the thief on one side."""

    def __init__(self, games: tuple[str, ...], seed: str, moment: Moment, thief: int) -> None:
        self._games, self._seed, self._thief = games, seed, thief
        sides = [replace(side, outbox=(), questions=()) for side in moment.sides]
        self._first = DisputeState(moment.chain, sides[1 - thief], sides[thief], reorgs=1)
        scenario = scenario_of(games, seed, reorgs=False)
        longest = max(scenario.unroll_timeout, scenario.game_timeout)
        self._oldest = longest + 1
        self._rewards = tuple(side.config.reward_address for side in sides)
        self._talk: Conversation | None = None
        # Spends and pairs of them: the thief's keys and states stay the same.
        self._made: dict[object, Any] = {}

    def first(self) -> DisputeState:
        """The state in which all paths begin."""
        return self._first

    def fingerprint(self, state: DisputeState) -> bytes:
        """The digest of a state."""
        ages = Ages(
            peak=state.chain.height,
            most=self._oldest,
            # What nobody can undo any more, and is no news.
            deep=CONFIRMATIONS + state.reorgs,
            replaced=state.reorgs,
            rewards=self._rewards,
        )
        offered = sorted(bundle.signature for bundle in state.offered) if state.reorgs else ()
        return digest(
            (
                chain_key(state.chain, ages),
                *(side_key(side, ages, state.chain) for side in (state.honest, state.thief)),
                *(state.reorgs, state.replaced, _may_leave(state), offered, state.over),
            )
        )

    def is_end(self, state: DisputeState) -> bool:
        """True if the honest side is done, and no block can be replaced that says so."""
        return state.over > 1 or (state.over > 0 and not state.reorgs)

    # --- choices ---

    def choices(self, state: DisputeState) -> Iterator[Choice]:
        """Every choice in a state, the plainest first."""
        yield Choice(NOTHING)
        if _may_leave(state):
            yield Choice(LEAVE, leaves=True)
        for text, bundle in self._bundles(state.chain, state):
            yield Choice(text, bundle)
        before = state.chain.before
        if state.reorgs and before is not None:
            for keeps in (True, False):
                how = "the last block is replaced" + ("" if keeps else ", its spends are lost")
                yield Choice(how, None, back=True, keeps=keeps)
                for text, bundle in self._bundles(before, state):
                    yield Choice(f"{how}: {text}", bundle, back=True, keeps=keeps)

    def _bundles(self, chain: SmallChain, state: DisputeState) -> Iterator[tuple[str, Bundle]]:
        """The thief's bundles that the next block of a chain can have, of one or two spends."""
        spends = [one for one in self._spends(state) if not _is_late(chain, one[1])]
        honest = state.honest
        theirs = [(f"the honest {_named(honest, push)}", push.bundle) for push in honest.pending]
        for text, bundle in spends:
            if chain.admitted(bundle) is not None:
                yield text, bundle
        for first, second in combinations([*theirs, *spends], 2):
            if first in theirs and second in theirs:
                continue
            both = self._both(first[1], second[1])
            if both is not None and chain.admitted(both) is not None:
                yield f"{first[0]} with {second[0]}", both

    def _both(self, first: Bundle, second: Bundle) -> Bundle | None:
        """Both in one bundle; None if they spend the same coin."""
        key = (Same(first), Same(second))
        coins = {coin.id for coin in spent_by(first)}
        if any(coin.id in coins for coin in spent_by(second)):
            return None
        return once(self._made, key, partial(joined, first, second))

    def _spends(self, state: DisputeState) -> Iterator[tuple[str, Bundle]]:
        """The single spends that the thief can sign for, valid or not."""
        thief, made = state.thief, self._made
        channel, keys = thief.peer.endpoint.channel, thief.peer.endpoint.secret_keys
        completable = once(made, "completable", lambda: _completable(thief))
        seen = state.chain.coin(channel.coin.id)
        if seen is None:
            return
        published: list[ChannelState] = [signed.state for signed in completable]
        if seen.spent is None:
            for signed in completable:
                text = f"the thief publishes state {signed.state.number}"
                yield self._spend(text, publish, channel, keys, signed)
            published += [link.signed.state for link in _known(state.honest) if link.signed]
        else:
            children = {child.coin for child in state.chain.children(channel.coin.id)}
            known = once(
                made,
                "known",
                lambda: {
                    link.state.number: link.state
                    for side in (state.honest, thief)
                    for link in _known(side)
                },
            )
            published = [one for one in known.values() if unroll_coin(channel, one) in children]
        for older in {one.number: one for one in published}.values():
            for signed in completable:
                if signed.state.number > older.number:
                    text = f"the thief preempts state {older.number} by {signed.state.number}"
                    yield self._spend(text, preempt, channel, keys, signed, older)
            yield self._spend(f"the thief times state {older.number} out", time_out, channel, older)
        yield from self._game_spends(state)
        for push in thief.pushed:
            if push.name in ("shutdown", "move", "redo", "slash"):
                yield f"the thief's {_named(thief, push)}", push.bundle

    def _spend(self, text: str, make: Callable[..., Bundle], *given: Any) -> tuple[str, Bundle]:
        """A spend that has the same bytes in all states, with its text."""
        return text, once(self._made, text, partial(make, *given))

    def _game_spends(self, state: DisputeState) -> Iterator[tuple[str, Bundle]]:
        thief, dispute = state.thief, state.thief.state.dispute
        if dispute is None:
            return
        channel = thief.peer.endpoint.channel
        for tracked in sorted(dispute.tracked.values(), key=lambda one: one.coin.id):
            seen = state.chain.coin(tracked.coin.id)
            if seen is None or seen.spent is not None:
                continue
            game = tracked.game
            claim = partial(claim_bundle, channel, tracked.coin, game)
            claimed = once(self._made, ("claim", tracked.coin.id), claim)
            yield f"the thief claims game {game.id}", claimed
            wrong = self._illegal(thief, tracked)
            if wrong is not None:
                yield f"the thief moves illegally in game {game.id}", wrong

    def _illegal(self, thief: ExploredSide, tracked: TrackedCoin) -> Bundle | None:
        """A move at a game coin whose next position is not the one that the rules give."""
        dispute, endpoint, game = thief.state.dispute, thief.peer.endpoint, tracked.game
        if dispute is None or game.mover is not thief.config.side:
            return None
        after = dispute.signed_games.sent_from(game) or dispute.decided.get(game.coin)
        if after is None:
            return None
        wrong = changed(after.coin, infohash_b=bytes(32))
        given = (endpoint.channel, endpoint.secret_keys, tracked.coin, game.coin, wrong)
        return once(self._made, ("illegal", tracked.coin.id, wrong), partial(move_bundle, *given))

    # --- steps ---

    def step(self, state: DisputeState, choice: Choice) -> DisputeState:
        """The state after a choice."""
        if choice.leaves:
            honest = state.honest.after(GoOnChain(), state.chain).answered(state.chain)
            return replace(state, honest=honest, may_leave=False, earlier=state.honest.log)
        bundles = [choice.bundle] if choice.bundle is not None else []
        taken = {coin.id for bundle in bundles for coin in spent_by(bundle)}
        pending = [one.bundle for one in state.honest.pending if not conflicts(one, taken)]
        if not choice.back:
            chain = state.chain.with_block([*bundles, *pending])
            state = replace(state, chain=chain, offered=tuple(pending))
            return self._told(state)
        before = state.chain.before
        assert before is not None
        back = [*state.offered, *pending] if choice.keeps else []
        other = before.with_block([*bundles, *back])
        # Two blocks replace one: a longer chain wins. Nothing is new in the second one.
        chain = replace(other, height=other.height + 1, before=None)
        honest = replace(state.honest, pending=state.honest.pending if choice.keeps else ())
        state = replace(
            state,
            chain=replace(chain, before=other),
            honest=honest,
            reorgs=state.reorgs - 1,
            replaced=state.replaced + 1,
            offered=(),
        )
        return self._told(state)

    def _told(self, state: DisputeState) -> DisputeState:
        """The state after both sides have heard of the tip."""
        honest = state.honest.after_block(state.chain)
        return replace(
            state,
            honest=honest,
            thief=state.thief.after_block(state.chain),
            blocks=state.blocks + 1,
            over=state.over + 1 if honest.peer.is_over else 0,
            earlier=state.honest.log,
        )

    # --- promises ---

    def broken_by_step(self, state: DisputeState) -> Iterator[str]:
        """Find what the honest side left undone with the newest block."""
        if state.honest.state.dispute is None:
            play = state.honest.state.play
            if state.blocks > SILENCE and play is not None and play.state.games:
                yield f"liveness: it waits for the other side for {counted(state.blocks, 'block')}"
            return
        if self._talk is None:
            self._talk = conversation(self._run(state))
        # The steps before have been checked, and a block reports all that is watched.
        run = self._run(state, state.earlier)
        for how in omissions(run, self._talk):
            yield f"duty: {how}"
        for how in other_moves(run, self._talk):
            yield f"safety: {how}"
        for news in run.party.news:
            if isinstance(news, Undone) and isinstance(news.fact, FINAL):
                yield f"news: final news was undone: {type(news.fact).__name__}"

    def broken_at_end(self, state: DisputeState) -> Iterator[str]:
        """Find the promises that a path to an end has broken."""
        for broken in check(self._run(state)):
            yield f"{broken.promise}: {broken.how}"

    def broken_by_waiting(self, state: DisputeState, choice: Choice) -> Iterator[str]:
        """Find honest sides on chain for which nothing happens any more, and that are not done."""
        waits = state.honest.state.dispute is not None and not state.over
        if choice.text == NOTHING and waits:
            yield "liveness: nothing happens any more, and the honest side is not done"

    def _run(self, state: DisputeState, earlier: Log | None = None) -> Run:
        """The path to a state as a run: all of it, or what the honest side did since."""
        sides = [state.honest, state.honest]
        sides[self._thief] = state.thief
        logs = [earlier, earlier]
        logs[self._thief] = earlier and state.thief.log
        parties = [side.party(log) for side, log in zip(sides, logs, strict=True)]
        finished = state.chain.height if self.is_end(state) else None
        return Run(
            scenario_of(self._games, self._seed, self._thief, reorgs=bool(state.replaced)),
            state.chain,  # type: ignore[arg-type]
            (parties[0], parties[1]),
            () if earlier else tuple(message for side in sides for message in side.delivered()),
            state.blocks,
            state.replaced,
            (finished, finished),
        )


def _may_leave(state: DisputeState) -> bool:
    """True if the honest player may go on chain of its own accord."""
    return state.may_leave and state.honest.state.phase is Phase.PLAYING


def _named(side: ExploredSide, push: Push) -> str:
    """A push by its name, and by its game if it spends the coin of one."""
    tracked = side.state.dispute.tracked if side.state.dispute is not None else {}
    games = (tracked[coin].game.id for coin in spent_by(push.bundle) if coin in tracked)
    return push.name + "".join(f" in game {number}" for number in games)


def _known(side: ExploredSide) -> Iterator[StateHistory]:
    play = side.state.play
    return iter(play.history) if play is not None else iter(())


def _completable(side: ExploredSide) -> list[SignedState]:
    """The states that a side can publish, the oldest first."""
    signed = [link.signed for link in _known(side) if link.signed is not None]
    return sorted(signed, key=lambda one: one.state.number)


def _is_late(chain: SmallChain, bundle: Bundle) -> bool:
    """True if a bundle spends a coin that is spent already."""
    spent = (chain.coins.get(coin.id) for coin in spent_by(bundle))
    return any(seen is not None and seen.spent is not None for seen in spent)
