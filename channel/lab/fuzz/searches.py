"""Searches in other hands: for good hands against each other, for rare states, and by operands.

Each remembers sites that a fuzzer comes across, and makes others from them. `work` is what that
has cost so far, besides the runs of the cases there.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import count, islice

from channelsim.channel.lab.cases.copies import words
from channelsim.channel.lab.cases.duels import Meetings, duel
from channelsim.channel.lab.cases.runs import COST
from channelsim.channel.lab.sites.deals import Deals, deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.hash_paths import HashPaths, other_leaves, path_to
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.program_words import constants
from channelsim.channel.lab.sites.rare_states import Draw, RareStates, SecretDraws, secret_draws
from channelsim.channel.lab.sites.replays import COST as REPLAY_COST
from channelsim.channel.lab.sites.replays import RecordedHands, replayed, with_words
from channelsim.channel.lab.sites.site import Call, Site, recommitted
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.operands import OperandLog, Operands
from channelsim.clsp.analysis.tracer import Tracer
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized

REMEMBERED = 64
"""The newest sites that a search remembers."""

DEALS = 16
"""The secrets that are tried behind the commitment of one site."""

DEALT, DEALT_MORE = 16, 128
"""The secrets of which only the cards are computed, for each of those, and how many more where
there was a rare hand among them."""

DUELS_EVERY = 4
"""The secrets that are tried for each duel, in games whose meetings are searched too."""

DRAWING = 2000
"""The work of drawing secrets at one site to find rare states, before the next one's turn."""

FEWEST, MOST = 16, 512
"""The least and the most secrets that are drawn there."""

SPECIAL = 4
"""The sites of a validator at which secrets that nobody draws are tried as well; and of each length
of its moves those of other lengths."""

AFTERWARDS = 2
"""The places of a recorded hand that are tried with such a secret, that of its opening first."""

REPLAYS = 8
"""The times that one hand is played again with other secrets."""

TRIES = 8
"""Sites of a validator without a duel, after which none is looked for."""

A_DUEL = 350
"""The work of a duel besides its runs: the rules judge dozens of selections."""

A_DEAL = 80
"""The work of computing the cards of one secret, and of looking for new meetings of hands."""

A_HAND = 600
"""The work of playing a new hand."""

A_REPLAY = 400
"""The work of playing a hand again with another secret."""

A_TRACE = 40
"""The work of tracing a run for its operands, as a multiple of the run itself."""

VAIN_HANDS = 4
"""The hands without a branch of a tree after which no more of them are played for that."""

LEAST_WORD = 4
"""Shorter operands, in bytes, occur in moves by chance."""

PLACES = 3
"""The places of a hand whose operands are looked at."""

WORDS = 3
"""The replacements in earlier moves that are tried for one place of a hand."""

A_DRAW = 4
"""The work of drawing a secret once more, besides the run."""


class DuelSearch:
    """Duels and meetings of hands, at sites where two selections are compared.

    Rare hands are seldom compared otherwise, and hardly ever by good selections.
    """

    def __init__(self, target: Target, secret: bytes, chance: FastChance) -> None:
        self._target, self._chance = target, chance
        self._meets = target.rules is not None and target.game.showdown is not None
        self._meetings = Meetings(target, chance)
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
        if self._target.game.pack is not None and self._target.game.deck_positions:
            return  # its decks are stacked
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
            if self._meets:
                yield from self._met(other or site)
            if not self._meets or number % DUELS_EVERY == 0:
                other = other or recommitted(self._target, site, self._chance, fresh=True) or site
                self.work += A_DUEL
                if calls := tuple(duel(self._target, other, self._chance)):
                    yield other, calls

    def _met(self, site: Site) -> Iterator[tuple[Site, Sequence[Call]]]:
        """Calls at a site in which hands meet as they seldom did, by its own secret and others."""
        meetings = self._meetings
        self.work += A_DEAL
        if calls := tuple(meetings.calls(site)):
            yield site, calls
        if not meetings.at(site) or (deals := deals_at(self._target, site)) is None:
            return
        yield from self._dealt(deals, site, DEALT)
        if meetings.promising:
            yield from self._dealt(deals, site, DEALT_MORE)

    def _dealt(self, deals: Deals, site: Site, count: int) -> Iterator[tuple[Site, Sequence[Call]]]:
        """As `_met`, with this many other secrets."""
        meetings, promising = self._meetings, self._meetings.promising
        for deal in deals.draw(self._chance, count):
            self.work += A_DEAL
            pairs = meetings.pairs(site, deal.state, deal.move)
            promising |= meetings.promising
            if pairs and (place := deals.place(deal)) is not None:
                yield place, tuple(meetings.at_the_limit(place, pairs))
        meetings.promising = promising

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
        self._lengthened: Counter[tuple[str, int]] = Counter()
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
            others = [draw.secret for draw in self._drawn(draws)]
            kind = draws.site.validator, len(draws.site.play.move)
            if self._lengthened[kind] < SPECIAL:
                self._lengthened[kind] += 1
                others += draws.of_other_lengths()
            for secret in others:
                yield from self._rare.places(self._target, draws, secret, self._chance)
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


class BranchSearch:
    """Moves that show another leaf of a tree than the honest one, with the branch of that leaf.

    The leaves are those that the other moves of the same hand show.
    """

    def __init__(self, target: Target, secret: bytes) -> None:
        self._target, self._paths = target, HashPaths(target)
        self._hands = hands(target, secret) if target.rules is not None else iter(())
        self._left = VAIN_HANDS
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True until so many hands have shown no branch; without rules, a law tries them."""
        return self._target.rules is not None and self._left > 0

    def calls(self) -> Iterator[tuple[Site, Sequence[Call]]]:
        """The calls with other leaves, at each place of one hand that shows one."""
        hand = [site_of(self._target, turn) for turn in next(self._hands)]
        self._left -= 1
        known = [(site, self._paths.at(site)) for site in hand]
        trees = [(site, path) for site, path in known if path is not None and path.is_tree]
        if not trees:
            return
        self._left = VAIN_HANDS
        self.work += A_HAND
        inputs: dict[bytes, tuple[bytes, ...]] = {}
        for site, _ in trees:
            inputs.update(self._paths.inputs(site))
            self.work += A_REPLAY
        for site, path in trees:
            for root in path.roots:
                # The other hashes of the branch are no leaves, which the rest of the hand tells.
                whole = path_to(site, inputs, (root,))
                for shown in () if whole is None else whole.shown:
                    start = site.play.move.find(shown)
                    if moves := other_leaves(site, root, shown, start, inputs):
                        yield site, [(move, site.play.share, site.held[-1]) for move in moves]


class OperandSearch:
    """Hands in which an operand that a run compares takes another's place in an earlier move.

    What a program compares in one place is often what moves before have put in the state.
    """

    def __init__(self, target: Target, secret: bytes, chance: FastChance) -> None:
        self._target, self._chance = target, chance
        self._hands: Iterator[list[Site]]
        if target.rules is None:
            recorded = RecordedHands(recorded_sites(target))
            self._hands = (recorded.pick(chance) for _ in count())
        else:
            self._hands = (
                [site_of(target, turn) for turn in hand] for hand in hands(target, secret)
            )
        self._logs: defaultdict[str, OperandLog] = defaultdict(OperandLog)
        self._tracers: dict[str, Tracer] = {}
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True: hands can always be played."""
        return True

    def places(self) -> Iterator[Site]:
        """The later places of one hand, for each of a few replacements in its earlier moves."""
        hand = next(self._hands)
        self.work += A_HAND
        traced = [
            at for at, site in enumerate(hand) if at and site.validator in self._target.present
        ]
        for at in self._chance.shuffled(traced)[:PLACES]:
            yield from self._replayed(hand, at)

    def _replayed(self, hand: Sequence[Site], at: int) -> Iterator[Site]:
        """As `places`, by the operands of one of the hand's places."""
        tried = 0
        known = constants(self._target.programs[hand[at].validator])
        for old, new in words(self._operands(hand[at]), self._chance, known):
            first = next((n for n in range(at) if old in hand[n].play.move), None)
            if len(old) < LEAST_WORD or first is None:
                continue
            self.work += A_REPLAY
            yield from with_words(self._target, hand[first:], {old: new})
            tried += 1
            if tried == WORDS:
                return

    def _operands(self, site: Site) -> Operands:
        """The operands of the honest move's run; none where it raises."""
        name = site.validator
        if name not in self._tracers:
            self._tracers[name] = self._target.tracer(name, self._logs[name])
        environment = site.environment(site.play.move, site.play.share, site.held[-1])
        program = self._target.programs[name].serialized
        outcome = run_serialized(program, environment, REPLAY_COST)
        if not isinstance(outcome, ProgramValid | ProgramSlash):
            self.work += REPLAY_COST / COST
            return Operands()  # a trace of a run without an end would take as long
        self.work += A_TRACE * (1 + outcome.cost / COST)
        self._tracers[name].reach(environment)
        return self._logs[name].operands
