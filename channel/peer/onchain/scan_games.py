"""What one look finds in the game_tracking, and does about them; what it finds is collected here.

Source: the state channel, "Going on chain", from "After the unroll" on.
"""

from __future__ import annotations

from channel.chain.coins import Bundle, Coin
from channel.chain.observations import Block, CoinSeen
from channel.peer.chain_news import (
    ChannelSettled,
    Fact,
    Forfeited,
    GameEnded,
    GamePaid,
    IllegalOnChain,
    MovedOnChain,
    RevealAtRisk,
    UnknownSpend,
)
from channel.peer.interface import Acted, Effect, Moved, News, Push, Store, Watch, YourTurn
from channel.peer.onchain import game_tracking
from channel.peer.onchain.dispute_state import Dispute, FeeBundle, Status
from channel.peer.onchain.game_tracking import Track, View
from channel.peer.onchain.tracked_coins import TrackedCoin
from channel.peer.own_action import own_action
from channel.protocol.game_spends import claim_bundle, move_bundle, slash_bundle
from channel.protocol.spend_parsing import Slashed
from channel.protocol.state import ChannelState, LiveGame
from clsp.values import serialize
from games import registry
from games.choices import forced_action
from games.contract import Action

Due = tuple[Push, int]
"""A spend that is due, and for how many blocks it has been."""


class Playing:
    """The part of a look that follows game coins, with all that a look collects."""

    def __init__(self, dispute: Dispute, block: Block) -> None:
        self.was = dispute
        self.endpoint = dispute.endpoint
        self.channel = dispute.endpoint.channel
        self.block = block
        self.picture = {seen.coin.id: seen for seen in block.coins}
        self.decided = dict(dispute.decided)
        self.judged = dict(dispute.tracked)
        self.warned = set(dispute.warned)
        self.watched = set(dispute.watched)
        self.waiting: dict[int, TrackedCoin] = {}
        self.purse = dispute.fee_coin
        self.changes = set(dispute.changes)
        self.status = Status.OPEN
        self.incomplete = False
        self.facts: list[Fact] = []
        self.news: list[News] = []
        self.stores: list[Effect] = []
        self.watches: list[Effect] = []
        self.pushes: list[Push] = []
        self.urgent: list[Due] = []
        self.leisurely: list[Due] = []
        self.offer: FeeBundle | None = None

    # --- the games -------------------------------------------------------------------------------

    def _see_games(self, state: ChannelState, firsts: list[TrackedCoin], height: int) -> None:
        ours, theirs = state.balances[self.endpoint.side], state.balances[self.endpoint.side.other]
        open_games = False
        for first in firsts:
            view = self._view()
            track = game_tracking.follow(view, first)
            for tracked in track.coins:
                self._see(tracked.coin)
            self._tell_moves(view, track)
            if track.lost:
                spent = track.tip_seen.spent if track.tip_seen else None
                self.facts.append(UnknownSpend(track.tip.coin, spent or height))
            elif track.tip_seen is not None and track.tip_seen.spent is not None:
                self.incomplete = self.incomplete or track.end is None
            elif track.tip_seen is not None:
                self._play(view, track.tip, track.tip_seen.born)
            paid = game_tracking.payout(self._view(), track)
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
            self.endpoint,
            self.was.signed_games,
            self.decided,
            self.judged,
            self.picture,
            self.block.peak,
        )

    def _tell_moves(self, view: View, track: Track) -> None:
        for before, tracked, seen in zip(
            track.coins, track.coins[1:], track.seen[:-1], strict=False
        ):
            by_us = before.game.mover is self.endpoint.side
            height = seen.spent if seen is not None and seen.spent is not None else 0
            self.facts.append(MovedOnChain(tracked.game.id, by_us, tracked.coin, height))
            if tracked.coin.id not in self.judged:
                self.judged[tracked.coin.id] = tracked
                if not by_us and tracked.player is not None:
                    self.news.append(
                        Moved(
                            tracked.game.id,
                            tracked.game.position,
                            tracked.player,
                            tracked.runs,
                            tracked.disagreements,
                        )
                    )
        for tracked in track.coins:
            if tracked.slashable is not None:
                self.facts.append(
                    IllegalOnChain(tracked.game.id, tracked.slashable.rule, tracked.coin)
                )

    def _tell_payout(self, view: View, track: Track, paid: game_tracking.Payout) -> None:
        tracked, seen = track.tip, track.tip_seen
        game_id = tracked.game.id
        if not paid.ours:
            self.facts.append(Forfeited(game_id, tracked.coin, paid.theirs))
        if seen is not None and seen.spent is not None:
            slashed = isinstance(track.end, Slashed)
            by = game_tracking.slasher(view, tracked) if slashed else ""
            ours, theirs = game_tracking.paid_coins(view, track, paid)
            self.facts.append(GamePaid(game_id, by, ours, theirs, seen.spent))
        if paid.final:
            self._tell_end(game_id, paid)

    def _tell_end(self, game_id: int, paid: game_tracking.Payout) -> None:
        """A game ends once: one that we settled by messages has ended, if it paid the same."""
        before = self.was.signed_games.ended_off_chain(game_id)
        side = self.endpoint.side
        if before is None or (before[side], before[side.other]) != (paid.ours, paid.theirs):
            self.facts.append(GameEnded(game_id, paid.ours, paid.theirs, before is not None))

    def _play(self, view: View, tracked: TrackedCoin, born: int) -> None:
        """Do what there is to do about an unspent game coin."""
        todo = game_tracking.todo(view, tracked, born)
        if isinstance(todo, game_tracking.Ask):
            self._ask(tracked)
            todo = game_tracking.todo(view, tracked, born)
        match todo:
            case game_tracking.Slash(fault):
                before = tracked.game.before
                if before is None or before.position.state is None:
                    return
                program = registry.get(tracked.game.terms.game).programs[
                    before.position.validator or ""
                ]
                state = before.position.state.value()
                bundle = slash_bundle(
                    self.channel, tracked.coin, tracked.game, state, program, fault.evidence
                )
                self._push("slash", bundle, born)
            case game_tracking.Move(after, redo, risky):
                self._move(tracked, after, born, redo=redo, risky=risky)
            case game_tracking.Claim():
                bundle = claim_bundle(self.channel, tracked.coin, tracked.game)
                share = tracked.game.shares()[self.endpoint.side]
                self._push_at_leisure("claim", bundle, born + tracked.game.coin.timeout, share)
            case game_tracking.Ask():
                self.waiting[tracked.game.id] = tracked
            case game_tracking.Give() | game_tracking.Hold():
                pass

    def _move(
        self, tracked: TrackedCoin, after: LiveGame, born: int, *, redo: bool, risky: bool
    ) -> None:
        if risky and tracked.coin.id not in self.warned:
            self.warned.add(tracked.coin.id)
            self.news.append(RevealAtRisk(tracked.game.id, tracked.coin, self.block.peak - born))
        bundle = move_bundle(
            self.channel, self.endpoint.secret_keys, tracked.coin, tracked.game.coin, after.coin
        )
        self._push("redo" if redo else "move", bundle, born)

    def _ask(self, tracked: TrackedCoin) -> None:
        """Take the one thing that there is to do, or ask the player, once while it waits."""
        forced = forced_action(tracked.player.choices()) if tracked.player else None
        if forced is not None:
            self.decide(tracked, forced)
            return
        asked = self.was.undecided.get(tracked.game.id)
        # Whoever was asked before a reorganisation may have answered while there was nothing
        # to decide: it is asked again.
        if asked is None or asked.game.coin != tracked.game.coin:
            self.news.append(YourTurn(tracked.game.id))

    def decide(self, tracked: TrackedCoin, action: Action) -> None:
        """Fix what we do here, on disk first. Raises `IllegalAction`."""
        if tracked.player is None:
            return
        own = own_action(self.endpoint, tracked.game, tracked.player, action)
        moves = own.after.coin != tracked.game.coin
        self.decided[tracked.game.coin] = own.after if moves else None
        record = serialize(own.after.coin.value())
        self.stores.append(Store(f"decided/{tracked.game.coin.puzzle_hash().hex()}", record))
        self.news.append(Acted(tracked.game.id, action, own.before, own.after.position, own.player))

    # --- helpers ---------------------------------------------------------------------------------

    def _see(self, coin: Coin) -> CoinSeen | None:
        if coin not in self.watched:
            self.watched.add(coin)
            self.watches.append(Watch(coin))
        return self.picture.get(coin.id)

    def _push_at_leisure(self, name: str, bundle: Bundle, since: int, worth: int) -> None:
        """Push a spend that nothing but a full chain keeps out; then it is paid for as well.

        It brings us `worth` mojos, and is not paid for with more.
        """
        push = Push(name, bundle)
        self.pushes.append(push)
        waited = self.block.peak - since - self.endpoint.confirmations
        fees = self.was.fees
        if waited >= 0 and fees is not None and fees.after(waited) < worth:
            self.leisurely.append((push, waited))

    def _push(self, name: str, bundle: Bundle, since: int) -> None:
        """Push a spend with a deadline, which has been due since this height."""
        push = Push(name, bundle)
        self.pushes.append(push)
        self.urgent.append((push, self.block.peak - since))
