"""Operators as the running torch knows them: schemas, tags, kernels, decompositions, lowerings, and where each is written."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .source import dotted, read

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
_KEYS = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "Meta",
    "CPU",
    "CUDA",
    "Autograd",
)
Place = str


class Registrations:
    """The module-level line at which each lowering is registered, seen while Inductor's lowerings are imported."""

    def __init__(self, relative: Callable[[str], str | None]) -> None:
        self.lines: dict[int, tuple[Any, Place]] = {}
        self._relative = relative
        self._order = 0

    def watch_import(self) -> None:
        """Import the lowerings with an eye on ``_register_lowering``; once imported, nothing can be seen any more."""
        import torch  # before the profiler: importing torch takes it away

        assert "torch._inductor.lowering" not in sys.modules, torch.__version__
        sys.setprofile(self._seen)
        try:
            import torch._inductor.lowering
        finally:
            sys.setprofile(None)

    def _seen(self, frame: FrameType, event: str, _: Any) -> None:
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
        """The place for each overload. A later registration replaces an earlier one; one for a packet adds what is not yet there."""
        import torch

        found: dict[Any, Place] = {}
        for function, place in self.lines.values():
            for one in function if isinstance(function, (list, tuple)) else [function]:
                found[one] = place
                if isinstance(one, torch._ops.OpOverloadPacket):
                    for name in one.overloads():
                        found.setdefault(getattr(one, name), place)
        return found


def operators(root: str, relative: Callable[[str], str | None]) -> dict[str, dict[str, Any]]:
    """Operators by packet (``aten.add``), with their overloads. Imports Inductor; call it before anything else does."""
    registrations = Registrations(relative)
    registrations.watch_import()
    import torch
    from torch._inductor import decomposition, lowering
    from torch._subclasses import fake_impls

    places = Places(root, relative)
    registered = registrations.by_overload()
    core = torch._decomp.core_aten_decompositions()
    fakes = getattr(fake_impls, "op_implementations_dict", {})
    found: dict[str, dict[str, Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace in _LEFT_OUT:
            continue
        overload_name = schema.overload_name or "default"
        try:
            overload = getattr(getattr(getattr(torch.ops, namespace), name), overload_name)
        except (AttributeError, RuntimeError):
            continue
        qualified = overload.name()
        if not torch._C._dispatch_has_kernel(qualified):
            continue  # TorchScript's own: no kernel in the dispatcher
        entry: dict[str, Any] = {
            "schema": str(schema),
            "tags": sorted(str(tag).rpartition(".")[2] for tag in overload.tags),
        }
        entry["kernels"] = [key for key in _KEYS if torch._C._dispatch_has_kernel_for_dispatch_key(qualified, key)]
        python_meta = overload.py_kernels.get(torch._C.DispatchKey.Meta)
        entry["meta"] = places.of(python_meta)
        entry["fake"] = places.of(fakes.get(overload))
        entry["decomposition"] = places.of(torch._decomp.decomposition_table.get(overload))
        entry["inductor_decomposition"] = places.of(decomposition.decompositions.get(overload))
        entry["core_decomposition"] = overload in core
        handler = lowering.lowerings.get(overload)
        if handler is not None:
            entry["lowering"] = _lowering(places, handler, registered.get(overload))
        entry["fallback"] = overload in lowering.fallbacks
        packet = found.setdefault(f"{namespace}.{name}", {"overloads": {}})
        packet["overloads"][overload_name] = {key: value for key, value in entry.items() if value}
    _add_higher_order(found, places, lowering.lowerings, registered)
    return found


def _lowering(places: Places, handler: Any, registered: Place | None) -> dict[str, Any]:
    inner = inspect.unwrap(handler)
    name = getattr(inner, "__qualname__", "")
    said: dict[str, Any] = {"registered_at": registered, "at": places.of(inner), "name": name}
    if getattr(inner, "_is_fallback_handler", False):
        said["makes"] = ["FallbackKernel"]
    elif name.startswith("make_pointwise."):
        said["makes"] = ["Pointwise"]
    elif name.startswith("make_reduction."):
        said["makes"] = ["Reduction"]
    else:
        said["makes"] = places.classes_made(inner)
    return {key: value for key, value in said.items() if value}


def _add_higher_order(
    found: dict[str, dict[str, Any]], places: Places, lowerings: dict[Any, Any], registered: dict[Any, Place]
) -> None:
    import torch._ops

    for name, operator in torch._ops._higher_order_ops.items():
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


class Places:
    """Where functions and classes are written, decorators taken off."""

    def __init__(self, root: str, relative: Callable[[str], str | None]) -> None:
        self._root = root
        self._relative = relative
        self._definitions: dict[str, dict[int, ast.FunctionDef | ast.ClassDef]] = {}

    def of(self, thing: Any) -> Place | None:
        """``torch/_decomp/decompositions.py:123``, the line of ``def``; None for what is not written in Python, or made at run time."""
        if thing is None:
            return None
        try:
            inner = inspect.unwrap(thing)
            inner = getattr(inner, "func", inner)
            if inspect.isclass(inner):
                file, line = inspect.getsourcefile(inner), inspect.getsourcelines(inner)[1]
            else:
                code = getattr(inner, "__code__", None)
                if code is None:
                    return None
                file, line = code.co_filename, code.co_firstlineno
        except (TypeError, OSError, ValueError):
            return None
        path = self._relative(file) if file else None
        if path is None:
            return None
        definition = self._definition(path, line)
        return f"{path}:{definition.lineno if definition is not None else line}"

    def classes_made(self, function: Any) -> list[str]:
        """Names in ``X.create(…)`` and ``ir.X(…)`` in the function's own text."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        path = self._relative(code.co_filename) if code is not None else None
        definition = self._definition(path, code.co_firstlineno) if code is not None and path is not None else None
        names: list[str] = []
        for node in ast.walk(definition) if definition is not None else ():
            if isinstance(node, ast.Call):
                parts = dotted(node.func).split(".")
                if parts[-1] == "create" and len(parts) > 1 and parts[-2][:1].isupper():
                    names.append(parts[-2])
                elif len(parts) == 2 and parts[0] == "ir" and parts[1][:1].isupper():
                    names.append(parts[1])
        return list(dict.fromkeys(names))

    def _definition(self, path: str, line: int) -> ast.FunctionDef | ast.ClassDef | None:
        """The definition whose first line, decorators counted, is ``line``."""
        if path not in self._definitions:
            source = read(self._root, path)
            table: dict[int, ast.FunctionDef | ast.ClassDef] = {}
            for node in ast.walk(source.tree) if source is not None else ():
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    table[min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])] = node
            self._definitions[path] = table
        return self._definitions[path].get(line)
