"""The rules of the channel that a peer can break: what each id says, in one sentence.

Source: spec/channel.md, "Keys and signatures", "Messages", "Opening" and "The potato".
"""

RULES = {
    "CH-MSG-1": "a message is at most 10 MiB, and no longer than its step allows",
    "CH-MSG-2": "a message decodes strictly as one of the protocol's messages",
    "CH-MSG-3": "a message comes only at a step at which it may come",
    "CH-OPEN-1": "all keys are valid, and none of them is one of the other side's",
    "CH-OPEN-2": "channel and unroll keys come with proofs of possession",
    "CH-OPEN-3": "the referee key signs the payout to the reward address",
    "CH-OPEN-4": "the reward addresses of the two sides differ",
    "CH-OPEN-5": "the contributions are those agreed on, and not both 0",
    "CH-OPEN-6": "the unroll timeout is the one agreed on",
    "CH-OPEN-7": "the deadline leaves time to fund the channel, and at most a day",
    "CH-OPEN-8": "the opening halves sign states 0 and 1 with the contributions as balances",
    "CH-OPEN-9": "the initiator's part of the funding launches this channel and pays its share",
    "CH-OPEN-10": "the completed bundle is the agreed spends with both signatures",
    "CH-OPEN-11": "the initiator's channel key is the one that it sent the hash of first",
    "CH-OPEN-12": "the response and move times are those agreed on",
    "CH-RESUME-1": "the last numbers of a side follow each other, and the received one is its own",
    "CH-RESUME-2": "the halves that come with last numbers sign the state of the received number",
    "CH-BATCH-1": "only the holder of the potato sends a batch",
    "CH-BATCH-2": "a batch's state number is one more than the newest",
    "CH-BATCH-3": "actions come in the order settle, cancel, accept, move, propose",
    "CH-BATCH-4": "a half-signature of the channel coin's spend to the new unroll coin",
    "CH-BATCH-5": "a half-signature of the preemption by the new state",
    "CH-BATCH-6": "a player that owes a move returns the potato without it only when asked",
    "CH-SETTLE-1": "only a live game is settled",
    "CH-SETTLE-2": "a game is settled only by the side whose turn it is",
    "CH-CANCEL-1": "only an open proposal is cancelled",
    "CH-ACCEPT-1": "only an open proposal is accepted",
    "CH-ACCEPT-2": "a proposal is accepted only by the other side",
    "CH-ACCEPT-3": "both balances cover what an accepted proposal stakes",
    "CH-ACCEPT-4": "at most 100 games are live at once",
    "CH-MOVE-1": "only a live game is moved in",
    "CH-MOVE-2": "a move is made only by the side whose turn it is",
    "CH-MOVE-3": "at most one move per game in a batch",
    "CH-MOVE-4": "the game's own rules allow the move",
    "CH-MOVE-5": "share, size limit and commitment of a move are what its validator says",
    "CH-PROPOSE-1": "the initiator's game ids are even, the receiver's odd",
    "CH-PROPOSE-2": "game ids rise, and skip at most 1000",
    "CH-PROPOSE-3": "at most 100 proposals are open at once, and each offers a game",
    "CH-PROPOSE-4": "a proposal states the initial record that its game and parameters give",
    "CH-SHUT-1": "a shutdown is asked for only by the holder of the potato",
    "CH-SHUT-2": "no game is live at a shutdown",
    "CH-SHUT-3": "a shutdown half signs the newest state's balances",
    "CH-SHUT-4": "a completed shutdown answers one that was asked for",
    "CH-SHUT-5": "a side that asked for or completed a shutdown sends no more batches",
    "CH-TIME-1": "a peer answers within the response time",
    "CH-TIME-2": "a side that owes a move or a settlement sends it within the move time",
    "CH-COINS-1": "no game coin lies at a reward address, so that no state makes a coin twice",
}
"""By id. Violations carry these; the games' and the referee's rules have their own."""

DUTIES = {
    "CH-RESUME-3": "an old copy signs and publishes nothing, and answers every new connection with"
    " its last numbers; the side that gets them closes at once",
    "CH-FEE-1": "the spend of a fee coin holds its assertions, the fee and its change to the same"
    " address, and no locks",
    "CH-FEE-2": "only the fee offered is at risk, within the maxima, and only when the coin that it"
    " asserts is spent; the change never is, and a fee coin pays for one spend",
    "CH-FEE-3": "a fee is raised as mempools take it: all coins of what is replaced, the same"
    " locks, at least 10,000,000 mojos more and a higher fee per cost; until the spend is confirmed"
    " or the maximum is reached",
    "CH-FEE-4": "what a node has dropped is offered in other bytes; the player is told, once, where"
    " no fee may be paid for that",
}
"""Duties of one's own side, by id: no message breaks them, but monitors see them broken."""
