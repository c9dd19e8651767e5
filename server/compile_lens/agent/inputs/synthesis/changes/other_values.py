"""Replaces numbers and texts that a program refuses: with values that it names, or with a function, a module or a class.

What a program accepts is in its error (``mode must be 'a' or 'b', got 'mean'``), in the line that failed, or in what that line
looks it up in.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors.accepted_instead import accepted_by
from ..errors.failing_lines import failing_line, failing_lines, innermost, names_in_failing_lines
from ..errors.messages import requirements
from ..source.guesses import CLASS_MAKERS, MAKERS, TABLES, WORDS, by_name
from ..terms.arguments import INSIDE, Argument, Expression, Group, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.requirement import Requirement

MOST_VALUES = 5
MOST_SUSPECTS = 3
# `torch.nn.GELU()`, where the class is wanted
_LAYER_MADE = re.compile(r"(torch\.nn\.(\w+))\(\)")
_OF_NONE = re.compile(
    r"'NoneType' object (?:is not (?:callable|iterable|subscriptable)|has no attribute)|\bwith NoneType\b|'NoneType' and|and 'NoneType'"
)
_IS_TEXT = re.compile(
    r"(?:object|object '\w+') has no attribute '(?:lower|upper|strip|split|startswith|endswith|replace|format)'"
    r"|attribute name must be string|expected (?:a )?str(?:ing)?\b|must be (?:a )?str(?:ing)?\b"
)
_EXCLUSIVE = re.compile(
    r"\b(?:only|exactly) one of\b|\bmutually exclusive\b|\b(?:but|and) not both\b"
    r"|\b(?:cannot|can't|can not|must not) (?:both|be used together)\b",
    re.I,
)
# a number is used as a text, or as the name of a file
_NO_NUMBER = re.compile(
    r"for \+: '(?:int' and 'str|str' and 'int)'|can only concatenate str \(not \"int\"\)|os\.PathLike object,? .{0,40}not '?int"
    r"|'in <string>' requires string as left operand, not int|\bjoin\(\) argument must be str.{0,30}not 'int'"
)
_GETS_TWO = re.compile(r"\bIdentity\.forward\(\) takes 2 positional arguments but 3 were given")
SMALL_MODEL = "torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))"
ANY_MODULE, ANY_CLASS = "torch.nn.Identity()", "torch.nn.Identity"
OF_TWO = "torch.nn.MSELoss()"
# what takes more than a module that changes nothing does, also by name
ANY_FUNCTION = "lambda *args, **named: [*args, *named.values()][0]"


def with_other_value(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with a value that the program accepts in place of one that it does not."""
    values = accepted_by(error)
    if not values:
        return
    for name, now in _suspects(candidate, error):
        for value in [each for each in values if each != now][:MOST_VALUES]:
            yield _with(candidate, name, Expression(repr(value)))


def with_text(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a class or a module is a text, since the program uses it as one: `getattr(nn, name)`, `name.lower()`."""
    if _NO_NUMBER.search(str(error)):
        numbers = [path for path, each in candidate.arguments.plain() if isinstance(_value(candidate, each), int)]
        in_line = names_in_failing_lines(error)
        for path in sorted(numbers, key=lambda path: _rank(path, in_line))[:MOST_SUSPECTS]:
            if path.rpartition(INSIDE)[2] in in_line:
                yield _with(candidate, path, Expression(repr(by_name(WORDS, path.rpartition(INSIDE)[2]) or "mean")))
    if _IS_TEXT.search(str(error)) is None and not (isinstance(error, KeyError) and _is_module(error.args[:1])):
        return
    in_line, values = names_in_failing_lines(error), accepted_by(error)
    makers = [(path, each) for path, each in candidate.arguments.plain() if _makes_module(each)]
    for path, _ in sorted(makers, key=lambda pair: _rank(pair[0], in_line))[:MOST_SUSPECTS]:
        usual = by_name(WORDS, path.rpartition(INSIDE)[2]) or "relu"
        # a function is spelled in small letters, and a class is not
        for value in dict.fromkeys((*values[:MOST_VALUES], usual, "relu", "ReLU")):
            yield _with(candidate, path, Expression(repr(value)))


def _is_module(values: tuple[Any, ...]) -> bool:
    return any(hasattr(value, "forward") for value in values)


def _makes_module(argument: Argument) -> bool:
    return isinstance(argument, Expression) and argument.text.startswith("torch.nn.")


def with_callable(candidate: Candidate, requirement: Requirement, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a number or a text is what a program calls: a class where its constructor does, else a module."""
    if requirement.value:
        for path, argument in candidate.arguments.plain():
            if not isinstance(argument, Expression):
                continue
            # what is called without arguments makes something
            makes = "() missing" in str(error)
            if argument.text == ANY_MODULE:
                yield _with(candidate, path, Expression(ANY_CLASS if makes else ANY_FUNCTION))
                if _GETS_TWO.search(str(error)):  # where it has to be a module, as in a list of them
                    yield _with(candidate, path, Expression(OF_TWO))
            elif makes and (layer := _LAYER_MADE.fullmatch(argument.text)) and f"{layer[2]}.forward()" in str(error):
                yield _with(candidate, path, Expression(layer[1]))
        return
    for name, given in candidate.arguments.named:
        one = name.removesuffix("es") if by_name(MAKERS, name.removesuffix("es")) else name.removesuffix("s")
        of_modules = _with_modules(given, by_name(MAKERS, one) or ANY_MODULE)
        if of_modules is not given:
            yield _with(candidate, name, of_modules)
    for path, thing in candidate.arguments.objects():
        if not thing.is_dict and not thing.base and "SimpleNamespace" in str(error):
            yield _with(candidate, path, replace(thing, base=ANY_MODULE))
    in_line = names_in_failing_lines(error)
    is_constructing = _function_that_failed(error) == "__init__" and requirement.kind == "callable"
    plain = sorted(candidate.arguments.plain(), key=lambda pair: _rank(pair[0], in_line))
    is_plain_value = "object is not callable" in str(error)
    suspects = [path for path, each in plain if not is_plain_value or _value(candidate, each) is not None]
    for path in suspects[:MOST_SUSPECTS]:
        name = path.rpartition(INSIDE)[2]
        made = by_name(TABLES, name) or by_name(MAKERS, name) or ANY_MODULE
        of_class = by_name(CLASS_MAKERS, name) or ANY_CLASS
        for text in dict.fromkeys((of_class, made) if is_constructing else (made, of_class)):
            yield _with(candidate, path, Expression(text))


def with_function(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a tensor that the failing line calls is a function that returns what it gets: `A(x)`."""
    called = re.findall(r"(?<![\w.])([A-Za-z_]\w*)\(", failing_line(error))
    for path, _ in candidate.arguments.tensors():
        name = path.rpartition(INSIDE)[2]
        if name in called:
            yield _with(candidate, path, Expression(ANY_FUNCTION))


def _with_modules(argument: Argument, module: str) -> Argument:
    """A list of modules for a list of numbers, and so for lists in it; other arguments as they are."""
    if not isinstance(argument, Group):
        return argument
    items = tuple(
        Expression(module) if isinstance(item, UnknownInteger) or _is_number(item) else _with_modules(item, module)
        for item in argument.items
    )
    is_changed = any(new is not old for new, old in zip(items, argument.items, strict=True))
    return replace(argument, items=items) if is_changed else argument


def _is_number(argument: Argument) -> bool:
    return isinstance(argument, Expression) and argument.text.isdecimal()


def with_small_model(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates in which a module that does nothing is one with layers and parameters: a program may look for them."""
    for path, argument in candidate.arguments.plain():
        if isinstance(argument, Expression) and argument.text == ANY_MODULE:
            yield _with(candidate, path, Expression(SMALL_MODEL))


def is_of_object(error: BaseException) -> bool:
    """Whether a number or a text is called, or two values exclude each other: where none was passed, the object has kept them since its
    construction."""
    return is_exclusive(error) or any(wanted.kind == "callable" for wanted in requirements(error))


def is_exclusive(error: BaseException) -> bool:
    """Whether one of several values has to be left out: `only one of size or scale_factor should be defined`."""
    return isinstance(error, (ValueError, TypeError, AssertionError, RuntimeError)) and bool(
        _EXCLUSIVE.search(str(error))
    )


def needs_one_of(names: frozenset[str], error: BaseException) -> bool:
    """Whether one of the attributes ``names`` of an object is used and is None: `self.embed_tokens(tokens)`, `for key in self.keys`."""
    used = re.findall(r"\bself\.(\w+)", failing_line(error))
    return _OF_NONE.search(str(error)) is not None and not names.isdisjoint(used)


def is_of_kept(names: frozenset[str], error: BaseException) -> bool:
    """Whether what an object has kept of its construction under one of ``names`` lacks items or an attribute: `self.options.width`.

    Also where something is looked up by it, and where it is passed on and the message names it: `fold(x, self._size)` raises "'size' must
    be a tuple".
    """
    line, kept = failing_line(error), {name.strip("_") for name in names}
    used = {name for name in re.findall(r"\bself\.(\w+)", line) if name.strip("_") in kept}
    passed_on = {
        name
        for each in failing_lines(error)
        for name in re.findall(r"\bself\.(\w+)", each)
        if name.strip("_") in kept and re.search(rf"\b{re.escape(name.strip('_'))}\b", str(error))
    }
    if not used | passed_on or "Tensor" in str(error):
        return False
    if isinstance(error, KeyError) and used:
        return True
    # a dimension that was kept: `x.mean(self.dim)`; what is called is none
    if "Dimension out of range" in str(error) and any(
        re.search(rf"\bself\.{name}\b(?!\s*[(\[.])", line) for name in used
    ):
        return True
    for wanted in requirements(error):
        owner = rf"\bself\.(?:{'|'.join(used)})"
        if wanted.kind == "several":
            return True
        if used and wanted.kind in ("attribute", "key") and wanted.value:
            name = re.escape(wanted.value)
            read = rf"{owner}[\w.]*(?:\.{name}\b|\[\s*['\"]{name})"
            return re.search(read, line) is not None
    return False


def is_none_called(error: BaseException) -> bool:
    """Whether a program calls None."""
    return "'NoneType' object is not callable" in str(error)


def _suspects(candidate: Candidate, error: BaseException) -> list[tuple[str, Any]]:
    """The arguments that the error may be about, and their values: those it quotes first, then those in the failing line."""
    text, in_line = str(error), names_in_failing_lines(error)
    found: list[tuple[int, str, Any]] = []
    for path, argument in candidate.arguments.plain():
        value = _value(candidate, argument)
        if value is None or isinstance(value, bool):
            continue
        name = path.rpartition(INSIDE)[2]
        is_quoted = re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w.])", text) is not None
        is_named = re.search(rf"\b{re.escape(name)}\b", text) is not None or name in in_line[:12]
        if is_quoted or is_named:
            found.append((-2 * is_quoted - is_named, path, value))
    return [(path, value) for _, path, value in sorted(found, key=lambda each: each[0])[:MOST_SUSPECTS]]


def _value(candidate: Candidate, argument: Argument) -> Any:
    """The number or the text that is passed; None for other expressions."""
    if isinstance(argument, UnknownInteger):
        return candidate.unknowns.by_name[argument.name].value
    text = argument.text if isinstance(argument, Expression) else ""
    if re.fullmatch(r"'[^']*'", text):
        return text[1:-1]
    return int(text) if text.isdecimal() else None


def _function_that_failed(error: BaseException) -> str:
    frame = innermost(error)[0]
    return frame.f_code.co_name if frame is not None else ""


def _rank(path: str, in_line: list[str]) -> int:
    name = path.rpartition(INSIDE)[2]
    return in_line.index(name) if name in in_line else len(in_line)


def _with(candidate: Candidate, name: str, argument: Argument) -> Candidate:
    return Candidate(candidate.arguments.with_argument(name, argument), copy.deepcopy(candidate.unknowns))
