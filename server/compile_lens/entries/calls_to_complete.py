"""Writes a call from the signature alone, with `...` for each argument that is to be filled in: for what no search came to a call of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from compile_lens.entries.module_classes import ancestry, bases_of
from compile_lens.entries.targets import literal_calls
from compile_lens.syntax.definitions import Definition, Parameter, definitions
from compile_lens.syntax.tree import SourceTree, kept_with_tree

CONSTRUCTOR, USUAL = "__init__", ("forward", "__call__")
# of a signature that is in another file
UNKNOWN = "..."


def call_to_complete(tree: SourceTree, name: str) -> str:
    """A call of the class, method or function ``name`` of the file: what calls in the file pass as literals, and `...` for the other
    arguments that are required; '' where there is no such name."""
    known = _known(tree)
    found, (owner, _, method) = known.get(name), name.rpartition(".")
    if found is None and method == "apply" and owner in known:
        # of a `torch.autograd.Function`, whose `forward` gets a context first
        forward = known.get(f"{owner}.forward")
        return f"{name}({_positional(forward)})" if forward is not None else ""
    if found is None or "<locals>" in name:
        return ""
    if found.kind == "function" and not owner:
        return f"{name}({_arguments(found.parameters, {})})"
    owner = name if found.kind == "class" else owner
    if owner not in known:
        return ""
    making = f"{owner}({_constructor(tree, owner, known)})"
    if found.kind == "function":
        arguments = _arguments(_passed(found), {})
        if any(each.endswith(("classmethod", "staticmethod")) for each in found.decorators):
            return f"{name}({arguments})"
        suffix = "" if found.name in USUAL else f".{found.name}"
        return f"{making}{suffix}({arguments})"
    called = next(filter(None, (_inherited(tree, owner, each, known) for each in USUAL)), None)
    return f"{making}({_arguments(_passed(called), {}) if called is not None else UNKNOWN})"


def words_of_arguments(tree: SourceTree, name: str) -> dict[str, str]:
    """The arguments that are to be filled in of that call, with their annotations; '' for one without."""
    known = _known(tree)
    owner = name if name in known and known[name].kind == "class" else name.rpartition(".")[0]
    methods = USUAL if owner == name else (name.rpartition(".")[2],)
    called = next(filter(None, (_inherited(tree, owner, each, known) for each in methods)), known.get(name))
    makers = _inherited(tree, owner, CONSTRUCTOR, known) if owner else None
    found: dict[str, str] = {}
    for each in (called, makers):
        if each is not None and each.kind == "function":
            required = _required(_passed(each))
            found |= {one.name: f"`{one.annotation}`" if one.annotation else "" for one in required}
    return found


def _passed(function: Definition) -> tuple[Parameter, ...]:
    """The parameters that a call passes: of a method, without the object or the class that it is of."""
    is_static = any(each.endswith("staticmethod") for each in function.decorators)
    return function.parameters if is_static or "." not in function.qualified_name else function.parameters[1:]


@kept_with_tree
def _known(tree: SourceTree) -> dict[str, Definition]:
    """Classes and functions by their names, without the parameters that take any number: `*args`, `**kwargs`."""
    return {
        each.qualified_name: msgspec.structs.replace(
            each, parameters=tuple(one for one in each.parameters if not _takes_many(tree, one))
        )
        for each in definitions(tree)
        if each.kind in ("class", "function")
    }


def _takes_many(tree: SourceTree, parameter: Parameter) -> bool:
    before = tree.line_text(parameter.place.line)[: parameter.place.column - 1]
    return before.rstrip().endswith("*")


def _constructor(tree: SourceTree, owner: str, known: Mapping[str, Definition]) -> str:
    constructor = _inherited(tree, owner, CONSTRUCTOR, known)
    if constructor is None:
        elsewhere = any(not base.endswith(("Module", "ABC", "object")) for base in _above(tree, owner, known))
        return UNKNOWN if elsewhere else ""
    own = _passed(constructor)
    given = literal_calls(tree, {owner: [each.name for each in own]}, is_partial=True).get(owner, {})
    return _arguments(own, given)


def _inherited(tree: SourceTree, owner: str, method: str, known: Mapping[str, Definition]) -> Definition | None:
    classes = ancestry(owner, bases_of(tree))
    return next((known[name] for each in classes if (name := f"{each}.{method}") in known), None)


def _above(tree: SourceTree, name: str, known: Mapping[str, Definition]) -> Iterator[str]:
    """The bases of a class that are in other files."""
    bases = bases_of(tree)
    yield from (base for each in ancestry(name, bases) for base in bases.get(each, ()) if base not in known)


def _positional(function: Definition) -> str:
    return ", ".join(UNKNOWN for _ in _required(function.parameters[1:]))


def _arguments(parameters: Iterable[Parameter], given: Mapping[str, str]) -> str:
    own = list(parameters)
    required = {each.name for each in _required(own)}
    named = [each.name for each in own if each.name in required or each.name in given]
    return ", ".join(f"{name}={given.get(name, UNKNOWN)}" for name in named)


def _required(parameters: Iterable[Parameter]) -> list[Parameter]:
    return [each for each in parameters if not each.default]
