"""Ways to play poker games, by samples of what is still unknown and by simpler rules.

A policy knows only what its player knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

from channelsim.games.betting import aggressive, caller, folder, random
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, Player, Policy
from channelsim.games.deck.terms import CARDS as PACK
from channelsim.games.poker.arrangements import CARDS, number_of
from channelsim.games.poker.arranging import Arrangement, arranged, points
from channelsim.games.poker.known_cards import KnownCards
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.ranking import ACE_TO_FIVE, HIGH, PAIR, RANKINGS
from channelsim.games.poker.result import money
from channelsim.games.poker.selections import best_selection
from channelsim.games.poker.states import Showdown
from channelsim.games.poker.variants import HOLDEM, Variant

# --- the chance to win against a random hand ----------------------------------------------------


SAMPLES = 40
BOARD = 5


def sampled_equity(
    showdown: Showdown, cards: KnownCards, chance: Chance, samples: int = SAMPLES
) -> float:
    """The part of the pot that a player wins on average against two random cards, from 0 to 1.

    >>> aces = KnownCards(own=(51, 50))
    >>> 0.7 < sampled_equity(Showdown(1, 0, 0), aces, Chance(b"aces"), 100) < 1
    True
    """
    known = {*cards.own, *cards.board}
    rest = [card for card in range(PACK) if card not in known]
    missing = BOARD - len(cards.board)
    won = 0
    for _ in range(samples):
        drawn = chance.draw(rest, len(cards.own) + missing)
        board = (*cards.board, *drawn[:missing])
        mine = best_selection(showdown, (*cards.own, *board))
        theirs = best_selection(showdown, (*drawn[missing:], *board))
        won += 1 + RANKINGS[showdown.ranking].better(mine.key, theirs.key)
    return won / (2 * samples)


# --- the arrangement that wins the most points on average ---------------------------------------


BOTTOMS, MIDDLES = 12, 6
"""How many of the best bottom rows are tried, and how many middle rows with each."""

OPPONENTS = 6
"""The hands of an opponent that candidates are compared with."""


def best_arrangement(cards: Sequence[int], chance: Chance) -> int:
    """The number of the best of some strong arrangements; never a foul.

    Opponents are random hands out of the other 39 cards, each sorted by its strongest rows.
    """
    rest = [card for card in range(PACK) if card not in cards]
    opponents = [_strongest(chance.draw(rest, CARDS)) for _ in range(OPPONENTS)]
    _, number = max(
        (sum(points(rows, other) for other in opponents), -number_of(top, middle))
        for top, middle, rows in _strong(cards)
    )
    return -number


def _strong(cards: Sequence[int]) -> Iterator[tuple[Sequence[int], Sequence[int], Arrangement]]:
    """Legal arrangements with a strong bottom row: the places of top and middle, and the keys."""
    places = range(CARDS)
    for bottom_key, bottom in _best_fives(cards, places, BOTTOMS):
        left = [place for place in places if place not in bottom]
        for middle_key, middle in _best_fives(cards, left, MIDDLES):
            top = [place for place in left if place not in middle]
            rows = Arrangement((HIGH.key([cards[at] for at in top]), middle_key, bottom_key))
            if not rows.foul:
                yield top, middle, rows


def _best_fives(
    cards: Sequence[int], places: Sequence[int], count: int
) -> Sequence[tuple[int, Sequence[int]]]:
    """The strongest rows of five of these places, with their keys; different keys only."""
    by_key = {HIGH.key([cards[at] for at in five]): five for five in combinations(places, 5)}
    return sorted(by_key.items(), reverse=True)[:count]


def _strongest(cards: Sequence[int]) -> Arrangement:
    """The best bottom row, then the best middle row."""
    (_, bottom), *_ = _best_fives(cards, range(CARDS), 1)
    left = [place for place in range(CARDS) if place not in bottom]
    (_, middle), *_ = _best_fives(cards, left, 1)
    top = [place for place in left if place not in middle]
    return arranged([cards[at] for at in (*top, *middle, *bottom)])


# --- policies -----------------------------------------------------------------------------------


STRONG = 0.6
"""With this chance to win, the player that plays by its equity bets."""


def equity(player: Player, chance: Chance) -> Action:
    """Bets with a chance above 60 % to win against a random hand, a sample says; calls if the pot
    pays for it; otherwise checks or folds."""
    choices = player.choices()
    verbs = [choice.verb for choice in choices]
    if not isinstance(player, PokerPlayer) or "fold" not in verbs:
        return _folder(player, chance)
    share = sampled_equity(player.showdown, player.cards, chance)
    for choice in choices:
        if isinstance(choice, Amount) and share > STRONG:
            return Action(choice.verb, _modest(choice, chance))
    if "call" in verbs:
        now = money(player.terms, player.position)
        price = now.put[player.seat.other] - now.put[player.seat]
        return Action("call" if share * (now.pot + price) >= price else "fold")
    return Action(verbs[0])


def _modest(choice: Amount, chance: Chance) -> int:
    """An amount between the least one and three times that."""
    step = choice.step
    most = min(choice.most, 3 * choice.least)
    return step * chance.between(choice.least // step, most // step)


def is_weak(showdown: Showdown, cards: tuple[int, ...]) -> bool:
    """True if these cards of one player are weak in a game with this showdown.

    Where the high hand wins, weak is no pair and nothing above a nine; where the low hand wins, a
    pair or anything above a nine, or a straight or flush that counts; where both win, no pair and
    no low hand.

    >>> deuce_to_seven, high = Showdown(0, 1, 0), Showdown(0, 0, 0)
    >>> seven_low, kings = (20, 12, 9, 5, 2), (44, 45, 9, 5, 2)
    >>> [is_weak(game, cards) for game in (deuce_to_seven, high) for cards in (seven_low, kings)]
    [False, True, True, False]
    """
    # Of hands that are not complete, what is there of the best hand counts.
    count = min(len(cards), OF_OWN if showdown.mask_size == 2 else 5)
    ranking = RANKINGS[showdown.ranking]
    key, _ = ranking.best(combinations(cards, count))
    if showdown.low:
        low, _ = ACE_TO_FIVE.best(combinations(cards, count))
        return key < PAIR << 20 and low >= showdown.low
    return (key >= TEN_HIGH) if ranking.low else (key < TEN_HIGH)


TEN_HIGH = 0x0A0000
"""The least key of a hand with no pair and a ten."""

OF_OWN = 2
"""The private cards that make a hand where exactly two of four do."""


def _is_weak(player: Player) -> bool:
    """True if the own cards, hidden and open, are weak in this game."""
    if not isinstance(player, PokerPlayer) or not player.cards.own:
        return False
    return is_weak(player.showdown, (*player.cards.own, *player.cards.own_up))


_folder = folder(_is_weak)


def greedy(player: Player, chance: Chance) -> Action:
    """Arranges by the points that it wins on average from sampled hands; otherwise stays."""
    choices = player.choices()
    if isinstance(player, PokerPlayer) and any(choice.verb == "arrange" for choice in choices):
        return Action("arrange", best_arrangement(player.cards.own, chance))
    return caller(player, chance)


def policies_of(variant: Variant) -> Mapping[str, Policy]:
    """The policies of a game by name; the first is the default."""
    policies: dict[str, Policy] = {
        "caller": caller,
        "random": random,
        "aggressive": aggressive(_modest),
        "folder": _folder,
    }
    if variant.arranges:
        return MappingProxyType({"greedy": greedy, **policies})
    if variant.rounds == HOLDEM:
        policies["equity"] = equity
    return MappingProxyType(policies)
