"""Adversaries by name: those of this package, and those of plug-ins."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from channelsim.channel import adversaries
from channelsim.channel.adversaries.base import REGISTERED, Adversary
from channelsim.channel.errors import UsageError
from channelsim.games.names import nearest, quoted
from channelsim.plugins import Group, PluginError


@cache
def names() -> tuple[str, ...]:
    """The names of all adversaries that can be used, sorted."""
    return tuple(sorted({*_built_in(), *_PLUGINS.working()}))


def get(name: str) -> type[Adversary]:
    """The adversary of this name. Raises `UsageError`, naming the nearest one."""
    if name not in names():
        if name in _PLUGINS.names():
            try:
                _PLUGINS.get(name)
            except PluginError as error:
                raise UsageError(str(error)) from None
        raise UsageError(
            f"no adversary is called {quoted(name)}{nearest(name, names())};"
            " `channelsim dispute list` shows all"
        )
    return REGISTERED[name]


@cache
def _built_in() -> frozenset[str]:
    package = f"{adversaries.__name__}."
    for module in walk_packages(adversaries.__path__, package):
        import_module(module.name)
    return frozenset(
        name for name, kind in REGISTERED.items() if kind.__module__.startswith(package)
    )


def _check(name: str, module: object) -> type[Adversary]:
    if name not in REGISTERED:
        raise ValueError("its module registers no adversary of this name")
    return REGISTERED[name]


_PLUGINS = Group("adversaries", "the adversary", _check, lambda name: name in _built_in())
