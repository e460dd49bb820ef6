"""Attributes and classes of values, which may be stand-ins: what has no model is undecided."""

from __future__ import annotations

from abc import ABCMeta
from enum import EnumType
from types import FunctionType, SimpleNamespace, UnionType, WrapperDescriptorType
from typing import Any

from channelsim.channel.prove.rules import calls, running
from channelsim.channel.prove.rules.calls import call
from channelsim.channel.prove.rules.known_calls import ALONE
from channelsim.channel.prove.rules.known_syntax import OF_OBJECTS, OPERATORS, SETTING, is_special
from channelsim.channel.prove.rules.real import is_model as is_a_model
from channelsim.channel.prove.rules.real import real_of
from channelsim.channel.prove.rules.running import before_a_change
from channelsim.channel.prove.rules.standins.base import StandIn, is_unknown
from channelsim.channel.prove.symbols import Undecided


def base(kind: Any) -> Any:
    """A base of a class: a builtin one itself, so that objects are of the new class.

    Raises `Undecided` for a class of a library that has no model.
    """
    real = real_of(kind)
    if isinstance(real, type) and not calls.is_rewritten(real):
        library = calls.library_of(real)
        if library not in ALONE:
            raise Undecided(f"a class made from one of {library}")
    return real


def attribute(of: Any, name: str) -> Any:
    """An attribute that Python gives a meaning, or that stand-ins have for themselves: of one, what
    it stands for is asked. Raises `Undecided` for one without a model."""
    if is_special(name):
        return _special(of, name)
    if issubclass(type(of), StandIn) and not hasattr(of.__class__, name):
        raise AttributeError(f"{of.__class__.__name__} has no {name}")
    return getattr(of, name)


def _special(of: Any, name: str) -> Any:
    if name == "__class__":
        return of.__class__
    if name in (OPERATORS | SETTING | OF_OBJECTS | {"__name__"}) and not is_unknown(of):
        given = getattr(real_of(of), name)
        return _operator_method(given, name) if name in OPERATORS | SETTING else given
    raise Undecided(f"no model of `{name}`")


def _operator_method(given: Any, name: str) -> Any:
    """A method of an operator: without a model where a plain value gets a stand-in."""

    def call_it(*arguments: Any) -> Any:
        if name in SETTING:
            before_a_change()
            if name.endswith("attr__") and not calls.is_rewritten(given):
                is_free = isinstance(given, WrapperDescriptorType)
                of, attribute_name, *_ = arguments if is_free else (given.__self__, *arguments)
                settable(of, attribute_name)
        elif any(map(is_unknown, arguments)) and not calls.is_rewritten(given):
            raise Undecided(f"no model of {name} as a method")
        return call(given, *arguments) if name not in SETTING else given(*arguments)

    return call_it


def attribute_of(value: Any, name: str, *default: Any) -> Any:
    """`getattr`, without what stand-ins alone have."""
    if default:
        try:
            return attribute(value, name)
        except AttributeError:
            return default[0]
    return attribute(value, name)


def is_instance(value: Any, kind: Any) -> bool:
    """`isinstance`, of classes that ask for nothing but the class of a value."""
    if running.is_running() and is_a_model(value):
        raise Undecided("the class of a builtin function")
    if type(kind) is tuple:
        return any(is_instance(value, each) for each in kind)
    if type(kind) is UnionType:
        return any(is_instance(value, each) for each in kind.__args__)
    real = real_of(kind)
    if issubclass(type(value), StandIn) and not _asks_for_the_class(real):
        raise Undecided(f"an input and the class {getattr(real, '__name__', real)}")
    return isinstance(value, real)


def _asks_for_the_class(kind: Any) -> bool:
    return type(kind) in (type, ABCMeta, EnumType) or calls.is_rewritten(type(kind))


def settable(of: Any, name: str) -> Any:
    """The object of which an attribute is set, or deleted. Raises `Undecided` for all but objects,
    functions and classes of the rules, of which a change is seen."""
    if is_special(name) or not (_is_of_rules(of) or type(of) is SimpleNamespace):
        raise Undecided(f"a change of {name}")
    return of


def _is_of_rules(of: Any) -> bool:
    is_class = isinstance(of, type | FunctionType) and not issubclass(type(of), StandIn)
    return calls.is_rewritten(of if is_class else type(of))
