"""Pairs with a mistake in its rules: Alice keeps her stake if she never reveals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pairs
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.values import Value, atom_to_int, int_to_atom
from channelsim.games.contract import (
    Amount,
    Hashes,
    Moves,
    Parameters,
    Plain,
    PlainPlayer,
    Play,
    Seat,
    Slash,
    Terms,
    Validator,
    Verdict,
    even_terms,
)
from pairs import Betting

RULES = {**pairs.RULES, "PAIRS-BET-4": "With Bob's bet, Alice's share is her stake."}


def bet(
    state: Betting, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob bets. MOVE is his seed and the bet; the share is Alice's, if she never reveals."""
    if share != amount // 2:
        return Slash("PAIRS-BET-4")
    rest = amount // 2 - atom_to_int(move[32:])
    return pairs.bet(state, move, rest, amount, evidence, hashes)


def moves(player: PlainPlayer) -> Moves:
    """The choices: as in `pairs`, with the other share."""
    if not isinstance(player.position.state, Betting):
        return pairs.moves(player)
    stake, seed = player.terms.amount // 2, player.secret
    return {
        Amount("bet", 1, stake): lambda bet: Play(seed + int_to_atom(bet), stake),
        Plain("pass"): Play(seed, stake),
    }


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("pairs_withheld", parameters, "PAIRS-TERMS-1")


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a game."""
    return replace(pairs.player(seat, terms, entropy), moves=moves)


_BET = compile_source(Path(__file__).parent / "bet.clsp", others=pairs.GAME.programs)
_COMMIT = compile_source(Path(pairs.__file__).parent / "commit.clsp", others={"bet": _BET})

GAME = replace(
    pairs.GAME,
    name="pairs_withheld",
    validators={**pairs.VALIDATORS, "bet": Validator("bet", bet, Betting.form)},
    programs={**pairs.GAME.programs, "bet": _BET, "commit": _COMMIT},
    rules=RULES,
    terms=terms,
    player=player,
)
