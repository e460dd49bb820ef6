"""Faults of a peer in play: in its messages, decks, proposals and judgements of moves."""

from __future__ import annotations

from channelsim.channel.chain.spacing import PUBLIC_SPACING
from channelsim.channel.peer.interface import Cancelled, Received
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import LAST_DECK, Batch, Shutdown, ShutdownDone
from scripts.tools.attack_faults.behaviours.behaviour import behaviour
from scripts.tools.attack_faults.behaviours.wrong_peers import (
    cancels_accepted,
    discloses_a_lock,
    discloses_its_seed,
    fails_at_requests,
    hides_news,
    is_request,
    never_asks_back,
    plays_on,
    says,
    says_twice,
    skips_a_number,
    uses_up,
    without_evidence,
    without_spacing,
    wrong_half,
)
from scripts.tools.attack_faults.planting import always, deaf_to, engine

PLAY_FAULTS = (
    behaviour("deaf to requests", "never answers a request", deaf_to(is_request), "CH-TIME-1"),
    behaviour(
        "fails at requests", "gives the channel up over a request", fails_at_requests, "duty"
    ),
    behaviour(
        "skips numbers",
        "sends a batch with another number",
        says(Batch, skips_a_number),
        "CH-BATCH-2",
    ),
    behaviour(
        "sends two batches",
        "sends a batch without the potato",
        says(Batch, says_twice),
        "CH-BATCH-1",
    ),
    behaviour("signs wrongly", "sends a half that is none", says(Batch, wrong_half), "CH-BATCH-5"),
    behaviour(
        "plays on",
        "sends a batch after a shutdown",
        says((Shutdown, ShutdownDone), plays_on),
        "CH-SHUT-5",
    ),
    behaviour(
        "discloses its seed",
        "discloses the seed of a game's secrets",
        says(object, discloses_its_seed),
        "secrecy",
    ),
    behaviour(
        "discloses a lock",
        "sends a lock of a deck in a step of another one",
        says(object, discloses_a_lock),
        "secrecy",
        part="decks",
    ),
    behaviour(
        "opens with the accept",
        "opens cards in the batch that accepts their game",
        engine("peer.play.sending:opens_cards", always(False)),
        "secrecy",
        part="decks",
    ),
    behaviour(
        "takes used decks",
        "accepts a deck that is used, or named twice",
        engine("peer.play.receiving:reason_against", always(None)),
        "the use of a deck for one game only",
        part="decks",
    ),
    behaviour(
        "uses up named numbers",
        "counts decks as used that a refused proposal names",
        engine("peer.play.receiving:name", uses_up),
        "PD-9",
        part="decks",
    ),
    behaviour(
        "begins any deck",
        "begins a deck with a number far above the highest",
        engine("peer.decks.pool:MOST_SKIPPED", lambda most: LAST_DECK),
        "PD-10",
        part="decks",
    ),
    behaviour(
        "takes short games",
        "accepts any timeout of a game",
        engine("protocol.proposals:least_timeout", always(0)),
        "the least timeout",
    ),
    behaviour(
        "forgets the spacing of games",
        "accepts timeouts of games that are long enough where every block has transactions",
        engine("protocol.proposals:least_timeout", without_spacing),
        "the least timeout",
    ),
    behaviour(
        "forgets the spacing of deadlines",
        "accepts deadlines that are far enough where every block has transactions",
        engine("peer.opening.handshake:least_funding_blocks", without_spacing),
        "CH-OPEN-7",
    ),
    behaviour(
        "funds in a hurry",
        "gives the funding as many blocks as where each has transactions",
        engine("peer.opening.handshake:FUNDING_BLOCKS", lambda blocks: blocks // PUBLIC_SPACING),
        "CH-OPEN-7",
    ),
    behaviour(
        "hides cancellations", "does not tell of cancelled proposals", hides_news(Cancelled), "news"
    ),
    behaviour(
        "cancels all proposals",
        "finds every game's timeout too short",
        engine("protocol.proposals:least_timeout", always(1 << 20)),
        "law",
    ),
    behaviour(
        "cancels accepted proposals",
        "cancels the proposals that its player accepts",
        cancels_accepted,
        "law",
    ),
    behaviour(
        "never asks back",
        "gives the potato away with a move due, and does not ask for it back",
        never_asks_back,
        "CH-TIME-1",
    ),
    behaviour(
        "loses early messages",
        "drops messages that come before the channel coin is deep",
        deaf_to(lambda peer, event: isinstance(event, Received) and peer.phase is Phase.FUNDING),
        "CH-TIME-1",
    ),
    behaviour(
        "takes illegal moves",
        "plays on after moves that it could slash",
        engine("peer.play.receiving:_slashable_moves", always(())),
        "CH-MOVE-4",
    ),
    behaviour(
        "has no evidence",
        "looks for no evidence of an illegal move",
        engine("peer.play.receiving:judge_move", without_evidence),
        "CH-MOVE-4",
    ),
)
"""The faults in play."""
