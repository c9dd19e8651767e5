"""Learns what a configuration has to contain from a constructor that reads one: a stand-in is passed, which notes what is read of it.

The stand-in is a number or a text, as its name suggests, so that the constructor goes on; what it is used as says what it must be: a
dictionary, an object with attributes, a list, a text that is compared with another one.
"""

from __future__ import annotations

import copy
import dis
import re
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....runtime.foreign_code import attempted
from ...calling import expressions
from ...calling.call_in_progress import in_progress
from ...calling.time_limit import SlowTrial, at_most
from ..terms.arguments import Argument, Constructed, Expression, Fields, Group, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo
from .configurations import NAMES
from .refused_reads import is_answered

Guess = Callable[[str, Unknowns], Argument]
# an object that can be asked whether it has a name: `"dropout" in args`
NAMESPACE = "argparse.Namespace"
PROBE = "__compile_lens_probe__"
PROBE_S = 2.0
# for one constructor, which is probed again with another word where it refuses one
PROBES_S = 4.0
# the items of a list whose length no index shows, the most that one may show, and the value of what is no number
ITEMS, MOST_ITEMS, NUMBER = 2, 8, 64
_KINDS: tuple[tuple[type, str], ...] = ((list, "[64, 64]"), (set, "{0, 1}"), (str, "'mean'"))
_ABSENT = re.compile(
    r"(?:.*_)?(?:pretrained|checkpoint|ckpt|resume|weights|load|path|file|freeze|debug)(?:_(?:path|file|dir|from|weights|model))?"
)
_LITERAL = re.compile(r"[\d.e+-]+|'[^']*'|None")
_FLAG = re.compile(
    r"(?:use|is|has|with|enable|add|return|share|tie|no)_\w+|causal|bidirectional|verbose|output_(?:attentions?|hidden_states)"
)


def with_read_structure(
    names: dict[str, Any], path: str, candidate: Candidate, infos: list[ParameterInfo], guess: Guess
) -> Iterator[Candidate]:
    """``candidate`` with what the constructor ``path`` reads of its configurations in place of a number; then without what it can do
    without: `config.get("scale")`."""
    made, has_optional = _with_all_that_is_read(names, path, candidate, infos, guess, False)
    yield made
    if has_optional:
        yield _with_all_that_is_read(names, path, candidate, infos, guess, True)[0]


def _with_all_that_is_read(
    names: dict[str, Any],
    path: str,
    candidate: Candidate,
    infos: list[ParameterInfo],
    guess: Guess,
    keeps_defaults: bool,
) -> tuple[Candidate, bool]:
    """The candidate, and whether something was read of it that may be absent."""
    candidate = Candidate(candidate.arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
    wanted = [info.name for info in infos if _may_be_read(info, candidate.arguments.get(info.name))]
    nodes = {name: _ReadValue(name, guess, candidate.unknowns, keeps_defaults) for name in wanted}
    arguments = candidate.arguments
    for name in wanted:
        arguments = arguments.with_argument(name, Expression(f"{PROBE}[{name!r}]"))
    text = f"{path}({Candidate(arguments, candidate.unknowns).text})"
    end = time.monotonic() + PROBES_S
    while time.monotonic() < end:
        stand_ins = {name: node.stand_in for name, node in nodes.items()}
        error = _error_of(text, {**names, PROBE: stand_ins})
        if error is None or not is_answered([*nodes.values()], error):
            break
    for name, node in nodes.items():
        if node.is_structure:
            candidate = Candidate(candidate.arguments.with_argument(name, node.argument()), candidate.unknowns)
    return candidate, any(node.has_optional for node in nodes.values())


def _error_of(text: str, names: dict[str, Any]) -> BaseException | None:
    """What the call ``text`` raises."""
    try:
        with unrecorded(), at_most(PROBE_S, SlowTrial), in_progress.making(text):
            expressions.evaluate(text, names).run()
    except (Exception, SystemExit) as error:  # code of the user's may raise anything
        return error
    return None


def _may_be_read(info: ParameterInfo, given: Argument | None) -> bool:
    """Whether ``given`` is a guess, and the parameter may be a configuration; what a file or its package writes stays."""
    is_literal = isinstance(given, Expression) and _LITERAL.fullmatch(given.text) is not None
    is_guess = is_literal or isinstance(given, (UnknownInteger, Fields))
    is_open = is_guess and info.hint not in (int, float, str, bool)
    return is_open and (bool(info.fields) or NAMES.fullmatch(info.name) is not None)


class _ReadValue:
    """What is known of one value: what was read of it, and the texts it was compared with. ``stand_in`` is what the constructor gets."""

    def __init__(self, name: str, guess: Guess, unknowns: Unknowns, keeps_defaults: bool) -> None:
        self.keeps_defaults = keeps_defaults
        self.is_optional = False
        self.attributes: dict[str, _ReadValue] = {}
        self.keys: dict[str, _ReadValue] = {}
        self.items: list[_ReadValue] = []
        self.is_dict = self.is_object = self.has_members = False
        self.is_unpacked = False
        self.texts: list[str] = []
        self.tried: list[str] = []
        self.name, self._guess, self._unknowns = name, guess, unknowns
        self._plain = _first(name, guess, unknowns)
        self.value = _value(self._plain, unknowns)
        self.stand_in = _stand_in(self)

    @property
    def is_structure(self) -> bool:
        """Whether something was read of it."""
        return bool(self.attributes or self.keys or self.items or self.is_dict or self.is_object)

    @property
    def is_plain(self) -> bool:
        """Whether nothing was read of it, or methods of texts alone."""
        return not self.is_structure or (
            not (self.keys or self.items or self.is_dict) and self.attributes.keys() <= {*dir(str)}
        )

    @property
    def has_optional(self) -> bool:
        """Whether something in it was only asked for, and may be absent."""
        return any(each.is_optional or each.has_optional for each in self.parts())

    def parts(self) -> Iterator[_ReadValue]:
        """What was read of it."""
        yield from (*self.attributes.values(), *self.keys.values(), *self.items)

    def become(self, text: str) -> None:
        """Be ``text`` from now on."""
        self._plain, self.value = Expression(repr(text)), text
        self.tried.append(text)
        self.attributes, self.texts = {}, []
        self.stand_in = _stand_in(self)

    def read(self, known: dict[str, _ReadValue], name: str) -> Any:
        """The stand-in for what is read as ``name``."""
        if name not in known:
            known[name] = _ReadValue(name, self._guess, self._unknowns, self.keeps_defaults)
        return known[name].stand_in

    def all_items(self, least: int = ITEMS) -> list[Any]:
        """The stand-ins of a list of so many items."""
        while len(self.items) < min(least, MOST_ITEMS):
            self.items.append(_ReadValue(self.name.removesuffix("s"), self._guess, self._unknowns, self.keeps_defaults))
        return [each.stand_in for each in self.items]

    def call(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What a class of layers makes, where the configuration holds one."""
        text = self._plain.text if isinstance(self._plain, Expression) else ""
        self._plain = Expression(text if text.startswith("torch.nn.") else "torch.nn.Identity")
        return expressions.evaluate(f"({self._plain.text})()", {}).target(*arguments, **named)

    def argument(self) -> Argument:
        """What has to be passed. What only methods of lists, sets or texts are read of is one of these."""
        for kind, text in _KINDS if self.attributes and not self.keys else ():
            if self.attributes.keys() <= set(dir(kind)):
                return Expression(text)
        if self.attributes or self.keys or self.is_dict or self.is_object:
            named = tuple((name, each.argument()) for name, each in {**self.attributes, **self.keys}.items())
            is_object = bool(self.attributes) or self.is_object
            return Constructed(NAMESPACE, named) if is_object and self.has_members else Fields(named, not is_object)
        if self.items:
            return Group(tuple(each.argument() for each in self.items), is_list=True)
        return Expression(repr(self.texts[0])) if self.texts else self._plain


def _first(name: str, guess: Guess, unknowns: Unknowns) -> Argument:
    if _FLAG.fullmatch(name):
        return Expression("False")
    return Expression("None") if _ABSENT.fullmatch(name) else guess(name, unknowns)


def _value(argument: Argument, unknowns: Unknowns) -> Any:
    if isinstance(argument, UnknownInteger):
        return unknowns.by_name[argument.name].value
    text = argument.text if isinstance(argument, Expression) else ""
    if text in ("True", "False", "None"):
        return int(text == "True")
    found: Any = attempted(lambda: expressions.evaluate(f"__made__({text})", {"__made__": lambda value: value}).run())
    return NUMBER if found is None or callable(found) else found


def _stand_in(node: _ReadValue) -> Any:
    """A number or a text that notes what is read of it; other values, such as devices, as they are."""
    for kind, noting in ((int, _Integer), (float, _Float), (str, _Text)):
        if isinstance(node.value, kind):
            made = noting(node.value)
            made.__dict__[_OWNER] = node
            return made
    return node.value


_OWNER = "_compile_lens_node"


def _node(value: Any) -> _ReadValue:
    found: _ReadValue = value.__dict__[_OWNER]
    return found


def _is_subscript(frame: FrameType) -> bool:
    """Whether the statement that ``frame`` is at takes one item, and no loop all of them."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("BINARY")


class _Noting:
    """How all stand-ins behave: as their values do, unless something is read of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _node(self).read(_node(self).attributes, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _node(self).is_object = True
        self.__dict__[name] = value

    def __getitem__(self, key: Any) -> Any:
        node = _node(self)
        if isinstance(key, str):
            found = node.read(node.keys, str(key))
            node.keys[str(key)].is_optional = False
            return found
        if isinstance(key, slice):
            return node.all_items()[key]
        # no `__iter__`: torch takes what has one for several numbers
        if key >= max(len(node.items), ITEMS) and not _is_subscript(sys._getframe(1)):
            raise IndexError(key)
        return node.all_items(max(key + 1, -key, ITEMS))[key]

    def __deepcopy__(self, memo: Any) -> Any:
        # of a model that keeps its configuration, and is copied: what the copy reads counts, too
        return self

    def __reversed__(self) -> Iterator[Any]:
        return iter(_node(self).all_items()[::-1])

    def __len__(self) -> int:
        return len(_node(self).all_items())

    def __contains__(self, value: object) -> bool:
        node = _node(self)
        if isinstance(value, str):
            node.has_members = True
            node.is_dict = not node.attributes and not node.is_object
            return value in node.keys
        return value in node.all_items()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _node(self).call(arguments, named)

    def __bool__(self) -> bool:
        return bool(_node(self).value)

    def __hash__(self) -> int:
        return hash(_node(self).value)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __eq__(self, other: object) -> bool:
        node = _node(self)
        if isinstance(other, str) and not isinstance(other, _Noting):
            node.texts.append(other)
            return node.texts[0] == other
        return bool(node.value == other)

    def get(self, key: str, default: Any = None) -> Any:
        """What a dictionary has; the default, where there is one."""
        node = _node(self)
        node.is_dict = True
        if key not in node.keys:
            if default is not None or node.keeps_defaults:
                return default
            node.read(node.keys, key)
            node.keys[key].is_optional = True
        return node.keys[key].stand_in

    def keys(self) -> Any:
        """The keys that were read."""
        _node(self).is_dict = _node(self).is_unpacked = True
        return _node(self).keys.keys()

    def items(self) -> Any:
        """The keys that were read, and stand-ins."""
        return [(name, self[name]) for name in self.keys()]

    def values(self) -> Any:
        """Stand-ins for what was read."""
        return [self[name] for name in self.keys()]


class _Integer(_Noting, int):
    __hash__ = _Noting.__hash__


class _Float(_Noting, float):
    __hash__ = _Noting.__hash__


class _Text(_Noting, str):
    __hash__ = _Noting.__hash__
