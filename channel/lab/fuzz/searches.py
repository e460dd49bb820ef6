"""Searches that draw secrets: for good hands against each other, and for rare states.

Each remembers sites that a fuzzer comes across, and makes others from them. `work` is what that
has cost so far, besides the runs of the cases there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice

from channelsim.channel.lab.cases.duels import Meetings, duel
from channelsim.channel.lab.cases.runs import COST
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.rare_states import Draw, RareStates, SecretDraws, secret_draws
from channelsim.channel.lab.sites.replays import RecordedHands, replayed, with_words
from channelsim.channel.lab.sites.site import Call, Site, recommitted
from channelsim.channel.lab.targets.target import Target

REMEMBERED = 64
"""The newest sites that a search remembers."""

DEALS = 16
"""The secrets that are tried behind the commitment of one site."""

DUELS_EVERY = 4
"""The secrets that are tried for each duel, in games whose meetings are searched too."""

DRAWING = 2000
"""The work of drawing secrets at one site to find rare states, before the next one's turn."""

FEWEST, MOST = 16, 512
"""The least and the most secrets that are drawn there."""

SPECIAL = 4
"""The sites of a validator at which secrets that nobody draws are tried as well."""

AFTERWARDS = 2
"""The places of a recorded hand that are tried with such a secret, that of its opening first."""

REPLAYS = 8
"""The times that one hand is played again with other secrets."""

TRIES = 8
"""Sites of a validator without a duel, after which none is looked for."""

A_DUEL = 350
"""The work of a duel besides its runs: the rules judge dozens of selections."""

A_MEETING = 250
"""The work of looking for meetings of hands at one site."""

A_HAND = 600
"""The work of playing a new hand."""

A_REPLAY = 400
"""The work of playing a hand again with another secret."""

A_DRAW = 4
"""The work of drawing a secret once more, besides the run."""


class DuelSearch:
    """Duels and meetings of hands, at sites where two selections are compared.

    Rare hands are seldom compared otherwise, and hardly ever by good selections.
    """

    def __init__(self, target: Target, secret: bytes, chance: FastChance) -> None:
        self._target, self._chance = target, chance
        self._meets = target.rules is not None and target.game.showdown is not None
        self._meetings = Meetings(target)
        self._hands = hands(target, secret)
        self._hand: list[Site] = []
        self._sites: deque[Site] = deque(maxlen=REMEMBERED)
        self._peaceful: set[str] = set()
        self._tries: Counter[str] = Counter()
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True if there is a site to search at."""
        return bool(self._sites)

    def remember(self, site: Site) -> None:
        """Keep the site if two selections are compared there; most validators have none."""
        if self._target.rules is None or site.validator in self._peaceful:
            return
        if next(duel(self._target, site, self._chance), None) is not None:
            self._sites.append(site)
            return
        self._tries[site.validator] += 1
        if self._tries[site.validator] > TRIES:
            self._peaceful.add(site.validator)

    def calls(self) -> Iterator[tuple[Site, Sequence[Call]]]:
        """Calls at one site with several secrets behind its commitment, or in other hands."""
        site = self._chance.pick(self._sites)
        for number in range(DEALS):
            other = self._dealt_again() if self._meets and number % 2 else None
            other = other or recommitted(self._target, site, self._chance, fresh=True) or site
            calls: list[Call] = []
            if self._meets:
                self.work += A_MEETING
                calls += self._meetings.calls(other)
            if not self._meets or number % DUELS_EVERY == 0:
                self.work += A_DUEL
                calls += duel(self._target, other, self._chance)
            if calls:
                yield other, calls

    def _dealt_again(self) -> Site | None:
        """The last place of a hand, played again with another secret; None if it ends earlier."""
        if self._chance.below(REPLAYS) == 0 or not self._hand:
            self.work += A_HAND
            self._hand = [site_of(self._target, turn) for turn in next(self._hands)]
        last = self._hand[-1].validator
        if last in self._peaceful:
            return None
        self.work += A_REPLAY
        places = replayed(self._target, self._hand, self._chance, plain=True)
        return next((place for place in places if place.validator == last), None)


class RareSearch:
    """Secrets that lead to states with a rare encoding, at sites that open a commitment."""

    def __init__(self, target: Target, chance: FastChance) -> None:
        self._target, self._chance = target, chance
        self._rare = RareStates()
        self._draws: dict[tuple[str, int], SecretDraws] = {}
        self._special: Counter[str] = Counter()
        self._recorded: RecordedHands | None = None
        if target.rules_file is not None:
            self._recorded = RecordedHands(recorded_sites(target))
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True if there is a site to search at; without rules, no mistake would show there."""
        return self._recorded is not None or bool(self._draws)

    def remember(self, site: Site) -> None:
        """Keep the site if it is one of a hand whose move opens a commitment: the newest of each
        validator and length of the move."""
        if self._target.rules is None or site.base is not None:
            return
        self._rare.learn(site)
        if (draws := secret_draws(self._target, site)) is not None:
            self._draws[site.validator, len(site.play.move)] = draws

    def places(self) -> Iterator[Site]:
        """The places with a rare state that some more secrets lead to."""
        if self._recorded is None:
            draws = self._chance.pick(tuple(self._draws.values()))
            for draw in self._drawn(draws):
                yield from self._rare.places(self._target, draws, draw.secret, self._chance)
            return
        hand = self._recorded.pick(self._chance)
        self.work += A_REPLAY
        for at, site in enumerate(hand):
            judged = self._target.judge(site.validator) is not None
            if not judged or (secrets := secret_draws(self._target, site)) is None:
                continue
            for draw in self._drawn(secrets):
                words = secrets.words(draw.secret)
                yield from islice(with_words(self._target, hand[at:], words), AFTERWARDS)

    def _drawn(self, draws: SecretDraws) -> list[Draw]:
        """The draws at one site that lead to something rare."""
        usual = draws.draw(draws.secret)
        count = int(DRAWING / (A_DRAW + usual.cost / COST))
        secrets = [
            self._chance.bytes(len(draws.secret)) for _ in range(min(max(count, FEWEST), MOST))
        ]
        validator = draws.site.validator
        if self._special[validator] < SPECIAL:
            self._special[validator] += 1
            secrets += draws.special()
        drawn = [draws.draw(secret) for secret in secrets]
        self.work += sum(A_DRAW + draw.cost / COST for draw in drawn)
        return self._rare.rare(validator, drawn)
