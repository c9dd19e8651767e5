"""Fixes for calls that need graphs of their own: a compiled version for each kind of call, which cannot displace another's.

As many graphs are compiled as before. But no call checks the guards of all the others, and the recompile limit counts for each alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import below_imports, indent_of, newline, replace_node
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.fixes.rewrites.regions import call_of, calls_by_name, options_of, region_of
from compile_lens.syntax.definitions import whole_definition
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.regions import Region, RegionKind
from compile_lens.syntax.tree import Range, SourceTree, ancestors

# torch.compile tracks the versions of such a call alone (torch 2.13)
_ALONE = "isolate_recompiles=True"
_WORD = re.compile(r"\w+")
_CHANGED_TO = re.compile(r"`(?P<name>[^`]*)`[^`]*→ (?P<value>[^→)]+)\)$")
_SWITCHES = frozenset({"True", "False", "on", "off"})
# a number or tensor that changes is no reason for a version of its own, and containers are no keys
_NOT_KEYS = frozenset({"int", "float", "Tensor", "a tensor", "Parameter", "list", "dict", "set", "None", "NoneType"})
_LONGEST = 16
_MOST = 6


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What a region makes: ``name`` calls it, ``again`` makes it anew, ``after`` is where a line below it goes."""

    name: str
    again: str
    after: tree_sitter.Node
    before: tuple[Edit, ...] = ()


def own_version(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Another compiled version of the same function for the calls that made torch compile it again."""
    if finding.kind not in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
        return
    region = region_of(finding, tree)
    compiled = _compiled(tree, region) if region is not None else None
    if compiled is None:
        return
    calls = calls_by_name(tree, compiled.name)
    by_version = _calls_by_recompile(finding, tree, calls)
    taken: set[str] = set()
    lines, edits = [], list(compiled.before)
    for label, nodes in by_version:
        name = _free_name(tree, f"{compiled.name.rpartition('.')[2]}_{label}", taken)
        lines.append(f"{name} = {compiled.again}")
        edits += [replace_node(tree, function, name) for function in map(_function, nodes) if function is not None]
    if lines and len(lines) <= _MOST and any(call not in nodes for call in calls for _, nodes in by_version):
        yield make(
            "own-version",
            f"Compile `{compiled.name}` separately for {'these calls' if len(edits) > 1 else 'this call'} (`isolate_recompiles`)",
            _below(tree, compiled.after, lines),
            *edits,
            kind=FixKind.SEPARATE,
        )
    yield from _version_by_argument(finding, tree, compiled)


def _version_by_argument(finding: Finding, tree: SourceTree, compiled: _Compiled) -> Iterator[Fix]:
    """A compiled version for each value of an argument that changes, for calls that are one in the source."""
    function = function_of(finding, tree)
    facts = changed(finding)
    if function is None or not compiled.name.isidentifier():
        return
    # strings, flags, functions, classes and modules; None stands for what may be a tensor
    values = {
        fact.name
        for fact in facts
        if fact.before != "None"
        and (fact.what in ("value", "identity") or (fact.what == "type" and _is_hashable(fact)))
    }
    missing = {fact.name for fact in facts if "None" in (fact.before, fact.after)}
    calls = calls_of(tree, function)
    defaults = {p.name: p.default for p in function.parameters}
    wanted = [(name, False) for name in sorted(values & set(defaults))] + [
        (name, True) for name in sorted(missing & set(defaults))
    ]
    for name, is_none in wanted:
        keys = [
            _key(tree, call.arguments.get(name), defaults[name], is_none)
            for call in calls
            if call.receiver == compiled.name
        ]
        if not keys or not all(keys) or len(keys) != len(calls):
            continue
        made = _free_name(tree, f"{compiled.name}_for", set())
        parameter = f"{name}_is_none" if is_none else name
        lines = [f"@functools.cache{newline(tree)}def {made}({parameter}):", f"    return {compiled.again}"]
        imported = "functools" in read_imports(tree).modules
        edits = [
            replace_node(tree, target, f"{made}({' '.join(key.split())})")
            for call, key in zip(calls, keys, strict=True)
            if (target := _function(call.node)) is not None
        ]
        yield make(
            "version-by-argument",
            f"Compile `{compiled.name}` separately for {f'`{name} is None`' if is_none else f'each `{name}`'} (`isolate_recompiles`)",
            *compiled.before,
            None if imported else below_imports(tree, "import functools"),
            _below(tree, compiled.after, lines, is_definition=True),
            *edits,
            kind=FixKind.SEPARATE,
        )


def _key(tree: SourceTree, argument: tree_sitter.Node | None, default: str, is_none: bool) -> str:
    """What tells the versions apart at a call: the argument, or whether it is None; '' where it cannot be evaluated twice."""
    if not is_none:
        return tree.node_text(argument) if argument is not None else default
    if argument is None:
        return str(default == "None") if default else ""
    if argument.type == "none":
        return "True"
    return f"{tree.node_text(argument)} is None" if argument.type in ("identifier", "attribute") else ""


def _is_hashable(fact: GuardFact) -> bool:
    """Whether a type that changes is one of objects that a dict takes as keys: modules, classes, strings."""
    return bool(fact.before) and fact.before not in _NOT_KEYS and fact.after not in _NOT_KEYS


def _compiled(tree: SourceTree, region: Region) -> _Compiled | None:
    node, (function, options) = call_of(tree, region), options_of(tree, region)
    if node is None or not function or any(option.startswith("isolate_recompiles") for option in options):
        return None
    if region.kind is RegionKind.DECORATOR:
        definition = next((each for each in ancestors(node) if each.type == "decorated_definition"), None)
        if definition is None or not region.target.isidentifier():
            return None
        again = f"{function}({', '.join([region.target, *options, _ALONE])})"
        return _Compiled(region.target, again, whole_definition(definition))
    assignment = node.parent
    left = assignment.child_by_field_name("left") if assignment is not None else None
    if region.kind is not RegionKind.CALL or assignment is None or left is None or assignment.type != "assignment":
        return None
    name, target = tree.node_text(left), region.target
    if left.type not in ("identifier", "attribute") or assignment.parent is None:
        return None
    before: tuple[Edit, ...] = ()
    if target == name or not re.fullmatch(r"[\w.]+", target):
        # what is compiled needs a name that is not that of the compiled one
        subject = _subject(node)
        target = _free_name(tree, f"eager_{name.rpartition('.')[2]}", set())
        line, column = tree.position(assignment.start_byte)
        indent = indent_of(tree, assignment.start_byte)
        if subject is None or len(indent) != column - 1:
            return None
        made = f"{indent}{target} = {tree.node_text(subject)}{newline(tree)}"
        before = (Edit(Range(line, 1, line, 1), made), replace_node(tree, subject, target))
    again = f"{function}({', '.join([target, *options, _ALONE])})"
    return _Compiled(name, again, assignment.parent, before)


def _subject(call: tree_sitter.Node) -> tree_sitter.Node | None:
    arguments = call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    return next((each for each in given if each.type not in ("keyword_argument", "comment")), None)


def _calls_by_recompile(
    finding: Finding, tree: SourceTree, calls: list[tree_sitter.Node]
) -> list[tuple[str, list[tree_sitter.Node]]]:
    """The calls that need a compiled version of their own, each with a label; calls of one kind share a version."""
    found: list[tuple[str, list[tree_sitter.Node]]] = []
    for number, recompiled in enumerate(finding.recompiles):
        place = recompiled.place
        if place is None or place.file != finding.place.file:
            continue
        own = [n for n in calls if tree.position(n.start_byte)[0] <= place.line <= tree.position(n.end_byte)[0]]
        around = set(map(_mode, own)) - {0}
        own += [node for node in calls if node not in own and _mode(node) in around]
        if own and not any(own[0] in nodes for _, nodes in found):
            found.append((_label(recompiled.change) or str(number + 2), own))
    return found


def _label(change: str) -> str:
    """``max`` for "`mode` changed ('mean' → 'max')"; '' where nothing short says it."""
    match = _CHANGED_TO.search(change)
    if match is None:
        return ""
    names = [match["name"].rpartition(".")[2]] if match["value"] in _SWITCHES else []
    label = "_".join([*names, *_WORD.findall(match["value"])]).lower()
    return label if len(label) <= _LONGEST else ""


def _mode(node: tree_sitter.Node) -> int:
    """The ``with`` that a call is made in, whose calls all run in the same mode; 0 for none."""
    for ancestor in ancestors(node):
        if ancestor.type == "with_statement":
            return ancestor.id
        if ancestor.type == "function_definition":
            break
    return 0


def _function(call: tree_sitter.Node) -> tree_sitter.Node | None:
    return call.child_by_field_name("function")


def _free_name(tree: SourceTree, wanted: str, taken: set[str]) -> str:
    name = wanted
    while name in taken or re.search(rf"\b{name}\b", tree.text):
        name += "_"
    taken.add(name)
    return name


def _below(tree: SourceTree, node: tree_sitter.Node, lines: list[str], is_definition: bool = False) -> Edit:
    """``lines`` after a statement or definition, indented as it is."""
    indent, end = indent_of(tree, node.start_byte), newline(tree)
    last = tree.position(node.end_byte)[0]
    blank = end if node.type.endswith("definition") else ""
    blank = blank + blank if not indent else blank
    text = blank + end.join(f"{indent}{line}".replace(end, f"{end}{indent}") for line in lines) + end
    if is_definition:
        text = (end * (1 if indent else 2) + text + end) if not blank else text
    if last >= len(tree.lines):
        return Edit(Range(last, len(tree.lines[-1]) + 1, last, len(tree.lines[-1]) + 1), end + text)
    return Edit(Range(last + 1, 1, last + 1, 1), text)
