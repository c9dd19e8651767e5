"""Describes values as JSON that a script can be written from; where a value cannot be rebuilt, says why.

A description is a plain value (None, bool, int, str), or a dict with ``is`` and what that kind needs. ``id`` marks what may be the
same object elsewhere in the same description.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
import sys
from typing import Any

from ..torch_internals.attributes import original_function, original_module
from .construction import Constructions
from .slices import NotRebuildable, Slicer
from .tensors import describe_tensor, save

MAX_VALUES = 5000
MAX_DEPTH = 14


class Describer:
    """Describes values that belong together: the same object in two places has the same ``id``."""

    def __init__(
        self, slicer: Slicer, constructions: Constructions, exact_folder: str | None, first_number: int = 0
    ) -> None:
        self.unsupported: list[str] = []
        self._slicer = slicer
        self._constructions = constructions
        self._exact_folder = exact_folder
        self._count = 0
        self._numbers: dict[int, int] = {}
        self._first_number = first_number
        self._kept: list[Any] = []  # ids stay those of living objects
        self._open: set[int] = set()

    def _identity(self, value: Any) -> int:
        """A number that is the same for the same object, and in each run."""
        self._kept.append(value)
        return self._numbers.setdefault(id(value), self._first_number + len(self._numbers) + 1)

    def describe(self, value: Any, depth: int = 0) -> Any:
        """The description of ``value``; ``unsupported`` instead of what cannot be rebuilt."""
        try:
            return self._describe(value, depth)
        except NotRebuildable as problem:
            sentence = str(problem)
        except Exception as error:  # attributes and __repr__ of the user's may raise anything
            sentence = f"A value of type `{type(value).__qualname__}` could not be read ({type(error).__name__})."
        if sentence not in self.unsupported:
            self.unsupported.append(sentence)
        return {"is": "unsupported", "why": sentence}

    def _describe(self, value: Any, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_VALUES or depth > MAX_DEPTH:
            raise NotRebuildable("The inputs contain too many values for a script.")
        if value is None or value is Ellipsis or type(value) in (bool, str):
            return {"is": "ellipsis"} if value is Ellipsis else value
        if type(value) is int:
            return value
        if type(value) in (float, complex, bytes, range, slice):
            return self._plain(value)
        if id(value) in self._open:
            raise NotRebuildable(f"A value of type `{type(value).__qualname__}` contains itself.")
        self._open.add(id(value))
        try:
            return self._compound(value, depth)
        finally:
            self._open.discard(id(value))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return {"is": "code", "code": f"float({str(value)!r})"}
        return {"is": "code", "code": repr(value)}

    def _compound(self, value: Any, depth: int) -> Any:
        torch = sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.nn.Module):
            return self._module(value, depth)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"is": "code", "code": str(value)}
        if isinstance(value, torch.device):
            return {"is": "device", "device": str(value)}
        if isinstance(value, enum.Enum):
            return {"is": "attribute", "of": self._class(type(value)), "name": value.name}
        if isinstance(value, type):
            return self._class(value)
        if inspect.ismodule(value):
            return {"is": "python-module", "name": value.__name__}
        if inspect.ismethod(value):
            return {"is": "attribute", "of": self.describe(value.__self__, depth + 1), "name": value.__name__}
        if inspect.isroutine(value):
            return self._function(value)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._sequence(value, depth)
        if isinstance(value, dict) and not dataclasses.is_dataclass(value):
            return self._dict(value, depth)
        return self._object(value, depth)

    def _tensor(self, value: Any) -> Any:
        description = describe_tensor(value, self._exact_folder)
        if "why" in description:
            raise NotRebuildable(description["why"])
        return {"is": "tensor", "id": self._identity(value), **description}

    def _sequence(self, value: Any, depth: int) -> Any:
        kind = type(value)
        items = [self.describe(item, depth + 1) for item in value]
        if kind in (list, tuple, set, frozenset):
            return {"is": kind.__name__, "items": items}
        if hasattr(kind, "_fields"):
            return {"is": "call", "of": self._class(kind), "args": items, "kwargs": {}}
        if kind.__module__ == "torch" and kind.__name__ == "Size":
            return {
                "is": "call",
                "of": {"is": "code", "code": "torch.Size"},
                "args": [{"is": "list", "items": items}],
                "kwargs": {},
            }
        return {"is": "call", "of": self._class(kind), "args": [{"is": "list", "items": items}], "kwargs": {}}

    def _dict(self, value: Any, depth: int) -> Any:
        items = [[self.describe(key, depth + 1), self.describe(item, depth + 1)] for key, item in value.items()]
        if type(value) is dict:
            return {"is": "dict", "items": items}
        if hasattr(value, "default_factory"):
            factory = self.describe(value.default_factory, depth + 1)
            return {
                "is": "call",
                "of": self._class(type(value)),
                "args": [factory, {"is": "dict", "items": items}],
                "kwargs": {},
            }
        return {"is": "call", "of": self._class(type(value)), "args": [{"is": "dict", "items": items}], "kwargs": {}}

    def _class(self, value: Any) -> Any:
        return self._slicer.reference(value)

    def _function(self, value: Any) -> Any:
        value = original_function(value)
        if inspect.isgeneratorfunction(value) or inspect.isfunction(value) or inspect.isbuiltin(value):
            return self._slicer.reference(value)
        raise NotRebuildable(f"A callable of type `{type(value).__qualname__}` cannot be written into a script.")

    def _module(self, value: Any, depth: int) -> Any:
        value = original_module(value)
        if type(value).__name__ == "GraphModule":
            raise NotRebuildable("A `torch.fx.GraphModule` has no constructor that a script can call.")
        known = self._constructions.of(value)
        if known is None:
            raise NotRebuildable(f"The module `{type(value).__qualname__}` was not constructed in this run.")
        args, kwargs = without_defaults(type(value), known.args, known.kwargs)
        parameters = dict(value.named_parameters())
        return {
            "is": "module",
            "id": self._identity(value),
            "of": self._class(type(value)),
            "args": [self.describe(item, depth + 1) for item in args],
            "kwargs": {name: self.describe(item, depth + 1) for name, item in kwargs.items()},
            "training": value.training,
            "modes": {name: m.training for name, m in value.named_modules() if name and m.training != value.training},
            "frozen": [name for name, parameter in parameters.items() if not parameter.requires_grad],
            "parameters": len(parameters),
            "dtypes": sorted({str(p.dtype) for p in parameters.values() if p.is_floating_point()}),
            "devices": sorted({str(p.device) for p in parameters.values()}),
            "replaced": self._replaced(value, depth) if depth < 2 else {},
            "state": save(value.state_dict(), self._exact_folder) if depth < 2 and self._exact_folder else "",
        }

    def _replaced(self, value: Any, depth: int) -> dict[str, Any]:
        """Submodules that were set after the constructor, by dotted path."""
        given = {id(module) for module in _modules_in(self._constructions.of(value))}
        found: dict[str, Any] = {}
        for path, module in value.named_modules():
            known = self._constructions.of(module) if path else None
            inside = any(path.startswith(f"{other}.") for other in found)
            if known is None or known.within_parent or id(module) in given or inside:
                continue
            if not any(id(module) in given for _, module in value.named_modules() if path.startswith(f"{_}.")):
                found[path] = self.describe(module, depth + 1)
        return found

    def _object(self, value: Any, depth: int) -> Any:
        kind = type(value)
        module = kind.__module__.partition(".")[0]
        if inspect.isgenerator(value) or (hasattr(value, "__next__") and hasattr(value, "__iter__")):
            raise NotRebuildable(
                "An input is a generator or iterator, which can be read only once. Pass a list instead."
            )
        if module == "numpy":
            return self._numpy(value)
        if kind.__name__ == "partial" and module == "functools":
            kwargs = {name: self.describe(item, depth + 1) for name, item in value.keywords.items()}
            args = [self.describe(item, depth + 1) for item in (value.func, *value.args)]
            return {"is": "call", "of": self._class(kind), "args": args, "kwargs": kwargs}
        if hasattr(value, "to_diff_dict") and hasattr(kind, "model_type"):  # a configuration of transformers
            settings = {
                k: v
                for k, v in value.to_diff_dict().items()
                if k not in ("transformers_version", "model_type", "architectures")
            }
            kwargs = {name: self.describe(item, depth + 1) for name, item in settings.items()}
            attention = getattr(value, "_attn_implementation", None)
            if isinstance(attention, str):
                kwargs["attn_implementation"] = attention
            return {"is": "call", "of": self._class(kind), "args": [], "kwargs": kwargs}
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
            kwargs = {
                name: self.describe(item, depth + 1)
                for name, item in fields.items()
                if item is not None or module != "transformers"
            }
            return {"is": "call", "of": self._class(kind), "args": [], "kwargs": kwargs}
        return self._by_attributes(value, depth)

    def _by_attributes(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind.__module__ in ("builtins", "_io", "_thread", "socket", "re", "array", "collections") or not hasattr(
            value, "__dict__"
        ):
            raise NotRebuildable(
                f"A value of type `{kind.__module__}.{kind.__qualname__}` cannot be rebuilt in a script."
            )
        if "__reduce__" in vars(kind) and kind.__module__.partition(".")[0] == "torch":
            raise NotRebuildable(
                f"A value of type `{kind.__module__}.{kind.__qualname__}` cannot be rebuilt in a script."
            )
        attributes = {name: self.describe(item, depth + 1) for name, item in vars(value).items()}
        return {"is": "object", "id": self._identity(value), "of": self._class(kind), "attributes": attributes}

    def _numpy(self, value: Any) -> Any:
        if not hasattr(value, "dtype") or value.dtype.hasobject:
            raise NotRebuildable(f"A value of type `numpy.{type(value).__qualname__}` cannot be rebuilt in a script.")
        if value.ndim == 0 and not hasattr(value, "__array_finalize__"):
            return {"is": "numpy", "scalar": True, "dtype": str(value.dtype), "value": repr(value.item())}
        if value.size > 256:
            shape = {"is": "code", "code": repr(tuple(value.shape))}
            return {"is": "numpy", "scalar": False, "dtype": str(value.dtype), "shape": shape["code"], "value": None}
        return {"is": "numpy", "scalar": False, "dtype": str(value.dtype), "value": repr(value.tolist())}


def without_defaults(
    kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments without those that equal the constructor's defaults."""
    try:
        parameters: Any = inspect.signature(kind.__init__).parameters
    except (TypeError, ValueError):
        return args, kwargs
    kept = {}
    for name, value in kwargs.items():
        default = parameters[name].default if name in parameters else inspect.Parameter.empty
        same = default is value or (
            type(default) is type(value) and isinstance(value, (int, float, str)) and default == value
        )
        if not same:
            kept[name] = value
    return args, kept


def _modules_in(construction: Any) -> list[Any]:
    torch = sys.modules["torch"]
    if construction is None:
        return []
    leaves: list[Any] = []
    for value in (*construction.args, *construction.kwargs.values()):
        for item in (
            value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        ):
            if isinstance(item, torch.nn.Module):
                leaves += item.modules()
    return leaves
