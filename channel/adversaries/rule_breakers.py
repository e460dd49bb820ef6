"""For each rule of the channel an adversary that breaks just this one, `breaks-` and its id.

What it says is otherwise right, and signed as whoever did not look at the rule would want it.
A rule without one is in `UNBREAKABLE`, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from channel import batch as engine
from channel.adversaries import wallet_spends
from channel.adversaries.base import Adversary, Plan, as_declared, register
from channel.coins import Bundle
from channel.compose import own_action
from channel.entropy import derive
from channel.errors import InvariantError, Violation
from channel.events import Effect, Event, Push, Received, Send
from channel.keys import SecretKeys
from channel.messages import (
    MAX_MESSAGE,
    Accept,
    Advisory,
    Batch,
    BatchAction,
    Cancel,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Introduction,
    Launch,
    Message,
    Move,
    Offer,
    Propose,
    Request,
    Settle,
    Shutdown,
    ShutdownDone,
    Welcome,
    decode,
    encode,
)
from channel.onchain.records import Records
from channel.opening import MOST_FUNDING_BLOCKS
from channel.peer import Peer, Phase
from channel.proposal import Unfit, first_game, offer_of
from channel.rules import RULES
from channel.shutdown import Ending
from channel.signed import sign_halves
from channel.state import Channel, ChannelState, Side
from games.contract import Action
from games.errors import IllegalAction

UNBREAKABLE = {
    "CH-ACCEPT-4": "who accepts takes what the other side offers, and an honest player never"
    " offers more than a few games",
}
"""Rules that no message to an honest side of this harness can break, and why."""

NOWHERE = 1 << 40
"""The id of a game that never was."""


class Breaker(Adversary):
    """Breaks one rule with the first message, from its step on, in which it can."""

    rule = ""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self.part: Bundle | None = None

    def handle(self, event: Event) -> list[Effect]:
        """What its peer does; the initiator's part of the funding is kept, to be used again."""
        with suppress(Violation):
            if isinstance(event, Received) and isinstance(e := decode(event.message), Funding):
                self.part = e.part
        return super().handle(event)

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """One of the ways to break it here, by chance; the message as it is if there is none."""
        ways = [] if self.done else BREAKERS[self.rule](self, message)
        if not ways:
            return [blob]
        self.done = True
        return [
            one if isinstance(one, bytes) else encode(one) for one in self.plan.chance.pick(ways)
        ]

    # --- what the ways are made of ---

    @property
    def side(self) -> Side:
        """Its own side."""
        return self.peer.config.side

    def opening_channel(self) -> Channel:
        """The channel that is being opened."""
        channel = self.peer._opening.channel
        if channel is None:
            raise InvariantError("there is no channel yet")
        return channel

    def told(self, message: Message) -> tuple[ChannelState, Batch] | None:
        """A batch, and the state before it; None for any other message."""
        before = self.before()
        return (before, message) if isinstance(message, Batch) and before is not None else None

    def signs(self, after: ChannelState, actions: Sequence[BatchAction]) -> Batch:
        """A batch of these actions, with right halves for this state."""
        halves = sign_halves(self._channel(), self.keys, after)
        return Batch(after.number, tuple(actions), *halves)

    def led(
        self, before: ChannelState, actions: Sequence[BatchAction], side: Side | None = None
    ) -> ChannelState:
        """The state after a lawful batch of these actions, by this side (itself)."""
        sender = self.side if side is None else side
        return engine.apply(self._channel(), before, sender, actions, as_declared)[0]

    def other_keys(self) -> SecretKeys:
        """Keys of its own that it has told nobody of."""
        return SecretKeys.derive(derive(self.peer.config.secret, "other"))


class Asker(Breaker):
    """Asks for the potato with every batch, to have it while the other side still thinks."""

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch, and a request that its peer takes for its own."""
        if self.done or not isinstance(message, Batch) or self.peer.phase is not Phase.PLAYING:
            return [blob]
        self.peer._book = replace(self.peer.book, requested=True)
        return [blob, encode(Request())]

    def act(self) -> list[Effect]:
        """Break the rule with the potato that came back unused."""
        if self.done or self.peer.phase is not Phase.PLAYING or not self.peer.book.potato:
            return []
        ways = BREAKERS[self.rule](self, Request())
        if not ways:
            return []
        self.done = True
        picked = self.plan.chance.pick(ways)
        return [Send(one if isinstance(one, bytes) else encode(one)) for one in picked]


Ways = list[list[Message | bytes]]
"""Several things to say in place of a message: one of them is picked."""

Breaks = Callable[[Breaker, Message], Ways]

BREAKERS: dict[str, Breaks] = {}
"""How to break each rule, by its id."""


def breaks(rule: str) -> Callable[[Breaks], Breaks]:
    """Put a function into `BREAKERS`."""

    def put(how: Breaks) -> Breaks:
        BREAKERS[rule] = how
        return how

    return put


def _changed(message: Message, *changes: Mapping[str, object]) -> Ways:
    return [[msgspec.structs.replace(message, **change)] for change in changes]


# --- messages ----------------------------------------------------------------------------------


@breaks("CH-MSG-1")
def _too_long(one: Breaker, message: Message) -> Ways:
    return [[encode(message) + bytes(MAX_MESSAGE)]]


@breaks("CH-MSG-2")
def _no_message(one: Breaker, message: Message) -> Ways:
    return [[b""], [b"\xc1"], [encode(message)[:-1]], [encode(message) + b"\x00"]]


@breaks("CH-MSG-3")
def _out_of_step(one: Breaker, message: Message) -> Ways:
    launch = Launch(one.peer.config.wallet.coin, 1, bytes(48), bytes(96))
    if isinstance(message, Hello | Launch | Welcome | FirstHalves | Funding):
        return [[Request()], [Advisory(0, b"")], [FirstHalves(bytes(96), bytes(96)), message]]
    if isinstance(message, Funded):
        return [[message, launch], [Request()]]
    return [[launch], [FirstHalves(bytes(96), bytes(96))]]


# --- the opening -------------------------------------------------------------------------------


@breaks("CH-OPEN-1")
def _same_keys(one: Breaker, message: Message) -> Ways:
    theirs = one.peer._opening._hello
    match message:
        case Hello():
            infinity = bytes([0xC0]) + bytes(47)
            return _changed(message, {"unroll_key": infinity}, {"referee_key": bytes(48)})
        case Welcome() if theirs is not None:
            # The other side's key, with the proof that it gave itself.
            copied = {"unroll_key": theirs.unroll_key, "unroll_proof": theirs.unroll_proof}
            twice = {"channel_key": message.unroll_key, "channel_proof": message.unroll_proof}
            none = {"channel_key": b"\xff" * 48}
            return _changed(message, copied, twice, none)
        case _:
            return []


@breaks("CH-OPEN-2")
def _no_proof(one: Breaker, message: Message) -> Ways:
    other = one.other_keys()
    match message:
        case Hello():
            return _changed(message, {"unroll_proof": other.unroll_proof()})
        case Welcome():
            proofs = {"channel_proof": message.unroll_proof}, {"unroll_proof": bytes(96)}
            return _changed(message, *proofs, {"unroll_proof": message.channel_proof})
        case Launch():
            return _changed(message, {"channel_proof": other.channel_proof()})
        case _:
            return []


@breaks("CH-OPEN-3")
def _unsigned_address(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Introduction):
        return []
    signed = one.keys.payout_signature(one.plan.chance.bytes(32))
    other = one.other_keys().payout_signature(message.reward_address)
    return _changed(message, {"payout_signature": signed}, {"payout_signature": other})


@breaks("CH-OPEN-4")
def _same_address(one: Breaker, message: Message) -> Ways:
    hello = one.peer._opening._hello
    if not isinstance(message, Welcome) or hello is None:
        return []
    address = hello.reward_address
    signature = one.keys.payout_signature(address)
    return _changed(message, {"reward_address": address, "payout_signature": signature})


@breaks("CH-OPEN-5")
def _other_contributions(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Introduction):
        return []
    first, second = message.contributions
    return _changed(
        message, {"contributions": (first - 1, second)}, {"contributions": (0, first + second)}
    )


@breaks("CH-OPEN-6")
def _other_timeout(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Introduction):
        return []
    return _changed(message, {"unroll_timeout": 1}, {"unroll_timeout": 100_000})


@breaks("CH-OPEN-7")
def _no_time(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Launch):
        return []
    peak = one.plan.chain.peak()
    far = peak + MOST_FUNDING_BLOCKS + 1
    return _changed(message, {"deadline": peak - 1}, {"deadline": far})


@breaks("CH-OPEN-8")
def _other_first_halves(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, FirstHalves | Funding):
        return []
    state = ChannelState(2, one.peer.config.agreement.contributions)
    channel_half, unroll_half = sign_halves(one.opening_channel(), one.keys, state)
    return _changed(message, {"channel_half": channel_half}, {"unroll_half": unroll_half})


@breaks("CH-OPEN-9")
def _other_part(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Funding):
        return []
    opening, wallet = one.peer._opening, one.peer.config.wallet
    channel = one.opening_channel()
    parts = wallet_spends.initiators(channel, wallet, opening._deadline, message.part)
    return [[msgspec.structs.replace(message, part=part)] for part in parts]


@breaks("CH-OPEN-10")
def _other_bundle(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Funded) or one.part is None:
        return []
    opening, wallet = one.peer._opening, one.peer.config.wallet
    channel = one.opening_channel()
    bundles = wallet_spends.receivers(channel, wallet, opening._deadline, one.part, message.bundle)
    return [[Funded(bundle)] for bundle in bundles]


@breaks("CH-OPEN-11")
def _other_channel_key(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Launch):
        return []
    other = one.other_keys()
    key, proof = bytes(other.channel.get_g1()), other.channel_proof()
    return _changed(message, {"channel_key": key, "channel_proof": proof})


# --- the batch itself --------------------------------------------------------------------------


@breaks("CH-BATCH-1")
def _without_the_potato(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Batch):
        return []
    after = one.peer.book.state
    return [[message, one.signs(msgspec.structs.replace(after, number=after.number + 1), ())]]


@breaks("CH-BATCH-2")
def _other_number(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    after = one.led(told[0], told[1].actions)
    numbers = (told[0].number, after.number + 1, after.number + 2, 1 << 40)
    return [
        [one.signs(msgspec.structs.replace(after, number=number), told[1].actions)]
        for number in numbers
        if number >= 2
    ]


@breaks("CH-BATCH-3")
def _other_order(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    actions = batch.actions
    if len({type(action) for action in actions}) < 2:
        # A proposal goes last: here it goes first.
        offer = _offer(one, one.led(before, actions), 0)
        if offer is None or not actions or isinstance(actions[-1], Propose):
            return []
        actions = (*actions, Propose((offer,)))
    return [[one.signs(one.led(before, actions), actions[::-1])]]


@breaks("CH-BATCH-4")
def _other_channel_half(one: Breaker, message: Message) -> Ways:
    return [_halved(one, batch, 0) for batch in _batch(one, message)]


@breaks("CH-BATCH-5")
def _other_unroll_half(one: Breaker, message: Message) -> Ways:
    return [_halved(one, batch, 1) for batch in _batch(one, message)]


def _batch(one: Breaker, message: Message) -> list[Batch]:
    return [message] if isinstance(message, Batch) else []


def _halved(one: Breaker, batch: Batch, which: int) -> list[Message | bytes]:
    """The batch with one half for the richest state that there could be."""
    state = one.peer.book.state
    balances = [0, 0]
    balances[one.side] = state.total()
    rich = ChannelState(state.number, (balances[0], balances[1]))
    half = sign_halves(one._channel(), one.keys, rich)[which]
    name = ("channel_half", "unroll_half")[which]
    return [msgspec.structs.replace(batch, **{name: half})]


@breaks("CH-BATCH-6")
def _nothing_done(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None or not any(isinstance(act, Move | Settle) for act in told[1].actions):
        return []
    return [[one.signs(one.led(told[0], ()), ())]]


# --- settle, cancel and accept -----------------------------------------------------------------


def _with(one: Breaker, message: Message, action: BatchAction) -> Ways:
    """The batch with one more action, in its place, that moves no money."""
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    kinds = (Settle, Cancel, Accept, Move, Propose)
    actions = sorted((*batch.actions, action), key=lambda act: kinds.index(type(act)))
    return [[one.signs(one.led(before, batch.actions), actions)]]


@breaks("CH-SETTLE-1")
def _settles_nothing(one: Breaker, message: Message) -> Ways:
    return _with(one, message, Settle(NOWHERE))


@breaks("CH-SETTLE-2")
def _settles_in_the_others_turn(one: Breaker, message: Message) -> Ways:
    state = one.peer.book.state
    theirs = [game for game in state.games if game.mover is one.side.other]
    settles = [(Settle(game.id),) for game in theirs]
    return [[one.signs(one.led(state, act, one.side.other), act)] for act in settles]


@breaks("CH-CANCEL-1")
def _cancels_nothing(one: Breaker, message: Message) -> Ways:
    return _with(one, message, Cancel(NOWHERE, "no"))


@breaks("CH-ACCEPT-1")
def _accepts_nothing(one: Breaker, message: Message) -> Ways:
    return _with(one, message, Accept(NOWHERE))


@breaks("CH-ACCEPT-2")
def _accepts_its_own(one: Breaker, message: Message) -> Ways:
    state = one.peer.book.state
    own = [group for group in state.groups if group.proposer is one.side]
    accepts = [(Accept(group.id),) for group in own]
    return [[one.signs(one.led(state, act, one.side.other), act)] for act in accepts]


@breaks("CH-ACCEPT-3")
def _accepts_too_much(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    rest = tuple(act for act in batch.actions if not isinstance(act, Cancel | Accept))
    ways: Ways = []
    for group in before.groups:
        stakes = group.stakes()
        left = [balance - stake for balance, stake in zip(before.balances, stakes, strict=True)]
        if (
            group.proposer is one.side
            or min(left) >= 0
            or any(isinstance(act, Settle) for act in rest)
        ):
            continue
        after = one.led(before, rest)
        balances = [balance - stake for balance, stake in zip(after.balances, stakes, strict=True)]
        games = [first_game(one._channel(), group.proposer, offer) for offer in group.offers]
        after = msgspec.structs.replace(
            after, balances=(balances[0], balances[1]), games=(*after.games, *games)
        )
        actions = sorted((*rest, Accept(group.id)), key=lambda act: isinstance(act, Move | Propose))
        ways.append([one.signs(after, actions)])
    return ways


# --- moves -------------------------------------------------------------------------------------


def _moves(batch: Batch) -> list[Move]:
    return [action for action in batch.actions if isinstance(action, Move)]


@breaks("CH-MOVE-1")
def _moves_nowhere(one: Breaker, message: Message) -> Ways:
    return _with(one, message, Move(NOWHERE, bytes(32), 0, 32, bytes(32)))


@breaks("CH-MOVE-2")
def _moves_for_the_other(one: Breaker, message: Message) -> Ways:
    table, state = one.peer.table, one.peer.book.state
    if table is None:
        return []
    swapped = replace(table, side=one.side.other)
    records = Records.of(swapped, one.peer.book.past)
    ways: Ways = []
    for game in state.games:
        if game.mover is one.side:
            continue
        player = records.player_at(state, game)
        for choice in player.choices():
            number = choice.options[0] if choice.options else choice.least
            try:
                own = own_action(swapped, game, player, Action(choice.verb, number))
            except (IllegalAction, InvariantError):
                continue
            if isinstance(own.wire, Move):
                games = tuple(own.after if one_.id == game.id else one_ for one_ in state.games)
                after = msgspec.structs.replace(state, games=games, number=state.number + 1)
                ways.append([one.signs(after, (own.wire,))])
    return ways


@breaks("CH-MOVE-3")
def _moves_twice(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    return [
        [
            one.signs(
                one.led(before, batch.actions), (*batch.actions[:at], move, *batch.actions[at:])
            )
        ]
        for move in _moves(batch)
        for at in (batch.actions.index(move),)
    ]


def _other_move(one: Breaker, message: Message, *changes: Mapping[str, object]) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    ways: Ways = []
    for move in _moves(batch):
        for change in changes:
            other = msgspec.structs.replace(move, **change)
            actions = [other if act is move else act for act in batch.actions]
            try:
                ways.append([one.signs(one.led(before, actions), actions)])
            except (Violation, InvariantError):
                continue
    return ways


@breaks("CH-MOVE-4")
def _illegal(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    ways: Ways = []
    for move in _moves(told[1]):
        if len(move.move) >= 16:
            # Too short for anything but an amount, and larger than any.
            ways += _other_move(one, message, {"move": move.move[:15]})
    return ways


@breaks("CH-MOVE-5")
def _other_record(one: Breaker, message: Message) -> Ways:
    commitment = {"commitment": one.plan.chance.bytes(32)}
    return _other_move(one, message, commitment, {"commitment": b""}, {"max_move_size": 1})


# --- proposals ---------------------------------------------------------------------------------


def _offer(one: Breaker, before: ChannelState, skipped: int) -> Offer | None:
    """A game like the last that was offered, so many ids above the least that is free."""
    wish = one.wish()
    if wish is None:
        return None
    try:
        return offer_of(one._channel(), one.side, before.next_ids[one.side] + skipped, wish)
    except Unfit:
        return None


def _proposing(one: Breaker, message: Message, *groups: Sequence[Offer]) -> Ways:
    """The batch with each of these groups on top."""
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    after = one.led(before, batch.actions)
    return [[one.signs(after, (*batch.actions, Propose(tuple(group))))] for group in groups]


def _from_offer(
    one: Breaker, message: Message, change: Callable[[Offer], Sequence[Sequence[Offer]]]
) -> Ways:
    """The batch with what this makes of an offer that would be right on top of it."""
    told = one.told(message)
    offer = _offer(one, one.led(told[0], told[1].actions), 0) if told else None
    return _proposing(one, message, *change(offer)) if offer is not None else []


@breaks("CH-PROPOSE-1")
def _others_ids(one: Breaker, message: Message) -> Ways:
    def change(offer: Offer) -> list[list[Offer]]:
        return [[msgspec.structs.replace(offer, game_id=offer.game_id + 1)]]

    return _from_offer(one, message, change)


@breaks("CH-PROPOSE-2")
def _far_ids(one: Breaker, message: Message) -> Ways:
    def change(offer: Offer) -> list[list[Offer]]:
        far = msgspec.structs.replace(offer, game_id=offer.game_id + 2 * engine.MAX_SKIP + 2)
        used = msgspec.structs.replace(offer, game_id=max(offer.game_id - 2, offer.game_id % 2))
        return [[far], [offer, offer], [used]] if used != offer else [[far], [offer, offer]]

    return _from_offer(one, message, change)


@breaks("CH-PROPOSE-3")
def _many(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None:
        return []
    before, batch = told
    after = one.led(before, batch.actions)
    offers = [_offer(one, after, 2 * number) for number in range(engine.MAX_OPEN_PROPOSALS + 1)]
    there = [offer for offer in offers if offer is not None]
    if not there:
        return []
    groups = Propose(tuple(there[:-1])), Propose(tuple(there[-1:]))
    return [[one.signs(after, (*batch.actions, *groups))]]


@breaks("CH-PROPOSE-4")
def _false_record(one: Breaker, message: Message) -> Ways:
    def change(offer: Offer) -> list[list[Offer]]:
        first, second = offer.stakes
        return [
            [msgspec.structs.replace(offer, amount=offer.amount + 1)],
            [msgspec.structs.replace(offer, stakes=(first + 1, second - 1))],
            [msgspec.structs.replace(offer, commitment=bytes(32))],
            [msgspec.structs.replace(offer, max_move_size=offer.max_move_size + 1)],
            [msgspec.structs.replace(offer, mover_share=offer.mover_share + 1)],
        ]

    return _from_offer(one, message, change)


# --- the shutdown ------------------------------------------------------------------------------


def _half(one: Breaker, state: ChannelState) -> Shutdown:
    table = one.peer.table
    if table is None:
        raise InvariantError("a shutdown without a channel")
    return Shutdown(Ending.of(table, msgspec.structs.replace(state, games=())).half())


@breaks("CH-SHUT-1")
def _closes_without_the_potato(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Batch) or one.peer.book.state.games:
        return []
    return [[message, _half(one, one.peer.book.state)]]


@breaks("CH-SHUT-2")
def _closes_with_a_game(one: Breaker, message: Message) -> Ways:
    told = one.told(message)
    if told is None or not told[0].games:
        return []
    return [[_half(one, told[0])]]


@breaks("CH-SHUT-3")
def _closes_at_other_balances(one: Breaker, message: Message) -> Ways:
    state = one.peer.book.state if one.peer._book else None
    if state is None or not isinstance(message, Shutdown | ShutdownDone):
        return []
    balances = [0, 0]
    balances[one.side] = state.total()
    half = _half(one, msgspec.structs.replace(state, balances=(balances[0], balances[1])))
    if isinstance(message, Shutdown):
        return [[half]]
    return [[ShutdownDone(half.half)]]


@breaks("CH-SHUT-4")
def _completes_nothing(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, Batch):
        return []
    return [[ShutdownDone(_half(one, one.peer.book.state).half)]]


@breaks("CH-SHUT-5")
def _plays_on(one: Breaker, message: Message) -> Ways:
    if not isinstance(message, ShutdownDone):
        return []
    state = one.peer.book.state
    after = msgspec.structs.replace(state, number=state.number + 1)
    return [[one.signs(after, ())], [_half(one, state)]]


# --- time, addresses and the chain -------------------------------------------------------------


class Mute(Breaker):
    """Says nothing any more, from the message on with which it breaks its rule."""

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        owes = isinstance(message, Batch) and any(
            isinstance(act, Move | Settle) for act in message.actions
        )
        if not self.done and owes != (self.rule == "CH-TIME-2"):
            return [blob]
        self.done = True
        return []


class Publisher(Breaker):
    """Spends the channel coin in the middle of play."""

    def act(self) -> list[Effect]:
        """Its newest state, once."""
        if self.done or self.peer.phase is not Phase.PLAYING or not self.completable():
            return []
        self.done = True
        return [Push("published", self.publishes(self.completable()[-1]))]


def _nothing(one: Breaker, message: Message) -> Ways:
    return []


KINDS: dict[str, type[Breaker]] = {
    "CH-SETTLE-2": Asker,
    "CH-ACCEPT-2": Asker,
    "CH-MOVE-2": Asker,
    "CH-TIME-1": Mute,
    "CH-TIME-2": Mute,
    "CH-CHAIN-1": Publisher,
}
"""Rules that are broken by more than one message, or by none."""

BREAKERS.update(dict.fromkeys(("CH-TIME-1", "CH-TIME-2", "CH-CHAIN-1"), _nothing))


def name_of(rule: str) -> str:
    """The adversary that breaks this rule.

    >>> name_of("CH-SETTLE-2")
    'breaks-ch-settle-2'
    """
    return f"breaks-{rule.lower()}"


for _rule, _sentence in RULES.items():
    if _rule in BREAKERS:
        _early = _rule.startswith(("CH-OPEN", "CH-MSG", "CH-SHUT", "CH-PROPOSE", "CH-ACCEPT"))
        register(
            type(
                name_of(_rule),
                (KINDS.get(_rule, Breaker),),
                {
                    "__doc__": f"Breaks {_rule}.",
                    "name": name_of(_rule),
                    "about": f"breaks {_rule}: {_sentence}",
                    "rule": _rule,
                    "default_step": 0 if _early else Adversary.default_step,
                },
            )
        )
