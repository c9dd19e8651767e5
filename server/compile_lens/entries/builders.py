"""Finds functions that build a model of classes from elsewhere: `def create_slowfast(): return MultiPath(...)`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from compile_lens.entries.module_classes import is_called_like_a_module
from compile_lens.entries.tensor_code import has_effects, text_of
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.tree import SourceTree

MOST = 2
_RETURNS = pattern(r"^\s+return\s+(?:\w+\.)*(\w+)\(", re.M)
_SAYS_SO = pattern(r"->\s*[\"']?(?:\w+\.)*(?:Module|Sequential)\b")
# what is told by its name to make something else, or to read it
_ASIDE = pattern(
    r"_|main\b|test|train|load|save|parse|get_(?:data|loss|optim|sched)|\w*(?:pretrained|hub|dataset|loader|loss)", re.I
)


def builders(
    tree: SourceTree,
    known: tuple[Definition, ...],
    uses: Mapping[str, Collection[str]],
    modules: Collection[str],
    called: Collection[Definition],
) -> list[Definition]:
    """Top-level functions without effects that return a model, those first that nothing else uses, and the longest of them: not of a class
    among ``modules``, which is called itself and may be a part of the model, and none that is called with tensors (``called``)."""
    used = {name for names in uses.values() for name in names}
    found = [
        d
        for d in known
        if d.kind == "function"
        and "." not in d.qualified_name
        and d not in called
        and not _ASIDE.match(d.name)
        and not d.decorators
        and _returns_model(text_of(tree, d), set(modules), set(uses.get(d.name, ())))
        and not has_effects(tree, d)
    ]
    return sorted(found, key=lambda d: (d.name in used, d.first_line - d.last_line))[:MOST]


def _returns_model(text: str, modules: set[str], used: set[str]) -> bool:
    """Whether a function says so, or constructs what is called like a model: a layer of torch's own is none, but one that has others in it.

    Not one of ``modules``; where it returns a variable, that is one of them if they are ``used``.
    """
    made = set(_RETURNS.findall(text))
    if made & modules or (not made and used & modules):
        return False
    is_like = any(name == "Sequential" or (name[0].isupper() and is_called_like_a_module(name)) for name in made)
    return is_like or _SAYS_SO.search(text) is not None
