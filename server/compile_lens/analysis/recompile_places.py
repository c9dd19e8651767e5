"""Finds the place of a recompile: the parameter, attribute or expression that the guard names, where it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from compile_lens.analysis.finding import Place
from compile_lens.analysis.guard_facts import LAST_STEP, GuardFact
from compile_lens.analysis.recompile_causes import Cause
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition, definition_at, parameter_range
from compile_lens.syntax.ranges import find_ending, find_expression
from compile_lens.syntax.tree import Range, SourceTree
from compile_lens.trace.report import Compilation, CompileReport, GuardFailure, StackFrame

# "the default of `bias` of `f`", "default value 1 of `f`", "partial.keywords['k']"
OF, NUMBERED, KEY = (
    pattern(r"^the default of `(\w+)`"),
    pattern(r"^default value (\d{1,9})"),
    pattern(r"\['(\w+)'\]$"),
)


def cause_place(compilation: Compilation, cause: Cause, report: CompileReport, sources: Sources) -> Place:
    """Where the guarded value is a parameter or is read; else the function; in library code, the user's call, or the one of
    ``torch.compile``."""
    if not sources.is_own(compilation.file):
        own = sources.deepest_own(compilation.call_stack)
        if own is not None:
            return sources.place_of(own)
        region = next((each for each in report.regions if each.region == compilation.region), None)
        if region is not None and sources.is_own(region.file):
            return sources.place_of(StackFrame(region.file, region.line, region.name))
    tree = sources.tree_of(compilation.file)
    if tree is None:
        return Place(compilation.file, compilation.line, 1, compilation.line, 2)
    definition = definition_at(tree, compilation.line)
    fact = cause.fact
    place = _parameter(compilation.file, tree, fact, definition)
    place = place or _where_read(compilation, cause, sources)
    place = place or _in_function(compilation.file, tree, fact, definition)
    if place is None and (compilation.resume_of is not None or definition is None):
        # a value kept across a break has no name: the line of the break stands for it
        return sources.place_of(StackFrame(compilation.file, compilation.line, compilation.function))
    return (
        place
        or _placed(compilation.file, definition.name_place if definition is not None else None)
        or Place(compilation.file, compilation.line, 1, compilation.line, 2)
    )


def _placed(file: str, found: Range | None) -> Place | None:
    return Place(file, found.line, found.column, found.end_line, found.end_column) if found is not None else None


def _parameter(file: str, tree: SourceTree, fact: GuardFact, definition: Definition | None) -> Place | None:
    if definition is None or not (fact.root and (fact.root == fact.name or fact.name.startswith(f"{fact.root}["))):
        return None
    return _placed(file, parameter_range(tree, definition.first_line, fact.root))


def _where_read(compilation: Compilation, cause: Cause, sources: Sources) -> Place | None:
    """The expression at the line that torch names, in whichever of the user's functions that is."""
    for frame in _reading_frames(compilation, cause.failure, sources):
        tree = sources.tree_of(frame.file)
        if tree is None:
            continue
        for expression in cause.fact.expressions if cause.fact.name else ():
            found = find_expression(tree, expression, frame.line, frame.line)
            if found is not None:
                return _placed(frame.file, found)
        step = LAST_STEP.search(cause.fact.reading)
        found = find_ending(tree, step[0], frame.line) if step is not None else None
        if found is not None:
            return _placed(frame.file, found)
        found = _by_default(tree, cause.fact, frame)
        if found is not None:
            return _placed(frame.file, found)
        # of a property such as a size, the line that reads it is the best there is
        elsewhere = frame.file != compilation.file or not _is_in_function(compilation, tree, frame.line)
        if elsewhere or (not cause.fact.name and compilation.resume_of is None):
            return sources.place_of(StackFrame(frame.file, frame.line, frame.name, frame.text))
    return None


def _by_default(tree: SourceTree, fact: GuardFact, frame: StackFrame) -> Range | None:
    """The parameter whose default is guarded, or the keyword of a ``partial``, where the function uses it."""
    definition = definition_at(tree, frame.line)
    named, numbered, keyed = (p.search(t) for p, t in ((OF, fact.subject), (NUMBERED, fact.subject), (KEY, fact.name)))
    name = named[1] if named else keyed[1] if keyed else ""
    if numbered is not None and definition is not None:
        with_default = [parameter.name for parameter in definition.parameters if parameter.default]
        index = int(numbered[1])
        name = with_default[index] if index < len(with_default) else ""
    return find_expression(tree, name, frame.line, frame.line) if name else None


def _is_in_function(compilation: Compilation, tree: SourceTree, line: int) -> bool:
    definition = definition_at(tree, compilation.line)
    return definition is not None and definition.first_line <= line <= definition.last_line


def _reading_frames(compilation: Compilation, failure: GuardFailure, sources: Sources) -> list[StackFrame]:
    """The user's own lines that lead to where the guarded value is read, innermost first."""
    if failure.stack:
        return [frame for frame in reversed(failure.stack) if sources.is_own(frame.file)]
    file = _resolved(failure, compilation, sources)
    return [StackFrame(file, failure.line, "", failure.source_text)] if file and failure.line is not None else []


def _resolved(failure: GuardFailure, compilation: Compilation, sources: Sources) -> str:
    """The own file whose path ends with what torch tells of it, and that has the line's text at the line."""
    tail = PurePath(failure.file_tail.replace("\\", "/")).parts
    if not tail or failure.line is None:
        return ""
    known = [compilation.file, sources.main_file, *(frame.file for frame in reversed(compilation.call_stack))]
    for path in dict.fromkeys(path for file in known for path in _paths_with(tail, file)):
        tree = sources.tree_of(path) if sources.is_own(path) else None
        if tree is not None and tree.line_text(failure.line).strip() == failure.source_text:
            return path
    return ""


def _paths_with(tail: tuple[str, ...], file: str) -> Iterator[str]:
    """Paths near ``file`` that torch may have shortened to ``tail``.

    It takes off the folders that the path shares with torch's own, and the character after them: where they share only the root, that
    is the first letter of a name (torch/utils/_traceback.py, ``shorten_filename``, torch 2.6 to 2.14).
    """
    parts = PurePath(file).parts
    if len(parts) > 1 and parts[1][1:] == tail[0]:
        yield str(PurePath(*parts[:2], *tail[1:]))
    for folder in PurePath(file).parents:
        path = str(folder.joinpath(*tail))
        if path == file or folder.name not in tail:
            yield path


def _in_function(file: str, tree: SourceTree, fact: GuardFact, definition: Definition | None) -> Place | None:
    if definition is None or not fact.name:
        return None
    found = (
        find_expression(tree, expression, definition.first_line, definition.last_line)
        for expression in (*fact.expressions, *([fact.root] if fact.root != "self" else ()))
    )
    return _placed(file, next((place for place in found if place is not None), None))
