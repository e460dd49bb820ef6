"""Scan of the games of the state that was paid out: their facts, and the spends that are due.

Source: spec/channel.md, "After the unroll" and "Playing on chain".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    Fact,
    Forfeited,
    GameEnded,
    GamePaid,
    RevealAtRisk,
)
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import Moved, Push, YourTurn
from channelsim.channel.peer.onchain.decisions import (
    AskPlayer,
    ClaimTimeout,
    LetGo,
    MakeMove,
    Payout,
    SlashMove,
    Wait,
    decide,
    paid_coins,
    payout,
)
from channelsim.channel.peer.onchain.dispute import ChainView, Dispute, Findings, Status
from channelsim.channel.peer.onchain.lineage import Track, TrackedCoin
from channelsim.channel.protocol.game_spends import claim_bundle, move_bundle, slash_bundle
from channelsim.channel.protocol.spend_parsing import Slashed
from channelsim.channel.protocol.state import ChannelState
from channelsim.games import registry
from channelsim.games.choices import forced_action
from channelsim.games.contract import Action


def scan_games(
    view: ChainView,
    state: ChannelState,
    tracks: tuple[Track, ...],
    height: int,
) -> Findings:
    """Scan all games of the state that was paid out at this height."""
    found = Findings()
    payouts: list[Payout | None] = []
    for track in tracks:
        one, paid = _scan_game(view, track)
        found += one
        payouts.append(paid)
    known = [paid for paid in payouts if paid is not None]
    if len(known) < len(payouts):
        return found
    ours = state.balances[view.side] + sum(paid.ours for paid in known)
    theirs = state.balances[view.side.other] + sum(paid.theirs for paid in known)
    settled = ChannelSettled(state.number, ours, theirs)
    is_final = view.deep(height) and all(paid.final for paid in known)
    if not is_final and settled not in view.dispute.reported:
        return found
    return found + Findings(facts=(settled,), status=Status.SETTLED)


def record_decision(endpoint: Endpoint, tracked: TrackedCoin, action: Action) -> Findings:
    """Record our decision at a game coin. Raises `IllegalAction`."""
    if tracked.player is None:
        return Findings()
    coin = tracked.game.coin
    own = endpoint.own_action(tracked.game, tracked.player, action)
    after = own.after.coin
    return Findings(
        decided={coin: own.after if after != coin else None},
        news=(own.acted,),
    )


def _scan_game(view: ChainView, track: Track) -> tuple[Findings, Payout | None]:
    """Scan one game; also return its payout, which is None while it is open."""
    seen = track.tip_seen
    found = Findings(facts=track.facts, news=_judged_moves(view, track))
    if seen is not None and seen.spent is None:
        found += _at_tip(view, track.tip, seen.born)
        view = _with_decisions(view, found)
    paid = payout(view, track)
    if paid is not None:
        found += Findings(facts=_payout_facts(view, track, paid))
    return found, paid


def _with_decisions(view: ChainView, found: Findings) -> ChainView:
    if not found.decided:
        return view
    return replace(view, decided={**view.decided, **found.decided})


# --- facts -------------------------------------------------------------------------------------


def _judged_moves(view: ChainView, track: Track) -> tuple[Moved, ...]:
    """The other side's legal moves that no scan has judged before."""
    return tuple(
        Moved(after.game.id, after.game.position, after.player, after.runs, after.disagreements)
        for before, after in zip(track.coins, track.coins[1:], strict=False)
        if after.coin not in view.dispute.tracked
        and before.game.mover is not view.side
        and after.player is not None
    )


def _payout_facts(view: ChainView, track: Track, paid: Payout) -> tuple[Fact, ...]:
    tip, seen = track.tip, track.tip_seen
    facts: list[Fact] = []
    if not paid.ours:
        facts.append(Forfeited(tip.game.id, tip.coin, paid.theirs))
    if seen is not None and seen.spent is not None:
        by = ""
        if isinstance(track.end, Slashed):
            by = "us" if tip.game.mover is view.side else "them"
        facts.append(GamePaid(tip.game.id, by, *paid_coins(view, track, paid), seen.spent))
    # A game ends once: one that was settled off chain has ended, if it paid the same.
    before = view.dispute.signed_games.ended_off_chain(tip.game.id)
    if before is None or (before[view.side], before[view.side.other]) != (paid.ours, paid.theirs):
        ended = GameEnded(tip.game.id, paid.ours, paid.theirs, before is not None)
        # What was final stays final while the chain has it, also on a node that shows an older tip.
        if paid.final or ended in view.dispute.reported:
            facts.append(ended)
    return tuple(facts)


# --- what is due -------------------------------------------------------------------------------


def _at_tip(view: ChainView, tip: TrackedCoin, born: int) -> Findings:
    """Decide about an unspent game coin, and make the spend that is due."""
    found = Findings()
    decision = decide(view, tip, born)
    if isinstance(decision, AskPlayer):
        found = _ask(view.dispute, tip)
        decision = decide(_with_decisions(view, found), tip, born)
    match decision:
        case SlashMove():
            return found + _slash(view, tip, decision, born)
        case MakeMove():
            return found + _make_move(view, tip, decision, born)
        case ClaimTimeout():
            bundle = claim_bundle(view.endpoint.channel, tip.coin, tip.game)
            share = tip.game.shares()[view.side]
            return found + Findings(due=(Push("claim", bundle, share),))
        case AskPlayer():
            return found + Findings(undecided={tip.game.id: tip})
        case LetGo() | Wait():
            return found


def _ask(dispute: Dispute, tip: TrackedCoin) -> Findings:
    """Take the only action that there is, or ask the player, once."""
    forced = forced_action(tip.player.choices()) if tip.player else None
    if forced is not None:
        return record_decision(dispute.endpoint, tip, forced)
    asked = dispute.undecided.get(tip.game.id)
    # A player who was asked before a reorganisation may have answered while there was nothing
    # to decide: we ask again.
    if asked is None or asked.game.coin != tip.game.coin:
        return Findings(news=(YourTurn(tip.game.id),))
    return Findings()


def _slash(view: ChainView, tip: TrackedCoin, decision: SlashMove, born: int) -> Findings:
    before = tip.game.before
    if before is None or before.position.state is None:
        return Findings()
    program = registry.get(tip.game.terms.game).programs[before.position.validator or ""]
    state, evidence = before.position.state.value(), decision.illegal.evidence
    bundle = slash_bundle(view.endpoint.channel, tip.coin, tip.game, state, program, evidence)
    return _urgent("slash", bundle, tip, born)


def _make_move(view: ChainView, tip: TrackedCoin, decision: MakeMove, born: int) -> Findings:
    endpoint, after = view.endpoint, decision.after.coin
    bundle = move_bundle(endpoint.channel, endpoint.secret_keys, tip.coin, tip.game.coin, after)
    push = _urgent("redo" if decision.redo else "move", bundle, tip, born)
    if not decision.risky or tip.coin.id in view.dispute.warned:
        return push
    risk = RevealAtRisk(tip.game.id, tip.coin, view.peak - born)
    return push + Findings(news=(risk,), warned=frozenset({tip.coin.id}))


def _urgent(name: str, bundle: Bundle, tip: TrackedCoin, born: int) -> Findings:
    """Push a spend that has to be confirmed before the timeout of a game coin made then."""
    coin = tip.game.coin
    return Findings(due=(Push(name, bundle, coin.amount, born + coin.timeout),))
