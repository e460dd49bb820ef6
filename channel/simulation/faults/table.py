"""The table of faults to plant in the honest side's engine.

A fault skips one check of the engine, or makes the engine behave wrongly. Each names the
adversaries against which it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from channelsim.channel.adversaries.rules.breaker import UNBREAKABLE, name_of
from channelsim.channel.chain.spacing import PUBLIC_SPACING
from channelsim.channel.peer.chain_news import IllegalOnChain
from channelsim.channel.peer.interface import Cancelled
from channelsim.channel.peer.onchain.lineage import Lineage
from channelsim.channel.protocol.messages import LAST_DECK, Batch, Shutdown, ShutdownDone
from channelsim.channel.simulation.faults.behaviours import (
    asks_while_it_closes,
    cancels_accepted,
    cancels_first,
    clock,
    discloses_a_lock,
    discloses_its_seed,
    fails_at_requests,
    false_news,
    gives_up,
    goes_on,
    hastily,
    hides_news,
    is_act,
    is_close,
    is_early,
    is_request,
    late,
    loses,
    never_asks_back,
    patiently,
    plays_on,
    preempts_itself,
    publishes_its_copy,
    publishes_oldest,
    pushes_once,
    says,
    says_twice,
    shows_its_age,
    skips_a_number,
    starts_times_again,
    stays,
    uses_up,
    waits_twice,
    without_evidence,
    without_spacing,
    wrong_half,
)
from channelsim.channel.simulation.faults.fee_behaviours import (
    asserts_nothing,
    begins_high,
    changes_coins,
    creeps,
    forgets_rate,
    goes_back,
    is_dropped,
    is_estimate,
    is_pinned,
    keeps_no_change,
    locks_fee_coins,
    pays_elsewhere,
    replaces_in_vain,
    reports_drops_again,
    shares_coins,
    stays_low,
)
from channelsim.channel.simulation.faults.kinds import (
    EngineCheck,
    Plant,
    always,
    checks,
    deaf_to,
    engine,
    skips,
)
from channelsim.channel.simulation.scenario import FEES, MIXED
from channelsim.games import registry


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fault: the rules or promises that it is `about`, `what` is wrong, and how to plant it.

    It should show against the adversaries `seen_by`, in scenarios with the fields `given`.
    """

    name: str
    about: tuple[str, ...]
    what: str
    plant: Plant
    seen_by: tuple[str, ...]
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_check(self) -> bool:
        """True if it skips a check, so that another check may refuse the same message."""
        return self.name.startswith("unchecked ")


def _unchecked(check: EngineCheck) -> PlantedFault:
    function = check.name.split("/")[0]
    rules = (*check.rules, *_RULES_OF.get(function, ()))
    return PlantedFault(
        f"unchecked {check.name}",
        rules,
        f"does not refuse: {check.says}",
        skips(check),
        (*(name_of(rule) for rule in rules), *_SEEN_BY.get(function, ())),
    )


_FUNDING = ("CH-OPEN-9", "CH-OPEN-10")
_RULES_OF = {
    "transitions._open_group": ("CH-CANCEL-1", "CH-ACCEPT-1"),
    "funding._check_wallet": _FUNDING,
    "funding._read": _FUNDING,
    "funding._conditions": _FUNDING,
    "funding._items": _FUNDING,
    "funding._amount": _FUNDING,
    "half_signed.verify_halves": ("CH-OPEN-8", "CH-RESUME-2"),
    "receiving._judge": ("CH-MOVE-4",),
    "receiving._slashable_moves": ("CH-MOVE-4", "CH-MOVE-5"),
}
"""The rules of checks whose callers name them, by module and function."""

_SEEN_BY = {
    "receiving._judge": ("overshare", "padded"),
    "receiving._slashable_moves": ("bad-selection", "overraise", "wrong-reveal"),
}
"""Other adversaries that reach these checks."""


def _behaviour(
    name: str, what: str, plant: Plant, broken: tuple[str, ...], **given: Any
) -> PlantedFault:
    """A wrong behaviour: what it does, how it is planted, and the scenarios in which it shows.

    `broken` has the rule or promise that it breaks, and the adversaries against which that shows.
    """
    return PlantedFault(name, broken[:1], what, plant, broken[1:], given)


_TWO_GAMES = tuple(game.name for game in registry.channel_games())[:2]

_WITH_DECK = tuple(game.name for game in registry.channel_games() if game.deck_positions)[:1]
"""A game with a deck, in which alone some behaviours show."""

BEHAVIOURS = (
    _behaviour(
        "never publishes", "loses its unroll", loses("unroll."), ("liveness", "silent", "dead")
    ),
    _behaviour(
        "never preempts",
        "loses its preemption",
        loses("preempt."),
        ("safety", "stale-oldest", "stale-any"),
    ),
    _behaviour(
        "preempts late",
        "preempts 15 blocks late",
        late(15, "preempt."),
        ("safety", "stale-oldest", "stale-any", "rewinder"),
    ),
    _behaviour(
        "never times out",
        "loses an unroll's timeout form",
        loses("unroll-timeout."),
        ("liveness", "dead"),
    ),
    _behaviour("never claims", "loses its claims", loses("claim."), ("safety", "dead")),
    _behaviour(
        "claims late",
        "claims 15 blocks late",
        late(15, "claim."),
        ("liveness", "dead", "silent"),
    ),
    _behaviour(
        "never slashes",
        "loses its slashes",
        loses("slash."),
        ("safety", "wrong-commitment", "illegal-on-chain"),
    ),
    _behaviour(
        "slashes late",
        "slashes 15 blocks late",
        late(15, "slash."),
        ("safety", "claimer", "wrong-commitment", "illegal-on-chain", "chameleon"),
    ),
    _behaviour(
        "never moves on chain",
        "loses its moves on chain",
        loses("move."),
        ("safety", "leaver", "silent", "late-mover-2"),
    ),
    _behaviour(
        "never redoes",
        "loses its redone moves",
        loses("redo."),
        ("safety", "silent", "leaver"),
    ),
    _behaviour(
        "moves late",
        "moves 12 blocks late on chain",
        late(12, "move.", "redo."),
        ("safety", "claimer", "leaver", "silent"),
    ),
    _behaviour(
        "never shuts",
        "loses the completed shutdown",
        loses("shutdown."),
        ("liveness", "leaves-closing"),
    ),
    _behaviour(
        "pushes once",
        "never pushes a spend again",
        pushes_once,
        ("liveness", "rewinder", "answers-again", "resurrector", "pinner"),
    ),
    _behaviour(
        "clock ahead",
        "counts two blocks too many on chain",
        clock(2),
        ("safety", "dead", "silent", "leaver"),
    ),
    _behaviour(
        "clock behind",
        "counts nine blocks too few on chain",
        clock(-9),
        ("liveness", "dead", "silent", "claimer"),
    ),
    _behaviour(
        "publishes an old state",
        "publishes the first state that it has",
        publishes_oldest,
        ("safety", "silent", "dead"),
    ),
    _behaviour(
        "preempts itself",
        "preempts the state that it published",
        preempts_itself,
        ("news", "dead", "silent"),
    ),
    _behaviour(
        "deaf to requests",
        "never answers a request",
        deaf_to(is_request),
        ("CH-TIME-1", "breaks-ch-accept-2", "flooder", "breaks-ch-settle-2"),
    ),
    _behaviour(
        "fails at requests",
        "gives the channel up over a request",
        fails_at_requests,
        ("duty", "", "flooder"),
    ),
    _behaviour(
        "skips numbers",
        "sends a batch with another number",
        says(Batch, skips_a_number),
        ("CH-BATCH-2", ""),
    ),
    _behaviour(
        "sends two batches",
        "sends a batch without the potato",
        says(Batch, says_twice),
        ("CH-BATCH-1", ""),
    ),
    _behaviour(
        "signs wrongly", "sends a half that is none", says(Batch, wrong_half), ("CH-BATCH-5", "")
    ),
    _behaviour(
        "plays on",
        "sends a batch after a shutdown",
        says((Shutdown, ShutdownDone), plays_on),
        ("CH-SHUT-5", ""),
    ),
    _behaviour(
        "discloses its seed",
        "discloses the seed of a game's secrets",
        says(object, discloses_its_seed),
        ("secrecy", ""),
    ),
    _behaviour(
        "discloses a lock",
        "sends a lock of a deck in a step of another one",
        says(object, discloses_a_lock),
        ("secrecy", ""),
        games=_WITH_DECK,
    ),
    _behaviour(
        "opens with the accept",
        "opens cards in the batch that accepts their game",
        engine("peer.play.sending:opens_cards", always(False)),
        ("secrecy", ""),
        games=_WITH_DECK,
    ),
    _behaviour(
        "takes used decks",
        "accepts a deck that is used, or named twice",
        engine("peer.play.receiving:reason_against", always(None)),
        ("the use of a deck for one game only", "one-deck-twice", "used-deck"),
        games=_WITH_DECK,
        hands=2,
    ),
    _behaviour(
        "uses up named numbers",
        "counts decks as used that a refused proposal names",
        engine("peer.play.receiving:name", uses_up),
        ("PD-9", "uses-up-numbers", "another-root"),
        games=_WITH_DECK,
    ),
    _behaviour(
        "begins any deck",
        "begins a deck with a number far above the highest",
        engine("peer.decks.pool:MOST_SKIPPED", lambda most: LAST_DECK),
        ("PD-10", "uses-up-numbers"),
        games=_WITH_DECK,
    ),
    _behaviour(
        "reports false news",
        "undoes no news, and reports a settlement of one mojo more",
        false_news,
        ("news", "dead", "rewinder"),
    ),
    _behaviour(
        "goes on from an old copy",
        "does not stop when it is shown a state that it forgot",
        engine("peer.phases.resuming:outdated", goes_on),
        ("signatures", ""),
        old_copy=9,
    ),
    _behaviour(
        "is silent as an old copy",
        "does not answer a new connection once it knows that it has forgotten states",
        deaf_to(shows_its_age),
        ("CH-RESUME-3", ""),
        old_copy=9,
        weather="reconnects",
    ),
    _behaviour(
        "keeps ready decks",
        "gives up no ready deck at a restart",
        engine("store.durable_peer:given_up_by_restart", always(None)),
        ("PD-12", ""),
        games=_WITH_DECK,
        old_copy=9,
    ),
    _behaviour(
        "publishes its old copy",
        "publishes what it has once it knows that it has forgotten states",
        publishes_its_copy,
        ("CH-RESUME-3", ""),
        old_copy=9,
    ),
    _behaviour(
        "stays with an old copy",
        "does not close when it is shown that the other side has forgotten states",
        engine("peer.phases.resuming:leave", stays),
        ("CH-RESUME-3", "plays-old-copy"),
    ),
    _behaviour(
        "gives up early",
        "waits for 2 blocks only",
        engine("peer.phases.blocks:wait", hastily),
        ("CH-TIME-1", "late-mover-2", "staller", "breaks-ch-batch-6", "dead"),
    ),
    _behaviour(
        "waits for ever",
        "never stops waiting",
        engine("peer.phases.blocks:wait", patiently),
        ("liveness", "dead", "silent"),
    ),
    _behaviour(
        "forgets its moves",
        "does not make again what it sent",
        engine("peer.onchain.signed_games:SignedGames.sent_from", always(None)),
        ("safety", "silent", "stale-previous", "leaver"),
    ),
    _behaviour(
        "forgets settlements",
        "moves on in a game that it settled",
        engine("peer.onchain.signed_games:SignedGames.settled_by_us", always(False)),
        ("safety", "denies-settlement", "dead"),
        policies=("random", "random"),
    ),
    _behaviour(
        "reveals early",
        "moves on chain before the answered move is deep",
        engine("peer.onchain.decisions:LAST_CHANCE", lambda blocks: 1000),
        ("secrecy", "leaver", "silent"),
    ),
    _behaviour(
        "takes short games",
        "accepts any timeout of a game",
        engine("protocol.proposals:least_timeout", always(0)),
        ("the least timeout", "short-timeouts"),
    ),
    _behaviour(
        "locks its fee coins",
        "spends fee coins with a lock",
        engine("peer.fees.payment:_spend", locks_fee_coins),
        ("CH-FEE-1", "", "leaver"),
        fees=FEES,
    ),
    _behaviour(
        "pays its change elsewhere",
        "sends the change of fees to another address",
        engine("peer.fees.payment:_spend", pays_elsewhere),
        ("CH-FEE-1", "", "leaver"),
        fees=FEES,
    ),
    _behaviour(
        "keeps no change",
        "leaves the change of a fee coin to the block",
        engine("peer.fees.payment:_spend", keeps_no_change),
        ("CH-FEE-2", "", "leaver"),
        fees=FEES,
    ),
    _behaviour(
        "asserts no spend",
        "pays a fee whatever becomes of the spend that it is for",
        engine("peer.fees.payment:_spend", asserts_nothing),
        ("CH-FEE-2", "leaver", "wrong-commitment"),
        fees=FEES,
    ),
    _behaviour(
        "shares fee coins",
        "pays for several spends with one coin",
        engine("peer.fees.fee_wallet:FeeWallet.free", shares_coins),
        ("CH-FEE-2", "late-mover", "claimer"),
        fees=FEES,
        games=_TWO_GAMES,
    ),
    _behaviour(
        "knows no maximum fee",
        "pays any fee for a spend",
        engine("peer.fees.fee_wallet:most_for", always(1 << 40)),
        ("CH-FEE-2", "stale-any", "leaver"),
        fees=FEES,
        max_fee=FEES // 2,
    ),
    _behaviour(
        "knows no maximum of fees",
        "pays any fees in all",
        engine("peer.fees.fee_wallet:most_for_all", always(1 << 60)),
        ("CH-FEE-2", "stale-any", "leaver"),
        fees=FEES,
        max_fees=2 * FEES,
    ),
    _behaviour(
        "forgets the spacing of games",
        "accepts timeouts of games that are long enough where every block has transactions",
        engine("protocol.proposals:least_timeout", without_spacing),
        ("the least timeout", "short-timeouts"),
        **MIXED,
    ),
    _behaviour(
        "forgets the spacing of deadlines",
        "accepts deadlines that are far enough where every block has transactions",
        engine("peer.opening.handshake:least_funding_blocks", without_spacing),
        ("CH-OPEN-7", "breaks-ch-open-7"),
        **MIXED,
    ),
    _behaviour(
        "funds in a hurry",
        "gives the funding as many blocks as where each has transactions",
        engine("peer.opening.handshake:FUNDING_BLOCKS", lambda blocks: blocks // PUBLIC_SPACING),
        ("CH-OPEN-7", ""),
        **MIXED,
    ),
    _behaviour(
        "never raises a fee",
        "offers the same fee with every block",
        engine("peer.fees.paying:raised", stays_low),
        ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
        fees=FEES,
        crowd=10,
    ),
    _behaviour(
        "raises by single mojos",
        "raises fees in steps that no mempool takes",
        engine("peer.fees.paying:raised", creeps),
        ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
        fees=FEES,
        crowd=10,
    ),
    _behaviour(
        "lowers fees",
        "offers less than it has offered, because its node's answers are no block",
        engine("peer.fees.paying:raised", goes_back),
        ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
        fees=FEES,
        weather="full",
    ),
    _behaviour(
        "changes fee coins",
        "raises a fee with another coin than the one that pays for the spend so far",
        engine("peer.fees.fee_wallet:FeeWallet.with_coin", changes_coins),
        ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
        fees=FEES,
        crowd=10,
    ),
    _behaviour(
        "pays the highest fee",
        "offers the highest fee at once",
        engine("peer.fees.paying:wanted_fee", begins_high),
        ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
        fees=FEES,
    ),
    _behaviour(
        "ignores the estimate",
        "does not hear what its node asks",
        deaf_to(is_estimate),
        ("CH-FEE-3", "stale-any", "leaver"),
        fees=FEES,
    ),
    _behaviour(
        "forgets the estimate",
        "forgets what its node asks with each new connection",
        forgets_rate,
        ("CH-FEE-3", "stale-any", "leaver"),
        fees=FEES,
        weather="reconnects",
    ),
    _behaviour(
        "leaves pins",
        "pays nothing for a spend in a bundle of the other side",
        deaf_to(is_pinned),
        ("CH-FEE-3", "pinner"),
        fees=FEES,
        **MIXED,
    ),
    _behaviour(
        "replaces pins in vain",
        "answers a pin with a bundle that lacks coins of the pin",
        engine("peer.fees.answers:_replacement", lambda replacement: replaces_in_vain),
        ("CH-FEE-3", "pinner"),
        fees=FEES,
        **MIXED,
    ),
    _behaviour(
        "underbids pins",
        "replaces pins for less than mempools want",
        engine("peer.fees.answers:_Union.least", lambda least: property(lambda union: 1)),
        ("CH-FEE-3", "pinner", "heavy-pinner"),
        max_fee=25_000_000,
        fees=FEES,
        **MIXED,
    ),
    _behaviour(
        "repeats dropped bytes",
        "offers a dropped spend in no other bytes",
        engine("peer.fees.answers:_renew", always(None)),
        ("CH-FEE-4", "stale-any", "leaver"),
        fees=FEES,
        weather="forgetful",
    ),
    _behaviour(
        "hides dropped spends",
        "does not tell of a spend that its node drops, and that no fee is for",
        deaf_to(is_dropped),
        ("CH-FEE-4", "stale-any", "leaver"),
        weather="forgetful",
    ),
    _behaviour(
        "reports drops again",
        "tells of a dropped spend each time",
        reports_drops_again,
        ("CH-FEE-4", "stale-any", "leaver"),
        weather="forgetful",
    ),
    _behaviour(
        "hides illegal moves",
        "does not tell of illegal moves on chain",
        hides_news(IllegalOnChain),
        ("news", "illegal-on-chain", "wrong-commitment"),
    ),
    _behaviour(
        "hides cancellations",
        "does not tell of cancelled proposals",
        hides_news(Cancelled),
        ("news", "unaffordable", "short-timeouts"),
    ),
    _behaviour(
        "cancels all proposals",
        "finds every game's timeout too short",
        engine("protocol.proposals:least_timeout", always(1 << 20)),
        ("law", "", "leaver"),
    ),
    _behaviour(
        "cancels accepted proposals",
        "cancels the proposals that its player accepts",
        cancels_accepted,
        ("law", ""),
    ),
    _behaviour(
        "never asks back",
        "gives the potato away with a move due, and does not ask for it back",
        never_asks_back,
        ("CH-TIME-1", "flooder", "breaks-ch-accept-2", "breaks-ch-settle-2"),
    ),
    _behaviour(
        "knows no limit",
        "goes on past its own limits",
        engine("peer.limits:Limits._reached", always("")),
        ("limits", "bouncer", "insatiable", "hoarder"),
        most_states=60,
    ),
    _behaviour(
        "begins games near a limit",
        "proposes and accepts games as long as there is a state left",
        engine("peer.limits:Limits.near", always("")),
        ("limits", "insatiable", "asks-and-proposes"),
        most_states=30,
    ),
    _behaviour(
        "ignores a wish to close",
        "does not close when its player wants to",
        deaf_to(is_close),
        ("wishes", "insatiable", "bouncer"),
    ),
    _behaviour(
        "loses acts",
        "does not take its player's decisions",
        deaf_to(is_act),
        ("wishes", "", "bouncer"),
    ),
    _behaviour(
        "cancels first",
        "answers proposals and requests before it shuts down",
        engine("peer.phases.playing:next_step", cancels_first),
        ("wishes", "asks-and-proposes", "bouncer", "unfit-proposer"),
    ),
    _behaviour(
        "asks while it closes",
        "asks for the potato again, though the other side owes a move",
        engine("peer.phases.playing:_ask_back", asks_while_it_closes),
        ("wishes", "dawdler", "slow-bouncer"),
    ),
    _behaviour(
        "starts times again",
        "waits anew for all answers with each new connection",
        starts_times_again,
        ("wishes", "late-numbers"),
    ),
    _behaviour(
        "waits twice",
        "waits for the other side's last numbers, and then as long for an answer",
        engine("peer.phases.blocks:in_play", waits_twice),
        ("wishes", "late-answers"),
    ),
    _behaviour(
        "loses early messages",
        "drops messages that come before the channel coin is deep",
        deaf_to(is_early),
        ("CH-TIME-1", "early"),
    ),
    _behaviour(
        "forgets an undone shutdown",
        "does not publish a final shutdown again that a reorganisation took back",
        engine("peer.phases.blocks:_shut_down_again", lambda publish: lambda state: (state, [])),
        ("safety", "undoes-shutdown"),
    ),
    _behaviour(
        "needs solutions",
        "waits for the solution of the channel coin's spend",
        engine(
            "peer.onchain.reading:_hidden_spend", lambda hidden: lambda view, seen: Lineage(seen)
        ),
        ("duty", "stale-oldest", "leaver"),
        weather="blind",
    ),
    _behaviour(
        "gives up at the deadline",
        "does not look at the chain any more once its opening has failed",
        gives_up,
        ("safety", "late-funder"),
    ),
    _behaviour(
        "takes illegal moves",
        "plays on after moves that it could slash",
        engine("peer.play.receiving:_slashable_moves", always(())),
        ("CH-MOVE-4", "bad-selection", "overraise", "wrong-reveal"),
    ),
    _behaviour(
        "has no evidence",
        "looks for no evidence of an illegal move",
        engine("peer.play.receiving:judge_move", without_evidence),
        ("CH-MOVE-4", "bad-selection", "greedy-share"),
    ),
    _behaviour(
        "has no evidence on chain",
        "looks for no evidence on chain",
        engine("peer.onchain.lineage:judge_move", without_evidence),
        ("safety", "bad-selection-on-chain", "illegal-on-chain"),
    ),
)
"""The faults that are not skipped checks."""


_BOUND = "it bounds what a message makes us read or store, which no promise is about"

ARGUED = {
    "unchecked transitions._accept/3": UNBREAKABLE["CH-ACCEPT-4"],
    "unchecked transitions._accept/4": "only a playable proposal is open to the other side",
    "unchecked funding._read/2": _BOUND,
    "unchecked funding._conditions/5": _BOUND,
    "unchecked introduction.check_introduction/8": "what both players agreed on is not a message",
    "unchecked handshake._on_launch/3": "no opening message shows the receiver's coin so early",
    "unchecked opening.on_early_message/1": _BOUND,
    "unchecked receiving._slashable_moves/1": "each illegal move of these games can be slashed",
}
"""Faults that no adversary can show, by name, and why."""


def faults() -> tuple[PlantedFault, ...]:
    """All faults: the skipped checks, in the order of the source, and then the others."""
    return (*map(_unchecked, checks()), *BEHAVIOURS)
