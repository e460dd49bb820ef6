"""Currying, against the wallet SDK's."""

from chia_wallet_sdk import Clvm
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.clsp.curry import curried_hash, curry
from channelsim.clsp.programs import load, names
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import Value, serialize, to_list, tree_hash
from tests.clsp.test_values import values

programs = st.sampled_from(names()).map(load)


@settings(max_examples=50)
@given(name=st.sampled_from(names()), args=st.lists(values, max_size=4))
def test_curry_is_the_wallet_sdks(name: str, args: list[Value]) -> None:
    program = load(name)
    clvm = Clvm()
    theirs = clvm.deserialize(program.serialized).curry(
        [clvm.deserialize(serialize(arg)) for arg in args]
    )
    ours = curry(program, *args)
    assert ours.serialized == theirs.serialize()
    assert ours.hash == theirs.tree_hash()
    assert curried_hash(program.hash, *map(tree_hash, args)) == ours.hash


def test_arguments_come_first_and_in_order() -> None:
    from channelsim.clsp.programs import Program

    whole_environment = Program(b"\x01")
    bound = curry(whole_environment, b"first", b"second")
    assert evaluate(bound, (b"third", b"")) == to_list([b"first", b"second", b"third"])
