"""Reads what the source of a function says about its parameters: comments, docstrings, and their first uses in the body."""

from __future__ import annotations

import inspect
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed, source_of
from ..terms.parameter_info import ParameterInfo
from .docstring_types import types_in_docstring
from .guesses import ADJACENCY, EDGES
from .imports_for_types import imported_for_types
from .nested_reads import nested_reads
from .parameter_uses import read_body
from .passed_on_values import read_passed_on, receivers
from .shape_text import annotated_shape, dtype_in, parameter_descriptions, written_shape

# in the midst of a comment: `# x/prompt [B, 80, T] -> [B, T, 80]; cond [B, T, 512]`
_SHAPES_OF_NAMES = re.compile(r"(?<![\w/.])(\w+(?:/\w+)*)`?(?:\s*[:=]\s*|\s+)([(\[][\w\s*+-]+(?:,[\w\s*+-]+)+,?[)\]])")


def read_parameters(function: Callable[..., Any], skip_first: bool, depth: int = 0) -> list[ParameterInfo]:
    """The parameters of ``function`` in order, without ``*args`` and ``**kwargs``. ``skip_first``: it is a method.

    ``depth``: how many functions have passed their parameters on to it.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    found = [
        ParameterInfo(
            name=parameter.name,
            required=parameter.default is parameter.empty,
            default=None if parameter.default is parameter.empty else parameter.default,
            annotation=_annotation_text(parameter.annotation),
            keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
            positional_only=parameter.kind is parameter.POSITIONAL_ONLY,
            hint=_annotation_object(parameter.annotation, function),
        )
        for parameter in parameters[1 if skip_first else 0 :]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    by_name = {info.name: info for info in found}
    if found:
        found[0].is_first = True
    text = inspect.getdoc(function) or ""
    _read_docstring(text, by_name)
    for name, hint in types_in_docstring(f"{text}\n{_doc_of_owner(function)}", by_name, function).items():
        if not by_name[name].annotation:
            by_name[name].hint = hint
    source = source_of(function)
    if source:
        _read_comments(source, by_name)
        read_body(source, by_name)
        read_passed_on(function, found, read_parameters, depth)
        for name, reads in (nested_reads(function, by_name, receivers) if depth == 0 else {}).items():
            by_name[name].inside = reads
    for info in found:
        shape = annotated_shape(info.annotation)
        if shape is not None:
            info.dtype, info.dims = shape[0] or info.dtype, shape[1]
        elif not info.dtype:
            info.dtype = dtype_in(info.annotation)
    if any(re.fullmatch(rf"{EDGES}|{ADJACENCY}", name) for info in found for name in (info.name, *info.fields)):
        for info in found:
            info.of_graph = True
    return found


def _doc_of_owner(function: Any) -> str:
    """The docstring of the class of which ``function`` is the constructor: it often describes the arguments."""
    function = inspect.unwrap(function)
    owner, _, name = getattr(function, "__qualname__", "").rpartition(".")
    cls = getattr(function, "__globals__", {}).get(owner) if name == "__init__" else None
    return inspect.getdoc(cls) or "" if isinstance(cls, type) else ""


def read_class_docstring(cls: type, infos: list[ParameterInfo]) -> None:
    """Add shapes from the docstring of a class, as torch's own have them: ``Input: (N, C, H, W)``."""
    text = inspect.getdoc(cls) or ""
    _read_docstring(text, {info.name: info for info in infos})
    tensors = [info for info in infos if info.required]
    for line in text.splitlines():
        match = re.match(r"\s*[-*]?\s*\**Inputs?\**(?:\s*shape)?\s*:\s*(.*)", line, re.I)
        if match is not None and tensors and tensors[0].dims is None:
            tensors[0].dims = written_shape(re.sub(r":math:`|`|\\text\{(\w+)\}|_\{\w+\}", r"\1", match[1]))
            return


def _annotation_text(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return annotation
    dims, dtype = getattr(annotation, "dim_str", None), getattr(annotation, "__name__", "")
    if isinstance(dims, str):  # a class of jaxtyping's
        return f'{dtype.partition("[")[0]}[Tensor, "{dims}"]'
    return inspect.formatannotation(annotation)


def _annotation_object(annotation: Any, function: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return None
    if not isinstance(annotation, str):
        return annotation
    return hint_of(annotation, dict(getattr(inspect.unwrap(function), "__globals__", {})))


def hint_of(annotation: str, names: dict[str, Any]) -> Any:
    """What an annotation says that is kept as text, with the names of the module that it is written in; None where that cannot be known."""
    found = attempted(lambda: eval(annotation, names))
    if found is not None:
        return found
    more = imported_for_types(str(names.get("__name__")), annotation)
    return attempted(lambda: eval(annotation, {**names, **more})) if more else None


def _read_docstring(text: str, by_name: dict[str, ParameterInfo]) -> None:
    for name, description in parameter_descriptions(text, by_name).items():
        info = by_name[name]
        info.words = info.words or description
        if info.dims is None:
            info.dims = written_shape(description)
        info.dtype = info.dtype or dtype_in(description)


def _read_comments(source: str, by_name: dict[str, ParameterInfo]) -> None:
    """``x,  # (B, T, C)`` on a parameter's line, and ``# x: (B, T, C)`` anywhere; the first of each."""
    lines = source.splitlines()
    tree = parsed(source)
    first = getattr(getattr(tree, "body", [None])[0], "body", [None])[0]
    # below, a line that begins like that of a parameter gives its name to something else
    rows_of_parameters = range(getattr(first, "lineno", len(lines) + 1))
    for row, comment in _comments(source):
        code = lines[row - 1].partition("#")[0]
        for name, info in by_name.items():
            is_written_so = re.match(rf"\s*{name}\b\s*(?::[^=]*)?(?:=.*)?,?\s*$", code) is not None
            is_parameter_line = is_written_so and row in rows_of_parameters
            is_first = re.match(rf"\s*def .*\b{name}\b[^,]*(?:,.*)?:\s*$", code) is not None and len(by_name) == 1
            described = re.match(rf"#\s*(?:-\s*)?`?{name}`?\b\s*(?:\.shape\b)?\s*(?::|=|is|->|has|\(|\[)+", comment)
            if info.dims is not None or not (is_parameter_line or is_first or described):
                continue
            info.dims = written_shape(comment[described.end() - 1 :] if described else comment)
            if info.dims is None and described:
                info.dims = written_shape(comment)
    for _, comment in _comments(source):
        for name, shape in _SHAPES_OF_NAMES.findall(comment):
            for each in name.split("/"):
                if each in by_name and by_name[each].dims is None:
                    by_name[each].dims = written_shape(shape)


def read_comments_of_fields(source: str, by_name: dict[str, ParameterInfo]) -> None:
    """Add the shapes in the comments beside the fields of a class: ``image: Tensor  # [C, H, W]``."""
    lines = source.splitlines()
    for row, comment in _comments(source):
        field = re.match(r"\s*(\w+)\s*:", lines[row - 1].partition("#")[0])
        info = by_name.get(field[1]) if field is not None else None
        if info is not None and info.dims is None:
            info.dims = written_shape(comment)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return
