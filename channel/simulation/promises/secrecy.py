"""Check that the honest side disclosed no secret too early.

It never discloses a key or a seed, nor a value before the move that reveals it. On chain it makes
such a move only when the move that it answers is deep, as far as the deadline allows. A lock of a
deck goes out only as an opening, and never in the batch that accepts its game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    Move,
    Propose,
)
from channelsim.channel.simulation.model.ledger import declared_move
from channelsim.channel.simulation.run import Disclosure, Run
from channelsim.games import registry
from channelsim.games.amounts import counted

VALUE = 16
"""Bytes of the shortest value that a move reveals."""

LAST_BLOCKS = 3
"""Blocks before its deadline in which a move is made, whatever it reveals, times the spacing."""


def secrecy(run: Run) -> Iterator[str]:
    """Find what it should not have disclosed."""
    yield from _keys_and_seeds(run)
    yield from _values(run)
    yield from _waiting(run)
    yield from _openings(run)


def _keys_and_seeds(run: Run) -> Iterator[str]:
    config = run.party.peer.config
    keys = SecretKeys.derive(config.secret)
    hidden = [config.secret, bytes(config.wallet.key)]
    hidden += [bytes(key) for key in (keys.channel, keys.unroll, keys.referee)]
    seeds: set[bytes] = set()
    for game_id in games_played(run):
        seed = config.entropy(game_id)
        seeds |= {seed[at : at + 32] for at in range(0, len(seed), 32)}
    for disclosure in run.party.disclosures:
        # The secret bytes of a game are its own: a move may reveal them, and nothing earlier.
        if not isinstance(disclosure.message, Advisory):
            moves = moves_in(disclosure)
            seeds -= {seed for seed in seeds if any(seed in move for move in moves)}
        if _said((*hidden, *seeds), disclosure):
            yield f"a key or a seed is in a {disclosure.name}"


def _said(secrets: Iterable[bytes], disclosure: Disclosure) -> set[bytes]:
    """The secrets in a message or a bundle."""
    blobs = disclosure.blobs
    return {secret for secret in secrets if any(secret in blob for blob in blobs)}


def games_played(run: Run) -> set[int]:
    """The games that ever were, by the batches that were delivered."""
    actions = (action for delivered in run.delivered for action in delivered.actions)
    return {action.game_id for action in actions if isinstance(action, Move)}


def _values(run: Run) -> Iterator[str]:
    """Check that a value of a move appears first in a move, or in an early reveal."""
    disclosures = run.party.disclosures
    revealed = [moves_in(disclosure) for disclosure in disclosures]
    values = {value for moves in revealed for move in moves for value in _cut(move)}
    for disclosure, moves in zip(disclosures, revealed, strict=True):
        disclosed = _said(values, disclosure)
        if any(not any(value in move for move in moves) for value in disclosed):
            yield f"a {disclosure.name} has a value in it before the move that reveals it"
        values -= disclosed


def moves_in(disclosure: Disclosure) -> list[bytes]:
    """The moves and early reveals in a message or a bundle."""
    match disclosure.message:
        case Batch(_, actions):
            return [action.move for action in actions if isinstance(action, Move)]
        case Advisory(_, data):
            return [data]
        case _:
            return [move for spend in disclosure.spends if (move := move_of(spend.solution))]


def _openings(run: Run) -> Iterator[str]:
    """Check where the locks of its decks appear (PD-15, PD-16)."""
    locks = _locks(run)
    games = _games_of_groups(run)
    closed = set(locks)
    for disclosure in run.party.disclosures if locks else ():
        moves, said = moves_in(disclosure), _said(closed, disclosure)
        if any(not any(lock in move for move in moves) for lock in said):
            yield f"a lock of a deck is in a {disclosure.name} that opens no card"
        closed -= said
        message = disclosure.message
        actions = message.actions if isinstance(message, Batch) else ()
        accepted = {
            game_id
            for action in actions
            if isinstance(action, Accept)
            for game_id in games.get(action.group_id, ())
        }
        for action in actions:
            if not isinstance(action, Move) or action.game_id not in accepted:
                continue
            if any(lock in action.move for lock in said):
                yield "it opens a card in the batch that accepts the game"


def _locks(run: Run) -> list[bytes]:
    """The locks of all decks that it was dealt."""
    decks = [deck for turn in run.party.journal for deck in turn.finished_decks()]
    return [deck.opening(at) for deck in decks for at in range(deck.terms.positions)]


def _games_of_groups(run: Run) -> dict[int, list[int]]:
    """The games of each proposal, by the id of the first."""
    actions = (action for delivered in run.delivered for action in delivered.actions)
    proposals = (action.offers for action in actions if isinstance(action, Propose))
    return {offers[0].game_id: [offer.game_id for offer in offers] for offers in proposals}


def move_of(solution: bytes) -> bytes:
    """The move in a game coin's solution; no bytes for any other."""
    declared = declared_move(solution)
    return declared[0] if declared is not None else b""


def _cut(move: bytes) -> Iterator[bytes]:
    return (move[at : at + VALUE] for at in range(0, len(move) - VALUE + 1, VALUE))


def _waiting(run: Run) -> Iterator[str]:
    """Check that a move on chain waits until the move that it answers is deep.

    It need not wait in the last blocks before its deadline, nor to answer what the paid-out state
    contains, nor if the move was sent before.
    """
    reveals = all(registry.get(name).reveals for name in run.scenario.games)
    if run.reorgs or not reveals:
        return  # the coins that it saw may have been born at other heights; or need not wait
    scenario = run.scenario
    last_blocks = scenario.spacing * LAST_BLOCKS
    first = {
        coin.id
        for news in run.party.news
        if isinstance(news, StateCounts)
        for _, coin in news.games
    }
    sent = b"".join(run.party.sent)
    for disclosure in run.party.disclosures:
        for spend in disclosure.spends:
            seen, move = run.chain.coin(spend.coin.id), move_of(spend.solution)
            if seen is None or spend.coin.id in first or not move or move in sent:
                continue
            age = disclosure.height - seen.born
            if age < min(scenario.confirmations, scenario.game_timeout - last_blocks):
                yield f"a move went out when what it answers was {counted(age, 'block')} deep"
