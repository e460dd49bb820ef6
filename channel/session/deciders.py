"""Decide for the players: by a script first, then by a person, a transcript or a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import policy_chance
from channelsim.channel.session.picks import Pick, any_pick, read_pick
from channelsim.channel.session.session_events import HandEnded, SessionEvent
from channelsim.channel.session.setup import ASK, NAMES, Setup, policy_of
from channelsim.channel.session.transcript import Record
from channelsim.games import registry
from channelsim.games.contract import Action, Player
from channelsim.games.errors import IllegalAction
from channelsim.games.names import printable

Person = Callable[[str, Player], Action]
"""Asks a person: the game's name and the player as it stands."""

PersonAnswers = Callable[[int, str], bool]
"""Asks a person whether they accept the hand of this number, counted from 0; the text names its
game."""

PersonChooses = Callable[[int], Pick | None]
"""Asks a person for the game of the hand of this number, counted from 0; None for no more hands."""


class Deciders:
    """Decides and answers for both players of a session.

    As a listener it checks that every action of a script is played.
    """

    def __init__(
        self,
        setup: Setup,
        person: Person | None = None,
        person_answers: PersonAnswers | None = None,
        recorded: Iterator[Record] | None = None,
        script_name: str = "script",
        person_chooses: PersonChooses | None = None,
    ) -> None:
        self.setup, seed = setup, setup.seed.encode()
        self._person = person
        self._person_answers = person_answers
        self._person_chooses = person_chooses
        self._chances = dict(zip(NAMES, (policy_chance(seed, side) for side in Side), strict=True))
        self._picks: dict[int, Pick] = {}
        self._recorded = recorded
        self._script_name = script_name
        self._hand = -1
        self._used = 0

    def decide(self, name: str, number: int, player: Player) -> Action:
        """Choose the action of this player in this hand (counted from 0)."""
        self._turn_to(number)
        game = self._game(number)
        line = self._scripted(number)
        if line is not None:
            self._used += 1
            self._pass_over("decided", name)
            return self._by_script(f"{self._where(number)} {line!r}", line, game, name, player)
        policy = self.setup.policies[NAMES.index(name)]
        if policy != ASK:
            return policy_of(game, policy)(player, self._chances[name])
        if self._recorded is not None:
            return self._by_record(player)
        if self._person is None:
            raise UsageError("--policy ask: no person is at the terminal")
        return self._person(game, player)

    def answer(self, name: str, number: int) -> bool:
        """True if this player accepts the hand of this number."""
        script = self.setup.script
        if script is not None and number < len(script.hand):
            self._pass_over("answered", name)
            return script.hand[number].decline != name
        if self.setup.policies[NAMES.index(name)] != ASK:
            return True
        if self._recorded is not None:
            return bool(self._record("answered").get("accepts"))
        pick = self._picks.get(number)
        limit = f", {pick.limit} limit" if pick is not None and pick.limit else ""
        what = f"{self._game(number)}{limit}"
        return self._person_answers is None or self._person_answers(number, what)

    def choose(self, name: str, number: int) -> Pick | None:
        """The game that this player names as the dealer of this hand; None for no more hands."""
        pick = self._choice(name, number)
        if pick is not None:
            self._picks[number] = pick
        return pick

    def _choice(self, name: str, number: int) -> Pick | None:
        setup, script = self.setup, self.setup.script
        text = script.hand[number].game if script and number < len(script.hand) else None
        if text is not None:
            self._pass_over("chose", name)
            where = f"{self._script_name}: hand {number + 1}, game"
            return read_pick(setup.games, text, where)
        if setup.policies[NAMES.index(name)] != ASK:
            return any_pick(setup.games, self._chances[name])
        if self._recorded is not None:
            record = self._record("chose")
            if record.get("game") is None:
                return None
            words = filter(None, (record.get("game"), record.get("limit")))
            return read_pick(setup.games, " ".join(map(str, words)), "the transcript")
        if self._person_chooses is None:
            raise UsageError("--policy ask: no person is at the terminal")
        return self._person_chooses(number)

    def _game(self, number: int) -> str:
        """The name of the game of this hand."""
        return self._picks[number].game if number in self._picks else self.setup.game(number)

    def __call__(self, event: SessionEvent) -> None:
        """Refuse a hand that ends before its scripted actions. Raises `UsageError`."""
        if isinstance(event, HandEnded):
            self._turn_to(event.number)
            left = self._scripted(event.number)
            if left is not None:
                self._used += 1
                raise UsageError(f"{self._where(event.number)} {left!r}: the hand is over by then")

    def _turn_to(self, number: int) -> None:
        if number != self._hand:
            self._hand, self._used = number, 0

    def _scripted(self, number: int) -> str | None:
        script = self.setup.script
        if script is None or number >= len(script.hand):
            return None
        actions = script.hand[number].actions
        return actions[self._used] if self._used < len(actions) else None

    def _where(self, number: int) -> str:
        return f"{self._script_name}: hand {number + 1}, action {self._used}"

    def _by_script(self, where: str, line: str, game: str, name: str, player: Player) -> Action:
        who, _, text = line.partition(" ")
        if who != name:
            raise UsageError(f"{where}: it is {name}'s turn")
        try:
            action = registry.get(game).read_action(player, text.strip())
            player.act(action)
        except IllegalAction as error:
            raise UsageError(f"{where}: {error}") from None
        return action

    def _by_record(self, player: Player) -> Action:
        record = self._record("decided")
        try:
            action = msgspec.convert(record, Action, strict=True)
            player.act(action)
        except (msgspec.ValidationError, IllegalAction) as error:
            raise UsageError(
                f"the transcript has no valid action here: {printable(str(error))}"
            ) from None
        return action

    def _pass_over(self, kind: str, name: str) -> None:
        """Skip what a transcript has of a person for whom the script decided."""
        if self._recorded is not None and self.setup.policies[NAMES.index(name)] == ASK:
            self._record(kind)

    def _record(self, kind: str) -> Record:
        record = next(self._recorded, None) if self._recorded is not None else None
        if record is None or kind not in record:
            raise UsageError(f"the transcript lacks what a person {kind} here")
        return record
