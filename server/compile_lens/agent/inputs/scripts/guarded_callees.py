"""Goes on where a script has ended in a function without guards: that function runs once more, past its statements that fail.

`from shop.train import main; main()` is a script whose statements are all in another file. Without its data, its first function raises
before it makes the model. The same holds for a method of a class that inherits from another, which may be a module: when it has run, it is
known whether it is.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed_expression
from ..calling.function_of_frame import Called, function_of
from .continuing import GUARD, rewritten
from .failed_constructions import FailedConstructions
from .guard import Guard

# functions of a project that lead from its script to its model
MOST = 6
_AGAIN = "__compile_lens_again__"
_FUNCTION = 0x2  # CO_NEWLOCALS, which the body of a class has not
# generators, coroutines and asynchronous generators (CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR)
_SUSPENDED = 0x20 | 0x80 | 0x200


class GuardedCallees:
    """``is_own`` tells whether a file is of the project. ``constructions`` are the models that could not be constructed there."""

    def __init__(self, page: str, is_own: Callable[[str], bool]) -> None:
        self._page = page
        self._is_own = is_own
        self._tried: set[tuple[str, int]] = set()
        self._lines: dict[int, int] = {}
        self.constructions: list[FailedConstructions] = []

    def go_on(self, errors: list[BaseException], guard: Guard, is_done: Callable[[], bool]) -> None:
        """Call the functions again that ended in ``errors``, which grow meanwhile, until ``is_done``."""
        for error in errors:
            for called, code, line in self._interrupted(error):
                if is_done() or len(self._tried) > MOST:
                    return
                before = len(errors)
                self._call(called, code, line, guard.of_another_file(self._constructions_of(code.co_filename)))
                # what ends in a function of another file has no line of the script in its traceback
                self._lines |= {id(each): line for each in errors[before:]}

    def _interrupted(self, error: BaseException) -> Iterator[tuple[Called, CodeType, int]]:
        """The outermost call of a function without guards that ``error`` ended, the code of that function with guards, and the line of
        the script that led there."""
        entry, line = error.__traceback__, self._lines.get(id(error), 1)
        while entry is not None:
            frame, at, entry = entry.tb_frame, entry.tb_lineno, entry.tb_next
            code = frame.f_code
            line = at if code.co_filename == self._page else line
            key = code.co_filename, code.co_firstlineno
            is_function = bool(code.co_flags & _FUNCTION) and not code.co_flags & _SUSPENDED
            if not is_function or GUARD in code.co_names or key in self._tried:
                continue
            if code.co_filename != self._page and not self._is_own(code.co_filename):
                continue
            self._tried.add(key)
            called = attempted(lambda frame=frame: function_of(frame))  # type: ignore[misc]
            if called is None or _is_module(called.owner):
                return
            guarded = _guarded(code)
            if guarded is not None:
                yield called, guarded, line
                return

    def _call(self, called: Called, code: CodeType, line: int, guard: Guard) -> None:
        """Call the function in ``line`` of the script once more: a model is told with the line that led to it."""
        function: Any = getattr(called.function, "__func__", called.function)
        names = function.__globals__
        guarded = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
        guarded.__kwdefaults__ = function.__kwdefaults__
        target = MethodType(guarded, called.owner) if isinstance(called.function, MethodType) else guarded
        text = ast.increment_lineno(parsed_expression(f"{_AGAIN}()"), line - 1)
        again = compile(ast.Expression(text), self._page, "eval", dont_inherit=True)
        before = names.get(GUARD)
        names[GUARD] = guard
        try:
            attempted(lambda: eval(again, {_AGAIN: lambda: target(*called.positional, **called.named)}))
        finally:
            names[GUARD] = before
            if before is None:
                del names[GUARD]

    def _constructions_of(self, file: str) -> FailedConstructions:
        constructions = FailedConstructions()
        constructions.read("".join(linecache.getlines(file)))
        self.constructions.append(constructions)
        return constructions


def _is_module(owner: Any) -> bool:
    """Whether it is a model, or a class of some: a layer that failed must not be absent in one that is compiled."""
    import torch

    return isinstance(owner, torch.nn.Module) or (isinstance(owner, type) and issubclass(owner, torch.nn.Module))


def _guarded(code: CodeType) -> CodeType | None:
    """``code`` with guards; None where it would have none."""
    text = "".join(linecache.getlines(code.co_filename))
    whole = attempted(lambda: rewritten(text, code.co_filename, in_heirs=True))
    found = _same(whole, code) if whole is not None else None
    return found if found is not None and GUARD in found.co_names and found.co_freevars == code.co_freevars else None


def _same(within: CodeType, code: CodeType) -> CodeType | None:
    for each in within.co_consts:
        if isinstance(each, CodeType):
            if (each.co_name, each.co_firstlineno) == (code.co_name, code.co_firstlineno):
                return each
            found = _same(each, code)
            if found is not None:
                return found
    return None
