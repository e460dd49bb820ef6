"""Adversaries that publish a stale state, or preempt with one that they may not."""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.adversaries.base import Adversary, F, adversary, by_method, variant
from channelsim.channel.chain.coins import Bundle, joined
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.protocol.half_signed import (
    NO_SIGNATURE,
    SignedState,
    preempt,
    sign_halves,
    time_out,
)
from channelsim.channel.protocol.messages import Message


class Stale(Adversary):
    """Publishes, once, a state that it received long ago, and plays by the rules from then on.

    It can complete only states of its own parity.
    """

    def pick(self, states: list[SignedState]) -> SignedState | None:
        """The state to publish, of at least two, oldest first; None for none of them."""
        return None

    def act(self) -> list[Effect]:
        """Publish it."""
        states = self.completable()
        picked = self.pick(states) if not self.done and len(states) > 1 else None
        if picked is None:
            return []
        self.done = True
        return [Push("stale", self.publishes(picked))]


def _publishes(name: str, about: str) -> Callable[[F], F]:
    """Register an adversary by the function that picks the state to publish."""
    return by_method(Stale, "pick", name, about)


@_publishes("stale-oldest", "publishes the first state, in which both have what they put in")
def _oldest(publisher: Stale, states: list[SignedState]) -> SignedState | None:
    return states[0]


@_publishes("stale-previous", "publishes the newest state but one")
def _previous(publisher: Stale, states: list[SignedState]) -> SignedState | None:
    return states[-2]


@_publishes("stale-any", "publishes some stale state")
def _any(publisher: Stale, states: list[SignedState]) -> SignedState | None:
    return publisher.plan.chance.pick(states[:-1])


@_publishes("stale-richest", "publishes the stale state in which its balance was highest")
def _richest(publisher: Stale, states: list[SignedState]) -> SignedState | None:
    # Of several the newest.
    return max(
        states[:-1], key=lambda signed: (signed.state.balances[publisher.side], signed.state.number)
    )


@_publishes("stale-hand", "publishes a state of a hand that is over")
def _earlier_hand(publisher: Stale, states: list[SignedState]) -> SignedState | None:
    live = {game.id for game in publisher.state.games}
    over = [
        signed for signed in states[:-1] if any(game.id not in live for game in signed.state.games)
    ]
    return publisher.plan.chance.pick(over) if over else None


@adversary("stale-other-parity", "publishes and preempts with states that it cannot complete")
class _OtherParity(Adversary):
    def block(self, block: Block) -> list[Effect]:
        """With every block, spend with one of the states that it sent, under false signatures."""
        if not self.due or not self.is_open:
            return []
        past = list(self.peer.play.history)
        sent = [link.state for link in past if link.signed is None]
        signed = self.completable()
        if not sent:
            return []
        self.done = True
        chance = self.plan.chance
        state = chance.pick(sent)
        # Its own halves twice, or the halves of another state, or no signature at all.
        on_chain = self.channel.on_chain(state)
        forged = SignedState(state, on_chain, sign_halves(self.channel, self.keys, state))
        if signed and chance.below(2):
            forged = SignedState(state, on_chain, chance.pick(signed).halves)
        older = [link.state for link in past if link.state.number < state.number]
        bundle = self.publishes(forged)
        if older and chance.below(2):
            bundle = preempt(self.channel, self.keys, forged, chance.pick(older))
        if chance.below(4) == 0:
            bundle = Bundle(bundle.spends, NO_SIGNATURE)
        return [Push("other parity", bundle)]


@adversary("self-preempter", "publishes a stale state and preempts it by its own, in one bundle")
class _SelfPreempter(Adversary):
    def block(self, block: Block) -> list[Effect]:
        """Try that with every block; the unroll puzzle's check of the parity forbids it."""
        states = self.completable()
        if not self.due or len(states) < 2:
            return []
        self.done = True
        effects: list[Effect] = []
        for old, new in ((states[0], states[-1]), (states[-2], states[-1]), (states[0], states[0])):
            first = self.publishes(old)
            then = preempt(self.channel, self.keys, new, old.state)
            effects.append(Push("both", joined(first, then)))
        return effects


@adversary("impatient", "publishes a stale state with its timeout in one bundle, or unsigned")
class _Impatient(Adversary):
    def block(self, block: Block) -> list[Effect]:
        states = self.completable()
        if not self.due or not states:
            return []
        self.done = True
        old = states[0]
        early = time_out(self.channel, old.state)
        both = self.publishes(old)
        return [
            Push("early", early),
            Push("early", joined(both, early)),
            Push("unsigned", Bundle(both.spends, NO_SIGNATURE)),
        ]


class LatePreempter(Adversary):
    """Never answers from its step on, so that the other side publishes the state before its own.

    Only the adversary can complete the state that was sent to it last. It preempts with that
    `late` blocks after the timeout of the unroll coin.
    """

    late = 0
    _preemption: Push | None = None

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        return []

    def push(self, push: Push) -> list[Effect]:
        """Hold the preemption back, and publish nothing."""
        if push.name == "preempt":
            self._preemption = push
            return []
        return [] if push.name == "unroll" else [push]

    def last(self) -> list[Effect]:
        """Preempt once the unroll coin is old enough, with the other side's spends pending."""
        if self._preemption is None:
            return []
        coin = self.plan.chain.coin(self._preemption.bundle.spends[0].coin.id)
        if coin is None or coin.spent is not None:
            return []
        if self.plan.chain.peak() - coin.born < self.channel.unroll_timeout + self.late:
            return []
        self.done = True
        return [self._preemption]


for _name, _about, _late in (
    ("late-preempter-1", "preempts in the last block before the timeout", -1),
    ("late-preempter", "preempts in the block in which the timeout is due", 0),
):
    variant(LatePreempter, _name, _about, late=_late)
