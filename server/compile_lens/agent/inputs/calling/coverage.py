"""Records which lines of the analyzed file its calls run, and whose ``forward`` they reach, so that an outcome can say what it is about."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from ...runtime.entry_protocol import CallsCovered
from ..importing.absent import is_refused

MAX_LINES = 20_000


class RanSoFar:
    """One per run. ``classes`` are the names of the file's classes of which an object was called."""

    def __init__(self, file: str, module: str) -> None:
        self._file = file
        self._module = module
        self.lines: set[int] = set()
        self.classes: set[str] = set()
        self.functions: set[str] = set()
        # by the id of their codes, which their classes keep
        self._methods: dict[int, str] | None = None

    @contextmanager
    def watching(self, method: str = "forward", is_cut: bool = False) -> Iterator[None]:
        """Record what runs inside; nothing if that raises, unless it ``is_cut`` where it needs a library that is not here. ``method`` is
        the one that is called in place of ``forward``."""
        before = sys.gettrace()
        if before is not None:  # a debugger of the user's
            yield
            return
        names = {"forward", method}

        def on_call(frame: FrameType, event: str, argument: Any) -> Any:
            code = frame.f_code
            if code.co_name in names:
                self._add_class(frame)
            if code.co_filename != self._file:
                return None
            if is_top_level(frame):
                self.functions.add(code.co_name)
            else:
                self._add_method(frame)
            return self._on_line

        kept = set(self.lines), set(self.classes), set(self.functions)
        sys.settrace(on_call)
        try:
            yield
        except BaseException as error:  # of the user's code; it goes on as it came
            if not (is_cut and is_refused(error)):
                self.lines, self.classes, self.functions = kept
            raise
        finally:
            sys.settrace(None)

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self._on_line

    def _add_class(self, frame: FrameType) -> None:
        code = frame.f_code
        owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        for cls in type(owner).__mro__:
            # a base class is analyzed with its subclass where the subclass takes its method
            if cls.__module__ == self._module and (cls is type(owner) or code.co_name in vars(cls)):
                self.classes.add(cls.__qualname__)

    def _add_method(self, frame: FrameType) -> None:
        """Note a method of a class of the file, by the class that defines it."""
        if self._methods is None:
            self._methods = _methods_of(frame.f_globals, self._module)
        name = self._methods.get(id(frame.f_code))
        if name is not None:
            self.functions.add(name)

    def has(self, target: str) -> bool:
        """Whether ``target``, a class, a function or a method of the file, has run."""
        return target in self.classes or target in self.functions

    def covered(self, source: str) -> CallsCovered:
        """What has run so far, of the file with the text ``source``."""
        lines = sorted(executable_lines(self._file, source))[:MAX_LINES]
        ran = sorted(self.lines.intersection(lines))
        return CallsCovered(tuple(sorted(self.classes | self.functions)), tuple(ran), tuple(lines))


def _methods_of(names: dict[str, Any], module: str) -> dict[int, str]:
    """The methods that the classes of the file define, by the id of their codes."""
    found: dict[int, str] = {}
    for cls in list(names.values()):
        if isinstance(cls, type) and cls.__module__ == module:
            for name, value in vars(cls).items():
                function = getattr(value, "__func__", value)
                code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
                if code is not None:
                    found[id(code)] = f"{cls.__qualname__}.{name}"
    return found


def is_top_level(frame: FrameType) -> bool:
    """Whether the frame is that of a function of the module itself. Python 3.10 has no qualified names in code objects."""
    code = frame.f_code
    found = frame.f_globals.get(code.co_name)
    return getattr(inspect.unwrap(found), "__code__", None) is code if callable(found) else False


def executable_lines(file: str, source: str) -> set[int]:
    """The lines inside of functions that can run, the ``def`` lines left out."""
    try:
        whole = compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return set()
    found: set[int] = set()
    waiting = [whole]
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if code.co_flags & 0x2:  # CO_NEWLOCALS: a function, not a module or a class body
            found.update(line for _, _, line in code.co_lines() if line and line != code.co_firstlineno)
    return found
