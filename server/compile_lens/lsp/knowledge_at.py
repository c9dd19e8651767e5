"""Finds what a place in a document names, for hovers and go to definition."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.documents.documents import Snapshot
from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.syntax.compiler_output import LOOKED_AT, generic_name, is_compiler_output, word_at
from compile_lens.syntax.contexts import Mention, MentionKind, mention_at
from compile_lens.syntax.imports import Imports
from compile_lens.syntax.settings_text import items, settings_of_line
from compile_lens.syntax.tree import Range
from compile_lens.syntax.window import window_around

# methods that lists, dicts, strings, modules and files also have
_COMMON_METHODS = frozenset(
    [
        "add", "append", "apply", "clear", "close", "compile", "copy", "count", "cpu", "cuda", "data", "double", "eval",
        "extend", "float", "format", "get", "half", "index", "insert", "int", "items", "join", "keys", "load", "long",
        "max", "min", "pop", "read", "remove", "replace", "requires_grad_", "reverse", "round", "save", "set", "size",
        "sort", "split", "sum", "to", "type", "update", "values", "view", "write", "zip", "bool",
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedEntries:
    """The entries for one place, the most likely first, and the range of the name."""

    entries: tuple[KnowledgeEntry, ...]
    range: Range
    sort: MentionKind | None = None


def named_at(snapshot: Snapshot, knowledge: Knowledge, imports: Imports, line: int, column: int) -> NamedEntries | None:
    """What a place names, if it can be explained. Line and column count from 1, in code points."""
    found = None
    if is_python(snapshot):
        window = window_around(snapshot.index.line, snapshot.index.line_count, line, imports)
        mention = mention_at(window.tree, window.imports, line - window.first_line + 1, column)
        found = _of_mention(knowledge, mention, window.first_line - 1) if mention is not None else None
    else:
        found = _of_setting(snapshot, knowledge, line, column)
    return found or _of_word(snapshot, knowledge, line, column)


def compile_method_at(snapshot: Snapshot, knowledge: Knowledge, line: int, column: int) -> NamedEntries | None:
    """``model.compile(…)`` of a module: it takes the arguments of ``torch.compile``."""
    word = word_at(snapshot.index.line(line - 1), column - 1)
    if word is None or word.text.rpartition(".")[2] != "compile":
        return None
    start = word.end_column - len("compile")
    return (
        _named(knowledge, KnowledgeKind.FUNCTION, "torch.compile", line, start, len("compile"))
        if column > start
        else None
    )


def is_python(snapshot: Snapshot) -> bool:
    """Whether a document is Python, saved or not."""
    return snapshot.is_python or snapshot.language == "python"


def _of_mention(knowledge: Knowledge, mention: Mention, lines: int) -> NamedEntries | None:
    entries = entries_of(knowledge, mention)
    if not entries:
        return None
    place = mention.range
    moved = Range(place.line + lines, place.column, place.end_line + lines, place.end_column)
    return NamedEntries(tuple(entries), moved, mention.sort)


def entries_of(knowledge: Knowledge, mention: Mention) -> list[KnowledgeEntry]:
    """The entries of what a mention names."""
    kinds = {
        MentionKind.LOG: KnowledgeKind.LOG,
        MentionKind.VARIABLE: KnowledgeKind.ENVIRONMENT,
        MentionKind.OPTION: KnowledgeKind.OPTION,
        MentionKind.ARGUMENT: KnowledgeKind.ARGUMENT,
        MentionKind.MODE: KnowledgeKind.MODE,
        MentionKind.BACKEND: KnowledgeKind.BACKEND,
    }
    if mention.sort in kinds:
        entry = knowledge.get(kinds[mention.sort], mention.name)
        return [entry] if entry is not None else []
    if mention.sort is MentionKind.VALUE:
        entry = knowledge.get(KnowledgeKind.ENVIRONMENT, mention.owner)
        return [entry] if entry is not None else []
    if mention.sort is MentionKind.METHOD:
        if mention.name in _COMMON_METHODS:
            return []
        return _operator_and_function(knowledge, f"torch.Tensor.{mention.name}")
    return _of_dotted(knowledge, mention.name)


def _of_dotted(knowledge: Knowledge, full: str) -> list[KnowledgeEntry]:
    if full.startswith("torch.ops."):
        parts = full.removeprefix("torch.ops.").split(".")
        for length in (3, 2):
            entry = knowledge.get(KnowledgeKind.OPERATOR, ".".join(parts[:length]))
            if entry is not None and len(parts) >= 2:
                return [entry]
        return []
    if full.startswith("triton"):
        short = full.replace("triton.language.extra.libdevice", "libdevice").replace("triton.language.", "tl.")
        entry = knowledge.get(KnowledgeKind.TRITON, short)
        return [entry] if entry is not None else []
    for kind, prefix in (
        (KnowledgeKind.TRITON, "torch._inductor.runtime."),
        (KnowledgeKind.OPS, "torch._inductor.virtualized.ops."),
        (KnowledgeKind.VIRTUALIZED, "torch._inductor.virtualized.V."),
        (KnowledgeKind.IR, "torch._inductor."),
        (KnowledgeKind.VARIABLE, "torch._dynamo."),
    ):
        if full.startswith(prefix):
            name = (
                full.removeprefix(prefix)
                if kind is not KnowledgeKind.IR and kind is not KnowledgeKind.VARIABLE
                else full.rpartition(".")[2]
            )
            entry = knowledge.get(kind, name)
            if entry is not None:
                return [entry]
    option = knowledge.get(KnowledgeKind.OPTION, full)
    if option is not None:
        return [option]
    return _operator_and_function(knowledge, full)


def _operator_and_function(knowledge: Knowledge, full: str) -> list[KnowledgeEntry]:
    """The function that users call, and the operator that it becomes."""
    name = full.replace("torch._dynamo.", "torch._dynamo.decorators.")
    function = knowledge.get(KnowledgeKind.FUNCTION, full) or knowledge.get(KnowledgeKind.FUNCTION, name)
    if function is None:
        return []
    operator = knowledge.operator_of(full) if full.startswith(_OPERATOR_MODULES) and full.count(".") <= 3 else None
    entry = knowledge.get(KnowledgeKind.OPERATOR, operator) if operator is not None else None
    return [function, entry] if entry is not None else [function]


_OPERATOR_MODULES = ("torch.nn.functional.", "torch.Tensor.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.")


def _of_setting(snapshot: Snapshot, knowledge: Knowledge, line: int, column: int) -> NamedEntries | None:
    """A variable that is set in a shell script, a ``.env`` file or the like."""
    text, before = snapshot.index.line(line - 1), snapshot.index.line(line - 2)
    at = column - 1
    for setting in settings_of_line(text, before):
        if setting.name_column <= at <= setting.name_column + len(setting.name) and setting.name_column >= 0:
            return _named(
                knowledge, KnowledgeKind.ENVIRONMENT, setting.name, line, setting.name_column, len(setting.name)
            )
        if not setting.value_column <= at <= setting.value_column + len(setting.value):
            continue
        if setting.name != "TORCH_LOGS":
            return _named(
                knowledge, KnowledgeKind.ENVIRONMENT, setting.name, line, setting.value_column, len(setting.value)
            )
        for name, offset in items(setting.value):
            start = setting.value_column + offset
            if start <= at <= start + len(name):
                return _named(knowledge, KnowledgeKind.LOG, name, line, start, len(name))
    return None


def _of_word(snapshot: Snapshot, knowledge: Knowledge, line: int, column: int) -> NamedEntries | None:
    """A break code or variable in any text; any name of the compiler in its own output."""
    word = word_at(snapshot.index.line(line - 1), column - 1)
    if word is None:
        return None
    if word.text.startswith("GB") and word.text[2:].isdecimal():
        return _named(knowledge, KnowledgeKind.CODE, word.text, line, word.column, len(word.text))
    if word.text.isupper() and "_" in word.text and knowledge.knows(KnowledgeKind.ENVIRONMENT, word.text):
        return _named(knowledge, KnowledgeKind.ENVIRONMENT, word.text, line, word.column, len(word.text))
    if not is_compiler_output(snapshot.index.between(0, LOOKED_AT)):
        return None
    entries = knowledge.find(word.text) or knowledge.find(generic_name(word.text))
    if not entries:
        return None
    return NamedEntries((entries[0],), Range(line, word.column + 1, line, word.end_column + 1))


def _named(
    knowledge: Knowledge, kind: KnowledgeKind, name: str, line: int, column: int, length: int
) -> NamedEntries | None:
    entry = knowledge.get(kind, name)
    return NamedEntries((entry,), Range(line, column + 1, line, column + 1 + length)) if entry is not None else None
