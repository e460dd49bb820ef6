"""The sequences of the table: rules at their borders, and seeded mixtures of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.channel.chain.mempool_sequences import MISTAKEN, MISTAKES, Push, PushSequence

RAISE = 10_000_000
"""The least raise of a fee."""

COSTLY = 457_000
"""Bytes of padding that make a bundle cost nearly half a block."""

RICH = 100_000_000_000
"""Mojos of a coin that can pay for such a bundle."""

MIXTURES = 110


def again(step: int) -> Push:
    """The same bytes as an earlier step."""
    return Push(again=step)


def sequences() -> list[PushSequence]:
    """All sequences, in the order of the table."""
    return [*_raises(), *_coins(), *_locks(), *_mistakes(), *_reorganised(), *_mixed(), *_crowded()]


def _raises() -> Iterator[PushSequence]:
    for first in (0, 1, 30_000_000):
        for more in (0, 1, RAISE - 1, RAISE, RAISE + 1, 3 * RAISE):
            pushes = Push((0,), first), Push((0,), first + more), again(0), again(1)
            yield PushSequence(f"raise {first} by {more}", "s", (pushes, (again(0), again(1))))
    for pad in (1, 100, 500, 1000, 5000):
        raised = Push((0,), 20_000_000), Push((0,), 31_000_000, pad)
        yield PushSequence(f"raise with {pad} more bytes", "s", (raised, (again(1),)))
    for fees in ((5, 5, 10), (5, 5, 19), (5, 5, 20), (5, 5, 21), (0, 40, 50), (40, 0, 51)):
        first, second, both = (fee * 1_000_000 for fee in fees)
        pushes = Push((0,), first), Push((1,), second), Push((0, 1), both), again(0)
        yield PushSequence(f"two by one {fees}", "ss", (pushes, (again(1),)))


def _coins() -> Iterator[PushSequence]:
    big = 60_000_000
    yield PushSequence("fewer coins", "ss", ((Push((0, 1), 1), Push((0,), big)), (again(1),)))
    yield PushSequence("more coins", "sss", ((Push((0, 1), 1), Push((0, 2, 1), big)),))
    yield PushSequence("overlap", "sss", ((Push((0, 1), 1), Push((1, 2), big)), (again(1),)))
    yield PushSequence("child of a pending one", "s", ((Push((0,)), Push((100,), 5)), (again(1),)))
    yield PushSequence(
        "child in one bundle", "s", ((Push((0,)), Push((100,), 2 * RAISE, also=0)), (again(0),))
    )
    yield PushSequence(
        "child in one bundle, cheap", "s", ((Push((0,)), Push((100,), 5, also=0)), (again(1),))
    )
    for fees in ((0, 0), (5_000_000, 7_000_000)):
        same = Push((0, 2), fees[0]), Push((1, 2), fees[1])
        yield PushSequence(f"the same unsigned spend {fees}", "ssf", (same, (again(0), again(1))))
    yield PushSequence("unsigned twice", "sf", ((Push((1,)), Push((0, 1), 5)), (again(0),)))
    yield PushSequence("unsigned, then other", "sf", ((Push((1,)), Push((1,), 2 * RAISE)),))
    yield PushSequence(
        "unsigned, then signed", "f", ((Push((0,)), Push((0,), 2 * RAISE, signs=True)), (again(1),))
    )
    yield PushSequence(
        "signed, then unsigned", "f", ((Push((0,), signs=True), Push((0,), 2 * RAISE)),)
    )
    yield PushSequence("signed twice", "f", ((Push((0,), signs=True), Push((0,), 9, signs=True)),))
    yield PushSequence("nothing", "s", ((Push(()), again(0)),))
    yield PushSequence("the same coin twice", "s", ((Push((0, 0)), again(0)),))
    yield PushSequence("spent", "s", ((Push((0,)),), (Push((0,), 5), again(0), again(1))))


def _locks() -> Iterator[PushSequence]:
    big = 30_000_000
    kinds: dict[str, tuple[int, ...]] = {
        "from": (0, 3, 4, 5, 6),
        "at": (-1, 0, 1, 2),
        "before": (3, 4, 5, 6, 40, 60),
        "until": (-1, 0, 1, 2, 60),
        "from seconds": (0, 1_000_000),
        "at seconds": (1, 1 << 40),
        "before seconds": (0, 1_000_000),
        "until seconds": (1, 1 << 40),
    }
    for kind, values in kinds.items():
        for value in values:
            lock = ((kind, value),)
            pushes = Push((0,), 5, locks=lock), again(0)
            later = again(0), Push((0,), big, locks=lock)
            yield PushSequence(f"{kind} {value}", "s", (pushes, later, (again(0),), (again(0),)))
    for first, second in (
        ("before 40", ""),
        ("", "before 40"),
        ("before 40", "before 40"),
        ("before 40", "before 41"),
        ("before seconds 5000", "before seconds 5000"),
        ("before seconds 5000", ""),
        ("", "before seconds 5000"),
        ("from 0", ""),
        ("", "from 0"),
        ("from 0", "from 0"),
        ("from 0", "from 1"),
        ("from seconds 0", ""),
        ("", "from seconds 0"),
        ("", "from 3"),
    ):
        pushes = Push((0,), 5, locks=_lock(first)), Push((0,), big, locks=_lock(second))
        name = f"raise {first or 'no lock'} with {second or 'no lock'}"
        yield PushSequence(name, "s", (pushes, (again(1),)))
    for locks in (
        (("from", 5), ("before", 5)),
        (("from", 3), ("until", 1)),
        (("from", 2), ("until", 60)),
        (("at", 5), ("until", 5)),
        (("from seconds", 50), ("before seconds", 50)),
    ):
        name = " and ".join(f"{kind} {value}" for kind, value in locks)
        yield PushSequence(name, "s", ((Push((0,), 5, locks=locks),), (again(0),), (again(0),)))


def _lock(text: str) -> tuple[tuple[str, int], ...]:
    kind, _, value = text.rpartition(" ")
    return ((kind, int(value)),) if kind else ()


def _mistakes() -> Iterator[PushSequence]:
    for mistake in MISTAKES:
        kind = "s" if mistake == "signature" else "f"
        pushes = Push((0,), 5, mistake=mistake), again(0), Push((0,), 9)
        yield PushSequence(mistake, kind, (pushes, (again(0), again(2))))


def _reorganised() -> Iterator[PushSequence]:
    """Each makes two blocks, replaces one or both, and makes one more."""
    for back in (1, 2):
        backs = (0, 0, back, 0)
        first, second, third = Push((0,), 5), Push((1,), 5), Push((2,), 5)
        name = f"back {back}"
        yield PushSequence(
            f"{name}, mined", "sss", ((first,), (second,), (third,), (again(0), again(1))), backs
        )
        replaced = Push((0,), 5), Push((0,), 3 * RAISE)
        yield PushSequence(
            f"{name}, replaced", "s", (replaced, (), (again(0),), (again(0), again(1))), backs
        )
        early = Push((0,), 5, locks=(("from", 5),))
        yield PushSequence(f"{name}, early", "s", ((), (early,), (), (again(0),)), backs)
        limited = Push((0,), 5, locks=(("before", 4),))
        yield PushSequence(f"{name}, limited", "s", ((limited,), (), (), (again(0),)), backs)
        child = Push((0,)), Push((100,), 5)
        yield PushSequence(f"{name}, child", "s", ((child[0],), (child[1],), (), ()), backs)


def wild_mixtures(seed: str, count: int) -> list[PushSequence]:
    """Mixtures of all that the table has, which are in no table: both nodes are asked."""
    return [_wild(Random(f"{seed}/wild/{number}"), f"wild {number}") for number in range(count)]


def crowded_mixtures(seed: str, count: int) -> list[PushSequence]:
    """Mixtures that fill blocks and the pool, each on a chain of its own."""
    return [
        _wild_crowd(Random(f"{seed}/crowd/{number}"), f"wild crowd {number}")
        for number in range(count)
    ]


def _wild(chance: Random, name: str) -> PushSequence:
    coins = "".join(chance.choice("ssf") for _ in range(9))
    rounds: list[tuple[Push, ...]] = []
    earlier: list[Push] = []
    for _ in range(4):
        first = len(earlier)
        for _ in range(chance.randint(0, 4)):
            earlier.append(_wild_push(chance, coins, earlier))
        rounds.append(tuple(earlier[first:]))
    return PushSequence(name, coins, tuple(rounds), chance.choice(BACKS))


BACKS = (0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 2, 0)
"""How many blocks are replaced after each round of a wild mixture."""


def _wild_push(chance: Random, coins: str, earlier: list[Push]) -> Push:
    push = _push(chance, coins, len(earlier))
    if push.again is not None:
        return push
    parents = [
        100 + step
        for step, parent in enumerate(earlier)
        # A signed coin's spend makes a coin that is free to take.
        if parent.coins and parent.coins[0] < 100 and coins[parent.coins[0]] == "s"
    ]
    draw = chance.random()
    if draw < 0.15 and parents:
        child = chance.choice(parents)
        also = child - 100 if chance.random() < 0.6 else None
        return Push((child,), push.fee, also=also)
    if draw < 0.25 and coins[push.coins[0]] == "f":
        return Push(push.coins, push.fee, mistake=chance.choice(tuple(MISTAKEN)))
    if draw < 0.4:
        kind = chance.choice(("from seconds", "at seconds", "before seconds", "until seconds"))
        seconds = chance.choice((0, 1, 50, 5000, 1_000_000, 1 << 40))
        return Push(push.coins, push.fee, push.pad, (*push.locks, (kind, seconds)))
    if draw < 0.5:
        lock = chance.choice(("before", "until")), chance.choice((5, 30, 48, 50, 52, 70))
        return Push(push.coins, push.fee, push.pad, (*push.locks, lock))
    if draw < 0.6:
        return Push(push.coins, push.fee, push.pad, push.locks, signs=True)
    return push


def _wild_crowd(chance: Random, name: str) -> PushSequence:
    """Fill the pool at rates around one, then try to get in, to replace and to outlast."""
    middle = chance.choice((0.0, 4.9, 5.0, 6.0))
    steps: list[Push] = []
    rounds: list[tuple[Push, ...]] = []
    for filled in (13, 4, 2):
        first = len(steps)
        for _ in range(filled):
            steps.append(_crowd_push(chance, middle, steps))
        rounds.append(tuple(steps[first:]))
    coins = "".join(chance.choice("sssf") for _ in range(CROWD_COINS))
    return PushSequence(name, coins, tuple(rounds), amount=RICH, crowded=True)


CROWD_COINS = 16


def _crowd_push(chance: Random, middle: float, steps: list[Push]) -> Push:
    if steps and chance.random() < 0.1:
        return again(chance.randrange(len(steps)))
    pad = chance.choice((COSTLY, COSTLY, COSTLY, 300_000, 100_000, 5000, 0))
    mojos = max(0.0, middle + chance.choice((-1.0, -0.1, 0.0, 0.0, 0.1, 1.0, 10.0)))
    chosen = chance.sample(range(CROWD_COINS), chance.choice((1, 1, 1, 2, 3)))
    locks: tuple[tuple[str, int], ...] = ()
    if chance.random() < 0.3:
        locks = ((chance.choice(("before", "until")), chance.choice((5, 40, 50, 70))),)
    return Push(tuple(chosen), int(mojos * (pad + 1000) * 12_000), pad, locks)


def _mixed() -> Iterator[PushSequence]:
    for number in range(MIXTURES):
        chance = Random(f"mempool sequences/{number}")
        coins = "".join(chance.choice("ssf") for _ in range(3))
        rounds: list[tuple[Push, ...]] = []
        steps = 0
        for _ in range(3):
            pushes = []
            for _ in range(chance.randint(1, 4)):
                pushes.append(_push(chance, coins, steps))
                steps += 1
            rounds.append(tuple(pushes))
        yield PushSequence(f"mixture {number}", coins, tuple(rounds))


def _push(chance: Random, coins: str, steps: int) -> Push:
    if steps and chance.random() < 0.2:
        return again(chance.randrange(steps))
    chosen = chance.sample(range(len(coins)), chance.choice((1, 1, 2, 2, 3)))
    fee = chance.choice((0, 5, RAISE - 1, RAISE, RAISE + 5, 20_000_000, 45_000_000, 90_000_000))
    pad = chance.choice((0, 0, 0, 400, 3000))
    locks: tuple[tuple[str, int], ...] = ()
    if chance.random() < 0.3:
        # The coins are 3 blocks old at first.
        kind = chance.choice(("from", "at", "before", "until"))
        relative = kind in ("from", "before")
        locks = ((kind, chance.randint(3, 7) if relative else chance.randint(-1, 3)),)
    return Push(tuple(chosen), fee, pad, locks)


def _crowded() -> Iterator[PushSequence]:
    def rate(mojos: float, pad: int = COSTLY) -> int:
        return int(mojos * pad * 12_000)

    def crowded(name: str, coins: int, *rounds: tuple[Push, ...]) -> PushSequence:
        return PushSequence(name, "s" * coins, rounds, amount=RICH, crowded=True)

    def costly(coin: int, mojos: float, pad: int = COSTLY, *locks: tuple[str, int]) -> Push:
        return Push((coin,), rate(mojos, pad), pad, locks)

    for pad in (457_500, 457_700, 458_000, 459_000):
        yield crowded(f"half a block: {pad} bytes", 1, (Push((0,), 0, pad), again(0)))
    for low in (0.0, 6.0):
        full = tuple(costly(coin, low) for coin in range(12))
        more = [costly(12, mojos) for mojos in (0, 4.9, 5.1, low, low + 0.5, low + 1)]
        smaller = Push((13,), 5), Push((14,), 40_000_000)
        yield crowded(f"a pool full at {low:g}", 15, (*full, *smaller, *more, again(0), again(11)))
    mixed = tuple(costly(coin, 5 + coin) for coin in range(12))
    yield crowded("the cheapest is evicted", 14, (*mixed, costly(12, 5.5), costly(13, 5.2)))
    yield crowded("the same rate", 14, (*mixed, costly(12, 5), costly(13, 5), again(0)))
    pads = 200_000, 300_000, 400_000, 250_000, 100_000
    rates = 3.0, 9.0, 2.0, 4.0, 1.0
    fills = tuple(
        costly(coin, mojos, pad) for coin, (mojos, pad) in enumerate(zip(rates, pads, strict=True))
    )
    yield crowded("what a block holds", 5, fills, ())
    yield crowded(
        "penalty of spends",
        6,
        (costly(0, 1.0), Push((1, 2, 3), rate(1.0), COSTLY), costly(4, 1.0), costly(5, 0.9)),
    )
    soon = [costly(coin, coin + 1, COSTLY, ("before", 40)) for coin in range(4)]
    yield crowded("ending soon", 6, (*soon, again(0), again(1), costly(4, 0.5)))
    yield crowded("ending soon, cheaper", 5, (soon[3], soon[2], soon[1], soon[0]))
    late = [costly(coin, coin + 1, COSTLY, ("before", 70)) for coin in range(4)]
    yield crowded("ending late", 4, tuple(late))
    block = tuple(costly(coin, 8) for coin in range(2))
    ends = Push((2,), 5, locks=(("until", 1),))
    yield crowded("expired", 3, (*block, ends), (again(2), Push((2,), 9)), ())
    waits = Push((2,), 7)
    yield crowded("kept until another expired", 3, (*block, ends, waits), (again(3),), ())
    small = tuple(Push((coin,), 30_000_000 * coin) for coin in range(2, 6))
    yield crowded("small ones after two costly ones", 6, (*block, *small), ())
    unsigned = PushSequence(
        "repeated in a full block",
        "sssf",
        ((costly(0, 8), costly(1, 8), Push((2, 3), 5_000_000), Push((3,))), ()),
        amount=RICH,
        crowded=True,
    )
    yield unsigned
