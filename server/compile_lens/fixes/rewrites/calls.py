"""The calls in a file of one of its functions, or of the modules of one of its classes, as far as the source tells."""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter

from compile_lens.analysis.finding import Finding
from compile_lens.syntax.callees import CalleeNames, read_names
from compile_lens.syntax.definitions import Definition, definition_at, definitions
from compile_lens.syntax.tree import Query, SourceTree

_CALLS = Query("(call) @call")
_MOST = 8


@dataclass(frozen=True, slots=True)
class CallInFile:
    """One call. ``receiver`` is what is called, as it is written; ``arguments`` are the expressions by parameter."""

    node: tree_sitter.Node
    receiver: str
    arguments: dict[str, tree_sitter.Node]


def function_of(finding: Finding, tree: SourceTree) -> Definition | None:
    """The function that a finding stands in."""
    found = definition_at(tree, finding.place.line)
    return found if found is not None and found.kind == "function" else None


def calls_of(tree: SourceTree, function: Definition) -> tuple[CallInFile, ...]:
    """The calls of ``function``, () when there are none, too many to change, or some that cannot be read."""
    names = read_names(tree)
    owner = next(
        (
            d
            for d in definitions(tree)
            if d.kind == "class" and f"{d.qualified_name}.{function.name}" == function.qualified_name
        ),
        None,
    )
    wanted = (owner or function).name_place
    parameters = [p.name for p in function.parameters][1 if owner is not None else 0 :]
    found: list[CallInFile] = []
    captures = _CALLS.everywhere(tree).get("call", [])
    for node in sorted(captures, key=lambda call: call.start_byte):
        called = node.child_by_field_name("function")
        definition = _called(names, called) if called is not None else None
        name = definition.child_by_field_name("name") if definition is not None else None
        if called is None or name is None or tree.node_range(name) != wanted:
            continue
        if function.def_line <= tree.position(node.start_byte)[0] <= function.last_line:
            continue
        arguments = _arguments(tree, node, parameters)
        if arguments is None:
            return ()
        found.append(CallInFile(node, tree.node_text(called), arguments))
    return tuple(found) if len(found) <= _MOST else ()


def _called(names: CalleeNames, called: tree_sitter.Node) -> tree_sitter.Node | None:
    """The function or class of this file that an expression which is called stands for."""
    value = names.assigned.get(names.tree.node_text(called)) if called.type == "identifier" else None
    for expression in (called, value):
        callee = names.callee(expression) if expression is not None else None
        if callee is not None:
            return names.definition_of(callee.subject) if callee.subject is not None else None
    found = names.definition_of(called)
    is_constructor = found is not None and found.type == "class_definition" and names.dotted(called) in names.defined
    return None if is_constructor else found


def _arguments(tree: SourceTree, call: tree_sitter.Node, parameters: list[str]) -> dict[str, tree_sitter.Node] | None:
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list":
        return None
    found: dict[str, tree_sitter.Node] = {}
    rest = iter(parameters)
    for argument in arguments.named_children:
        if argument.type in ("list_splat", "dictionary_splat", "ERROR"):
            return None
        if argument.type == "comment":
            continue
        name = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        value = argument.child_by_field_name("value") if name is not None else argument
        key = tree.node_text(name) if name is not None else next(rest, None)
        if key is None or value is None:
            return None
        found[key] = value
    return found
