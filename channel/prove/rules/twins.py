"""Twins of modules: the same source, run again in a namespace of its own, for stand-ins.

A twin of each module of a game's package, and of each of our `games` that its rules use, is made
when it is imported by another twin. Nothing of the real modules is touched. The classes of the
contract, which rules and prover have in common, stay the real ones.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import (
    CodeType,
    ModuleType,
)
from typing import Any

from channelsim.channel.prove.rules import choices
from channelsim.channel.prove.rules.builtin_models import BUILTINS
from channelsim.channel.prove.rules.known_calls import ALONE
from channelsim.channel.prove.rules.library_models import LIBRARIES, library
from channelsim.channel.prove.rules.module_state import Globals, reached
from channelsim.channel.prove.rules.nodes import HELPER
from channelsim.channel.prove.rules.overlays import Overlay, Unlisted
from channelsim.channel.prove.rules.running import loading
from channelsim.channel.prove.rules.syntax import rewritten
from channelsim.channel.prove.rules.unknown import unknown
from channelsim.channel.prove.symbols import Undecided
from channelsim.games.lemma import Lemma

GAMES = "channelsim.games"

CONTRACT = frozenset(
    f"{GAMES}.{name}"
    for name in (
        *("amounts", "answers", "case_text", "chance", "choices", "contract", "dealing"),
        *("errors", "even_stakes", "evidence", "forms", "hidden", "judge", "names"),
        *("plain_player", "players", "plugin_games", "registry", "selfplay", "states", "story"),
        *("vectors", "verdicts"),
    )
)
"""Our modules of which no twin is made: the contract, and what has no rules."""

SUFFIX = " on stand-ins"
"""What the name of a twin ends with."""


class Twins:
    """The twins of some modules: those of `packages`, and those of our games.

    The functions of `lemmas` are unknown ones in them. `changed` is a name that a run has changed.
    """

    def __init__(self, packages: tuple[str, ...], lemmas: tuple[Lemma, ...] = ()) -> None:
        self._packages, self._lemmas = packages, lemmas
        self._modules: dict[str, ModuleType] = {}
        self._folders = frozenset(map(_folder_of, packages)) - {None}
        self.changed = ""
        self._builtins = {**BUILTINS, "__import__": self._import}

    def function(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """The twin of a function. Raises `Undecided` for one that no module has by its name."""
        function = self.object(real)
        if not callable(function):
            raise Undecided(f"{real.__qualname__} is no function of its module")
        return function  # type: ignore[no-any-return]

    def object(self, real: Any) -> Any:
        """The twin of a function or a class of a module; the real one if its module has none."""
        while hasattr(real, "__wrapped__"):
            real = real.__wrapped__
        module, path = getattr(real, "__module__", None), getattr(real, "__qualname__", "")
        if module is None or not self._is_ours(module):
            return real
        twin: Any = self.module(module)
        for name in path.split("."):
            twin = getattr(twin, name, None)
            if twin is None:
                raise Undecided(f"{module} has no {path}: rules that are made by a function")
        return twin

    def module(self, name: str) -> ModuleType:
        """The twin of a module. Raises `Undecided` for one without a source."""
        if name in self._modules:
            return self._modules[name]
        real = import_module(name)
        file = getattr(real, "__file__", None)
        if file is None or not file.endswith(".py"):
            raise Undecided(f"the module {name} has no source")
        twin = ModuleType(name + SUFFIX)
        twin.__dict__.update(
            {
                "__file__": file,
                "__package__": real.__package__,
                "__spec__": real.__spec__,
                "__builtins__": self._builtins,
                HELPER: choices,
            }
        )
        if "print" in vars(real):  # an author's own file prints elsewhere
            twin.__dict__["print"] = real.print
        if hasattr(real, "__path__"):
            twin.__path__ = real.__path__
        self._modules[name] = twin
        sys.modules[twin.__name__] = twin  # where dataclasses and annotations look names up
        try:
            with loading():
                exec(_compiled(Path(file).read_text("utf-8"), file), twin.__dict__)
        except BaseException:
            # Whoever asks for it again gets the same reason, and not half of a module.
            del self._modules[name], sys.modules[twin.__name__]
            raise
        for lemma in self._lemmas:
            if lemma.python.__module__ == name:
                function = lemma.python.__name__
                setattr(twin, function, unknown(lemma, getattr(twin, function)))
        return twin

    def globals(self) -> Globals:
        """What the modules hold now: each name, and which objects are in it."""
        return {
            (module.__name__.removesuffix(SUFFIX), name): reached(value)
            for module in self._modules.values()
            for name, value in vars(module).items()
            if not name.startswith("__")
        }

    def _is_ours(self, name: str) -> bool:
        if name.startswith(f"{GAMES}.") or name == GAMES:
            return name not in CONTRACT and name != GAMES
        top = name.partition(".")[0]
        return top in self._packages or (
            top not in ALONE
            and top not in sys.stdlib_module_names
            and bool(self._folders)
            and _folder_of(top) in self._folders
        )

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        """`__import__` of a twin: it gets twins, and libraries that know stand-ins."""
        real = builtins.__import__(name, globals, locals, fromlist or (), level)
        if level:
            package = (globals or {}).get("__package__") or ""
            name = resolve_name("." * level + name, package)
        if not fromlist:
            # `import a.b` binds a.
            head = name.partition(".")[0]
            return self._known(head, real) if head == name else self._path(name, real)
        module = self._known(name, real)
        for part in fromlist:
            inner = f"{name}.{part}"
            if inner in sys.modules and (self._is_ours(inner) or inner in LIBRARIES):
                known = self._known(inner, sys.modules[inner])
                if module is real:
                    module = Overlay(real)
                setattr(module, part, known)
        return module

    def _known(self, name: str, real: ModuleType) -> Any:
        if name in LIBRARIES:
            return library(name, real)
        if self._is_ours(name):
            return self.module(name)
        return real if name.partition(".")[0].lstrip("_") in LISTED else Unlisted(real)

    def _path(self, name: str, top: ModuleType) -> Any:
        """What `import a.b.c` binds, with the known module at its end."""
        names = name.split(".")
        known = self._known(name, sys.modules[name])
        for end in range(len(names) - 1, 0, -1):
            overlay = Overlay(sys.modules[".".join(names[:end])])
            setattr(overlay, names[end], known)
            known = overlay
        return known


LISTED = ALONE | {"future__"}
"""Libraries that modules get as they are."""


@lru_cache(maxsize=128)
def _compiled(source: str, file: str) -> CodeType:
    """A module of rules, ready to run on stand-ins. Raises SyntaxError."""
    return compile(rewritten(source, file), file, "exec", dont_inherit=True)


def _folder_of(top: str) -> Path | None:
    """The folder that a module or package is in; None for an installed one."""
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return None
    path = Path(file)
    folder = path.parent.parent if path.name == "__init__.py" else path.parent
    return None if folder.name in ("site-packages", "dist-packages") else folder


def twins_of(*functions: Callable[..., Any], lemmas: tuple[Lemma, ...] = ()) -> Twins:
    """The twins for these functions: of the packages that they are in."""
    packages = set()
    for function in functions:
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        packages.add(function.__module__.partition(".")[0])
    packages.discard("channelsim")
    return Twins(tuple(sorted(packages)), lemmas)
