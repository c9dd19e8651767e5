"""Watches what compiled code raises while a repro runs: a smaller repro must raise the same, and an error may name the operator."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..torch_internals.dynamo import DYNAMO_CONTEXT_CALL

# parts of a message that a smaller repro may change: descriptions of inputs, addresses, paths, generated names, numbers
CHANGES = re.compile(
    r"FakeTensor\((?:[^()]|\([^()]*\))*\)|0x[0-9a-f]+|/\S+|\b[a-z0-9]{20,}\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?"
)
# the line of a C++ or Triton compiler that says what is wrong
COMPILER_ERROR = re.compile(r"\berror: .+")
# how errors name an operator: torch/_subclasses/fake_utils.py (crossref), torch/_inductor/utils.py (sizes and strides of custom
# operators), torch/_inductor/exc.py (``LoweringException``), torch/_dynamo/utils.py (``get_fake_value``)
OPERATORS = (
    re.compile(r"When comparing the output of (\S+) on FakeTensor"),
    re.compile(r"Error in op: (?:torch\.ops\.)?(\S+)"),
    re.compile(r"^\s*target: (\S+)$", re.MULTILINE),
    re.compile(r"with fake tensors: call_function ([\w.]+)\("),
)
MAX_WORDS = 500


class RaisedErrors:
    """Installed before the program runs. ``tell`` gets each error that leaves compiled code."""

    def __init__(self, tell: Callable[[BaseException], None]) -> None:
        self._tell = tell
        self._has_called = False

    def install(self) -> None:
        """Watch calls of compiled code, and backward passes after the first of them: a graph's backward compiles when it runs."""
        import torch

        DYNAMO_CONTEXT_CALL.wrap(self._around_compile)
        autograd: Any = torch.autograd
        for name in ("backward", "grad"):
            setattr(autograd, name, self._watched(getattr(autograd, name), is_compiled=False))

    def _around_compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(context: Any, fn: Any) -> Any:
            import torch

            compiled = original(context, fn)
            if isinstance(compiled, (torch.nn.Module, type)):
                return compiled  # its calls were wrapped by a call of this function for its ``__call__``
            return self._watched(compiled, is_compiled=True)

        return call

    def _watched(self, function: Callable[..., Any], is_compiled: bool) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._has_called |= is_compiled
            try:
                return function(*args, **kwargs)
            except Exception as error:  # raised again: compiled code may raise anything
                if self._has_called:
                    self._tell(error)
                raise

        return call


def written_to(name: str) -> RaisedErrors:
    """The newest error in the file ``name`` as JSON: ``text``, and ``signature`` to compare."""

    def write(error: BaseException) -> None:
        with open(name, "w", encoding="utf-8") as file:
            json.dump({"text": described(error), "signature": signature(error)}, file)

    return RaisedErrors(write)


def named_operator(text: str) -> str:
    """The operator that an error's text names, as ``mylib.pad.default``; '' if it names none."""
    return next((match[1] for pattern in OPERATORS if (match := pattern.search(text)) is not None), "")


def signature(error: BaseException) -> list[str]:
    """What must be the same: type and first line of the error and of those that its text names, without what a reduction changes."""
    return [CHANGES.sub("#", line) for line in _lines(error)]


def described(error: BaseException) -> str:
    """The error in one line, with the one inside it that its text names."""
    first, *inner = _lines(error)
    return f"{first.removesuffix(':')} ({inner[-1]})" if inner else first


def _lines(error: BaseException) -> list[str]:
    text = str(error)
    found = [_line(error)]
    for cause in _causes(error):
        words = str(cause)
        # what torch only happened to be handling is not named by the text
        is_named = bool(words) and (words in text or repr(words)[1:-1] in text)
        if is_named and _first(words) not in found[0]:
            found.append(_line(cause))
    compiler = COMPILER_ERROR.search(text)
    return [*found, compiler.group()[:MAX_WORDS]] if compiler is not None else found


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error was raised from, outermost first."""
    seen = {id(error)}
    cause: Any = error
    while True:
        cause = getattr(cause, "inner_exception", None) or cause.__cause__ or cause.__context__
        if cause is None or id(cause) in seen:
            return
        seen.add(id(cause))
        yield cause


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {_first(str(error))}"


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:MAX_WORDS]
