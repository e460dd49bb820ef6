"""The builtin functions and classes that our models take the place of."""

from __future__ import annotations

from typing import Any

_REAL: dict[int, tuple[Any, Any]] = {}


def stands_for(model: Any, real: Any) -> None:
    """Note that a model takes the place of a function or a class of Python."""
    _REAL[id(model)] = model, real


def real_of(value: Any) -> Any:
    """The value that a model takes the place of; any other value is itself."""
    return _REAL.get(id(value), (None, value))[1]


def is_model(value: Any) -> bool:
    """True for something that takes the place of a part of Python."""
    return id(value) in _REAL
