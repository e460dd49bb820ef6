"""Table of the models, by the operators' names and atoms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from channelsim.channel.prove.models import byte_models, number_models, truth_models
from channelsim.channel.prove.symbols import Symbolic
from channelsim.clsp.operators import CODES

Model: TypeAlias = Callable[..., Symbolic]
"""The result of an operator, by the path and the operands."""

MODELS: dict[str, Model] = {
    "i": truth_models.choose,
    "c": lambda path, left, right: (left, right),
    "f": truth_models.first,
    "r": truth_models.rest,
    "l": truth_models.is_pair,
    "x": truth_models.fail,
    "=": truth_models.same,
    ">s": truth_models.greater_bytes,
    "sha256": byte_models.hash_of,
    "substr": byte_models.substring,
    "strlen": byte_models.length,
    "concat": byte_models.concat,
    "+": number_models.add,
    "-": number_models.subtract,
    "*": number_models.multiply,
    "/": number_models.divide,
    "divmod": number_models.divide_both,
    ">": truth_models.greater,
    "ash": number_models.shift,
    "lsh": number_models.shift_unsigned,
    "logand": number_models.bitwise(lambda a, b: a & b, number_models.and_bounds, -1),
    "logior": number_models.bitwise(lambda a, b: a | b, number_models.or_bounds, 0),
    "logxor": number_models.bitwise(lambda a, b: a ^ b, number_models.or_bounds, 0),
    "lognot": number_models.complement,
    "not": truth_models.negate,
    "any": truth_models.any_of,
    "all": truth_models.all_of,
    "%": number_models.remainder_of,
}
"""The models by the operators' names."""


def by_code() -> Mapping[bytes, Model]:
    """The models by the operators' atoms."""
    return {CODES[name]: model for name, model in MODELS.items()}
