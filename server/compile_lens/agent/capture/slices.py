"""Collects the source that a value needs: definitions, imports, constants and registrations of the user's own files, found by name.

Names are followed from the text of a definition to the statements that bind them at the top level of its file, recursively, and
into the user's files that they are imported from. The script imports code of installed packages and never copies it.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import sys
from collections.abc import Container
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .source_text import SourceText, compiles

if TYPE_CHECKING:
    from .describe import Describer

SIMPLE = (bool, int, float, str, type(None))
MISSING = object()


class NotRebuildable(Exception):
    """A value that a script cannot rebuild; its text is one sentence."""


class Slicer:
    """What is needed so far, of all files."""

    def __init__(self, library_roots: tuple[str, ...], own_folder: str) -> None:
        self._library = (*library_roots, own_folder)
        self._modules: dict[str, ModuleSlice] = {}

    def is_own(self, module: ModuleType | None) -> bool:
        """Whether ``module`` is the user's: the script, or a file outside of installed packages."""
        return self.is_own_file(getattr(module, "__file__", None) or "")

    def is_own_file(self, file: str) -> bool:
        """Whether ``file`` is outside of installed packages."""
        return bool(file) and not file.startswith((*self._library, "<"))

    def assigns(self, attribute: str) -> bool:
        """Whether a statement that is copied sets an attribute of that name of something in a library."""
        return any(part.assigns(attribute) for part in self._modules.values())

    def take_registrations(self) -> None:
        """Take what the script registers with torch or replaces in it, even if nothing else of the script is needed."""
        main = sys.modules.get("__main__")
        if main is not None and self.is_own(main):
            self.module(main).take_registrations()

    def reference(self, value: Any) -> dict[str, Any]:
        """How a script refers to the class or function ``value``: by import, or by a definition copied into it."""
        module = sys.modules.get(getattr(value, "__module__", None) or "")
        name = getattr(value, "__qualname__", getattr(value, "__name__", ""))
        if module is None or not self.is_own(module):
            return self._imported(value, module, name)
        part = self.module(module)
        if "<" in name:
            return {"is": "name", "name": part.need_local(value)}
        part.need(name.partition(".")[0])
        return {"is": "name", "name": name, "module": module.__name__}

    def _imported(self, value: Any, module: ModuleType | None, name: str) -> dict[str, Any]:
        owner = module
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is not value and inspect.isbuiltin(value):
            public = getattr(sys.modules.get("torch"), value.__name__, None)
            # the program may have replaced it: where the script defines functions, it has not yet
            code = getattr(public, "__code__", None)
            if public is value or (code is not None and self.is_own_file(code.co_filename)):
                return {"is": "name", "name": f"torch.{value.__name__}", "import": "torch"}
        if module is None or owner is None or "<" in name:
            raise NotRebuildable(
                f"A script cannot import {f'`{name}`' if name else 'a callable'} from where it is defined."
            )
        if module is builtins:
            return {"is": "name", "name": name}
        public = _public(module.__name__, name, value)
        return {"is": "name", "name": f"{public}.{name}", "import": public}

    def module(self, module: ModuleType) -> ModuleSlice:
        """The slice of one of the user's files."""
        found = self._modules.get(module.__name__)
        if found is None:
            found = self._modules[module.__name__] = ModuleSlice(self, module)
        return found

    def simple_globals(self) -> dict[str, Any]:
        """Current values of the script's globals that are plain data, by name: they may change between calls."""
        main = self._modules.get("__main__")
        return main.simple_values() if main is not None else {}

    def result(self, describer: Describer) -> dict[str, Any]:
        """All that is needed: files in the order of a script (imported files first, the script last)."""
        # describing a value may need more names
        described: dict[tuple[str, str], Any] = {}
        while True:
            open_values = [
                (part.name, name, value)
                for part in list(self._modules.values())
                for name, value in part.open_values()
                if (part.name, name) not in described
            ]
            if not open_values:
                break
            for part_name, name, value in open_values:
                described[part_name, name] = describer.describe(value)
        order = {name: -number for number, name in enumerate(list(sys.modules))}
        parts = sorted(self._modules.values(), key=lambda part: (part.name == "__main__", order.get(part.name, 0)))
        return {"files": [part.result(described) for part in parts], "unsupported": describer.unsupported}


class ModuleSlice:
    """What is needed of one file: statements by line, and values by the line that binds them."""

    def __init__(self, slicer: Slicer, module: ModuleType) -> None:
        self.name = module.__name__
        self.values: dict[str, tuple[int, Any]] = {}
        self._slicer = slicer
        self._module = module
        self._text = SourceText(str(module.__file__))
        self._names: set[str] = set()
        self._taken: dict[int, ast.stmt] = {}
        self._locals: dict[str, dict[str, Any]] = {}
        self._imports: list[str] = []
        self._aliases: list[tuple[int, str]] = []
        self._has_registrations = False

    def need(self, name: str) -> None:
        """Add what binds ``name`` at the top level, and what that needs in turn."""
        if name in self._names:
            return
        self._names.add(name)
        statements = self._text.bindings.get(name, [])
        value = vars(self._module).get(name, MISSING)
        if not statements:
            if value is not MISSING and not hasattr(builtins, name):
                self._take_unbound(name, value)
            return
        for statement in statements:
            self._take_binding(name, statement, value)
        for statement in self._text.uses_of(name):
            self._take(statement)
        self.take_registrations()

    def _take_unbound(self, name: str, value: Any) -> None:
        """A name from ``import *``, or one set while the program ran."""
        if self._text.star_imports:
            self._imports += [text for text in self._text.star_imports if text not in self._imports]
        elif not name.startswith("__"):
            self.values.setdefault(name, (0, value))

    def _take_binding(self, name: str, statement: ast.stmt, value: Any) -> None:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._take_import(name, statement, value)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._take(statement)
        elif isinstance(statement, ast.Assign) and compiles(statement.value):
            # describe what `f = torch.compile(g)` wraps instead, unless a definition has the same name
            if not any(isinstance(other, (ast.FunctionDef, ast.ClassDef)) for other in self._text.bindings[name]):
                self.values[name] = (statement.lineno, value)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and self._is_constant(statement):
            self._take(statement)
        elif value is not MISSING and self._is_data(value):
            self.values[name] = (statement.lineno, value)
        else:
            self._take(statement)

    def _is_constant(self, statement: ast.Assign | ast.AnnAssign) -> bool:
        """Whether a name is bound once, to a literal: the program's own text is then better than a description."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if len(targets) != 1 or not isinstance(targets[0], ast.Name) or statement.value is None:
            return False
        name = targets[0].id
        if len(self._text.bindings[name]) > 1 or name in self._text.changed_globals:
            return False
        try:
            return bool(ast.literal_eval(statement.value) == vars(self._module).get(name, MISSING))
        except (ValueError, TypeError, SyntaxError):
            return False

    def _is_data(self, value: Any) -> bool:
        torch = sys.modules["torch"]
        kinds = (*SIMPLE, list, tuple, dict, set, torch.Tensor, torch.nn.Module, torch.dtype, torch.device)
        return isinstance(value, kinds) or type(value).__module__.partition(".")[0] in ("numpy", "transformers")

    def _take_import(self, name: str, statement: ast.Import | ast.ImportFrom, value: Any) -> None:
        if isinstance(statement, ast.ImportFrom):
            source = sys.modules.get(self._resolved(statement))
            if statement.module == "__future__":
                return
            if source is not None and self._slicer.is_own(source):
                original = next((a.name for a in statement.names if (a.asname or a.name) == name), name)
                if not inspect.ismodule(value):
                    self._slicer.module(source).need(original)
                    if original != name:
                        self._aliases.append((statement.lineno, f"{name} = {original}"))
                    return
            alias = next(a for a in statement.names if (a.asname or a.name) == name)
            as_name = f" as {alias.asname}" if alias.asname else ""
            self._add_import(f"from {self._resolved(statement)} import {alias.name}{as_name}")
            return
        for alias in statement.names:
            if (alias.asname or alias.name.partition(".")[0]) == name:
                as_name = f" as {alias.asname}" if alias.asname else ""
                self._add_import(f"import {alias.name}{as_name}")

    def _resolved(self, statement: ast.ImportFrom) -> str:
        relative = "." * statement.level + (statement.module or "")
        package = getattr(self._module, "__package__", None)
        return importlib.util.resolve_name(relative, package) if statement.level and package else statement.module or ""

    def _add_import(self, text: str) -> None:
        if text not in self._imports:
            self._imports.append(text)

    def _take(self, statement: ast.stmt) -> None:
        if statement.lineno in self._taken:
            return
        self._taken[statement.lineno] = statement
        self._names |= {name for name, bound in self._text.bindings.items() if bound == [statement]}
        self._take_names(statement)

    def assigns(self, attribute: str) -> bool:
        """Whether a statement that was taken sets an attribute of that name."""
        return any(
            isinstance(target, ast.Attribute) and target.attr == attribute
            for statement in self._taken.values()
            if isinstance(statement, ast.Assign)
            for target in statement.targets
        )

    def take_registrations(self) -> None:
        """Operators, lowerings and backends that the program registers: code that uses them does not name them."""
        if not self._has_registrations:
            self._has_registrations = True
            for statement in self._text.registrations():
                self._take(statement)

    def need_local(self, value: Any) -> str:
        """Copy a lambda, or a function or class defined inside a function, to the top level. Returns its name there."""
        node = self._text.definition_of(value)
        if node is None:
            raise NotRebuildable(f"The source of `{value.__qualname__}` was not found in {self._text.file}.")
        name = getattr(node, "name", f"function_{node.lineno}_{node.col_offset}")
        key = f"{name}:{node.lineno}:{node.col_offset}"
        if key in self._locals:
            return name
        free = closure(value)
        self._locals[key] = {"name": name, "text": self._text.dedented(node, name), "line": node.lineno, "free": free}
        self._take_names(node, free)
        return name

    def _take_names(self, node: ast.AST, known: Container[str] = ()) -> None:
        for name in self._text.names_in(node):
            if name not in known:
                self.need(name)
        for module in self._text.submodules_in(node, sys.modules):
            self._add_import(f"import {module}")

    def simple_values(self) -> dict[str, Any]:
        """Current values of what was taken, where they are plain data."""
        now = vars(self._module)
        return {name: now[name] for name in self.values if isinstance(now.get(name, MISSING), SIMPLE)}

    def open_values(self) -> list[tuple[str, Any]]:
        """Values that need a description: globals by name, free variables by the names of their function and their own."""
        free = [
            (f"{key}.{name}", value) for key, local in self._locals.items() for name, value in local["free"].items()
        ]
        return [(name, value) for name, (_, value) in self.values.items()] + free

    def result(self, described: dict[tuple[str, str], Any]) -> dict[str, Any]:
        """The slice as JSON."""
        locals_ = [
            {**local, "free": {name: described[self.name, f"{key}.{name}"] for name in local["free"]}}
            for key, local in self._locals.items()
        ]
        items: list[dict[str, Any]] = [
            {"line": line, "text": self._text.without_compile(statement)} for line, statement in self._taken.items()
        ]
        items += [{"line": line, "text": text} for line, text in self._aliases]
        items += [
            {"line": line, "name": name, "value": described[self.name, name]} for name, (line, _) in self.values.items()
        ]
        return {
            "module": self.name,
            "file": self._text.file,
            "future": self._text.has_future_annotations,
            "imports": self._imports,
            "items": sorted(items, key=lambda item: int(item["line"])),
            "locals": locals_,
        }


def _public(module: str, name: str, value: Any) -> str:
    """The shortest package above ``module`` that exports ``value``: ``torch.nn`` for ``torch.nn.modules.linear``."""
    parts = module.split(".")
    for end in range(1, len(parts)):
        package = sys.modules.get(".".join(parts[:end]))
        try:
            if getattr(package, name, None) is value:
                return ".".join(parts[:end])
        except Exception:  # a package that imports lazily may raise anything
            continue
    return module


def closure(value: Any) -> dict[str, Any]:
    """The free variables of a function, or of a class's methods, with their current values; not ``__class__``."""
    functions = [value]
    if isinstance(value, type):
        functions = [getattr(member, "__func__", member) for member in vars(value).values()]
    free: dict[str, Any] = {}
    for function in functions:
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
            if name == "__class__":
                continue
            try:
                free[name] = cell.cell_contents
            except ValueError:  # not bound yet: usually the function itself
                continue
    return free
