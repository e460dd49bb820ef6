"""Faults around fees and the chain: pins, what nodes drop or refuse, and what is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.errors import Blame
from channelsim.channel.peer import interface
from channelsim.channel.peer.fees import answers
from channelsim.channel.peer.fees.coins import change_of
from channelsim.channel.peer.interface import FeeRate, Push, Received, Tell
from channelsim.channel.peer.onchain import scan, scan_games
from channelsim.channel.peer.onchain.dispute import Status
from channelsim.channel.peer.onchain.lineage import Track
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.phases import blocks, leaving
from channelsim.channel.peer.phases import fees as fee_phases
from channelsim.channel.store.durable_peer import DurablePeer
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    all_of,
    always,
    compared,
    engine,
    events,
    function,
    handler,
    own_probe,
)

# --- fees ----------------------------------------------------------------------------------------


def _without_rates(right: Any, wallet: Any, state: Any, offer: Any, bundle: Any) -> Any:
    again = right(wallet, state, offer, bundle)
    if again is None or bundle == offer.replacement:
        return again
    after, _ = again
    fee = max(offer.fee + offer.fee // 4, offer.fee + LEAST_RAISE)
    after = replace(after, fee=min(after.fee, fee))
    return after, wallet.push(after)


def _first_pin(right: Any, wallet: Any, state: Any, offer: Any, pinned: Any) -> Any:
    return right(wallet, state, offer, replace(pinned, pending=pinned.pending[:1]))


def _all_but_the_largest(right: Any, coin: Any, bundle: Any) -> Any:
    change = change_of(coin, bundle)
    return right(coin, bundle) if change is None else coin.amount - change.amount


def _no_replacement(right: Any, wallet: Any, state: Any, offer: Any, bundle: Any) -> Any:
    return None if bundle == offer.replacement else right(wallet, state, offer, bundle)


def _no_alone(right: Any, wallet: Any, offer: Any, bundle: Any, error: str) -> Any:
    return None if bundle == offer.replacement else right(wallet, offer, bundle, error)


def _while_it_pays(right: Any, wallet: Any, state: Any, offer: Any, pinned: Any) -> Any:
    others = [one for one in pinned.pending if one.bundle != offer.replacement]
    cost, fee = sum(one.cost for one in others), sum(one.fee for one in others)
    pays = max(state.rate * offer.cost, offer.fee)
    if others and fee * offer.cost >= pays * cost:
        return None
    return right(wallet, state, offer, pinned)


def _of_the_first(right: Any, wallet: Any, state: Any, event: Any) -> Any:
    """The answer as if no offer had the bundle as its replacement but the first that it spends."""
    spent = {spend.coin.id for spend in event.bundle.spends}
    met = [offer for offer in state.offers if offer.key in spent]
    hidden = [one for one in met[1:] if one.replacement == event.bundle]
    if not hidden:
        return right(wallet, state, event)
    offers = [replace(one, replacement=None) if one in hidden else one for one in state.offers]
    after, effects = right(wallet, replace(state, offers=tuple(offers)), event)
    known = {one.key: one for one in hidden}
    offers = [
        replace(one, replacement=known[one.key].replacement) if one.key in known else one
        for one in after.offers
    ]
    return replace(after, offers=tuple(offers)), effects


def _two_ready(right: Any, *given: Any, ready: int, scan: bool) -> Any:
    return right(*given, ready=min(ready, fee_phases.SPARE_COINS), scan=scan)


def _as_at_first(right: Any, offer: Any, start: int, most: int, peak: int, depth: int) -> Any:
    return right(offer, start, most, offer.since, depth)


def _not_lower(peer: Any, event: Any) -> Any:
    lower = isinstance(event, FeeRate) and event.mojos_per_cost < peer.state.fees.rate
    return None if lower else event


# --- the chain -----------------------------------------------------------------------------------


def _open_again(right: Any, dispute: Any, block: Any, lineage: Any, found: Any) -> Any:
    hidden = not lineage.complete
    before = replace(dispute, status=Status.OPEN) if hidden else dispute
    return right(before, block, lineage, found)


def _with_deadline(by: int) -> Callable[..., Any]:
    def wrong(right: Any, view: Any) -> Any:
        dispute = view.dispute
        return right(replace(view, dispute=replace(dispute, deadline=dispute.deadline + by)))

    return wrong


def _undecided_only(right: Any, dispute: Any, block: Any, lineage: Any, found: Any) -> Any:
    after, effects = right(dispute, block, lineage, found)
    tracked = {one.coin: one for track in lineage.tracks for one in track.coins}
    return replace(after, tracked=tracked), effects


def _deep_only(right: Any, view: Any, track: Track, paid: Any) -> Any:
    return right(replace(view, dispute=replace(view.dispute, reported=())), track, paid)


def _other_way(right: Any, games: Any, published: Any, coins: Any, *, timed_out: bool) -> Any:
    return right(games, published, coins, timed_out=not timed_out)


# --- faults of its own ---------------------------------------------------------------------------


def _blaming(right: Any, config: Any, state: Any, fault: Any) -> Any:
    accused = Blame(config.peer, state.phase.value, "CH-MSG-2", fault.reason)
    return leaving.break_off(config, state, accused)


def _staying(right: Any, config: Any, state: Any, fault: Any) -> Any:
    _, effects = right(config, state, fault)
    return state, [effect for effect in effects if isinstance(effect, Tell)]


def _unpublished(right: Any, config: Any, state: Any, fault: Any) -> Any:
    after, effects = right(config, state, fault)
    return after, [effect for effect in effects if not isinstance(effect, Push)]


def _at_messages_only(reach: Reach, right: Any, durable: Any, event: Any) -> Any:
    if isinstance(event, Received):
        return right(durable, event)
    if reach.probes:
        lasting, effects = right(durable, event)
        if lasting is not event:
            reach.mark()
        return lasting, effects
    reach.mark()
    return event, durable.peer.handle(event)


def _faults(wrong: Callable[..., Any]) -> Planting:
    phases = (Phase.OPENING, Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)
    return handler(phases, interface.Fault, wrong)


FEES_AND_CHAIN = (
    Fault(
        "bids-a-quarter-only",
        "fees",
        "a fee that a full mempool refuses rises by a quarter, and not to what the node asks",
        compared(answers, "_bid_more", _without_rates),
    ),
    Fault(
        "counts-split-pieces-as-paid",
        "fees",
        "the pieces of a fee coin that a pin splits count as paid, but for the largest",
        compared(answers, "paid_by", _all_but_the_largest),
    ),
    Fault(
        "replaces-one-of-several-pins",
        "fees",
        "of the pins of several nodes, only the first is looked at",
        compared(answers, "_unpin", _first_pin),
    ),
    Fault(
        "gives-up-dropped-replacements",
        "fees",
        "a replacement of a pin that the node has dropped is not offered again",
        compared(answers, "_renew", _no_replacement),
    ),
    Fault(
        "gives-up-refused-replacements",
        "fees",
        "a replacement of a pin that the node refuses is followed by nothing",
        all_of(
            compared(answers, "_bid_more", _no_replacement),
            compared(answers, "_without_fee", _no_alone),
        ),
    ),
    Fault(
        "leaves-well-paid-pins",
        "fees",
        "a pin that pays as much as our own offer is left, though it does not get in",
        compared(answers, "_unpin", _while_it_pays),
    ),
    Fault(
        "answers-for-the-first-offer",
        "fees",
        "an answer to the replacement of one spend is taken for another one that it contains",
        compared(fee_phases, "react", _of_the_first),
    ),
    Fault(
        "keeps-two-coins-ready",
        "fees",
        "no fee coins are made for live games",
        compared(fee_phases, "pay", _two_ready),
    ),
    Fault(
        "replaces-at-no-rate",
        "fees",
        "a replacement of a pin pays the least that mempools take, and not what the node asks",
        engine("peer.fees.answers:_Union.at_rate", always(0)),
    ),
    Fault(
        "replaces-at-the-first-fee",
        "fees",
        "the fee of a replacement does not rise with the blocks",
        compared(answers, "wanted_fee", _as_at_first),
    ),
    Fault(
        "hears-higher-rates-only",
        "fees",
        "a peer does not hear that its node asks less than before",
        events(_not_lower),
    ),
    Fault(
        "reopens-while-hidden",
        "chain",
        "a channel that is over is under way again while the node hides a spend",
        compared(scan, "_conclude", _open_again),
    ),
    Fault(
        "lets-undone-fundings-go",
        "chain",
        "a side on chain does not push a deep funding again that is taken back",
        compared(scan, "_unfunded", lambda right, view: replace(right(view), due=())),
    ),
    Fault(
        "gives-undone-fundings-up",
        "chain",
        "a side on chain takes a funding that is taken back for failed before its deadline",
        compared(scan, "_unfunded", _with_deadline(-1000)),
    ),
    Fault(
        "awaits-undone-fundings",
        "chain",
        "a side on chain waits for a funding that is taken back after its deadline",
        compared(scan, "_unfunded", _with_deadline(1000)),
    ),
    Fault(
        "plays-without-its-coin",
        "chain",
        "a side in play does not push a deep funding again that is taken back",
        function(
            blocks,
            "_fund_again",
            lambda right, state: (state, []) if state.was_deep else right(state),
        ),
    ),
    Fault(
        "hears-moves-again",
        "chain",
        "a move that a reorganisation took back is judged and told again",
        compared(scan, "_conclude", _undecided_only),
    ),
    Fault(
        "undoes-final-games",
        "chain",
        "the end of a game is undone while a node shows an older tip",
        compared(scan_games, "_payout_facts", _deep_only),
    ),
    Fault(
        "takes-hidden-timeouts-for-preemptions",
        "chain",
        "a payout whose solution the node hides is taken for the other kind",
        compared(SignedGames, "paying", _other_way),
    ),
    Fault(
        "blames-for-its-own-fault",
        "engine",
        "the other side is blamed for what the engine failed to handle",
        _faults(_blaming),
    ),
    Fault(
        "stays-after-its-own-fault",
        "engine",
        "a side that failed to handle an event says that it leaves, and stays",
        _faults(_staying),
    ),
    Fault(
        "publishes-nothing-after-its-own-fault",
        "engine",
        "a side that failed to handle an event publishes nothing before the next block",
        _faults(_unpublished),
    ),
    Fault(
        "survives-faults-at-messages-only",
        "store",
        "a process that fails at a command or a connection ends, and fails again after its restart",
        own_probe(DurablePeer, "_react", _at_messages_only),
    ),
)
"""Faults of this kind."""
