"""Finds how a project itself constructs a class: arguments of calls in its other files, tests, examples and pages, written out.

What a project passes as `encoder`, `config` or `sizes` fits what the class does with it; what is made up for the name alone may not.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from ....models.configuration_sizes import LAYERS, smaller_size
from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed, parsed_expression
from ..source.constructor_parameters import constructor_parameters
from ..terms.parameter_info import ParameterInfo
from .project_files import ProjectFile, files_mentioning
from .written_out import File, NotWritable

# calls whose arguments are read, and those that are given
MOST_READ, MOST = 12, 3


def project_calls(module: ModuleType, cls: type) -> list[dict[str, str]]:
    """The arguments by name, as expressions with the names of ``module``, of calls of ``cls``: all that it requires are among them.

    The nearest come first, with fewer layers in what is passed, where it says how many it has; nothing where the text of ``module`` is in
    no file.
    """
    return calls_by_name(module, cls.__name__, constructor_parameters(cls), _examples(cls))


def calls_by_name(
    module: ModuleType, name: str, infos: list[ParameterInfo], examples: str = ""
) -> list[dict[str, str]]:
    """The same of the function or the class method ``name``, with the parameters ``infos``; ``examples`` is code of its docstring."""
    required = {info.name for info in infos if info.required}
    found: dict[str, dict[str, str]] = {}
    calls = (call for file in _files(module, name, examples) for call in _calls(file, module, name, infos))
    for given in (each for _, each in zip(range(MOST_READ), calls, strict=False)):
        if given and required <= given.keys():
            known = {each: _in_module(text, module) for each, text in given.items()}
            if None not in known.values():
                found.setdefault(repr(given), {each: str(text) for each, text in known.items()})
        if len(found) >= MOST:
            break
    return list(found.values())


def written_arguments(module: ModuleType, cls: type) -> Iterator[dict[str, str]]:
    """What calls of ``cls`` in the project pass by parameter, as expressions with the names of ``module``: of each call what can be written
    out."""
    infos = constructor_parameters(cls)
    for file in _files(module, cls.__name__, _examples(cls)):
        for given in _calls(file, module, cls.__name__, infos, in_part=True):
            known = {each: _in_module(text, module) for each, text in given.items()}
            yield {each: text for each, text in known.items() if text is not None}


def _files(module: ModuleType, name: str, examples: str) -> Iterator[File]:
    file = getattr(module, "__file__", None)
    if file is None:
        return
    documented = parsed(examples)
    if documented is not None and documented.body:
        yield File(documented, "", tuple(vars(module)))
    for each in files_mentioning(file, module.__name__, name.rpartition(".")[2]):
        made = attempted(functools.partial(_file, each, module))
        if made is not None:
            yield made


def _file(each: ProjectFile, module: ModuleType) -> File | None:
    is_own = os.path.abspath(str(module.__file__)) == each.path
    tree = parsed(each.text)
    if tree is None:
        return None
    return File(tree, each.dotted, tuple(vars(module)) if is_own else (), each.is_package)


def _examples(cls: type) -> str:
    """The lines with prompts in the docstring of a class, without them."""
    lines = (line.strip() for line in (inspect.getdoc(cls) or "").splitlines())
    return "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))


def _calls(
    file: File, module: ModuleType, name: str, infos: list[ParameterInfo], in_part: bool = False
) -> Iterator[dict[str, str]]:
    """The arguments of each call; ``in_part``: without those that cannot be written out, else none of a call that has such."""
    names = [info.name for info in infos if not info.keyword_only]
    for call in file.calls(name, module.__name__.partition(".")[0]):
        try:
            positional, named = file.arguments(call)
            if len(positional) <= len(names):
                given = (*zip(names, positional, strict=False), *named.items())
                texts = {each: _written(file, value, in_part) for each, value in given}
                yield {each: text for each, text in texts.items() if text is not None}
        except NotWritable:
            continue


def _written(file: File, value: ast.expr, may_fail: bool) -> str | None:
    try:
        return _smaller(file.written(value))
    except NotWritable:
        if may_fail:
            return None
        raise


def _smaller(text: str) -> str:
    """``text`` with few layers in what it constructs: they are alike."""
    tree = attempted(lambda: parsed_expression(text))
    if tree is None:
        raise NotWritable
    for keyword in (each for each in ast.walk(tree) if isinstance(each, ast.keyword)):
        value = keyword.value
        if isinstance(value, ast.Constant) and type(value.value) is int and keyword.arg is not None:
            value.value = smaller_size(keyword.arg, value.value, LAYERS) or value.value
    return ast.unparse(tree)


def _in_module(text: str, module: ModuleType) -> str | None:
    """``text`` with the names that ``module`` itself has for what is called by its full name; None where a full name begins with a name
    that is another thing there."""
    tree = ast.Expression(parsed_expression(text))
    changed = _Shorter(vars(module)).visit(tree)
    roots = {
        node.value.id
        for node in ast.walk(changed)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for root in roots:
        if root in vars(module) and root in sys.modules and vars(module)[root] is not sys.modules[root]:
            return None
    return ast.unparse(changed)


class _Shorter(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        dotted = ast.unparse(node)
        if all(part.isidentifier() for part in dotted.split(".")) and dotted.partition(".")[0] not in ("torch", "nn"):
            found = attempted(functools.partial(_imported, dotted))
            for name, value in self._names.items() if isinstance(found, type) or inspect.isfunction(found) else ():
                if value is found:
                    return ast.Name(name, ast.Load())
        return self.generic_visit(node)


def _imported(dotted: str) -> Any:
    """What has the full name ``dotted``, among what is imported already."""
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:length]))
        if module is not None:
            return functools.reduce(getattr, parts[length:], module)
    return None
