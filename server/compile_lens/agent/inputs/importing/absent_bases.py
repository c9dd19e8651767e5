"""Gives a class a base where its own is not installed: ``torch.nn.Module`` if it is a model, else one that keeps what it is passed.

What such a class takes from its base is in the file: attributes that it reads of ``self`` and that nothing sets, methods that it calls
for their effect, names that it passes to the base's constructor. They are plain attributes and functions, so that a compiler sees nothing
of the stub.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ...runtime.parsed_source import parsed_file

# a class with one of these is a model, also if its `forward` is left to subclasses
_OF_MODELS = frozenset({"forward", "training_step"})
_LAYERS = frozenset({"nn", "torch.nn"})


class AbsentBase:
    """The base of a class whose own is not installed: it accepts any arguments, and keeps those that have a name."""

    _compile_lens_positional: tuple[str, ...] = ()

    def __init_subclass__(cls, **_: object) -> None:
        super().__init_subclass__()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._compile_lens_keep(args, kwargs)

    def _compile_lens_keep(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for name, value in (*zip(self._compile_lens_positional, args, strict=False), *kwargs.items()):
            known = getattr(type(self), name, None)
            if name and not callable(known) and not isinstance(known, property):
                setattr(self, name, value)


def initialize_base(made: object, *args: Any, **kwargs: Any) -> None:
    """What the constructor of a base that is not installed does where a class calls it by name. A module that has been initialized keeps
    its layers."""
    if isinstance(made, AbsentBase):
        if "_modules" in vars(made):
            made._compile_lens_keep(args, kwargs)
        else:
            AbsentBase.__init__(made, *args, **kwargs)


class ModelBase(AbsentBase):
    """The base of a model."""


def bases_in_place_of(stub: object, bases: tuple[Any, ...], frame: FrameType) -> tuple[type, ...] | None:
    """What the class statement that runs in ``frame`` has in place of the base ``stub``, one of its ``bases``; None if it is not known."""
    read = _class_at(frame.f_code.co_filename, frame.f_lineno)
    if read is None:
        return None
    if next(base for base in bases if type(base) is type(stub)) is not stub:
        return ()  # one stands for all
    others = [base for base in bases if isinstance(base, type)]
    base: type = ModelBase if read.is_model else AbsentBase
    torch: Any = sys.modules.get("torch")
    if read.is_model and torch is not None and not any(issubclass(other, torch.nn.Module) for other in others):
        base = type("AbsentModule", (ModelBase, torch.nn.Module), {"__module__": __name__})
    given: dict[str, Any] = {"_compile_lens_positional": read.positional, "__module__": __name__}
    inherited = {name for other in others for name in dir(other)} | set(dir(base))
    for name in read.wanted - inherited:
        made = _PROPERTIES.get(name) if read.is_model else None
        if made is not None:
            given[name] = made
        elif name in read.called:
            given[name] = _save_hyperparameters if name == "save_hyperparameters" else _do_nothing
    return (type(base.__name__, (base,), given),)


def _do_nothing(self: object, *_: object, **__: object) -> None:
    """A method of the base that is called for its side effect."""


def _save_hyperparameters(self: Any, *_: object, **__: object) -> None:
    """Keep the arguments of the constructor that calls this as ``self.hparams``, as Lightning does."""
    given = dict(sys._getframe(1).f_locals)
    self.__dict__["hparams"] = types.SimpleNamespace(
        **{name: value for name, value in given.items() if name not in ("self", "__class__")}
    )


def _of_parameters(name: str, default: str) -> property:
    def value(self: Any) -> Any:
        import torch

        first = next(self.parameters(), None)
        return getattr(torch.tensor(0.0) if first is None else first, name)

    return property(value, doc=f"The {name} of the parameters; {default} without any.")


_PROPERTIES = {"device": _of_parameters("device", "the CPU"), "dtype": _of_parameters("dtype", "float32")}


@dataclass(frozen=True)
class _Class:
    """What the source shows of a class. ``wanted``: names read of ``self`` that nothing in the file sets; ``called``: those that are
    called and whose results are dropped; ``positional``: the wanted names among the positional arguments of the base's constructor."""

    is_model: bool
    wanted: frozenset[str]
    called: frozenset[str]
    positional: tuple[str, ...]


@functools.lru_cache(maxsize=64)
def _class_at(path: str, line: int) -> _Class | None:
    tree = parsed_file(path)
    if tree is None:
        return None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    around = [node for node in classes if _first(node) <= line <= (node.end_lineno or line)]
    if not around:
        return None
    node = max(around, key=_first)
    family = [node, *_subclasses(node.name, classes)]
    set_here = {name for each in family for name in _set(each)}
    wanted = {name for each in family for name in _read(each)} - set_here
    return _Class(
        any(_is_model(each) for each in family),
        frozenset(wanted),
        frozenset(name for each in family for name in _called(each)),
        next(filter(None, _passed(node, wanted)), ()),
    )


def _first(node: ast.ClassDef) -> int:
    return min((each.lineno for each in node.decorator_list), default=node.lineno)


def _subclasses(name: str, classes: Iterable[ast.ClassDef]) -> list[ast.ClassDef]:
    """The classes of the file that inherit from ``name``, directly or not."""
    found: list[ast.ClassDef] = []
    names = {name}
    for node in classes:  # in the order of the file: a base is defined before
        if any(isinstance(base, ast.Name) and base.id in names for base in node.bases):
            names.add(node.name)
            found.append(node)
    return found


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    yield from (each for each in node.body if isinstance(each, ast.FunctionDef))


def _is_model(node: ast.ClassDef) -> bool:
    """Whether it defines what models define, or assigns a layer of torch to ``self``."""
    if any(method.name in _OF_MODELS for method in _methods(node)):
        return True
    return any(
        isinstance(each, ast.Assign)
        and any(_of_self(target) for target in each.targets)
        and isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Attribute)
        and ast.unparse(each.value.func.value) in _LAYERS
        for each in ast.walk(node)
    )


def _of_self(node: ast.AST) -> str:
    """``x`` of ``self.x``; '' for anything else."""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""


def _set(node: ast.ClassDef) -> Iterator[str]:
    """What the class defines, and what it assigns to ``self`` anywhere."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield each.name
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield _of_self(part)


def _read(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and (name := _of_self(part)):
            yield name


def _called(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and (name := _of_self(part.value.func)):
            yield name


def _passed(node: ast.ClassDef, wanted: set[str]) -> Iterator[tuple[str, ...]]:
    """The names in ``super().__init__(config, x)`` and ``Base.__init__(self, config, x)``, '' for those that nothing reads of ``self``."""
    for method in _methods(node):
        for call in ast.walk(method) if method.name == "__init__" else ():
            is_of_base = (
                isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
            )
            if is_of_base and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                given = call.args if isinstance(call.func.value, ast.Call) else call.args[1:]
                yield tuple(a.id if isinstance(a, ast.Name) and a.id in wanted else "" for a in given)
