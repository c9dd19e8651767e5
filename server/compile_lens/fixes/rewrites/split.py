"""Fix that splits a compiled function at a statement that Dynamo cannot trace: what is around the statement stays compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.editing import newline
from compile_lens.syntax.regions import RegionKind, find_regions
from compile_lens.syntax.tree import SourceTree, ancestors

_NAME = re.compile(r"[A-Za-z_]\w*")
_NOT_MOVED = frozenset({"yield", "await", "nonlocal_statement", "global_statement"})


def split(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """The statements before and after the one that breaks, as compiled functions of their own."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    found = _statement(finding, tree)
    if found is None:
        return
    definition, function, statement = found
    body, name, parameters = (function.child_by_field_name(field) for field in ("body", "name", "parameters"))
    if body is None or name is None or parameters is None or _has(body, _NOT_MOVED):
        return
    if any(child.type not in ("identifier", "typed_parameter") for child in parameters.named_children):
        return
    own = [_NAME.findall(tree.node_text(child))[0] for child in parameters.named_children]
    statements = [child for child in body.named_children if child.type != "comment"]
    at = statements.index(statement)
    first, rest = statements[:at], statements[at + 1 :]
    if first and first[0].type == "expression_statement" and first[0].named_children[0].type == "string":
        first = first[1:]
    if not rest or any(_has(each, frozenset({"return_statement"})) for each in (*first, statement)):
        return
    known = [*own, *(n for n in _assigned(tree, first) if n not in own)]
    parts = _Parts(tree, definition, function, tree.node_text(name))
    edit = parts.edit(own, known, first, statement, rest)
    yield make(
        "split", f"Split `{tree.node_text(name)}` at this statement, which runs in eager", edit, kind=FixKind.EXCLUDE
    )


def _statement(
    finding: Finding, tree: SourceTree
) -> tuple[tree_sitter.Node, tree_sitter.Node, tree_sitter.Node] | None:
    """The decorated function whose own statement a finding is in: definition, function and statement."""
    offset = tree.offset(finding.place.line, finding.place.column)
    node = tree.root.descendant_for_byte_range(offset, offset)
    inner = node
    for ancestor in ancestors(node) if node is not None else ():
        if ancestor.type == "block" and ancestor.parent is not None and ancestor.parent.type == "function_definition":
            function, definition = ancestor.parent, ancestor.parent.parent
            if definition is None or definition.type != "decorated_definition" or inner is None:
                return None
            if definition.parent is None or definition.parent.type != "module" or definition.named_child_count != 2:
                return None
            line = tree.position(definition.start_byte)[0]
            regions = [r for r in find_regions(tree) if r.kind is RegionKind.DECORATOR and r.target_line == line]
            return (definition, function, inner) if regions else None
        inner = ancestor
    return None


class _Parts:
    def __init__(self, tree: SourceTree, definition: tree_sitter.Node, function: tree_sitter.Node, name: str) -> None:
        self._tree = tree
        self._definition = definition
        self._function = function
        self._name = name
        self._end = newline(tree)
        body = function.child_by_field_name("body")
        column = tree.position(body.start_byte)[1] if body is not None else 5
        self._indent = tree.line_text(tree.position(body.start_byte)[0])[: column - 1] if body is not None else "    "

    def edit(
        self,
        own: list[str],
        known: list[str],
        first: list[tree_sitter.Node],
        statement: tree_sitter.Node,
        rest: list[tree_sitter.Node],
    ) -> Edit:
        tree, name = self._tree, self._name
        later = _read(tree, [statement, *rest])
        made = [n for n in _assigned(tree, first) if n in later]
        taken = [n for n in own if n in _read(tree, first)]
        after = [*known, *(n for n in _assigned(tree, [statement]) if n not in known)]
        needed = [n for n in after if n in _read(tree, rest)]
        functions, lines = [], []
        if made:
            functions.append(self._part(f"{name}_before", taken, first, f"return {', '.join(made)}"))
            lines.append(f"{', '.join(made)} = {name}_before({', '.join(taken)})")
        elif first:
            functions.append(self._part(f"{name}_before", taken, first, ""))
            lines.append(f"{name}_before({', '.join(taken)})")
        functions.append(self._part(f"{name}_after", needed, rest, ""))
        decorator = self._definition.named_children[0]
        outer = tree.source[self._function.start_byte : self._body_start()].decode("utf-8", "replace").rstrip()
        lines.append(tree.node_text(statement))
        returns = any(_has(each, frozenset({"return_statement"})) for each in rest)
        lines.append(f"{'return ' if returns else ''}{name}_after({', '.join(needed)})")
        plain = self._end.join([outer, *(f"{self._indent}{line}" for line in lines)])
        blank = self._end * 3
        text = blank.join([*(f"{tree.node_text(decorator)}{self._end}{each}" for each in functions), plain])
        return Edit(tree.node_range(self._definition), text)

    def _part(self, name: str, parameters: list[str], body: list[tree_sitter.Node], last: str) -> str:
        tree = self._tree
        text = tree.source[body[0].start_byte : body[-1].end_byte].decode("utf-8", "replace")
        lines = [f"def {name}({', '.join(parameters)}):", f"{self._indent}{text}"]
        return self._end.join([*lines, f"{self._indent}{last}"] if last else lines)

    def _body_start(self) -> int:
        body = self._function.child_by_field_name("body")
        return body.start_byte if body is not None else self._function.end_byte


def _assigned(tree: SourceTree, nodes: list[tree_sitter.Node]) -> list[str]:
    """Names that statements assign, in their order."""
    found: list[str] = []
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if node.type in ("assignment", "augmented_assignment", "for_statement", "as_pattern", "named_expression"):
            target = (
                node.child_by_field_name("left")
                or node.child_by_field_name("alias")
                or node.child_by_field_name("name")
            )
            plain = target is not None and target.type in (
                "identifier",
                "pattern_list",
                "tuple_pattern",
                "as_pattern_target",
            )
            found += _NAME.findall(tree.node_text(target)) if plain and target is not None else []
        pending += reversed(node.named_children)
    return list(dict.fromkeys(found))


def _read(tree: SourceTree, nodes: list[tree_sitter.Node]) -> set[str]:
    """Names that statements mention, not those after a dot."""
    found: set[str] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node.type == "identifier":
            parent = node.parent
            is_member = parent is not None and (
                (parent.type == "attribute" and parent.child_by_field_name("attribute") == node)
                or (parent.type == "keyword_argument" and parent.child_by_field_name("name") == node)
            )
            found |= set() if is_member else {tree.node_text(node)}
        pending += node.named_children
    return found


def _has(node: tree_sitter.Node, kinds: frozenset[str]) -> bool:
    return node.type in kinds or any(
        _has(child, kinds) for child in node.named_children if child.type not in ("function_definition", "lambda")
    )
