"""Faults that a reviewer thought of, each in a situation that is rare but reachable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from typing import Any
from unittest import mock

from msgspec.structs import replace

from channelsim.channel.attack import news_due
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.errors import Violation
from channelsim.channel.peer import machine
from channelsim.channel.peer.decks import pool
from channelsim.channel.peer.fees import answers, coins, paying
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.interface import Act
from channelsim.channel.peer.onchain import lineage, reading, scan
from channelsim.channel.peer.onchain.dispute import ChainView
from channelsim.channel.peer.opening import handshake
from channelsim.channel.peer.phases import blocks, leaving, resuming
from channelsim.channel.peer.phases import fees as phase_fees
from channelsim.channel.peer.play import receiving, sending
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol import proposals
from channelsim.channel.protocol.state_history import StateHistory
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    all_of,
    changing,
    compared,
    function,
    marking,
    where_it_fails,
)

FAR = 1 << 40

# --- on chain ------------------------------------------------------------------------------------


def _scans(wrong: Callable[..., Any]) -> Planting:
    return all_of(compared(leaving, "scan", wrong), compared(scan, "scan", wrong))


def _forgetting(right: Any, dispute: Any, block: Any) -> Any:
    now = {seen.coin: seen for seen in block.coins}
    taken_back = any(
        seen.coin not in now or (seen.spent is not None and now[seen.coin].spent is None)
        for seen in dispute.block.coins
    )
    return right(replace(dispute, decided={}) if taken_back else dispute, block)


def _known_by(key: Callable[[CoinSeen], object]) -> Callable[..., Any]:
    """A scan that reads the lineage anew only where a coin differs by this key."""

    def keys(seen: Sequence[CoinSeen]) -> list[object]:
        return [key(one) for one in seen]

    def wrong(right: Any, dispute: Any, block: Any) -> Any:
        view, read = ChainView.of(dispute, block), dispute.lineage
        if read is None or keys(block.coins) != keys(dispute.block.coins):
            read = reading.read_lineage(view)
        return scan._conclude(dispute, block, read, scan._due(view, read))  # noqa: SLF001

    return wrong


def _in_dispute(right: Any, **other: Any) -> Callable[..., Any]:
    """The function on a view, with these fields of its dispute."""
    return lambda view, *given: right(replace(view, dispute=replace(view.dispute, **other)), *given)


def _going(**other: Any) -> Callable[..., Any]:
    def wrong(right: Any, *given: Any) -> Any:
        state, effects = right(*given)
        return replace(state, dispute=replace(state.dispute, **other)), effects

    return wrong


def _funding_what_it_left(right: Any, config: Any, state: Any, slashable: Any) -> Any:
    after, effects = right(config, state, slashable)
    if state.shown is None:
        bundle = state.opening.opened.bundle
        after = replace(after, dispute=replace(after.dispute, funding=bundle))
    return after, effects


# --- times, connections and the opening ----------------------------------------------------------


def _running_on(right: Any, config: Any, state: Any) -> Any:
    return [replace(one, since=0) for one in right(config, state)]


def _never_from_here(right: Any, marks: Any, due: Any, peak: int, times: Any) -> Any:
    after = {one: marks.get(one, peak) for one in due}
    return after, next((one for one in due if peak - after[one] > one.limit(times)), None)


def _void_at_once(right: Any, opened: Any, block: Any, agreement: Any) -> Any:
    wallets = set(opened.wallet_coins) if opened is not None else set()
    spent = any(seen.spent is not None for seen in block.coins if seen.coin in wallets)
    return right(opened, block, agreement) and not spent


def _with(owner: Any, name: str, value: object) -> Callable[..., Any]:
    """The function, with another value of a module while it runs."""

    def wrong(right: Any, *given: Any) -> Any:
        with mock.patch.object(owner, name, value):
            return right(*given)

    return wrong


# --- play ----------------------------------------------------------------------------------------


def _without_acts(right: Any, play: Any) -> Any:
    after, news = right(play)
    queue = tuple(one for one in after.queue if not isinstance(one, Act))
    return replace(after, queue=queue), news


def _received_only(
    right: Any, play: Any, sender: Any, batch: Any, state: Any, signed: Any, players: Any
) -> Any:
    after = right(play, sender, batch, state, signed, players)
    return after if signed is not None else replace(after, stored_bytes=play.stored_bytes)


def _keeping(reach: Reach, right: Any, history: StateHistory, state: Any, signed: Any) -> Any:
    if history.older is not None and history.older.state.groups:
        reach.mark()
    return right(history, state, signed) if reach.probes else StateHistory(state, signed, history)


# --- fees and decks ------------------------------------------------------------------------------


def _slowly(right: Any, offer: Any, *given: Any) -> Any:
    before = offer.push.before
    if before is not None:
        later = offer.since + -(-3 * (before - offer.since) // 2)
        offer = replace(offer, push=replace(offer.push, before=later))
    return right(offer, *given)


def _as_it_was(right: Any, offer: Any, start: int, most: int, peak: int, confirmations: int) -> Any:
    if offer.push.before is None:
        return min(start, most)
    return right(offer, start, most, peak, confirmations)


def _rising(wrong: Callable[..., Any]) -> Planting:
    return all_of(compared(paying, "wanted_fee", wrong), compared(answers, "wanted_fee", wrong))


def _watching_again(right: Any, fee_wallet: Any, fee_state: Any, effects: Any, **more: Any) -> Any:
    after, paid = right(fee_wallet, fee_state, effects, **more)
    return replace(after, watched=fee_state.watched), paid


def _timing_the_whole(right: Any, decks: Any, result: Any, height: int) -> Any:
    before = decks.decks.get(result.number)
    after, effects = right(decks, result, height)
    now = after.decks.get(result.number)
    if before is None or now is None or not before.since:
        return after, effects
    now = changed(now, since=before.since)
    return changed(after, decks={**after.decks, result.number: now}), effects


def _last_answer_only(right: Any, decks: Any, result: Any, height: int) -> Any:
    after, effects = right(decks, result, height)
    now = after.decks.get(result.number)
    if now is None:
        return after, effects
    now = changed(now, answered=now.answered[-1:])
    return changed(after, decks={**after.decks, result.number: now}), effects


FROM_REVIEW = (
    Fault(
        "decides-anew",
        "chain",
        "a decision on chain is forgotten with a reorganisation, and its player asked again",
        _scans(_forgetting),
    ),
    Fault(
        "keeps-replaced-heights",
        "chain",
        "heights of spends and coins stay, though a reorganisation has changed them",
        _scans(_known_by(lambda seen: (seen.coin, seen.spent is None, seen.solution))),
    ),
    Fault(
        "hidden-shutdown-is-unknown",
        "chain",
        "a shutdown whose solution the node hides is taken for an unknown spend",
        compared(
            reading,
            "_hidden_spend",
            lambda right, *given: _in_dispute(right, shutdown=None)(*given),
        ),
    ),
    Fault(
        "forgets-its-half",
        "chain",
        "a peer that goes on chain forgets that its half of a shutdown is out",
        compared(leaving, "_go_on_chain", _going(shutdown=None)),
    ),
    Fault(
        "undoes-what-is-hidden",
        "chain",
        "facts are undone while the node hides how a coin was spent",
        compared(
            scan,
            "_conclude",
            lambda right, dispute, block, read, found: right(
                dispute, block, replace(read, complete=True), found
            ),
        ),
    ),
    Fault(
        "funds-what-it-left",
        "chain",
        "a peer that has left the channel pushes a funding that was never deep",
        compared(leaving, "_go_on_chain", _funding_what_it_left),
    ),
    Fault(
        "first-coin-waits",
        "chain",
        "a move on chain at a game's first coin waits until that is deep",
        compared(
            reading,
            "_first_coin",
            lambda right, *given: replace(right(*given), first=False),
        ),
    ),
    Fault(
        "first-is-inherited",
        "chain",
        "a coin that a move made counts as one that the unroll coin made",
        compared(
            lineage,
            "_judged",
            lambda right, endpoint, tracked, *given: replace(
                right(endpoint, tracked, *given), first=tracked.first
            ),
        ),
    ),
    Fault(
        "forgets-early-reveals",
        "chain",
        "on chain, a seat does not know what an early reveal has shown",
        compared(
            reading,
            "_first_coin",
            lambda right, *given: _in_dispute(right, players={})(*given),
        ),
    ),
    Fault(
        "slashes-one-game",
        "engine",
        "of a batch with illegal moves in several games, only the first is slashed",
        compared(receiving, "_slashable_moves", lambda right, *given: right(*given)[:1]),
    ),
    Fault(
        "began-long-ago",
        "chain",
        "a peer that leaves takes its state for due since the channel began",
        compared(leaving, "_go_on_chain", _going(began=0)),
    ),
    Fault(
        "forgets-just-named-decks",
        "decks",
        "last numbers lack the decks that a lost batch has named",
        changing(resuming, "_just_named", lambda numbers: set()),
    ),
    Fault(
        "repeats-no-early-reveal",
        "engine",
        "an early reveal that was lost with a connection is not made again",
        changing(resuming, "early_reveals", lambda effects: []),
    ),
    Fault(
        "times-run-on",
        "engine",
        "the time of an answer runs on, though an earlier one has come",
        compared(blocks, "_due", _running_on),
    ),
    Fault(
        "waits-longer-after-reorganisations",
        "engine",
        "a height above that of a reorganised chain counts as the begin of a wait",
        compared(blocks, "wait", _never_from_here),
    ),
    Fault(
        "void-at-once",
        "engine",
        "a failed opening is over with any spend of a wallet coin, however shallow",
        compared(machine, "can_be_funded", _void_at_once),
    ),
    Fault(
        "waits-for-numbers",
        "engine",
        "the other side's last numbers are awaited for ever",
        changing(blocks, "_numbers_due", lambda due: []),
    ),
    Fault(
        "takes-any-late-deadline",
        "engine",
        "a deadline of the funding may be as late as the other side likes",
        where_it_fails(
            handshake,
            "_on_launch",
            function(handshake, "_on_launch", _with(handshake, "MOST_FUNDING_BLOCKS", FAR)),
            Violation,
        ),
    ),
    Fault(
        "counts-no-settled-money",
        "engine",
        "money that a batch settles does not cover the stakes of games that it accepts",
        compared(
            sending,
            "_answers",
            lambda right, endpoint, play, given, settles: right(endpoint, play, given, ()),
        ),
    ),
    Fault(
        "two-proposals-one-deck",
        "decks",
        "two proposals of one batch name the same deck",
        compared(
            sending,
            "_offers",
            lambda right, endpoint, play, wishes, used=0, named=(): right(
                endpoint, play, wishes, used
            ),
        ),
    ),
    Fault(
        "close-drops-decisions",
        "engine",
        "a wish to close drops the moves that wait for the potato",
        compared(sending, "without_new_games", _without_acts),
    ),
    Fault(
        "counts-no-own-bytes",
        "engine",
        "the bytes of its own batches do not count for its limit",
        compared(PlayState, "after", _received_only),
    ),
    Fault(
        "keeps-old-proposals",
        "engine",
        "all states in memory keep the proposals that were open",
        marking(StateHistory, "with_state", _keeping, _keeping),
    ),
    Fault(
        "takes-long-games",
        "engine",
        "a game's timeout may be as long as the other side likes",
        all_of(
            *(
                compared(owner, "reason_to_refuse", _with(proposals, "MOST_TIMEOUT", FAR))
                for owner in (receiving, sending, news_due)
            )
        ),
    ),
    Fault(
        "counts-hidden-change",
        "fees",
        "a fee coin whose spend the node hides counts as a fee as a whole",
        compared(
            coins,
            "_fee",
            lambda right, seen, children: (
                right(seen, children) if seen.solution is not None else seen.coin.amount
            ),
        ),
    ),
    Fault(
        "raises-without-waiting",
        "fees",
        "the fee of a spend without a deadline rises from its first block on",
        _rising(lambda right, offer, start, most, peak, depth: right(offer, start, most, peak, 0)),
    ),
    Fault(
        "keeps-fees-without-deadlines",
        "fees",
        "the fee of a spend without a deadline never rises",
        _rising(_as_it_was),
    ),
    Fault(
        "maximum-of-each-spend",
        "fees",
        "what is offered for other spends does not count for the maximum of all fees",
        compared(
            FeeWallet,
            "most",
            lambda right, wallet, state, offer: right(
                wallet, replace(state, offers=(), past=()), offer
            ),
        ),
    ),
    Fault(
        "joins-equal-spends",
        "fees",
        "a bundle with the same unsigned spend is replaced, though it is not in the way",
        compared(answers, "_in_the_way", lambda right, wallet, offer, pending: pending),
    ),
    Fault(
        "rises-slowly",
        "fees",
        "a fee reaches its maximum at the deadline only",
        _rising(_slowly),
    ),
    Fault(
        "awaits-known-fee-coins",
        "fees",
        "a peer forgets that it watches its fee coins, and waits for them with each block",
        compared(phase_fees, "pay", _watching_again),
    ),
    Fault(
        "times-whole-decks",
        "decks",
        "all steps of a deck have the time of one",
        compared(pool, "computed", _timing_the_whole),
    ),
    Fault(
        "knows-the-last-step",
        "decks",
        "a repeat of any but the last step burns its deck",
        compared(pool, "computed", _last_answer_only),
    ),
    Fault(
        "drops-unheard-decks",
        "decks",
        "a new connection drops a deck whose first step was lost",
        compared(
            pool,
            "resume",
            lambda right, decks, theirs, highest: right(decks, theirs, FAR),
        ),
    ),
)
"""Faults of this kind."""
