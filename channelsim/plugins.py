"""Plug-ins: what other installed packages add to this one by entry points.

| group | what an entry point names |
|---|---|
| `channelsim.games` | a `Game`, under its own name |
| `channelsim.policies` | a policy of a game; its name is `GAME:POLICY` |
| `channelsim.adversaries` | a module that registers an adversary of this name |
| `channelsim.laws` | a law; its name, with hyphens for spaces |
| `channelsim.reports` | a function from a command's JSON document to text |

A plug-in is loaded when it is used. One that cannot be loaded is left out of lists, and
`complaints` says why; asking for it by name raises `PluginError`. With `CHANNELSIM_NO_PLUGINS=1`
there are none.

This module imports nothing of ours but `watchdog`, so that every package may use it.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, wraps
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import get_ident
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TextIO, TypeVar, cast

from channelsim.watchdog import (
    CALLS,
    CASES,
    Case,
    Overrun,
    begin_call,
    case_of,
    is_authors,
    note_author,
)

if TYPE_CHECKING:  # its imports are a tenth of what help takes
    from importlib.metadata import Distribution, EntryPoint

OFF = "CHANNELSIM_NO_PLUGINS"
"""The environment variable that turns all plug-ins off."""

PREFIX = "channelsim."
GROUPS = ("games", "policies", "adversaries", "laws", "reports")
OURS = "channelsim"
"""What messages call this package."""

_NAME = re.compile(r"[\w.:+-]{1,60}", re.ASCII)
_LONGEST = 300
"""Longer reasons are cut."""

_SHOWN = 80
"""The most characters of a wrong answer that a message shows."""

P = ParamSpec("P")
T = TypeVar("T")


class PluginError(Exception):
    """A plug-in cannot be used; the message is one line with its package and the reason."""


class WrongAnswer(BaseException):
    """A function of a plug-in returned something of the wrong kind, or failed, or did not end.

    The message is one line; `__cause__` is the error of a function that failed, else None. It is no
    `Exception`: no simulation takes it for the result of a run.
    """


class Refusal(ValueError):
    """Base of what an author's function may raise: its caller expects it."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of a package."""

    name: str
    package: str
    point: EntryPoint


@dataclass(frozen=True)
class Group(Generic[T]):
    """The plug-ins of one group.

    `noun` is what messages call one. `check` takes a plug-in's name and the object that its entry
    point names, and returns what is used; it raises ValueError with the reason for a wrong one.
    `is_ours` says whether this package has something of a name.
    """

    name: str
    noun: str
    check: Callable[[str, object], T]
    is_ours: Callable[[str], bool]

    def names(self) -> tuple[str, ...]:
        """The names of all plug-ins, sorted. Loads none of them."""
        return tuple(sorted(self._plugins()))

    def get(self, name: str) -> T:
        """The plug-in of this name, one of `names`. Raises `PluginError` with the reason.

        It is loaded once, and so is one that cannot be used.
        """
        key = self.name, name
        if key not in _loaded:
            try:
                _loaded[key] = self._load(name)
            except PluginError as error:
                _loaded[key] = error
        loaded = _loaded[key]
        if isinstance(loaded, PluginError):
            raise PluginError(*loaded.args)
        return cast(T, loaded)

    def _load(self, name: str) -> T:
        plugins = self._plugins()[name]
        packages = [
            *([OURS] if self.is_ours(name) else []),
            *(plugin.package for plugin in plugins),
        ]
        if len(packages) > 1:
            raise PluginError(
                f"{self.noun} {name}: {' and '.join(packages)} have one of this name;"
                f" uninstall one, or set {OFF}=1"
            )
        (plugin,) = plugins
        head = f"{self.noun} {name}, a plug-in of {plugin.package}, cannot be used"
        if not _NAME.fullmatch(name):
            raise PluginError(f"{head}: its name is not made of letters, digits and . : + - _")
        if plugin.point.pattern.match(plugin.point.value) is None:
            value = plugin.point.value[:_SHOWN]
            raise PluginError(f"{head}: its entry point {value!a} is not MODULE:OBJECT")
        module = plugin.point.module
        try:
            for place in _places(module):
                note_author(place)
            _packages[module.partition(".")[0]] = plugin.package
            with redirect_stdout(sys.stderr):  # our output may be a document
                loaded = called(plugin.point.load, head)()
            _redirect_prints(module.partition(".")[0])
            return called(self.check, head)(name, loaded)
        except WrongAnswer as failure:
            cause = failure.__cause__ or failure
            is_reason = isinstance(cause, ValueError) and not blamed(cause)  # what `check` says
            reason = str(cause) if is_reason else described(cause)
            raise PluginError(f"{head}: {reason}") from None

    def working(self, prefix: str = "") -> dict[str, T]:
        """The plug-ins that can be used, by name; `complaints` names the others.

        Only those are loaded whose name begins with `prefix`.
        """
        working = {}
        for name in self.names():
            if not name.startswith(prefix):
                continue
            try:
                working[name] = self.get(name)
            except PluginError as error:
                _complaints[str(error)] = None
        return working

    def package_of(self, name: str) -> str:
        """The package that a plug-in's module is, or is in; empty for a module in no package."""
        spec = find_spec(self._plugins()[name][0].point.module)
        return (spec and spec.parent) or ""

    def _plugins(self) -> Mapping[str, Sequence[Plugin]]:
        return _installed().get(PREFIX + self.name, {})


def are_off() -> bool:
    """True if the environment turns plug-ins off."""
    return os.environ.get(OFF, "") not in ("", "0")


def complaints() -> tuple[str, ...]:
    """A line for each plug-in that was left out so far, with the reason."""
    return tuple(_complaints)


def forgive(complaint: str) -> None:
    """Leave out a line that was printed already."""
    _complaints.pop(complaint, None)


def in_use() -> tuple[str, ...]:
    """The plug-ins that were loaded and can be used, as `games foo`, sorted."""
    return tuple(
        sorted(
            f"{group} {name}"
            for (group, name), plugin in _loaded.items()
            if not isinstance(plugin, PluginError)
        )
    )


def versions(counts: Callable[[str, str], bool]) -> dict[str, str]:
    """The packages with a plug-in that counts, by its group (`games`) and name. Loads none.

    Of each its version and the SHA-256 of its Python files: an author's version rarely changes.
    """
    modules: dict[str, set[str]] = defaultdict(set)
    version: dict[str, str] = {}
    for group, by_name in _installed().items():
        for name, plugins in by_name.items():
            for plugin in plugins:
                named = plugin.point.pattern.match(plugin.point.value)
                top = named.group("module").partition(".")[0] if named else ""
                modules[plugin.package].update([top] if top else [])
                if counts(group.removeprefix(PREFIX), name):
                    dist = plugin.point.dist
                    version[plugin.package] = dist.version if dist else ""
    return {
        package: f"{number}, SHA-256 {_code_digest(frozenset(modules[package]))}"
        for package, number in sorted(version.items())
    }


def blamed(error: BaseException) -> str | None:
    """The file and line of another author's code that an exception comes from; None for ours."""
    place = None
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if is_authors(file):
            place = f"{file}, line {line}"
    if place is None and error.__cause__ is not None:  # such as a StopIteration in a generator
        return blamed(error.__cause__)
    return place


def described(error: BaseException) -> str:
    """An exception in one line: its type, its message, and the place in its author's file."""
    place = blamed(error)
    if isinstance(error, SyntaxError) and error.filename:
        place, text = f"{error.filename}, line {error.lineno}", error.msg
    else:
        try:
            text = " ".join(str(error).split())
        except Exception:
            text = ""
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    said = said if len(said) <= _LONGEST else said[:_LONGEST] + "…"
    for note in getattr(error, "__notes__", ()):
        said += f" ({note})"
    return said + (f" ({place})" if place else "")


def kind(data: object) -> str:
    """The type of something in words.

    >>> kind(7), kind("7"), kind(None)
    ('an int', 'a str', 'None')
    """
    name = type(data).__name__
    if data is None:
        return "None"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def cut(data: object) -> str:
    """An object of another author's as its type and the beginning of its text, in one line.

    >>> cut(7), cut(None)
    ('an int, 7', 'None')
    """
    try:
        text = " ".join(repr(data).split())
    except Exception:
        text = ""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    text = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return kind(data) + (f", {text}" if text and data is not None else "")


def called(
    function: Callable[P, T], case: Case, problem: Callable[[object], str] = lambda answer: ""
) -> Callable[P, T]:
    """The author's function as it is called for a case, such as `the judge of guess`.

    A call raises `WrongAnswer`, with one line that names the package, the function and the case, if
    the function does not take the arguments, raises anything but a `Refusal`, takes more time or
    memory than `watchdog` allows, or returns something with which `problem` says what is wrong
    (empty: nothing). What cannot be stopped ends the process with one line, but for a call in C
    that never gives Python's lock back.
    """

    @wraps(function)
    def _call(*args: P.args, **kwargs: P.kwargs) -> T:
        thread = get_ident()
        is_outermost = thread not in CALLS
        if is_outermost:
            begin_call(_head(function))
        is_first = thread not in CASES
        if is_first:
            CASES[thread] = case, args
        try:
            answer = function(*args, **kwargs)
            said = problem(answer)
        except (Refusal, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if not isinstance(error, Exception | SystemExit | Overrun) and _is_ours(error):
                raise  # such as a signal's
            raise _failure(_head(function), error, case_of(case, args)) from error
        finally:
            if is_outermost:
                CALLS.pop(thread, None)
            if is_first:
                del CASES[thread]
        if said:
            raise wrong_answer(function, answer, said, case_of(case, args))
        return answer

    return _call


def _is_ours(error: BaseException) -> bool:
    return type(error).__module__.startswith(f"{OURS}.")


def _failure(head: str, error: BaseException, case: str) -> WrongAnswer:
    """The error for a call that failed; `head` names the function."""
    trace = error.__traceback__
    # Raised by the call itself, and not inside of the function.
    if isinstance(error, TypeError) and (trace is None or trace.tb_next is None):
        return WrongAnswer(f"{head} cannot be called: {error} ({case})")
    if isinstance(error, Overrun):
        reason = described(error).removeprefix("Overrun: ")
        return WrongAnswer(f"{head} was stopped: {reason} ({case})")
    return WrongAnswer(f"{head} raised {described(error)} ({case})")


def wrong_answer(function: object, answer: object, problem: str, case: str = "") -> WrongAnswer:
    """The error for an answer of an author's function: its package, its name, and the answer."""
    which = f" ({case})" if case else ""
    return WrongAnswer(f"{_head(function)} returned {cut(answer)}: {problem}{which}")


def _head(function: object) -> str:
    """The package and the name of an author's function."""
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    package = _packages.get(module.partition(".")[0])
    return f"{package}: {module}.{name}" if package else f"{module}.{name}"


_packages: dict[str, str] = {}
"""The packages of plug-ins that were loaded, by their top-level module."""

_complaints: dict[str, None] = {}
_loaded: dict[tuple[str, str], object] = {}
"""By group and name, what was loaded, or the `PluginError`."""


def to_stderr(*values: object, file: TextIO | None = None, **options: Any) -> None:
    """Print as `print` does, on stderr unless `file` says where: our output may be a document."""
    print(*values, file=file or sys.stderr, **options)


def _redirect_prints(package: str) -> None:
    """Let what the modules of a package print go to stderr."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package:
            vars(module).setdefault("print", to_stderr)


def _places(module: str) -> Iterable[str]:
    """The files of the top-level package or module of a plug-in."""
    spec = find_spec(module.partition(".")[0])
    if spec is None:
        return ()
    return spec.submodule_search_locations or ([spec.origin] if spec.origin else [])


@cache
def _code_digest(modules: frozenset[str]) -> str:
    """The digest of the Python files of top-level packages, as they are when this is first asked:
    what was loaded does not change afterwards."""
    digest = sha256()
    for module in sorted(modules):
        for place in map(Path, _places(module)):
            files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
            for file in filter(Path.is_file, files):  # a packed package has only its version
                content = sha256(file.read_bytes()).hexdigest()
                digest.update(f"{file.relative_to(place.parent)}\0{content}\n".encode())
    return digest.hexdigest()


@cache
def _installed() -> Mapping[str, Mapping[str, Sequence[Plugin]]]:
    """All plug-ins, by group and name; a package that hides another of its name counts alone."""
    from importlib.metadata import distributions

    installed: dict[str, dict[str, list[Plugin]]] = defaultdict(lambda: defaultdict(list))
    seen: set[str] = set()
    for package in () if are_off() else distributions():
        try:
            points = [point for point in package.entry_points if point.group.startswith(PREFIX)]
        except Exception as error:
            reason = f"the plug-ins of {_package(package)} cannot be read: {described(error)}"
            _complaints[reason] = None
            continue
        name = _package(package) if points else ""
        if not points or name in seen:
            continue
        seen.add(name)
        for point in points:
            if point.group.removeprefix(PREFIX) not in GROUPS:
                head = f"{point.name}, a plug-in of {name}, cannot be used"
                known = ", ".join(PREFIX + group for group in GROUPS)
                reason = f"{head}: {point.group!r} is none of the groups {known}"
                _complaints[reason] = None
                continue
            installed[point.group][point.name].append(Plugin(point.name, name, point))
    return installed


def _package(installed: Distribution) -> str:
    """The name of a package; its folder if it has none that can be read."""
    try:
        return installed.metadata["Name"] or str(installed.locate_file(""))
    except Exception:
        return str(installed.locate_file(""))
