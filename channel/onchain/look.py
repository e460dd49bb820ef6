"""One look at the chain: everything is read from the channel coin on, and done about, again.

What a reorganisation removed is not in the picture any more, and is told as undone; what is
due and not in is pushed again. Source: the state channel, "Going on chain".
"""

from __future__ import annotations

from dataclasses import replace

from channel.coins import Bundle, Coin
from channel.compose import own_action
from channel.events import (
    Acted,
    Block,
    CoinSeen,
    Effect,
    Moved,
    News,
    OpeningFailed,
    Push,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channel.onchain import games
from channel.onchain.fees import change_of
from channel.onchain.games import Track, View
from channel.onchain.memory import Dispute, Status
from channel.onchain.news import (
    ChannelClosed,
    ChannelSettled,
    Fact,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    IllegalOnChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnknownSpend,
    UnrollSeen,
)
from channel.onchain.reading import Slashed, channel_conditions
from channel.onchain.spends import claim_bundle, move_bundle, slash_bundle
from channel.onchain.spots import Spot
from channel.signed import preempt, publish, time_out, unroll_coin
from channel.state import ChannelState, LiveGame
from clsp.values import serialize, tree_hash
from games import registry
from games.contract import Action


def look(dispute: Dispute, block: Block) -> tuple[Dispute, list[Effect]]:
    """What this picture of the chain means, and what to do about it."""
    one = _Look(dispute, block)
    one.see_channel()
    return one.result()


def decide(dispute: Dispute, spot: Spot, action: Action) -> tuple[Dispute, list[Effect]]:
    """The dispute in which we do this at a game coin. Raises `IllegalAction`."""
    one = _Look(dispute, dispute.picture)
    one.decide(spot, action)
    told: list[Effect] = [Tell(news) for news in one.news]
    return replace(dispute, decided=one.decided), [*one.stores, *told]


class _Look:
    """The work of one look; what it finds is collected, and put in order at the end."""

    def __init__(self, dispute: Dispute, block: Block) -> None:
        self.was = dispute
        self.table = dispute.table
        self.channel = dispute.table.channel
        self.block = block
        self.picture = {seen.coin.id: seen for seen in block.coins}
        self.decided = dict(dispute.decided)
        self.judged = dict(dispute.judged)
        self.warned = set(dispute.warned)
        self.watched = set(dispute.watched)
        self.waiting: dict[int, Spot] = {}
        self.purse = dispute.purse
        self.status = Status.OPEN
        self.facts: list[Fact] = []
        self.news: list[News] = []
        self.stores: list[Effect] = []
        self.watches: list[Effect] = []
        self.pushes: list[Push] = []
        self.urgent: list[tuple[Push, int]] = []

    # --- the channel coin ------------------------------------------------------------------------

    def see_channel(self) -> None:
        """Follow the channel coin wherever it went."""
        seen = self._see(self.channel.coin)
        if seen is None:
            self._unfunded()
        elif seen.spent is None:
            began = max(self.was.began, seen.born)
            self._see(unroll_coin(self.channel, self.was.newest.state))
            bundle = publish(self.channel, self.table.secret_keys, self.was.newest)
            self._push("unroll", bundle, began)
        else:
            self._spent_channel(seen.solution or b"", seen.spent)

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
        ending = self.was.ending
        if ending is not None:
            shutdown = self.channel.shutdown_conditions(ending.state)
            if channel_conditions(solution) == tree_hash(shutdown):
                self._shut(height)
                return
        state = self.was.records.published(solution)
        if state is None:
            self.facts.append(UnknownSpend(self.channel.coin, height))
            return
        coin = unroll_coin(self.channel, state)
        self.facts.append(UnrollSeen(state.number, coin, height))
        seen = self._see(coin)
        if seen is None:
            return
        if seen.spent is None:
            self._on_unroll(state, seen)
        else:
            self._on_spent_unroll(state, coin, seen.solution or b"", seen.spent)

    def _shut(self, height: int) -> None:
        ending = self.was.ending
        if ending is None or self.block.peak - height < self.table.confirmations:
            return
        self.status = Status.SHUT
        if self.was.status is not Status.SHUT:
            self.news.append(ChannelClosed(ending.rewards(), height))

    # --- the unroll coin -------------------------------------------------------------------------

    def _on_unroll(self, state: ChannelState, seen: CoinSeen) -> None:
        """An unroll coin that waits: who published it does not matter, but its number does."""
        newest = self.was.newest
        theirs = state.number % 2 != self.table.side
        if state.number < newest.state.number and theirs:
            # Only a newer state of ours stops it: at once, for from its timeout on the other
            # side can pin its own spend.
            keys = self.table.secret_keys
            self._push("preempt", preempt(self.channel, keys, newest, state), seen.born)
            return
        # F; or S, which the other side completed; or an old state of our own parity.
        if self.block.peak - seen.born >= self.channel.unroll_timeout:
            self.pushes.append(Push("unroll-timeout", time_out(self.channel, state)))

    def _on_spent_unroll(
        self, published: ChannelState, coin: Coin, solution: bytes, height: int
    ) -> None:
        state = self.was.records.outcome(published, solution)
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
                tuple((spot.game.id, spot.coin) for spot in firsts),
                height,
            )
        )
        void = self.was.records.games_not_in(state)
        self.facts += [GameVoid(game_id, state.number) for game_id in void]
        self._see_games(state, firsts, height)

    def _first(self, state: ChannelState, game: LiveGame, parent: Coin) -> Spot:
        """A game's coin as it came out of the unroll coin."""
        coin = Coin(parent.id, game.coin.puzzle_hash(), game.coin.amount)
        known = self.judged.get(coin.id)
        if known is None:
            fault = self.was.faults.get(game.id) if state == self.was.newest.state else None
            player = None
            if fault is None:
                live = dict(self.was.players).get(game.id)
                # What messages showed ahead is known to that seat alone.
                fits = live is not None and live.position == game.position
                player = live if fits else self.was.records.player_at(state, game)
            known = self.judged[coin.id] = Spot(game, coin, player, fault, True)
        return known

    # --- the games -------------------------------------------------------------------------------

    def _see_games(self, state: ChannelState, firsts: list[Spot], height: int) -> None:
        ours, theirs = state.balances[self.table.side], state.balances[self.table.side.other]
        open_games = False
        for first in firsts:
            view = self._view()
            track = games.follow(view, first)
            for spot in track.spots:
                self._see(spot.coin)
            self._tell_moves(view, track)
            if track.lost:
                spent = track.tip_seen.spent if track.tip_seen else None
                self.facts.append(UnknownSpend(track.tip.coin, spent or height))
            elif track.end is None and track.tip_seen is not None:
                self._play(view, track.tip, track.tip_seen.born)
            paid = games.payout(self._view(), track)
            if paid is None:
                open_games = True
                continue
            self._tell_payout(view, track, paid)
            ours, theirs = ours + paid.ours, theirs + paid.theirs
            open_games = open_games or not paid.final
        if not open_games and self._view().deep(height):
            self.status = Status.SETTLED
            self.facts.append(ChannelSettled(state.number, ours, theirs))

    def _view(self) -> View:
        return View(
            self.table,
            self.was.records,
            self.decided,
            self.judged,
            self.picture,
            self.block.peak,
        )

    def _tell_moves(self, view: View, track: Track) -> None:
        for before, spot, seen in zip(track.spots, track.spots[1:], track.seen[:-1], strict=False):
            by_us = before.game.mover is self.table.side
            height = seen.spent if seen is not None and seen.spent is not None else 0
            self.facts.append(MovedOnChain(spot.game.id, by_us, spot.coin, height))
            if spot.coin.id not in self.judged:
                self.judged[spot.coin.id] = spot
                if not by_us and spot.player is not None:
                    self.news.append(
                        Moved(
                            spot.game.id,
                            spot.game.position,
                            spot.player,
                            spot.runs,
                            spot.disagreements,
                        )
                    )
        for spot in track.spots:
            if spot.fault is not None:
                self.facts.append(IllegalOnChain(spot.game.id, spot.fault.rule, spot.coin))

    def _tell_payout(self, view: View, track: Track, paid: games.Payout) -> None:
        spot, seen = track.tip, track.tip_seen
        game_id = spot.game.id
        if not paid.ours:
            self.facts.append(Forfeited(game_id, spot.coin, paid.theirs))
        if seen is not None and seen.spent is not None:
            slashed = isinstance(track.end, Slashed)
            by = games.slasher(view, spot) if slashed else ""
            ours, theirs = games.paid_coins(view, track, paid)
            self.facts.append(GamePaid(game_id, by, ours, theirs, seen.spent))
        if paid.final:
            self._tell_end(game_id, paid)

    def _tell_end(self, game_id: int, paid: games.Payout) -> None:
        """A game ends once: one that we settled by messages has ended, if it paid the same."""
        before = self.was.records.ended_off_chain(game_id)
        side = self.table.side
        if before is None or (before[side], before[side.other]) != (paid.ours, paid.theirs):
            self.facts.append(GameEnded(game_id, paid.ours, paid.theirs, before is not None))

    def _play(self, view: View, spot: Spot, born: int) -> None:
        """Do what there is to do about an unspent game coin."""
        todo = games.todo(view, spot, born)
        if isinstance(todo, games.Ask):
            self._ask(spot)
            todo = games.todo(view, spot, born)
        match todo:
            case games.Slash(fault):
                before = spot.game.before
                if before is None or before.position.state is None:
                    return
                program = registry.get(spot.game.terms.game).programs[
                    before.position.validator or ""
                ]
                state = before.position.state.value()
                bundle = slash_bundle(
                    self.channel, spot.coin, spot.game, state, program, fault.evidence
                )
                self._push("slash", bundle, born)
            case games.Move(after, redo, risky):
                self._move(spot, after, born, redo=redo, risky=risky)
            case games.Claim():
                bundle = claim_bundle(self.channel, spot.coin, spot.game)
                self.pushes.append(Push("claim", bundle))
            case games.Ask():
                self.waiting[spot.game.id] = spot
            case games.Give() | games.Hold():
                pass

    def _move(self, spot: Spot, after: LiveGame, born: int, *, redo: bool, risky: bool) -> None:
        if risky and spot.coin.id not in self.warned:
            self.warned.add(spot.coin.id)
            self.news.append(RevealAtRisk(spot.game.id, spot.coin, self.block.peak - born))
        bundle = move_bundle(
            self.channel, self.table.secret_keys, spot.coin, spot.game.coin, after.coin
        )
        self._push("redo" if redo else "move", bundle, born)

    def _ask(self, spot: Spot) -> None:
        """Take the one thing that there is to do, or ask the player, once while it waits."""
        choices = spot.player.choices() if spot.player else ()
        if len(choices) == 1 and choices[0].forced:
            self.decide(spot, Action(choices[0].verb))
            return
        asked = self.was.waiting.get(spot.game.id)
        # Whoever was asked before a reorganisation may have answered while there was nothing
        # to decide: it is asked again.
        if asked is None or asked.game.coin != spot.game.coin:
            self.news.append(YourTurn(spot.game.id))

    def decide(self, spot: Spot, action: Action) -> None:
        """Fix what we do here, on disk first. Raises `IllegalAction`."""
        if spot.player is None:
            return
        own = own_action(self.table, spot.game, spot.player, action)
        moves = own.after.coin != spot.game.coin
        self.decided[spot.game.coin] = own.after if moves else None
        record = serialize(own.after.coin.value())
        self.stores.append(Store(f"decided/{spot.game.coin.puzzle_hash().hex()}", record))
        self.news.append(Acted(spot.game.id, action, own.before, own.after.position, own.player))

    # --- helpers ---------------------------------------------------------------------------------

    def _see(self, coin: Coin) -> CoinSeen | None:
        if coin not in self.watched:
            self.watched.add(coin)
            self.watches.append(Watch(coin))
        return self.picture.get(coin.id)

    def _push(self, name: str, bundle: Bundle, since: int) -> None:
        """Push a spend with a deadline, which has been due since this height."""
        push = Push(name, bundle)
        self.pushes.append(push)
        self.urgent.append((push, self.block.peak - since))

    def _pay_fees(self) -> None:
        """With a fee, whatever is urgent: all in one bundle, and each by itself.

        The one bundle contains all that the others do, so it replaces them. Where the other
        side has made one of the spends impossible, that bundle is refused; then the first of
        the others that is taken has the fee coin.
        """
        fees = self.was.fees
        if fees is None:
            return
        coin = self.purse or fees.wallet.coin
        seen = self._see(coin)
        while seen is not None and seen.spent is not None:
            change = change_of(coin, seen.solution or b"")
            if change is None:
                return
            coin, seen = change, self._see(change)
        self.purse = coin
        if seen is None or not self.urgent:
            return
        fee = min(fees.after(max(waited for _, waited in self.urgent)), coin.amount)
        if fee <= 0:
            return
        turn = self.block.peak % len(self.urgent)
        singles = [push for push, _ in (*self.urgent[turn:], *self.urgent[:turn])]
        groups = [[push] for push in singles]
        if len(singles) > 1:
            groups.insert(0, singles)
        for group in groups:
            bundles = [push.bundle for push in group]
            paid = fees.paid(bundles, coin, fee, self.channel.agg_sig_data)
            self.pushes.append(Push(f"{group[0].name}+fee", paid))

    def result(self) -> tuple[Dispute, list[Effect]]:
        """The dispute after this look, and all effects in their order."""
        self._pay_fees()
        undone = [Undone(fact) for fact in self.was.told if fact not in self.facts]
        fresh = [fact for fact in self.facts if fact not in self.was.told]
        after = replace(
            self.was,
            status=self.status,
            told=tuple(self.facts),
            watched=frozenset(self.watched),
            decided=self.decided,
            warned=frozenset(self.warned),
            judged=self.judged,
            waiting=self.waiting,
            purse=self.purse,
            picture=self.block,
        )
        told = [Tell(one) for one in (*undone, *fresh, *self.news)]
        return after, [*self.stores, *self.watches, *self.pushes, *told]
