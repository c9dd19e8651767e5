"""Surrounds a function without replacing it: whoever holds it, or looks at it, has the same object with its name, signature and source.

Only its code changes, to code with the same parameters that calls ours and the original. A program can see that in
``function.__code__`` alone and, while the function runs, as one more frame of the same file and name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

# What the new code calls are constants of it: names would be looked up in the module of the function.
ORIGINAL, OTHER = "compile_lens_original", "compile_lens_other"
FIRST = f"""\
        _call = {OTHER!r}
        _found = _call({{arguments}})
        if _found is not None: return _found[0]
        _call = {ORIGINAL!r}
        return _call({{arguments}})
"""
AFTER_FAILURE = f"""\
        _call = {ORIGINAL!r}
        try: return _call({{arguments}})
        except Exception as _error:
            _call = {OTHER!r}
            _found = _call(_error, {{arguments}})
            if _found is None: raise
            return _found[0]
"""
UNSUITABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_PLACE = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
# compared by identity: code that Dynamo makes may hold constants that cannot be hashed
_surrounding: list[CodeType] = []


def call_first(function: Any, before: Callable[..., tuple[Any] | None]) -> Callable[[], None]:
    """Call ``before`` with the arguments of each call of ``function``; a tuple that it returns holds the result, None goes on.

    Returns what takes it back. ``function`` must be a Python function.
    """
    return _surround(function, FIRST, before)


def call_after_failure(function: Any, failed: Callable[..., tuple[Any] | None]) -> Callable[[], None]:
    """Call ``failed`` with the exception and the arguments if ``function`` raises; its tuple holds the result, None raises it.

    The first parameter of ``failed`` must be positional-only: the function may have one of the same name.
    """
    return _surround(function, AFTER_FAILURE, failed)


def is_surrounding(code: CodeType) -> bool:
    """Whether a frame with ``code`` is one that was added here."""
    return any(code is each for each in _surrounding)


def _surround(function: Any, body: str, other: Callable[..., Any]) -> Callable[[], None]:
    code = function.__code__
    if code.co_flags & UNSUITABLE:
        raise TypeError(f"{function.__qualname__} is a generator or a coroutine")
    original = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__
    original.__qualname__, original.__module__ = function.__qualname__, function.__module__
    surrounding = _code_like(code, body, {ORIGINAL: original, OTHER: other})
    _surrounding.append(surrounding)
    function.__code__ = surrounding

    def undo() -> None:
        if function.__code__ is surrounding:
            function.__code__ = code

    return undo


def _code_like(code: CodeType, body: str, constants: dict[str, Any]) -> CodeType:
    """Code of ``body`` with the parameters, free variables, name and place of ``code``."""
    parameters, arguments = _parameters(code)
    # a function may only be given code with as many free variables as it has
    cells = "".join(f"    {name} = None\n" for name in code.co_freevars)
    used = f"        if False: {', '.join(code.co_freevars)}\n" if code.co_freevars else ""
    tree = ast.parse(f"def _outer():\n{cells}    def _inner({parameters}):\n{used}{body.format(arguments=arguments)}")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):  # all of it is on the line where the function begins
            ast.copy_location(node, _PLACE)
    outer = _code_in(compile(tree, code.co_filename, "exec", dont_inherit=True))
    inner = _code_in(outer)
    values = tuple(constants.get(each, each) if isinstance(each, str) else each for each in inner.co_consts)
    names: dict[str, Any] = {"co_name": code.co_name}
    if hasattr(code, "co_qualname"):  # Python 3.11
        names["co_qualname"] = code.co_qualname
    return inner.replace(co_consts=values, co_firstlineno=code.co_firstlineno, **names)


def _parameters(code: CodeType) -> tuple[str, str]:
    """The parameters of ``code``, and how to pass them on."""
    names = list(code.co_varnames)
    count, only_named = code.co_argcount, code.co_kwonlyargcount
    positional, named, rest = names[:count], names[count : count + only_named], names[count + only_named :]
    parameters, arguments = list(positional), list(positional)
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        star = rest.pop(0)
        parameters.append(f"*{star}")
        arguments.append(f"*{star}")
    elif named:
        parameters.append("*")
    parameters += named
    arguments += [f"{name}={name}" for name in named]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parameters.append(f"**{rest[0]}")
        arguments.append(f"**{rest[0]}")
    return ", ".join(parameters), ", ".join(arguments)


def _code_in(code: CodeType) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType))
