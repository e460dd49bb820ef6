"""Measure a look at a chain on which an old state was published, and the node hides how."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Chain, observe
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Effect, Push, Watch
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import publish
from channelsim.channel.session.peer_driver import Actor
from scripts.tools.bench.measuring import Figures
from scripts.tools.bench.metered_node import metered


def oldest_state(thief: Peer) -> Bundle:
    """The channel coin's spend to the oldest state that a peer can complete."""
    endpoint = thief.endpoint
    oldest = [link.signed for link in thief.play.history if link.signed is not None][-1]
    return publish(endpoint.channel, endpoint.secret_keys, oldest)


def report_tip(actor: Actor, chain: Chain, watched: list[Coin]) -> list[Effect]:
    """Let a peer look at the chain until it watches nothing new; all effects, in order."""
    effects: list[Effect] = []
    while True:
        known = len(watched)
        handled = actor.handle(observe(chain, watched))
        effects += handled
        watched += [effect.coin for effect in handled if isinstance(effect, Watch)]
        if len(watched) == known:
            return effects


def measure_hidden_look(node: SimulatedChain, victim: Peer, actor: Actor, thief: Peer) -> Figures:
    """Publish the thief's oldest state, whose solution is hidden, and let the victim look.

    `actor` is the victim's peer with its store. `calls` and `bytes` are of the looks until nothing
    new is watched, which lead to the preemption; `later_calls` and `later_bytes` of a later look.
    Bytes are of questions and answers; those of the node's own state differ by a few digits from
    call to call. Raises `InvariantError` if the victim does not preempt.
    """
    watched = [effect.coin for effect in actor.start(node.peak()) if isinstance(effect, Watch)]
    states = victim.play.history.state.number + 1
    node.push(oldest_state(thief))
    node.farm()
    with node.served() as url, metered(url) as meter, RpcChain(meter.url) as chain:
        meter.hidden.add(victim.endpoint.channel.coin.id)
        effects = report_tip(actor, chain, watched)
        if not any(isinstance(effect, Push) and effect.name == "preempt" for effect in effects):
            raise InvariantError("the old state is not preempted")
        first = {"states": states, "calls": meter.calls.total(), "bytes": meter.bytes}
        meter.reset()
        node.farm()
        report_tip(actor, chain, watched)
        return {**first, "later_calls": meter.calls.total(), "later_bytes": meter.bytes}
