"""Modules of libraries as modules of rules get them."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

from channelsim.channel.prove.rules.running import is_judging
from channelsim.channel.prove.symbols import Undecided


class Overlay:
    """A module of which some attributes are others."""

    def __init__(self, real: ModuleType) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Unlisted(Overlay):
    """A module of a library without a model: modules may use it while they are loaded."""

    def __getattr__(self, name: str) -> Any:
        if is_judging():
            raise Undecided(f"no model of {self._real.__name__}.{name}")
        value = super().__getattr__(name)
        if isinstance(value, ModuleType):
            return Unlisted(value)
        return _without_model(value, f"{self._real.__name__}.{name}")


def _without_model(value: Any, name: str) -> Any:
    """A value of a library: of its functions a call is looked at."""
    if callable(value) or isinstance(value, int | bytes | str | float | None):
        return value
    return NoModel(value, name)


class NoModel:
    """An object of a library without a model: only what is loaded may ask for its attributes."""

    def __init__(self, real: object, name: str) -> None:
        self.__real, self.__name = real, name

    def __getattr__(self, name: str) -> Any:
        if is_judging():
            self.__refuse()
        return _without_model(getattr(self.__real, name), f"{self.__name}.{name}")

    def __refuse(self, *_: object) -> NoReturn:
        raise Undecided(f"no model of {self.__name}")

    __getitem__ = __iter__ = __contains__ = __len__ = __bool__ = __refuse
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __add__ = __radd__ = __refuse
    __str__ = __repr__ = __format__ = __truediv__ = __call__ = __next__ = __refuse
    __hash__ = __refuse
