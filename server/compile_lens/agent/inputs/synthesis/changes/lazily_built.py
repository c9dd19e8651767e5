"""What a program builds later: objects that record a class and the arguments for it, and dictionaries that name it (`_target_`).

`LazyCall(Block)(width=64)` and `instantiate(cfg.block)` are the best known; packages have classes and functions like these of their own.
What they build here is a module that takes any arguments and changes nothing.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from ..errors.failing_lines import failing_lines
from ..source.constructor_parameters import constructor_parameters
from ..terms.arguments import INSIDE, Argument, Constructed, Expression
from ..terms.candidate import Candidate
from .other_values import ANY_CLASS

_BUILDERS = frozenset({"instantiate", "instantiate_class", "build_from_cfg", "build_from_config"})
_TARGET = Expression(f'{{"_target_": "{ANY_CLASS}"}}')


def lazily_built(cls: type, path: str) -> Argument | None:
    """What an object of ``cls``, which is written ``path``, makes of a module: `LazyCall(torch.nn.Identity)()`; None where objects of the
    class do not record what they are called with by name."""
    called = next((vars(base)["__call__"] for base in cls.__mro__ if "__call__" in vars(base)), None)
    if not inspect.isfunction(called) or hasattr(cls, "forward"):
        return None
    parameters = attempted(lambda: list(inspect.signature(called).parameters.values())[1:]) or []
    required = [info for info in constructor_parameters(cls) if info.required]
    takes_names_alone = bool(parameters) and all(each.kind is each.VAR_KEYWORD for each in parameters)
    return Constructed(f"{path}({ANY_CLASS})", ()) if takes_names_alone and len(required) == 1 else None


def with_targets(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which what a failing line has built by a dictionary is one that names a module: `instantiate(self.cfg.block)`."""
    for line in failing_lines(error):
        tree = parsed(line) or parsed(f"{line.rstrip(':,')}\n")
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and node.args and _called(node) in _BUILDERS:
                steps = _steps(node.args[0])
                if not steps or candidate.arguments.get(steps[0]) is None:
                    continue
                changed = candidate.arguments.with_argument(INSIDE.join(steps), _TARGET)
                if changed != candidate.arguments:
                    yield Candidate(changed, copy.deepcopy(candidate.unknowns))


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def _steps(node: Any) -> list[str]:
    """The names that lead to a value, without `self`: ``config``, ``block`` for `self.config["block"]`."""
    match node:
        case ast.Name(name) | ast.Attribute(ast.Name("self"), name):
            return [name.strip("_")]
        case ast.Attribute(value, name) | ast.Subscript(value, ast.Constant(str(name))):
            outer = _steps(value)
            return [*outer, name] if outer else []
    return []
