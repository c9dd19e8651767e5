"""Tells by its names whether a function works with tensors, and whether it reaches anything outside of the program."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator

from compile_lens.entries.effects import effect_names, taken_effect_names
from compile_lens.entries.given_names import as_python_reads, own_names
from compile_lens.entries.looked_up_names import looked_up_names
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.tree import Query, SourceTree, kept_with_tree

_IDENTIFIERS = Query("(identifier) @name")
_WORD = pattern(r"\w+")
# Python's own, and not that of a module (`model.eval()`)
_EVALUATES = pattern(r"(?<!\.)\beval\b")
# the name of a parameter may be something else's in a function with one of these
_BINDS_OTHERWISE = pattern(r"\b(?:global|import)\b")
_ATTRIBUTE = pattern(r"\.\s*(\w+)")
_TENSOR_ANNOTATIONS = ("Tensor", "Float[", "Int[", "Bool[")
TENSOR_WORDS = frozenset({"torch", "F", "einsum", "rearrange"})


def is_about_tensors(tree: SourceTree, definition: Definition) -> bool:
    """Whether a function without effects takes tensors: a parameter is annotated so, or its body uses torch."""
    if has_effects(tree, definition):
        return False
    if takes_tensors(definition):
        return True
    is_annotated = all(parameter.annotation for parameter in definition.parameters)
    return not is_annotated and not TENSOR_WORDS.isdisjoint(names_in(tree, definition))


def takes_tensors(definition: Definition) -> bool:
    """Whether a parameter is annotated as a tensor."""
    return any(word in parameter.annotation for parameter in definition.parameters for word in _TENSOR_ANNOTATIONS)


def has_effects(tree: SourceTree, definition: Definition, harmless: frozenset[str] = frozenset()) -> bool:
    """Whether a function names what reaches files, processes, the network or other code; ``harmless`` are names that do not count."""
    words = set(names_in(tree, definition)) - harmless
    if _EVALUATES.search(text_of(tree, definition)) is None:
        words.discard("eval")
    if _BINDS_OTHERWISE.search(text_of(tree, definition)) is None:
        # what is passed in is made up: `signal` and `input` are tensors then
        words -= {parameter.name for parameter in definition.parameters if not parameter.default}
    found = effect_names(tree).intersection(map(as_python_reads, words))
    if not effect_names(tree).isdisjoint(as_texts(tree, definition)):
        return True
    return bool(found) and not found <= _of_its_own(tree, definition, found & taken_effect_names(tree))


def _of_its_own(tree: SourceTree, definition: Definition, names: Collection[str]) -> frozenset[str]:
    """Those of ``names`` that are variables of a function, and not the file's: not what it may have from there, nor an attribute's."""
    text = as_python_reads(text_of(tree, definition))
    if not names or definition.kind != "function" or _BINDS_OTHERWISE.search(text) is not None:
        return frozenset()
    place = definition.name_place
    own = own_names(tree, tree.offset(place.line, place.column))
    return own.intersection(names) - set(_ATTRIBUTE.findall(text))


def text_of(tree: SourceTree, definition: Definition) -> str:
    """The source of a definition, in whole lines."""
    start, end = tree.offset(definition.first_line, 1), tree.offset(definition.last_line + 1, 1)
    return tree.source[start:end].decode("utf-8", "replace")


def names_in(tree: SourceTree, definition: Definition) -> Iterator[str]:
    """Every name that occurs in a definition."""
    start, end = tree.offset(definition.first_line, 1), tree.offset(definition.last_line + 1, 1)
    starts, names = _identifiers(tree)
    yield from names[bisect_left(starts, start) : bisect_left(starts, end)]


def as_texts(tree: SourceTree, definition: Definition) -> frozenset[str]:
    """The names that a definition looks up by texts."""
    start, end = tree.offset(definition.first_line, 1), tree.offset(definition.last_line + 1, 1)
    return frozenset(map(as_python_reads, looked_up_names(tree, start, end)))


@kept_with_tree
def _identifiers(tree: SourceTree) -> tuple[list[int], list[str]]:
    """The places of all names of a file in order, and the names; of what is nested too deep to be read, all words."""
    names = [(node.start_byte, tree.node_text(node)) for node in _IDENTIFIERS.everywhere(tree).get("name", [])]
    for start, end in tree.unread:
        words = _WORD.findall(tree.source[start:end].decode("utf-8", "replace"))
        names += [(start, word) for word in dict.fromkeys(words)]
    names.sort()
    return [start for start, _ in names], [name for _, name in names]
