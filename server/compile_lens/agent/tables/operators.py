"""Operators of the running torch: schemas, tags, kernels, decompositions, lowerings, and where each is written."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..torch_internals import core, inductor
from .source import dotted, lines_of, read, walk

# namespaces of TorchScript and of torch's own tests
_LEFT_OUT = frozenset(
    {
        "prim",
        "static_runtime",
        "_test",
        "_inductor_test",
        "onnx",
        "onnx_symbolic",
        "profiler",
        "quantization",
        "_native",
        "mkldnn_prepacked",
    }
)
_DOCUMENTED = frozenset({"prims", "rngprims"})
_KEYS = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "Meta",
    "CPU",
    "CUDA",
    "Autograd",
)
_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:def|class)\s")
Place = str


class LoweringRegistrations:
    """The module-level line that registers each lowering, recorded while Inductor's lowerings are imported."""

    def __init__(self, relative: Callable[[str], str | None]) -> None:
        self.lines: dict[int, tuple[Any, Place]] = {}
        self._relative = relative
        self._order = 0

    def watch_import(self) -> None:
        """Import the lowerings and record the calls of ``_register_lowering``. They must not have been imported before."""
        import torch  # before the profiler is set: importing torch resets it

        # what lowerings need, so that only their own module runs under the profiler
        inductor.IR_MODULE.need()
        inductor.DECOMPOSITION_MODULE.need()
        assert inductor.LOWERING_MODULE.path not in sys.modules, torch.__version__
        sys.setprofile(self._record)
        try:
            inductor.LOWERING_MODULE.need()
        finally:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code.co_name not in ("_register_lowering", "_register_foreach_lowering"):
            return
        function = frame.f_locals.get("aten_fn")
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name != "<module>":
            caller = caller.f_back
        path = self._relative(caller.f_code.co_filename) if caller is not None else None
        if caller is not None and path is not None:
            self.lines[self._order] = (function, f"{path}:{caller.f_lineno}")
            self._order += 1

    def by_overload(self) -> dict[Any, Place]:
        """The location for each overload. A later registration replaces an earlier one; one for a packet only adds missing overloads."""
        packet_class: Any = core.OPERATORS.need().OpOverloadPacket

        found: dict[Any, Place] = {}
        for function, place in self.lines.values():
            for one in function if isinstance(function, (list, tuple)) else [function]:
                found[one] = place
                if isinstance(one, packet_class):
                    for name in one.overloads():
                        found.setdefault(getattr(one, name), place)
        return found


def operators(places: SourceLocations) -> dict[str, dict[str, Any]]:
    """Operators by packet (``aten.add``), with their overloads. Must be called before Inductor's lowerings are imported."""
    registrations = LoweringRegistrations(places.relative)
    registrations.watch_import()
    import torch

    lowering, decomposition = inductor.LOWERING_MODULE.need(), inductor.DECOMPOSITION_MODULE.need()
    registered = registrations.by_overload()
    core_decompositions, decompositions = core.CORE_DECOMPOSITIONS.need()(), core.DECOMPOSITIONS.need()
    fakes = core.FAKE_IMPLEMENTATIONS.get({})
    has_kernel, has_kernel_for_key = core.HAS_KERNEL.need(), core.HAS_KERNEL_FOR_KEY.need()
    found: dict[str, dict[str, Any]] = {}
    for schema in core.OPERATOR_SCHEMAS.need()():
        namespace, _, name = schema.name.partition("::")
        if namespace in _LEFT_OUT:
            continue
        overload_name = schema.overload_name or "default"
        try:
            overload = getattr(getattr(getattr(torch.ops, namespace), name), overload_name)
        except (AttributeError, RuntimeError):
            continue
        qualified = overload.name()
        if not has_kernel(qualified):
            continue  # an operator of TorchScript alone
        entry: dict[str, Any] = {
            "schema": str(schema),
            "tags": sorted(str(tag).rpartition(".")[2] for tag in overload.tags),
        }
        # torch documents primitives where it makes them; another operator has the text of its class
        if namespace in _DOCUMENTED and overload.__doc__:
            entry["doc"] = inspect.cleandoc(overload.__doc__)
        entry["kernels"] = [key for key in _KEYS if has_kernel_for_key(qualified, key)]
        python_meta = overload.py_kernels.get(torch.DispatchKey.Meta)
        entry["meta"] = places.of(python_meta)
        entry["fake"] = places.of(fakes.get(overload))
        entry["decomposition"] = places.of(decompositions.get(overload))
        entry["inductor_decomposition"] = places.of(decomposition.decompositions.get(overload))
        entry["core_decomposition"] = overload in core_decompositions
        handler = lowering.lowerings.get(overload)
        if handler is not None:
            entry["lowering"] = _lowering(places, handler, registered.get(overload))
        entry["fallback"] = overload in lowering.fallbacks
        packet = found.setdefault(f"{namespace}.{name}", {"overloads": {}})
        packet["overloads"][overload_name] = {key: value for key, value in entry.items() if value}
    _add_higher_order(found, places, lowering.lowerings, registered)
    return found


def _lowering(places: SourceLocations, handler: Any, registered: Place | None) -> dict[str, Any]:
    inner = inspect.unwrap(handler)
    name = getattr(inner, "__qualname__", "")
    described: dict[str, Any] = {"registered_at": registered, "at": places.of(inner), "name": name}
    if core.is_fallback(inner):
        described["makes"] = ["FallbackKernel"]
    elif name.startswith("make_pointwise."):
        described["makes"] = ["Pointwise"]
    elif name.startswith("make_reduction."):
        described["makes"] = ["Reduction"]
    else:
        described["makes"] = places.classes_made(inner)
    return {key: value for key, value in described.items() if value}


def _add_higher_order(
    found: dict[str, dict[str, Any]], places: SourceLocations, lowerings: dict[Any, Any], registered: dict[Any, Place]
) -> None:
    for name, operator in core.HIGHER_ORDER_OPERATORS.need().items():
        entry: dict[str, Any] = {
            "schema": f"higher_order::{name}",
            "doc": inspect.cleandoc(type(operator).__doc__ or "") if type(operator).__doc__ else "",
            "class_at": places.of(type(operator)),
        }
        handler = lowerings.get(operator)
        if handler is not None:
            entry["lowering"] = _lowering(places, handler, registered.get(operator))
        packet = found.setdefault(f"higher_order.{name}", {"overloads": {}})
        packet["overloads"]["default"] = {key: value for key, value in entry.items() if value}


class SourceLocations:
    """Finds where functions and classes are written, looking through decorators."""

    def __init__(self, root: str, relative: Callable[[str], str | None]) -> None:
        self._root = root
        self._find = relative
        self._paths: dict[str, str | None] = {}
        self._definitions: dict[str, dict[int, ast.FunctionDef | ast.ClassDef]] = {}

    def of(self, thing: Any) -> Place | None:
        """``torch/_decomp/decompositions.py:123``, the line of ``def``; None for code that is not Python or has no source."""
        if thing is None:
            return None
        try:
            inner = inspect.unwrap(thing)
        except ValueError:  # a circle of wrappers
            return None
        inner = getattr(inner, "func", inner)
        if inspect.isclass(inner):
            return self._of_class(inner)
        code: Any = getattr(inner, "__code__", None)
        path = self.relative(code.co_filename) if code is not None else None
        if path is None:
            return None
        line: int = code.co_firstlineno
        lines = lines_of(self._root, path)
        # the first line of decorated code is that of the decorator
        if lines[line - 1 : line] and lines[line - 1].lstrip().startswith("@"):
            line = next((at for at in range(line, len(lines) + 1) if _DEFINITION.match(lines[at - 1])), line)
        return f"{path}:{line}"

    def _of_class(self, kind: type) -> Place | None:
        """By a search of the text, because ``inspect`` parses the whole file for each class."""
        module = sys.modules.get(kind.__module__)
        path = self.relative(getattr(module, "__file__", None) or "")
        if path is None:
            return None
        header = re.compile(rf"\s*class {re.escape(kind.__name__)}\b")
        line = next((at for at, text in enumerate(lines_of(self._root, path), 1) if header.match(text)), None)
        return f"{path}:{line}" if line is not None else None

    def relative(self, file: str) -> str | None:
        """The path of a file of torch, as in places; None for another file."""
        if file not in self._paths:
            self._paths[file] = self._find(file) if file else None
        return self._paths[file]

    def classes_made(self, function: Any) -> list[str]:
        """Names in calls of ``X.create(…)`` and ``ir.X(…)`` in the function's own text."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        path = self.relative(code.co_filename) if code is not None else None
        definition = self._definition(path, code.co_firstlineno) if code is not None and path is not None else None
        names: list[str] = []
        for node in walk(definition) if definition is not None else ():
            if isinstance(node, ast.Call):
                parts = dotted(node.func).split(".")
                if parts[-1] == "create" and len(parts) > 1 and parts[-2][:1].isupper():
                    names.append(parts[-2])
                elif len(parts) == 2 and parts[0] == "ir" and parts[1][:1].isupper():
                    names.append(parts[1])
        return list(dict.fromkeys(names))

    def _definition(self, path: str, line: int) -> ast.FunctionDef | ast.ClassDef | None:
        """The definition whose first line, including decorators, is ``line``."""
        if path not in self._definitions:
            source = read(self._root, path)
            table: dict[int, ast.FunctionDef | ast.ClassDef] = {}
            for node in walk(source.tree) if source is not None else ():
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    table[min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])] = node
            self._definitions[path] = table
        return self._definitions[path].get(line)
