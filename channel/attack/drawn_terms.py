"""The terms of a drawn session: games, balances, limits and fees."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.attack.actions import Attack, hostile_side
from channelsim.channel.attack.company import given_away, pins_elsewhere
from channelsim.channel.attack.filled_blocks import FILL
from channelsim.channel.attack.kinds import PINNED
from channelsim.channel.simulation.terms import Proposals, Terms
from channelsim.games import registry
from channelsim.games.chance import Chance

DEALT = 16
"""The per cent of the sessions with a game that needs decks, where there are other games, too."""

QUARTERS = 4
"""The parts of a stake by which the balances of a side differ."""

CHOSEN, CHOSEN_ALONE = 40, 4
"""The per cent of the sessions of one game in which a dealer names the game of each hand, out of
two: of the games with several betting structures, and of the others."""

FEW_STATES, FEW_KILOBYTES = (12, 40), (6, 40)
"""The fewest and the most of these limits: most of such channels come near them, and some do not.
"""

COSTLY, SEVERAL_COSTLY = 10, 60
"""The per cent of the sessions in which nodes ask fees of which a side pays a few at most, and that
of those with several games: their spends are due together."""

PINS = 60
"""The per cent of the sessions in which nodes ask fees where others pin a spend."""

VALUABLE, UNITS = 50, (10_000_000, 100_000_000, 1_000_000_000)
"""The per cent of the sessions with fees whose games are worth them, and the units of those."""

MOST_SWEPT_HANDS = 4
"""The most hands with adversaries by turn: enough for either side to have proposed one."""


def pick_game(games: Sequence[str], chance: Chance) -> str:
    """Pick a game; one whose hands need a prepared deck takes longer, and comes less often."""
    dealt = [name for name in games if registry.get(name).deck_positions]
    others = [name for name in games if name not in dealt]
    some = dealt if dealt and chance.chance(DEALT) else others
    return chance.pick(some or games)


def with_another_game(attack: Attack, games: Sequence[str], chance: Chance) -> Attack:
    """The script with a second game; both sides accept all that is proposed."""
    both = (*attack.games, pick_game(games, chance))
    terms = Terms(proposals=chance.pick((Proposals.TOGETHER, Proposals.STAGGERED)))
    return replace(attack, games=both, terms=terms, tight=False)


def with_dealers(attack: Attack, games: Sequence[str], chance: Chance) -> Attack:
    """The script with dealers that name the game of each hand, in some of the sessions."""
    choices = registry.get(attack.games[0]).limits
    if not chance.chance(CHOSEN if choices else CHOSEN_ALONE):
        return attack
    others = [name for name in games if bool(registry.get(name).limits) == bool(choices)]
    both = (*attack.games, chance.pick(others or games))
    terms = replace(attack.terms, proposals=Proposals.CHOSEN)
    return replace(attack, games=both, hands=chance.between(2, MOST_SWEPT_HANDS), terms=terms)


def with_short_balances(attack: Attack) -> Attack:
    """The script with many hands, and money for one of each game."""
    terms = attack.terms
    terms = replace(terms, balance=terms.unit * terms.stack * len(attack.games))
    return replace(attack, hands=MOST_SWEPT_HANDS, terms=terms)


def with_balances_that_settle(attack: Attack, chance: Chance) -> Attack:
    """The script with money for a part of one more game: what a player gets back with a fold covers
    another one, which it accepts together with that."""
    terms = attack.terms
    part = terms.unit * terms.stack * chance.below(QUARTERS) // QUARTERS
    terms = replace(terms, balance=terms.balance + part)
    actions = (*attack.actions, *given_away(chance), *given_away(chance))
    return replace(attack, terms=terms, actions=actions)


def with_limits(attack: Attack, chance: Chance) -> Attack:
    """The script with sides that keep little of a channel: few states, or few bytes."""
    if chance.chance(50):
        terms = replace(attack.terms, most_states=chance.between(*FEW_STATES))
    else:
        terms = replace(attack.terms, most_bytes=1000 * chance.between(*FEW_KILOBYTES))
    return replace(attack, terms=terms)


def with_fees(attack: Attack, kinds: Sequence[str], chance: Chance) -> Attack:
    """The script with what is wanted for fees: maxima that several spends at once would pass, and
    stakes of which a spend may cost a part.

    Beside a hostile side, or others that fill blocks, there is money for each spend.
    """
    terms, is_filled = attack.terms, any(action.kind == FILL for action in attack.actions)
    is_hostile = hostile_side(attack.actions) is not None
    costly = COSTLY if len(attack.games) == 1 else SEVERAL_COSTLY
    if not (is_filled or is_hostile) and chance.chance(costly):
        fees = chance.pick((100_000_000, 1_000_000_000))
        most = fees * chance.pick((2, 5, 20))
        all_most = most * chance.between(2, 5) // 2
        if PINNED in kinds and chance.chance(PINS):
            # There is money for all pins.
            most, all_most = 20 * fees, 400 * fees
            pins = pins_elsewhere(chance, several=len(attack.games) > 1)
            attack = replace(attack, actions=(*attack.actions, *pins))
        terms = replace(terms, fees=fees, max_fee=most, max_fees=all_most)
    if (is_filled or terms.fees) and not is_hostile and chance.chance(VALUABLE):
        larger = chance.pick(UNITS)
        balance = terms.balance // terms.unit * larger
        terms = replace(terms, unit=larger, balance=balance)
    return replace(attack, terms=terms)
