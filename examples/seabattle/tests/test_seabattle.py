"""The rules of sea battle: Python and programs agree, and each rule says yes and no."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from re import findall

import pytest
import seabattle
from seabattle import GAME
from seabattle.board import BOARD, CELLS, SHIPS, cells, hits, legal, possible
from seabattle.states import Committing, Finishing, Joining, Showing, Turn
from seabattle.tree import LEAF, branch, climb, leaf, node, root
from seabattle.validators import TURN_SIZE

from channelsim.clsp.run import run_serialized
from channelsim.clsp.values import NIL, to_list
from channelsim.games import vectors
from channelsim.games.chance import Chance
from channelsim.games.contract import Forced, PlainState, Play, Seat, Slash, Valid, Verdict
from channelsim.games.errors import BadState
from channelsim.games.hidden import seated
from channelsim.games.judge import NO_ADDRESS, disagreement, hashes_of, position_after
from channelsim.games.referee import FIRST, GameCoin, validator_arguments
from channelsim.games.selfplay import PlayedMove, turns

CORPUS = Path(__file__).parent / "corpus"

AMOUNT = 1000
HASHES = hashes_of(GAME)
POLICY = GAME.policies["random"]


def salted(ships: bytes) -> bytes:
    """A board with these cells, and salts that differ."""
    return b"".join(bytes((cell, *range(i, i + LEAF - 1))) for i, cell in enumerate(ships))


def board(*ships: int) -> bytes:
    """A board with ships at these indices."""
    return salted(bytes(index in ships for index in range(CELLS)))


ALICE, BOB = board(0, 5, 10, 15), board(0, 1, 2, 3)
FOUR = (3, 2, 1, 0)


def judged(name: str, state: PlainState, move: bytes, share: int = 0) -> Verdict:
    """The verdict of the rules, with which the program has to agree."""
    verdict = GAME.validators[name].judge(state, move, share, AMOUNT, NIL, HASHES)
    coin = GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=AMOUNT,
        mod_hash=bytes(32),
        nonce=0,
        move=move,
        max_move_size=0,
        infohash_b=b"",
        mover_share=share,
        infohash_a=FIRST,
    )
    program = GAME.programs[name]
    arguments = validator_arguments(coin, state.value(), program, NIL, NO_ADDRESS)
    outcome = run_serialized(program.serialized, arguments)
    assert disagreement(verdict, outcome, HASHES) is None
    return verdict


def ruling(name: str, state: PlainState, move: bytes, share: int = 0) -> str:
    """The rule that a move breaks; empty for a legal move."""
    verdict = judged(name, state, move, share)
    return verdict.rule if isinstance(verdict, Slash) else ""


def turn(incoming: tuple[int, ...] = (7,), fired: tuple[int, ...] = ()) -> Turn:
    """Alice's turn after these shots."""
    return Turn(root(ALICE), root(BOB), fired, incoming)


def answer(index: int, shot: int, shown: bytes = ALICE, at: int | None = None) -> bytes:
    """The cell of a board with its branch, and a shot; `at` is the branch's index if another."""
    cell = shown[index * LEAF : (index + 1) * LEAF]
    return cell + branch(shown, index if at is None else at) + bytes((shot,))


NEAR = answer(7, 3)


@pytest.mark.parametrize(
    ("name", "state", "move", "rule"),
    [
        ("commit", Committing(), bytes(32), ""),
        ("commit", Committing(), bytes(31), "SEABATTLE-COMMIT-1"),
        ("commit", Committing(), b"", "SEABATTLE-COMMIT-1"),
        ("join", Joining(root(ALICE)), root(BOB) + b"\x00", ""),
        ("join", Joining(root(ALICE)), root(BOB) + b"\x0f", ""),
        ("join", Joining(root(ALICE)), root(BOB), "SEABATTLE-JOIN-1"),
        ("join", Joining(root(ALICE)), root(BOB) + b"\x00\x00", "SEABATTLE-JOIN-1"),
        ("join", Joining(root(ALICE)), root(BOB) + b"\x10", "SEABATTLE-JOIN-2"),
        ("join", Joining(root(ALICE)), root(BOB) + b"\xff", "SEABATTLE-JOIN-2"),
        ("turn", turn(), NEAR, ""),
        ("turn", turn((0,)), answer(0, 0), ""),
        ("turn", turn((15, 4, 3, 2), (1, 2, 3)), answer(15, 15), ""),
        ("turn", turn(), NEAR + b"\x00", "SEABATTLE-TURN-1"),
        ("turn", turn(), NEAR[:-1], "SEABATTLE-TURN-1"),
        ("turn", turn(), NEAR[:LEAF], "SEABATTLE-TURN-1"),
        ("turn", turn(), b"", "SEABATTLE-TURN-1"),
        ("turn", turn(), b"\x01" + NEAR[1:], "SEABATTLE-TURN-2"),
        ("turn", turn(), answer(6, 3), "SEABATTLE-TURN-2"),
        ("turn", turn(), answer(7, 3, at=6), "SEABATTLE-TURN-2"),
        ("turn", turn(), answer(15, 3), "SEABATTLE-TURN-2"),
        ("turn", turn(), answer(7, 3, BOB), "SEABATTLE-TURN-2"),
        ("turn", turn(), answer(7, 16), "SEABATTLE-TURN-3"),
        ("turn", turn(), answer(7, 128), "SEABATTLE-TURN-3"),
        ("turn", turn(), answer(7, 255), "SEABATTLE-TURN-3"),
        ("turn", turn((7, 1), (3,)), NEAR, "SEABATTLE-TURN-4"),
        ("turn", turn((7, 1, 2, 4), (1, 2, 3)), NEAR, "SEABATTLE-TURN-4"),
        ("turn", turn((7, 1, 2), (0, 9)), answer(7, 0), "SEABATTLE-TURN-4"),
    ],
)
def test_a_move(name: str, state: PlainState, move: bytes, rule: str) -> None:
    assert ruling(name, state, move) == rule


ILLEGAL = [
    (ALICE[:-1], 1),
    (ALICE[: BOARD // 2], 1),
    (ALICE + bytes(LEAF), 1),
    (b"", 1),
    (board(0, 1, 2), 4),
    (board(), 4),
    (board(*range(5)), 4),
    (board(*range(16)), 4),
    (salted(b"\x02\x02" + bytes(14)), 3),
    (salted(b"\x04" + bytes(15)), 3),
    (salted(bytes(15) + b"\x04"), 3),
    (salted(b"\x01" * 5 + b"\xff" + bytes(10)), 3),
    (salted(b"\x01" * 4 + bytes(11) + b"\x80"), 3),
]
"""Boards that a player can commit to and show, with the rule that they break."""


@pytest.mark.parametrize(("shown", "rule"), ILLEGAL)
def test_an_illegal_board_is_found_when_it_is_shown(shown: bytes, rule: int) -> None:
    committed = root(shown) if len(shown) == BOARD else root(ALICE)
    showing = Showing(committed, root(BOB), FOUR, FOUR)
    assert ruling("show", showing, shown) == f"SEABATTLE-BOARD-{rule}"
    finishing = Finishing(committed, FOUR, 0)
    assert ruling("finish", finishing, shown, AMOUNT) == f"SEABATTLE-BOARD-{rule}"


@pytest.mark.parametrize("shown", [ALICE, board(4, 6, 9, 11), BOB])
def test_a_legal_board_is_shown_by_its_owner_only(shown: bytes) -> None:
    assert ruling("show", Showing(root(shown), bytes(32), FOUR, FOUR), shown) == ""
    assert ruling("finish", Finishing(root(shown), FOUR, 0), shown, AMOUNT) == ""
    salts = shown[:-1] + bytes((shown[-1] ^ 1,))
    near = root(shown)[:-1] + bytes((root(shown)[-1] ^ 1,))
    for committed in (root(salts), root(shown[LEAF:] + shown[:LEAF]), near):
        showing, finishing = (
            Showing(committed, root(shown), FOUR, FOUR),
            Finishing(committed, FOUR, 0),
        )
        assert ruling("show", showing, shown) == "SEABATTLE-BOARD-2"
        assert ruling("finish", finishing, shown, AMOUNT) == "SEABATTLE-BOARD-2"


@pytest.mark.parametrize(
    ("incoming", "scored", "due"),
    [
        ((0, 5, 10, 15), 3, AMOUNT),
        ((0, 5, 10, 15), 4, AMOUNT // 2),
        ((15, 1, 2, 3), 0, AMOUNT),
        ((15, 1, 2, 3), 1, AMOUNT // 2),
        ((15, 1, 2, 3), 2, 0),
        ((4, 1, 2, 3), 0, AMOUNT // 2),
        ((4, 1, 2, 3), 4, 0),
    ],
)
def test_bobs_share(incoming: tuple[int, ...], scored: int, due: int) -> None:
    state = Finishing(root(ALICE), incoming, scored)
    assert ruling("finish", state, ALICE, due) == ""
    assert ruling("finish", state, ALICE, AMOUNT) == ""
    if due:
        assert ruling("finish", state, ALICE, due - 1) == "SEABATTLE-FINISH-1"
        assert ruling("finish", state, ALICE, 0) == "SEABATTLE-FINISH-1"


@pytest.mark.parametrize(
    ("fired", "incoming"),
    [
        ((), ()),
        ((1,), ()),
        ((1, 2), (3,)),
        ((), (3, 4)),
        ((1, 1), (2, 3)),
        ((1, 2), (3, 3)),
        ((1, 2, 3, 4), (1, 2, 3, 4)),
    ],
)
def test_shots_that_no_play_leads_to_are_no_turn(
    fired: tuple[int, ...], incoming: tuple[int, ...]
) -> None:
    with pytest.raises(BadState):
        Turn.read(turn(incoming, fired).value())


def test_two_shots_at_one_cell_are_refused_in_the_end_too() -> None:
    twice = (1, 2, 3, 1)
    for state in (Showing(bytes(32), bytes(32), FOUR, twice), Finishing(bytes(32), twice, 0)):
        with pytest.raises(BadState):
            type(state).read(state.value())
    with pytest.raises(BadState):
        Finishing.read(to_list((bytes(32), to_list([b"\x10"] * 4), b"")))


def test_a_leaf_and_a_node_are_never_the_same() -> None:
    """Nobody shows what a node is made of as a cell, whatever its length: another byte is first."""
    left, right = root(ALICE[: BOARD // 2]), root(ALICE[BOARD // 2 :])
    assert root(ALICE) == node(left, right) != leaf(left + right)
    assert leaf(ALICE[:LEAF]) != node(ALICE[:LEAF], b"")


@pytest.mark.parametrize("shown", [ALICE, BOB])
def test_a_branch_leads_to_the_root_from_its_own_cell_only(shown: bytes) -> None:
    for index in range(CELLS):
        hashed = leaf(shown[index * LEAF : (index + 1) * LEAF])
        assert [
            climb(hashed, other, branch(shown, index)) == root(shown) for other in range(CELLS)
        ] == [other == index for other in range(CELLS)]


def test_hidden_boards() -> None:
    """A lie is one cell away from the legal board in half of the draws, and reaches every rule."""
    drawn = [legal(Chance(bytes((0, i)))) for i in range(200)]
    assert {sum(cells(one)) for one in drawn} == {SHIPS}
    assert len({cells(one) for one in drawn}) > 150
    assert len({one[i * LEAF + 1 : (i + 1) * LEAF] for one in drawn for i in range(CELLS)}) == 3200
    lies = [possible(Chance(bytes((1, i))), one) for i, one in enumerate(drawn)]
    assert {len(one) for one in lies} == {BOARD}
    changed = [
        sum(a != b for a, b in zip(lie, truth, strict=True))
        for lie, truth in zip(lies, drawn, strict=True)
    ]
    assert 80 <= changed.count(1) <= 120
    assert 0 not in changed
    found = {ruling("show", Showing(root(one), bytes(32), FOUR, FOUR), one) for one in lies}
    assert (
        {"SEABATTLE-BOARD-3", "SEABATTLE-BOARD-4"}
        <= found
        <= {
            "",
            "SEABATTLE-BOARD-3",
            "SEABATTLE-BOARD-4",
        }
    )
    sums = {sum(cells(one)) for one in lies if max(cells(one)) <= 1}
    assert {SHIPS - 1, SHIPS, SHIPS + 1} <= sums


def games(count: int) -> Iterator[list[PlayedMove]]:
    """Whole games between random players."""
    terms = GAME.terms({"amount": AMOUNT})
    for i in range(count):
        yield list(turns(GAME, HASHES, terms, (POLICY, POLICY), Chance(bytes((i,)))))


def test_whole_games() -> None:
    """All moves are legal to both, and the money goes to whoever has hit more ships."""
    shares = set()
    for game in games(30):
        assert [move.before.validator for move in game] == [
            *("commit", "join", *["turn"] * 7, "show", "finish")
        ]
        for move in game:
            assert move.before.state is not None
            assert isinstance(move.before.state, PlainState)
            name = str(move.before.validator)
            assert len(move.play.move) == move.before.max_move_size
            assert ruling(name, move.before.state, move.play.move, move.play.share) == ""
        shown, last = game[-2], game[-1]
        assert isinstance(last.before.state, Finishing)
        assert isinstance(shown.before.state, Showing)
        alices = hits(shown.play.move, shown.before.state.incoming)
        bobs = hits(last.play.move, last.before.state.incoming)
        assert last.play.share == AMOUNT // 2 + (bobs > alices) * 500 - (bobs < alices) * 500
        shares.add(last.play.share)
    assert shares == {0, AMOUNT // 2, AMOUNT}


def test_changed_moves_are_judged_alike() -> None:
    """Rules and programs agree on moves with changed bytes, lengths, shares, and from elsewhere."""
    chance = Chance(b"changed")
    rules = set()
    for game in games(12):
        for step in game:
            name, state = str(step.before.validator), step.before.state
            assert isinstance(state, PlainState)
            for _ in range(6):
                move = changed(chance.pick([step, step, chance.pick(game)]).play.move, chance)
                share = chance.pick([step.play.share, chance.between(0, AMOUNT), 0])
                rules.add(ruling(name, state, move, share))
    assert {rule.split("-")[1] for rule in rules if rule} == {
        *("COMMIT", "JOIN", "TURN", "BOARD", "FINISH")
    }


def changed(move: bytes, chance: Chance) -> bytes:
    """A move with another byte, cut, or longer; or the move itself."""
    at = chance.below(len(move))
    tail = move[at + 1 :]
    return chance.pick(
        [
            move,
            move[:at] + bytes((chance.below(256),)) + tail,
            move[:-1] + bytes((chance.below(256),)),
            bytes((chance.below(3),)) + move[1:],
            move[:at],
            move[:at] + tail,
            move + chance.bytes(1 + chance.below(40)),
        ]
    )


def test_a_liar_plays_on_until_it_shows_its_board() -> None:
    """Each move of a lie is legal, until the board has to be shown; then that breaks a rule."""
    terms = GAME.terms({"amount": AMOUNT})
    ends = set()
    for i in range(40):
        seed, seat = bytes((i,)) * 32, Seat(i % 2)
        players = [
            seated(GAME, one, terms, seed, (("board", seed),) if one is seat else ())
            for one in Seat
        ]
        position = GAME.initial(terms).position
        while not position.over:
            name, state = str(position.validator), position.state
            assert isinstance(state, PlainState)
            play = players[position.mover].act(POLICY(players[position.mover], Chance(seed)))
            assert isinstance(play, Play)
            verdict = judged(name, state, play.move, play.share)
            if not isinstance(verdict, Valid):
                assert isinstance(verdict, Slash)
                assert position.mover is seat
                ends.add((name, verdict.rule))
                break
            position = position_after(position, verdict.next, play.move, play.share)
            players = [player.moved(position) for player in players]
    assert ends == {
        (name, f"SEABATTLE-BOARD-{rule}") for name in ("show", "finish") for rule in (3, 4)
    }


def test_a_player_has_one_choice_but_for_its_shots() -> None:
    terms = GAME.terms({"amount": AMOUNT})
    player = seated(GAME, Seat.ALICE, terms, bytes(32))
    assert player.choices() == (Forced("commit"),)


def test_every_rule_is_in_the_source_of_its_program() -> None:
    folder = Path(seabattle.__file__).parent
    texts = [file.read_text("utf-8") for file in folder.iterdir() if file.suffix[:4] == ".cls"]
    texts += [file.read_text("utf-8") for file in folder.glob("*.clinc")]
    named = {rule for text in texts for rule in findall(r"SEABATTLE-[A-Z]+-\d", text)}
    assert named | {"SEABATTLE-TERMS-1"} == set(GAME.rules)


@pytest.mark.parametrize("file", sorted(CORPUS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_the_corpus_is_decided_as_it_says(file: Path) -> None:
    with file.open("rb") as lines:
        cases = list(vectors.read(lines))
    assert cases
    assert [vectors.check(case, GAME) for case in cases] == [[]] * len(cases)


def test_sizes() -> None:
    assert (BOARD, TURN_SIZE) == (272, 146)
