"""One look at the chain: everything is read from the channel coin on, and done about, again.

What a reorganisation removed is not in the picture any more, and is told as undone; what is
due and not in is pushed again. Source: the state channel, "Going on chain".
"""

from __future__ import annotations

from dataclasses import replace

from channel.chain.coins import Coin
from channel.chain.observations import Block, CoinSeen
from channel.peer.chain_news import (
    ChannelClosed,
    Fact,
    GameVoid,
    StateCounts,
    Undone,
    UnknownSpend,
    UnrollSeen,
)
from channel.peer.fees import change_of
from channel.peer.interface import Effect, OpeningFailed, Push, Tell
from channel.peer.onchain.dispute_state import Dispute, FeeBundle, Status
from channel.peer.onchain.scan_games import Due, Playing
from channel.peer.onchain.tracked_coins import TrackedCoin
from channel.protocol.half_signed import preempt, publish, time_out, unroll_coin
from channel.protocol.state import ChannelState, LiveGame
from games.contract import Action


def scan(dispute: Dispute, block: Block) -> tuple[Dispute, list[Effect]]:
    """What this picture of the chain means, and what to do about it."""
    one = _Look(dispute, block)
    one.see_channel()
    return one.result()


def decide(dispute: Dispute, tracked: TrackedCoin, action: Action) -> tuple[Dispute, list[Effect]]:
    """The dispute in which we do this at a game coin. Raises `IllegalAction`."""
    one = _Look(dispute, dispute.block)
    one.decide(tracked, action)
    told: list[Effect] = [Tell(news) for news in one.news]
    return replace(dispute, decided=one.decided), [*one.stores, *told]


class _Look(Playing):
    """The work of one look; what it finds is put in order at the end."""

    # --- the channel coin ------------------------------------------------------------------------

    def see_channel(self) -> None:
        """Follow the channel coin wherever it went."""
        seen = self._see(self.channel.coin)
        if seen is None:
            self._unfunded()
        elif seen.spent is None:
            began = max(self.was.began, seen.born)
            self._see(unroll_coin(self.channel, self.was.newest.state))
            bundle = publish(self.channel, self.endpoint.secret_keys, self.was.newest)
            self._push("unroll", bundle, began)
        elif seen.solution is None:
            self._await_solution(seen.spent)
        else:
            self._spent_channel(seen.solution, seen.spent)

    def _await_solution(self, height: int) -> None:
        """The channel coin was spent, but the node does not say how, or not yet.

        Nothing is known until then, unless the coins of a shutdown turn up, or the unroll coin of
        one of our states: whoever publishes can make the solution too large for a node to give.
        """
        ending = self.was.shutdown
        if ending is not None and all(self._see(coin) for coin in ending.rewards()):
            self._shut(height)
            return
        for link in self.was.signed_games.past:
            coin = unroll_coin(self.channel, link.state)
            if (seen := self._see(coin)) is not None:
                self._seen_unroll(link.state, coin, seen)
                return
        self.incomplete = True

    def _unfunded(self) -> None:
        """No channel coin: it may still come, and one that a reorganisation took come back."""
        if self.block.peak < self.was.deadline:
            if self.was.funding is not None:
                self.pushes.append(Push("funding", self.was.funding))
            return
        self.status = Status.UNFUNDED
        if self.was.status is not Status.UNFUNDED:
            self.news.append(OpeningFailed(self.was.deadline))

    def _spent_channel(self, solution: bytes, height: int) -> None:
        ending = self.was.shutdown
        if ending is not None and ending.is_paid_by(solution):
            self._shut(height)
            return
        state = self.was.signed_games.published(solution)
        if state is None:
            self.facts.append(UnknownSpend(self.channel.coin, height))
            return
        coin = unroll_coin(self.channel, state)
        seen = self._see(coin)
        if seen is None:
            self.facts.append(UnrollSeen(state.number, coin, height))
        else:
            self._seen_unroll(state, coin, seen)

    def _seen_unroll(self, state: ChannelState, coin: Coin, seen: CoinSeen) -> None:
        self.facts.append(UnrollSeen(state.number, coin, seen.born))
        if seen.spent is None:
            self._on_unroll(state, seen)
        elif seen.solution is not None:
            self._on_spent_unroll(state, coin, seen.solution, seen.spent)
        else:
            self.incomplete = True

    def _shut(self, height: int) -> None:
        ending = self.was.shutdown
        if ending is None or self.block.peak - height < self.endpoint.confirmations:
            return
        self.status = Status.SHUT
        self.facts.append(ChannelClosed(ending.rewards(), height))

    # --- the unroll coin -------------------------------------------------------------------------

    def _on_unroll(self, state: ChannelState, seen: CoinSeen) -> None:
        """An unroll coin that waits: who published it does not matter, but its number does."""
        newest = self.was.newest
        theirs = state.number % 2 != self.endpoint.side
        if state.number < newest.state.number and theirs:
            # Only a newer state of ours stops it: at once, for from its timeout on the other
            # side can pin its own spend.
            keys = self.endpoint.secret_keys
            self._push("preempt", preempt(self.channel, keys, newest, state), seen.born)
            return
        # F; or S, which the other side completed; or an old state of our own parity.
        due = seen.born + self.channel.unroll_timeout
        if self.block.peak >= due:
            worth = state.balances[self.endpoint.side] + sum(
                game.coin.amount for game in state.games
            )
            self._push_at_leisure("unroll-timeout", time_out(self.channel, state), due, worth)

    def _on_spent_unroll(
        self, published: ChannelState, coin: Coin, solution: bytes, height: int
    ) -> None:
        state = self.was.signed_games.outcome(published, solution)
        if state is None:
            self.facts.append(UnknownSpend(coin, height))
            return
        rewards = tuple(
            Coin(coin.id, address, balance) if balance else None
            for address, balance in zip(self.channel.rewards, state.balances, strict=True)
        )
        firsts = [self._first(state, game, coin) for game in state.games]
        self.facts.append(
            StateCounts(
                state.number,
                state.number != published.number,
                state.number < self.was.newest.state.number,
                (rewards[0], rewards[1]),
                tuple((tracked.game.id, tracked.coin) for tracked in firsts),
                height,
            )
        )
        void = self.was.signed_games.games_not_in(state)
        self.facts += [GameVoid(game_id, state.number) for game_id in void]
        self._see_games(state, firsts, height)

    def _first(self, state: ChannelState, game: LiveGame, parent: Coin) -> TrackedCoin:
        """A game's coin as it came out of the unroll coin."""
        coin = Coin(parent.id, game.coin.puzzle_hash(), game.coin.amount)
        known = self.judged.get(coin.id)
        if known is None:
            at_newest = state.number == self.was.newest.state.number
            fault = self.was.slashable.get(game.id) if at_newest else None
            player = None
            if fault is None:
                live = dict(self.was.players).get(game.id)
                # What messages showed ahead is known to that seat alone.
                fits = live is not None and live.position == game.position
                player = live if fits else self.was.signed_games.player_at(state, game)
            known = self.judged[coin.id] = TrackedCoin(game, coin, player, fault, True)
        return known

    # --- the end of a look -----------------------------------------------------------------------

    def _pay_fees(self) -> None:
        """With a fee, whatever is urgent: all in one bundle, and each by itself.

        The first of these bundles that is taken has the fee coin, so what has no deadline is
        in the first alone, and at the end: the other side can make a claim impossible. They are
        pushed before the spends without a fee, each of which a thief could put into a bundle
        with a coin of its own: one of them could then be paid for with every block.
        """
        fees = self.was.fees
        if fees is None:
            return
        # From the wallet's coin on, each time: a reorganisation may have taken its change back.
        coin, seen = fees.wallet.coin, self._see(fees.wallet.coin)
        if seen is None:
            return
        while seen is not None and seen.spent is not None:
            change = change_of(coin, seen.solution or b"") or self._offered_change(coin)
            if change is None:
                return
            # It is there, whether we have been told of it or not.
            coin, seen = change, self._see(change)
        self.purse = coin
        urgent, leisurely = self._in_turn(self.urgent), self._in_turn(self.leisurely)
        groups = [(*urgent, *leisurely), urgent, *((one,) for one in (*urgent, *leisurely))]
        paid: dict[tuple[Due, ...], Push] = {}
        for group in groups:
            # Each spend has its fee, so that a bundle with one more replaces the one without.
            fee = min(sum(fees.after(waited) for _, waited in group), coin.amount)
            if fee <= 0 or group in paid:
                continue
            bundles = tuple(push.bundle for push, _ in group)
            bundle = fees.paid(bundles, coin, fee, self.channel.agg_sig_data)
            self.changes.add(fees.change(coin, fee))
            paid[group] = Push(f"{group[0][0].name}+fee", bundle)
            self.offer = self.offer or FeeBundle(bundle, bundles, fee)
        self.pushes[:0] = paid.values()

    def _offered_change(self, coin: Coin) -> Coin | None:
        """What a spend of ours left of a fee coin, where the node does not give its solution:
        whoever mines it can make that too large for a node to give."""
        offered = (change for change in self.changes if change.parent == coin.id)
        return next((change for change in offered if self._see(change) is not None), None)

    def _in_turn(self, due: list[Due]) -> tuple[Due, ...]:
        """Another one first with every block."""
        turn = self.block.peak % max(len(due), 1)
        return (*due[turn:], *due[:turn])

    def result(self) -> tuple[Dispute, list[Effect]]:
        """The dispute after this look, and all effects in their order."""
        self._pay_fees()
        undone: list[Undone] = []
        fresh: list[Fact] = []
        if self.incomplete:
            # What is not seen now may well be so still: nothing is taken back until all is known.
            self.facts = [*dict.fromkeys((*self.was.reported, *self.facts))]
            if self.was.status is not Status.OPEN:
                self.status = self.was.status
        if tuple(self.facts) != self.was.reported:
            undone = [Undone(fact) for fact in self.was.reported if fact not in self.facts]
            fresh = [fact for fact in self.facts if fact not in self.was.reported]
        after = replace(
            self.was,
            status=self.status,
            reported=tuple(self.facts),
            watched=frozenset(self.watched),
            decided=self.decided,
            warned=frozenset(self.warned),
            tracked=self.judged,
            undecided=self.waiting,
            fee_coin=self.purse,
            changes=frozenset(self.changes),
            fee_bundle=self.offer,
            block=self.block,
        )
        told = [Tell(one) for one in (*undone, *fresh, *self.news)]
        return after, [*self.stores, *self.watches, *self.pushes, *told]
