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
    stores_last,
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
    SkipsCheck,
    always,
    checks,
    deaf_to,
    effects,
    engine,
    events,
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
        lambda peer: SkipsCheck(peer, check),
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


_BEHAVIOURS: Mapping[str, tuple[str, Plant]] = {
    "never publishes": ("loses its unroll", effects(loses("push unroll."))),
    "never preempts": ("loses its preemption", effects(loses("push preempt."))),
    "preempts late": ("preempts 15 blocks late", late(15, "push preempt.")),
    "never times out": ("loses an unroll's timeout form", effects(loses("push unroll-timeout."))),
    "never claims": ("loses its claims", effects(loses("push claim."))),
    "claims late": ("claims 15 blocks late", late(15, "push claim.")),
    "never slashes": ("loses its slashes", effects(loses("push slash."))),
    "slashes late": ("slashes 15 blocks late", late(15, "push slash.")),
    "never moves on chain": ("loses its moves on chain", effects(loses("push move."))),
    "never redoes": ("loses its redone moves", effects(loses("push redo."))),
    "moves late": ("moves 12 blocks late on chain", late(12, "push move.", "push redo.")),
    "never shuts": ("loses the completed shutdown", effects(loses("push shutdown."))),
    "pushes once": ("never pushes a spend again", pushes_once),
    "clock ahead": ("counts two blocks too many on chain", events(clock(2))),
    "clock behind": ("counts nine blocks too few on chain", events(clock(-9))),
    "publishes an old state": ("publishes the first state that it has", effects(publishes_oldest)),
    "preempts itself": ("preempts the state that it published", effects(preempts_itself)),
    "stores last": ("stores after sending", effects(stores_last)),
    "forgets what it sent": ("does not store its batches", effects(loses("sent/"))),
    "forgets what it received": ("does not store batches", effects(loses("received/"))),
    "forgets proposals": ("does not store open proposals", effects(loses("proposal/"))),
    "forgets its last message": (
        "does not store the batch that it may have to repeat",
        effects(loses("last-sent")),
    ),
    "forgets decisions": ("does not store moves on chain", effects(loses("decided/"))),
    "forgets the shutdown": (
        "does not store the shutdown",
        effects(loses("shutdown/asked", "shutdown/completed")),
    ),
    "forgets the opening": ("does not store the opening", effects(loses("opening/"))),
    "deaf to requests": ("never answers a request", deaf_to(is_request)),
    "fails at requests": ("gives the channel up over a request", events(fails_at_requests)),
    "skips numbers": ("sends a batch with another number", effects(says(Batch, skips_a_number))),
    "sends two batches": ("sends a batch without the potato", effects(says(Batch, says_twice))),
    "signs wrongly": ("sends a half that is none", effects(says(Batch, wrong_half))),
    "plays on": (
        "sends a batch after a shutdown",
        effects(says((Shutdown, ShutdownDone), plays_on)),
    ),
    "discloses its seed": (
        "discloses the seed of a game's secrets",
        effects(says(object, discloses_its_seed)),
    ),
    "discloses a lock": (
        "sends a lock of a deck in a step of another one",
        effects(says(object, discloses_a_lock)),
    ),
    "opens with the accept": (
        "opens cards in the batch that accepts their game",
        engine("peer.play.sending:opens_cards", always(False)),
    ),
    "takes used decks": (
        "accepts a deck that is used, or named twice",
        engine("peer.play.receiving:reason_against", always(None)),
    ),
    "uses up named numbers": (
        "counts decks as used that a refused proposal names",
        engine("peer.play.receiving:name", uses_up),
    ),
    "begins any deck": (
        "begins a deck with a number far above the highest",
        engine("peer.decks.pool:MOST_SKIPPED", lambda most: LAST_DECK),
    ),
    "reports false news": (
        "undoes no news, and reports a settlement of one mojo more",
        effects(false_news),
    ),
    "goes on from an old copy": (
        "does not stop when it is shown a state that it forgot",
        engine("peer.phases.resuming:outdated", goes_on),
    ),
    "is silent as an old copy": (
        "does not answer a new connection once it knows that it has forgotten states",
        deaf_to(shows_its_age),
    ),
    "keeps ready decks": (
        "gives up no ready deck at a restart",
        engine("store.durable_peer:given_up_by_restart", always(None)),
    ),
    "publishes its old copy": (
        "publishes what it has once it knows that it has forgotten states",
        effects(publishes_its_copy),
    ),
    "stays with an old copy": (
        "does not close when it is shown that the other side has forgotten states",
        engine("peer.phases.resuming:leave", stays),
    ),
    "gives up early": ("waits for 2 blocks only", engine("peer.phases.blocks:wait", hastily)),
    "waits for ever": ("never stops waiting", engine("peer.phases.blocks:wait", patiently)),
    "forgets its moves": (
        "does not make again what it sent",
        engine("peer.onchain.signed_games:SignedGames.sent_from", always(None)),
    ),
    "forgets settlements": (
        "moves on in a game that it settled",
        engine("peer.onchain.signed_games:SignedGames.settled_by_us", always(False)),
    ),
    "reveals early": (
        "moves on chain before the answered move is deep",
        engine("peer.onchain.decisions:LAST_CHANCE", lambda blocks: 1000),
    ),
    "takes short games": (
        "accepts any timeout of a game",
        engine("protocol.proposals:least_timeout", always(0)),
    ),
    "locks its fee coins": (
        "spends fee coins with a lock",
        engine("peer.fees.payment:_spend", locks_fee_coins),
    ),
    "pays its change elsewhere": (
        "sends the change of fees to another address",
        engine("peer.fees.payment:_spend", pays_elsewhere),
    ),
    "keeps no change": (
        "leaves the change of a fee coin to the block",
        engine("peer.fees.payment:_spend", keeps_no_change),
    ),
    "asserts no spend": (
        "pays a fee whatever becomes of the spend that it is for",
        engine("peer.fees.payment:_spend", asserts_nothing),
    ),
    "shares fee coins": (
        "pays for several spends with one coin",
        engine("peer.fees.fee_wallet:FeeWallet.free", shares_coins),
    ),
    "knows no maximum fee": (
        "pays any fee for a spend",
        engine("peer.fees.fee_wallet:most_for", always(1 << 40)),
    ),
    "knows no maximum of fees": (
        "pays any fees in all",
        engine("peer.fees.fee_wallet:most_for_all", always(1 << 60)),
    ),
    "forgets the spacing of games": (
        "accepts timeouts of games that are long enough where every block has transactions",
        engine("protocol.proposals:least_timeout", without_spacing),
    ),
    "forgets the spacing of deadlines": (
        "accepts deadlines that are far enough where every block has transactions",
        engine("peer.opening.handshake:least_funding_blocks", without_spacing),
    ),
    "funds in a hurry": (
        "gives the funding as many blocks as where each has transactions",
        engine("peer.opening.handshake:FUNDING_BLOCKS", lambda blocks: blocks // PUBLIC_SPACING),
    ),
    "never raises a fee": (
        "offers the same fee with every block",
        engine("peer.fees.paying:raised", stays_low),
    ),
    "raises by single mojos": (
        "raises fees in steps that no mempool takes",
        engine("peer.fees.paying:raised", creeps),
    ),
    "lowers fees": (
        "offers less than it has offered, because its node's answers are no block",
        engine("peer.fees.paying:raised", goes_back),
    ),
    "changes fee coins": (
        "raises a fee with another coin than the one that pays for the spend so far",
        engine("peer.fees.fee_wallet:FeeWallet.with_coin", changes_coins),
    ),
    "pays the highest fee": (
        "offers the highest fee at once",
        engine("peer.fees.paying:wanted_fee", begins_high),
    ),
    "ignores the estimate": ("does not hear what its node asks", deaf_to(is_estimate)),
    "forgets the estimate": (
        "forgets what its node asks with each new connection",
        events(forgets_rate),
    ),
    "leaves pins": ("pays nothing for a spend in a bundle of the other side", deaf_to(is_pinned)),
    "replaces pins in vain": (
        "answers a pin with a bundle that lacks coins of the pin",
        engine("peer.fees.answers:_replacement", lambda replacement: replaces_in_vain),
    ),
    "underbids pins": (
        "replaces pins for less than mempools want",
        engine("peer.fees.answers:_Union.least", lambda least: property(lambda union: 1)),
    ),
    "repeats dropped bytes": (
        "offers a dropped spend in no other bytes",
        engine("peer.fees.answers:_renew", always(None)),
    ),
    "hides dropped spends": (
        "does not tell of a spend that its node drops, and that no fee is for",
        deaf_to(is_dropped),
    ),
    "reports drops again": (
        "tells of a dropped spend each time",
        effects(reports_drops_again),
    ),
    "hides illegal moves": (
        "does not tell of illegal moves on chain",
        effects(hides_news(IllegalOnChain)),
    ),
    "hides cancellations": ("does not tell of cancelled proposals", effects(hides_news(Cancelled))),
    "cancels all proposals": (
        "finds every game's timeout too short",
        engine("protocol.proposals:least_timeout", always(1 << 20)),
    ),
    "cancels accepted proposals": (
        "cancels the proposals that its player accepts",
        events(cancels_accepted),
    ),
    "never asks back": (
        "gives the potato away with a move due, and does not ask for it back",
        effects(never_asks_back),
    ),
    "knows no limit": (
        "goes on past its own limits",
        engine("peer.limits:Limits._reached", always("")),
    ),
    "begins games near a limit": (
        "proposes and accepts games as long as there is a state left",
        engine("peer.limits:Limits.near", always("")),
    ),
    "ignores a wish to close": ("does not close when its player wants to", deaf_to(is_close)),
    "loses acts": ("does not take its player's decisions", deaf_to(is_act)),
    "cancels first": (
        "answers proposals and requests before it shuts down",
        engine("peer.phases.playing:next_step", cancels_first),
    ),
    "asks while it closes": (
        "asks for the potato again, though the other side owes a move",
        engine("peer.phases.playing:_ask_back", asks_while_it_closes),
    ),
    "starts times again": (
        "waits anew for all answers with each new connection",
        events(starts_times_again),
    ),
    "waits twice": (
        "waits for the other side's last numbers, and then as long for an answer",
        engine("peer.phases.blocks:in_play", waits_twice),
    ),
    "loses early messages": (
        "drops messages that come before the channel coin is deep",
        deaf_to(is_early),
    ),
    "forgets an undone shutdown": (
        "does not publish a final shutdown again that a reorganisation took back",
        engine("peer.phases.blocks:_shut_down_again", lambda again: lambda state: (state, [])),
    ),
    "needs solutions": (
        "waits for the solution of the channel coin's spend",
        engine(
            "peer.onchain.reading:_hidden_spend",
            lambda hidden: lambda view, seen: Lineage(seen),
        ),
    ),
    "gives up at the deadline": (
        "does not look at the chain any more once its opening has failed",
        events(gives_up),
    ),
    "takes illegal moves": (
        "plays on after moves that it could slash",
        engine("peer.play.receiving:_slashable_moves", always(())),
    ),
    "has no evidence": (
        "looks for no evidence of an illegal move",
        engine("peer.play.receiving:judge_move", without_evidence),
    ),
    "has no evidence on chain": (
        "looks for no evidence on chain",
        engine("peer.onchain.tracked_coins:judge_move", without_evidence),
    ),
}
"""Wrong behaviours: what each does, and how it is planted."""

_BREAKS: Mapping[str, tuple[str, ...]] = {
    "never publishes": ("liveness", "silent", "dead"),
    "never preempts": ("safety", "stale-oldest", "stale-any"),
    "preempts late": ("safety", "stale-oldest", "stale-any", "rewinder"),
    "never times out": ("liveness", "dead"),
    "never claims": ("safety", "dead"),
    "claims late": ("liveness", "dead", "silent"),
    "never slashes": ("safety", "wrong-commitment", "illegal-on-chain"),
    "slashes late": ("safety", "claimer", "wrong-commitment", "illegal-on-chain", "chameleon"),
    "never moves on chain": ("safety", "leaver", "silent", "late-mover-2"),
    "never redoes": ("safety", "silent", "leaver"),
    "moves late": ("safety", "claimer", "leaver", "silent"),
    "never shuts": ("liveness", "leaves-closing"),
    "pushes once": ("liveness", "rewinder", "answers-again", "resurrector", "pinner"),
    "clock ahead": ("safety", "dead", "silent", "leaver"),
    "clock behind": ("liveness", "dead", "silent", "claimer"),
    "publishes an old state": ("safety", "silent", "dead"),
    "preempts itself": ("news", "dead", "silent"),
    "stores last": ("crash safety", ""),
    "forgets what it sent": ("crash safety", ""),
    "forgets what it received": ("crash safety", ""),
    "forgets proposals": ("crash safety", "", "crowder", "unaffordable"),
    "forgets its last message": ("crash safety", ""),
    "forgets decisions": ("crash safety", "leaver", "silent"),
    "forgets the shutdown": ("crash safety", ""),
    "forgets the opening": ("crash safety", ""),
    "deaf to requests": ("CH-TIME-1", "breaks-ch-accept-2", "flooder", "breaks-ch-settle-2"),
    "fails at requests": ("duty", "", "flooder"),
    "skips numbers": ("CH-BATCH-2", ""),
    "sends two batches": ("CH-BATCH-1", ""),
    "signs wrongly": ("CH-BATCH-5", ""),
    "plays on": ("CH-SHUT-5", ""),
    "discloses its seed": ("secrecy", ""),
    "discloses a lock": ("secrecy", ""),
    "opens with the accept": ("secrecy", ""),
    "takes used decks": ("the use of a deck for one game only", "one-deck-twice", "used-deck"),
    "uses up named numbers": ("PD-9", "uses-up-numbers", "another-root"),
    "begins any deck": ("PD-10", "uses-up-numbers"),
    "reports false news": ("news", "dead", "rewinder"),
    "goes on from an old copy": ("signatures", ""),
    "is silent as an old copy": ("CH-RESUME-3", ""),
    "keeps ready decks": ("PD-12", ""),
    "publishes its old copy": ("CH-RESUME-3", ""),
    "stays with an old copy": ("CH-RESUME-3", "plays-old-copy"),
    "gives up early": ("CH-TIME-1", "late-mover-2", "staller", "breaks-ch-batch-6", "dead"),
    "waits for ever": ("liveness", "dead", "silent"),
    "forgets its moves": ("safety", "silent", "stale-previous", "leaver"),
    "forgets settlements": ("safety", "denies-settlement", "dead"),
    "reveals early": ("secrecy", "leaver", "silent"),
    "takes short games": ("the least timeout", "short-timeouts"),
    "locks its fee coins": ("CH-FEE-1", "", "leaver"),
    "pays its change elsewhere": ("CH-FEE-1", "", "leaver"),
    "keeps no change": ("CH-FEE-2", "", "leaver"),
    "asserts no spend": ("CH-FEE-2", "leaver", "wrong-commitment"),
    "shares fee coins": ("CH-FEE-2", "late-mover", "claimer"),
    "knows no maximum fee": ("CH-FEE-2", "stale-any", "leaver"),
    "knows no maximum of fees": ("CH-FEE-2", "stale-any", "leaver"),
    "never raises a fee": ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
    "raises by single mojos": ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
    "lowers fees": ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
    "changes fee coins": ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
    "pays the highest fee": ("CH-FEE-3", "stale-any", "leaver", "wrong-commitment"),
    "ignores the estimate": ("CH-FEE-3", "stale-any", "leaver"),
    "forgets the estimate": ("CH-FEE-3", "stale-any", "leaver"),
    "leaves pins": ("CH-FEE-3", "pinner"),
    "replaces pins in vain": ("CH-FEE-3", "pinner"),
    "underbids pins": ("CH-FEE-3", "pinner", "heavy-pinner"),
    "repeats dropped bytes": ("CH-FEE-4", "stale-any", "leaver"),
    "hides dropped spends": ("CH-FEE-4", "stale-any", "leaver"),
    "reports drops again": ("CH-FEE-4", "stale-any", "leaver"),
    "forgets the spacing of games": ("the least timeout", "short-timeouts"),
    "forgets the spacing of deadlines": ("CH-OPEN-7", "breaks-ch-open-7"),
    "funds in a hurry": ("CH-OPEN-7", ""),
    "hides illegal moves": ("news", "illegal-on-chain", "wrong-commitment"),
    "hides cancellations": ("news", "unaffordable", "short-timeouts"),
    "cancels all proposals": ("law", "", "leaver"),
    "cancels accepted proposals": ("law", ""),
    "never asks back": ("CH-TIME-1", "flooder", "breaks-ch-accept-2", "breaks-ch-settle-2"),
    "knows no limit": ("limits", "bouncer", "insatiable", "hoarder"),
    "begins games near a limit": ("limits", "insatiable", "asks-and-proposes"),
    "ignores a wish to close": ("wishes", "insatiable", "bouncer"),
    "loses acts": ("wishes", "", "bouncer"),
    "cancels first": ("wishes", "asks-and-proposes", "bouncer", "unfit-proposer"),
    "asks while it closes": ("wishes", "dawdler", "slow-bouncer"),
    "starts times again": ("wishes", "late-numbers"),
    "waits twice": ("wishes", "late-answers"),
    "loses early messages": ("CH-TIME-1", "early"),
    "forgets an undone shutdown": ("safety", "undoes-shutdown"),
    "needs solutions": ("duty", "stale-oldest", "leaver"),
    "gives up at the deadline": ("safety", "late-funder"),
    "takes illegal moves": ("CH-MOVE-4", "bad-selection", "overraise", "wrong-reveal"),
    "has no evidence": ("CH-MOVE-4", "bad-selection", "greedy-share"),
    "has no evidence on chain": ("safety", "bad-selection-on-chain", "illegal-on-chain"),
}
"""The rule or promise that each behaviour breaks, and the adversaries against which that shows."""

_PINNED = {"fees": FEES, **MIXED}
"""Fields of scenarios in which spends wait for some blocks, so that they can be pinned."""

_TWO_GAMES = tuple(game.name for game in registry.channel_games())[:2]

_OF_FEES = (
    *("locks its fee coins", "pays its change elsewhere", "keeps no change", "asserts no spend"),
    *("pays the highest fee", "ignores the estimate"),
)
"""The behaviours that show in any scenario with fees."""

_GIVEN: Mapping[str, Mapping[str, Any]] = {
    **{name: {"fees": FEES} for name in _OF_FEES},
    "knows no maximum fee": {"fees": FEES, "max_fee": FEES // 2},
    "knows no maximum of fees": {"fees": FEES, "max_fees": 2 * FEES},
    "never raises a fee": {"fees": FEES, "crowd": 10},
    "raises by single mojos": {"fees": FEES, "crowd": 10},
    "lowers fees": {"fees": FEES, "weather": "full"},
    "shares fee coins": {"fees": FEES, "games": _TWO_GAMES},
    "changes fee coins": {"fees": FEES, "crowd": 10},
    "forgets the estimate": {"fees": FEES, "weather": "reconnects"},
    "leaves pins": _PINNED,
    "replaces pins in vain": _PINNED,
    "underbids pins": {**_PINNED, "max_fee": 25_000_000},
    "repeats dropped bytes": {"fees": FEES, "weather": "forgetful"},
    "hides dropped spends": {"weather": "forgetful"},
    "reports drops again": {"weather": "forgetful"},
    "forgets the spacing of games": MIXED,
    "forgets the spacing of deadlines": MIXED,
    "funds in a hurry": MIXED,
    "goes on from an old copy": {"old_copy": 9},
    "is silent as an old copy": {"old_copy": 9, "weather": "reconnects"},
    "keeps ready decks": {"old_copy": 9},
    "publishes its old copy": {"old_copy": 9},
    "needs solutions": {"weather": "blind"},
    "takes used decks": {"hands": 2},
    "knows no limit": {"most_states": 60},
    "begins games near a limit": {"most_states": 30},
    "forgets settlements": {"policies": ("random", "random")},  # a fold settles on one's own turn
}
"""Fields of the scenarios in which some behaviours show."""

_OF_DECKS = (
    *("discloses a lock", "opens with the accept", "takes used decks"),
    *("uses up named numbers", "begins any deck", "keeps ready decks"),
)
"""The behaviours that show in games with a deck only."""


def behaviours() -> tuple[PlantedFault, ...]:
    """The faults that are not skipped checks."""
    with_deck = next(game.name for game in registry.channel_games() if game.deck_positions)
    given: dict[str, Mapping[str, Any]] = {
        **_GIVEN,
        **{name: {"games": (with_deck,), **_GIVEN.get(name, {})} for name in _OF_DECKS},
    }
    return tuple(
        PlantedFault(name, (broken,), what, plant, tuple(seen_by), given.get(name, {}))
        for name, (what, plant) in _BEHAVIOURS.items()
        for broken, *seen_by in (_BREAKS[name],)
    )


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
    return (*map(_unchecked, checks()), *behaviours())
