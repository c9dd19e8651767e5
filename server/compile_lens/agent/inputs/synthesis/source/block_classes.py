"""Finds the class that a constructor takes and constructs itself: `def __init__(self, block, layers)`, where `block(64, 64)` is called."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from types import ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of, source_of
from .guesses import CLASS_MAKERS, by_name

# as many arguments say which class it is
MANY = 2
_MAKES = re.compile(r"__init__|_?(?:make|build|create|stage)")


def class_to_construct(owner: Any, name: str, module: ModuleType) -> type | None:
    """A class of ``module`` that methods of ``owner`` can call as its parameter ``name``, and that has what they read of it."""
    calls, attributes = _uses(owner).get(name, ((), frozenset())) if isinstance(owner, type) else ((), frozenset())
    if not calls or by_name(CLASS_MAKERS, name) is not None:
        return None
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and hasattr(value, "forward")
        and not issubclass(value, owner)
        and not value.__module__.startswith("torch.")
        and all(hasattr(value, each) for each in attributes)
        and all(_accepts(value, call) for call in calls)
    ]
    word = name.replace("_", "").lower()
    if not attributes and max(len(call.args) + len(call.keywords) for call in calls) < MANY:
        named = [cls for cls in found if word in cls.__name__.lower()]
        # `encoder(num_classes=dim)`: the only class of the file that has such a parameter
        is_certain = len(found) == 1 and any(call.keywords for call in calls)
        found = found if is_certain else named
    return min(
        found,
        key=lambda cls: (word not in cls.__name__.lower(), cls.__module__ != module.__name__),
        default=None,
    )


def layer_to_construct(owner: Any, name: str) -> str | None:
    """The layer of torch's that a constructor of ``owner`` makes of its parameter ``name``, which is called like a kind of layer:
    `norm(32)`, `activation(inplace=True)`; None where it makes none. The norm after convolutions is one of channels."""
    usual = by_name(CLASS_MAKERS, name)
    calls = _uses(owner).get(name, ((), frozenset()))[0] if isinstance(owner, type) else ()
    made = [call for call in calls if isinstance(call.func, ast.Name)]
    if usual is None or usual.endswith(")") or not made or not all(map(_is_of_sizes, made)):
        return None
    if any(keyword.arg == "inplace" for call in made for keyword in call.keywords):
        return "torch.nn.ReLU"
    of_channels = re.search(r"\bConv([123])d\b", source_of(owner)) if usual == "torch.nn.LayerNorm" else None
    return f"torch.nn.BatchNorm{of_channels[1]}d" if of_channels is not None else usual


def _is_of_sizes(call: ast.Call) -> bool:
    """Whether ``call`` gets what a class is made with: no result of another call, as a layer gets."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return not any(isinstance(node, ast.Call) for each in given for node in ast.walk(each))


@functools.lru_cache(maxsize=256)
def _uses(owner: type) -> dict[str, tuple[tuple[ast.Call, ...], frozenset[str]]]:
    """For each name that methods of ``owner``, ``forward`` aside, call or read attributes of: the calls, and the attributes."""
    tree = parsed_source_of(owner)
    calls: dict[str, list[ast.Call]] = {}
    attributes: dict[str, set[str]] = {}
    for method in ast.walk(tree) if tree is not None else ():
        if not isinstance(method, ast.FunctionDef) or method.name == "forward":
            continue
        for node in ast.walk(method):
            # `self.model(x)` is a call of what was made, but where parts are made
            if isinstance(node, ast.Call) and (isinstance(node.func, ast.Name) or _MAKES.match(method.name)):
                calls.setdefault(_name(node.func), []).append(node)
            elif isinstance(node, ast.Attribute):
                attributes.setdefault(_name(node.value), set()).add(node.attr)
    return {name: (tuple(each), frozenset(attributes.get(name, ()))) for name, each in calls.items() if name}


def _name(node: ast.expr) -> str:
    """``block`` for ``block`` and ``self.block``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _accepts(cls: type, call: ast.Call) -> bool:
    """Whether the constructor of ``cls`` takes as many arguments as ``call`` has, and those of these names."""
    signature = attempted(lambda: inspect.signature(cls))
    if signature is None:
        return False
    is_open = any(isinstance(each, ast.Starred) for each in call.args) or any(k.arg is None for k in call.keywords)
    positional = [each for each in call.args if not isinstance(each, ast.Starred)]
    named = {keyword.arg: 0 for keyword in call.keywords if keyword.arg is not None}
    bind = signature.bind_partial if is_open else signature.bind
    return attempted(lambda: bind(*positional, **named)) is not None
