"""Binding arguments to a program: `(a (q . PROGRAM) (c (q . A1) (c ... 1)))`.

The bound program is called with the rest of its arguments as the environment.
"""

from hashlib import sha256

from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize, tree_hash_atom, tree_hash_pair

_HASH_OF_1 = tree_hash_atom(b"\x01")
# What stands before the two hashes that change, in each kind of pair.
_QUOTED_PREFIX = b"\x02" + _HASH_OF_1
_CONS_PREFIX = b"\x02" + tree_hash_atom(b"\x04")
_APPLY_PREFIX = b"\x02" + tree_hash_atom(b"\x02")
_NIL_HASH = tree_hash_atom(b"")


def curry(program: Program, *args: Value) -> Program:
    """Bind arguments, the first one first.

    >>> from channelsim.clsp.values import deserialize
    >>> curry(Program(b"\\x02"), b"one").value == deserialize(
    ...     bytes.fromhex("ff02ffff0102ffff04ffff01836f6e65ff018080"))
    True
    """
    opened = b"".join(b"\xff\x04\xff\xff\x01" + serialize(arg) + b"\xff" for arg in args)
    environment = opened + b"\x01" + b"\x80" * len(args)
    return Program(b"\xff\x02\xff\xff\x01" + program.serialized + b"\xff" + environment + b"\x80")


def curried_hash(mod_hash: bytes, *arg_hashes: bytes) -> bytes:
    """The tree hash of `curry`, from the tree hashes (32 bytes each) of its parts.

    >>> program = Program(b"\\x02")
    >>> curried_hash(program.hash, tree_hash_atom(b"one")) == curry(program, b"one").hash
    True
    """
    environment = _HASH_OF_1
    for arg_hash in reversed(arg_hashes):
        quoted = sha256(_QUOTED_PREFIX + arg_hash).digest()
        tail = sha256(b"\x02" + environment + _NIL_HASH).digest()
        cons = sha256(b"\x02" + quoted + tail).digest()
        environment = sha256(_CONS_PREFIX + cons).digest()
    quoted_mod = sha256(_QUOTED_PREFIX + mod_hash).digest()
    arguments = tree_hash_pair(quoted_mod, tree_hash_pair(environment, _NIL_HASH))
    return sha256(_APPLY_PREFIX + arguments).digest()
