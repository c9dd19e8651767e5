"""Says why nothing of a file was called, where no entry came to anything and no call is told that could be completed."""

from __future__ import annotations

from collections.abc import Sequence

from compile_lens.entries.effects import effect_names, taken_effect_names
from compile_lens.entries.plain_methods import CONSTRUCTOR, OF_TRAINING, with_effects
from compile_lens.entries.targets import units
from compile_lens.entries.tensor_code import as_texts, names_in
from compile_lens.syntax.definitions import Definition, Parameter, definitions
from compile_lens.syntax.tree import SourceTree
from compile_lens.wording import and_more

NAMED = 3
NOTHING_TO_CALL = (
    "Nothing was called: the file defines no module, and no function or method that its annotations or its code show to take tensors. "
    "Name a call of what it is about: `--entry 'NAME(...)'`."
)


def why_nothing_was_called(tree: SourceTree, is_explained: bool) -> str:
    """One sentence, and what to do; '' where the file has something that is called with made-up inputs, and for a file without anything
    of that kind where an error, or what is said of an entry that was tried, explains it."""
    reaching = with_effects(tree)
    if not reaching:
        has_nothing = not units(tree) and "torch" in tree.text and _defines_something(tree)
        return NOTHING_TO_CALL if has_nothing and not is_explained else ""
    if len(reaching) < len(units(tree)):
        return ""
    shown = ", ".join(f"`{each.qualified_name}`" for each in reaching[:NAMED])
    means = ", ".join(f"`{name}`" for name in _means(tree, reaching)[:NAMED])
    what = (
        "takes tensors, but it or its class uses"
        if len(reaching) == 1
        else "take tensors, but they or their classes use"
    )
    return (
        f"Nothing was called: {shown}{and_more(len(reaching) - NAMED)} {what} {means}, which may reach files, other processes or the "
        f"network, so no inputs are made up. Complete a call: `--entry '{_call_of(tree, reaching[0])}'`."
    )


def _defines_something(tree: SourceTree) -> bool:
    return any(each.kind in ("class", "function") for each in definitions(tree))


def _means(tree: SourceTree, methods: Sequence[Definition]) -> list[str]:
    """The names with effects in the classes of ``methods``, in the order of the file."""
    classes = {each.qualified_name.partition(".")[0] for each in methods}
    effects = effect_names(tree) - OF_TRAINING
    inside = [each for each in definitions(tree) if each.kind == "class" and each.qualified_name in classes]
    named = (name for each in inside for name in (*names_in(tree, each), *sorted(as_texts(tree, each))))
    found = dict.fromkeys(name for name in named if name in effects)
    # a variable of the same name, unless nothing else is there
    taken = taken_effect_names(tree)
    return [name for name in found if name not in taken] or list(found)


def _call_of(tree: SourceTree, method: Definition) -> str:
    """A call of a method with `...` for each argument that is required."""
    owner = method.qualified_name.rpartition(".")[0]
    made = next((d for d in definitions(tree) if d.qualified_name == f"{owner}.{CONSTRUCTOR}"), None)
    suffix = "" if method.name == "__call__" else f".{method.name}"
    return f"{owner}({_required(made.parameters if made is not None else ())}){suffix}({_required(method.parameters)})"


def _required(parameters: Sequence[Parameter]) -> str:
    names = (each.name for each in parameters[1:] if not each.default and not each.name.startswith("*"))
    return ", ".join(f"{name}=..." for name in names if name not in ("/", "*"))
