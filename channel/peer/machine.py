"""One peer of a channel: a state machine without I/O. An event goes in, effects come out.

Two peers share nothing; a driver carries the bytes between them, pushes their spends, tells
them of blocks and asks their players. Source: the state channel.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from channel.chain.observations import Block
from channel.errors import UsageError, Violation
from channel.peer import interface
from channel.peer.interface import Effect, Ignored, Pinned, Proposed, Received, SawCards, Send, Tell
from channel.peer.machine_chain import Config, Phase
from channel.peer.machine_ends import EndsSide
from channel.peer.onchain.dispute import act, extend
from channel.peer.opening.handshake import OpeningStep
from channel.peer.play import sending
from channel.peer.play.receiving import early_reveals, receive_batch
from channel.protocol.limits import batch_limit
from channel.protocol.messages import (
    MAX_MESSAGE,
    MAX_OPENING_MESSAGE,
    Advisory,
    Batch,
    Funded,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    decode,
    encode,
)
from channel.protocol.proposals import why_not
from channel.protocol.state import Side
from games.errors import BadAdvisory

__all__ = ["Config", "Peer", "Phase"]


class Peer(EndsSide):
    """One side of one channel. Use `start`, then `handle` each event; carry out the effects."""

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain; the initiator speaks first."""
        self._peak = peak
        if self.config.side is Side.RECEIVER:
            return []
        return self._say(self._opening.hello())

    def handle(self, event: interface.Event) -> list[Effect]:
        """What to do about an event, in order.

        Raises `UsageError` for a command that cannot be carried out; nothing has changed.
        """
        match event:
            case Received(message):
                return self._on_message(message)
            case Block():
                return self._on_block(event)
            case Pinned(bundle, pending):
                return extend(self._dispute, bundle, pending) if self._dispute else []
            case _:
                return self._on_command(event)

    def _ignore(self, reason: str) -> list[Effect]:
        """Drop what changes nothing and harms nobody; `ignored` counts how often."""
        self.ignored += 1
        return [Tell(Ignored(reason))]

    # --- commands of the player --------------------------------------------------------------

    def _on_command(self, command: interface.Command) -> list[Effect]:
        if self._dispute is not None and isinstance(command, interface.Act):
            return self._after(*act(self._dispute, command.game_id, command.action))
        if isinstance(command, interface.GoOnChain) and self._may_leave():
            return self._leave(command.reason)
        if self.phase is not Phase.PLAYING or self.endpoint is None:
            raise UsageError(f"{self.config.name} is in {self.phase.value}: not now")
        sending.check_command(self.endpoint, self.play, command)
        if isinstance(command, interface.Close):
            self._play = replace(self.play, closing=True)
        else:
            self._play = replace(self.play, queue=(*self.play.queue, command))
        return self._go_on()

    def _may_leave(self) -> bool:
        return self._opened is not None and self.phase in (
            Phase.FUNDING,
            Phase.PLAYING,
            Phase.CLOSING,
        )

    def _go_on(self) -> list[Effect]:
        """Send what can be sent now; ask for the potato, or the player, if that is needed."""
        try:
            return self._send_or_ask()
        except Violation as violation:
            # What the other side has set up makes the state that we would send a trap.
            violation.party, violation.step = self.config.peer, self.phase.value
            return self._break_off(violation)

    def _send_or_ask(self) -> list[Effect]:
        endpoint, play = self._endpoint(), self.play
        waiting = sending.undecided(endpoint, play) or sending.unanswered(endpoint, play)
        anything = sending.has_something_to_send(endpoint, play)
        if play.potato:
            if play.owed or (anything and not waiting):
                self._play, effects = sending.send_batch(endpoint, play)
                return effects + self._ask_back()
            if play.closing and not play.state.games:
                return self._ask_shutdown()
            return []
        wanted = bool(play.queue) or (play.closing and not play.state.games)
        return self._request() if wanted else []

    def _request(self) -> list[Effect]:
        if self.play.requested:
            return []
        self._play = replace(self.play, requested=True)
        return [Send(encode(Request()))]

    def _ask_back(self) -> list[Effect]:
        endpoint, play = self._endpoint(), self.play
        if play.closing and not play.state.games:
            return self._request()
        # We gave the potato away because we were asked to, with a move still owed: ask for it
        # back once the player has decided, or with the next block. (At once, two players who
        # both think would throw it to and fro.)
        owing = any(game.mover is endpoint.side for game in play.state.games)
        self._play = replace(play, ask_later=owing)
        return []

    # --- messages of the other side ----------------------------------------------------------

    def _on_message(self, message: bytes) -> list[Effect]:
        if len(message) <= MAX_MESSAGE:
            digest = sha256(message).digest()
            if digest in (self._last_received, self._last_batch):
                return self._ignore("a repeat of the last message")
            self._last_received = digest
        return self._take(message)

    def _take(self, blob: bytes) -> list[Effect]:
        """Act on a message that is not a repeat."""
        if self.phase in (Phase.CLOSED, Phase.ON_CHAIN, Phase.FAILED):
            # The chain alone counts now, and what it says is in `_on_block`.
            return self._ignore(f"a message after {self.phase.value}")
        if self.phase is Phase.COMPLETED:
            return self._ignore("a message after the completed shutdown")
        step = self.phase.value
        if self.phase is Phase.OPENING:
            step = f"{step}, waiting for {self._opening.step.value}"
        try:
            message = decode(blob, self._longest())
            if isinstance(message, Batch):
                # A request may follow it, and both be repeated after a lost connection.
                self._last_batch = sha256(blob).digest()
            match self.phase:
                case Phase.OPENING if self._play is None or isinstance(message, Funded):
                    return self._on_opening(message)
                case Phase.OPENING | Phase.FUNDING:
                    # The funding may be in the chain before its last message is here.
                    return self._hold(blob, message)
                case _:
                    return self._on_play(message)
        except Violation as violation:
            violation.party, violation.step = self.config.peer, step
            return self._break_off(violation)

    def _longest(self) -> int:
        """The longest message, in bytes, that can be meant now."""
        if self._play is None:
            return MAX_OPENING_MESSAGE
        limit = batch_limit(self._play.state)
        return max(limit, MAX_OPENING_MESSAGE) if self.phase is Phase.OPENING else limit

    def _on_play(self, message: Message) -> list[Effect]:
        match message:
            case Request() | Advisory() if self.phase is Phase.CLOSING:
                return self._ignore("a request or early reveal during the shutdown")
            case ShutdownDone():
                return self._on_shutdown_done(message)
            case _ if self.phase is Phase.CLOSING:
                name = type(message).__name__.lower()
                raise Violation("CH-SHUT-5", f"a {name} in answer to a shutdown")
            case Batch():
                return self._on_batch(message)
            case Request():
                return self._on_request()
            case Advisory():
                return self._on_advisory(message)
            case Shutdown():
                return self._on_shutdown(message)
            case Funded() if self._opening.step is OpeningStep.FUNDED:
                return self._ignore("the completed bundle, which is in the chain already")
            case _:
                raise Violation("CH-MSG-3", f"a {type(message).__name__.lower()} during play")

    def _hold(self, blob: bytes, message: Message) -> list[Effect]:
        """Keep a message of a peer that saw the channel coin's depth a little before we did.

        Before we answer, it can mean one request, and one batch or shutdown.
        """
        kind = type(message)
        name = kind.__name__.lower()
        match message:
            case Advisory():
                return self._ignore("an early reveal before play")
            case Batch() | Request() | Shutdown():
                if self._held.get(kind) == blob:
                    return self._ignore("a repeat before play")
                if kind in self._held:
                    raise Violation("CH-MSG-3", f"a second {name} before play")
                self._held = {**self._held, kind: blob}
                return []
            case _:
                raise Violation("CH-MSG-3", f"a {name} before play")

    def _on_batch(self, batch: Batch) -> list[Effect]:
        endpoint, before = self._endpoint(), self.play
        self._play, effects = receive_batch(endpoint, before, batch)
        unfit = self._refuse_unfit()
        effects = [effect for effect in effects if effect not in unfit] + self._go_on()
        if self.phase is Phase.PLAYING and self.play.potato:
            effects += early_reveals(endpoint, before.state, self.play)
            effects += sending.your_turns(endpoint, self.play)
        return effects

    def _refuse_unfit(self) -> list[Effect]:
        """Cancel, without asking the player, proposals that cannot be played.

        Returns the news that asked it.
        """
        endpoint, play = self._endpoint(), self.play
        news: list[Effect] = []
        for group_id in sending.unanswered(endpoint, play):
            group = play.state.group(group_id)
            reason = why_not(endpoint.channel, group, endpoint.confirmations) if group else None
            if group is not None and reason is not None:
                play = replace(play, queue=(*play.queue, interface.CancelGames(group_id, reason)))
                news.append(Tell(Proposed(group)))
        self._play = play
        return news

    def _on_request(self) -> list[Effect]:
        if not self.play.potato:
            return self._ignore("a request that crossed our batch")
        self._play = replace(self.play, owed=True)
        return self._go_on()

    def _on_advisory(self, message: Advisory) -> list[Effect]:
        player = self.play.player(message.game_id)
        if player is None:
            return self._ignore(f"an early reveal in game {message.game_id}, which is not live")
        try:
            player = player.advised(message.data)
        except BadAdvisory as error:
            return self._ignore(f"an early reveal in game {message.game_id}: {error}")
        self._play = self.play.with_player(message.game_id, player)
        return [Tell(SawCards(message.game_id, player))]
