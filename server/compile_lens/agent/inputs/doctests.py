"""The examples in a docstring, run one after the other as doctest does."""

from __future__ import annotations
import __future__

import doctest
import inspect
from typing import Any

from ..runtime.protocol import CallMade, EntryCalled
from ..runtime.wire import Wire
from . import compiled
from .dispatch import Unusable
from .module import find, load


def run(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Run the examples of ``plan["name"]`` ('' is the module). What they print is not compared.

    With ``compile`` in the plan, what the examples call is compiled: the class or function itself is replaced in their names.
    """
    module = load(file, source)
    compiled.seed()
    name = plan["name"]
    try:
        subject = find(module, name) if name else module
    except AttributeError:
        raise Unusable(f"the file has no '{name}' when it is imported") from None
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(subject) or "")
    if not examples:
        raise Unusable(f"the docstring of '{name or 'the module'}' has no examples")
    names = {**vars(module), "__name__": module.__name__}
    if plan.get("compile") is not None:
        names[name.rpartition(".")[2]] = _compiling(subject, plan, file)
    wire.tell(EntryCalled((CallMade(f"doctest of {name or 'the module'}"),)))
    for number, example in enumerate(examples):
        if "SKIP" in example.source:
            continue
        flags = sum(
            feature.compiler_flag
            for feature in (getattr(__future__, word) for word in __future__.all_feature_names)
            if any(value is feature for value in names.values())
        )
        code = compile(example.source, f"<doctest {name}[{number}]>", "single", flags, dont_inherit=True)
        try:
            exec(code, names)
        except Exception:
            if example.exc_msg is None:
                raise


def _compiling(subject: Any, plan: dict[str, Any], file: str) -> Any:
    """A function that is compiled, or in the place of a class one that makes a compiled object."""
    options = plan["compile"]
    line, fullgraph = int(options.get("line", 1)), bool(options.get("fullgraph"))
    if not isinstance(subject, type):
        return compiled.compile_at(subject, file, line, fullgraph)

    def make(*args: Any, **kwargs: Any) -> Any:
        return compiled.compile_at(subject(*args, **kwargs), file, line, fullgraph)

    return make
