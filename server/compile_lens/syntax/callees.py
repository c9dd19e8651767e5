"""Finds calls and decorators that are ``torch.compile``, through imports, aliases and ``functools.partial``."""

from __future__ import annotations

import tree_sitter
from msgspec import Struct, field
from msgspec.structs import replace

from compile_lens.syntax.definitions import qualified_name
from compile_lens.syntax.imports import Imports, read_imports
from compile_lens.syntax.tree import Query, SourceTree, ancestors

_ASSIGNMENTS = Query("(assignment left: (identifier) right: (_)) @assignment")
_DEFINED = Query("[(function_definition) (class_definition)] @definition")

_COMPILE = frozenset({"torch.compile", "torch.compiler.compile"})
_OPTIMIZE = frozenset(
    {
        "torch._dynamo.optimize",
        "torch._dynamo.eval_frame.optimize",
        "torch._dynamo.optimize_assert",
        "torch._dynamo.eval_frame.optimize_assert",
    }
)
_EXPORT = frozenset({"torch.export.export", "torch.export.draft_export", "torch.export.export_for_training"})
# full names that start a compile region
ENTRY_POINTS = _COMPILE | _OPTIMIZE | _EXPORT
_PARTIAL = "functools.partial"
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in (*ENTRY_POINTS, _PARTIAL))
_FULLGRAPH_OPTIONS = frozenset({"fullgraph", "nopython"})
_SUBJECT_OPTIONS = frozenset({"model", "mod"})
# how many aliases, calls of calls and partials are followed
_DEEPEST = 20


class Callee(Struct, frozen=True):
    """Something that compiles. ``subject`` is what it compiles, or None while it has no argument yet."""

    fullgraph: bool = False
    is_export: bool = False
    subject: tree_sitter.Node | None = None
    takes_function_first: bool = True


class CalleeNames(Struct, frozen=True):
    """The names of a file: imports, plain assignments (the last one of a name), functions and classes."""

    tree: SourceTree
    imports: Imports
    assigned: dict[str, tree_sitter.Node] = field(default_factory=dict)
    defined: dict[str, tree_sitter.Node] = field(default_factory=dict)

    def callee(self, node: tree_sitter.Node, depth: int = 0) -> Callee | None:
        """The callee, if an expression is ``torch.compile``, with or without options and something to compile."""
        if depth > _DEEPEST:
            return None
        node = _unwrapped(node)
        if node.type in ("identifier", "attribute"):
            known = _known(self.imports.resolve(self.dotted(node)))
            if known is not None or node.type == "attribute":
                return known
            value = self.assigned.get(self.tree.node_text(node))
            waiting = self.callee(value, depth + 1) if value is not None else None
            return waiting if waiting is not None and waiting.subject is None else None
        function = node.child_by_field_name("function") if node.type == "call" else None
        arguments = node.child_by_field_name("arguments") if node.type == "call" else None
        if function is None or arguments is None or not self._may_be_callee(_unwrapped(function)):
            return None
        positional, named = self._arguments(arguments)
        if self.imports.resolve(self.dotted(_unwrapped(function))) == _PARTIAL:
            inner = self.callee(positional[0], depth + 1) if positional else None
            if inner is None or inner.subject is not None:
                return None
            return self._applied(inner, node, positional[1:], named)
        inner = self.callee(function, depth + 1)
        return self._applied(inner, node, positional, named) if inner is not None and inner.subject is None else None

    def _may_be_callee(self, function: tree_sitter.Node) -> bool:
        """Whether the last name of ``function`` leaves open what it is: most calls of a file are told by it at little cost."""
        if function.type == "identifier":
            name = self.tree.node_text(function)
            return name in self.imports.names or name in self.assigned
        if function.type != "attribute":
            return True
        attribute = function.child_by_field_name("attribute")
        return attribute is not None and self.tree.node_text(attribute) in _LAST_NAMES

    def _applied(
        self,
        callee: Callee,
        call: tree_sitter.Node,
        positional: list[tree_sitter.Node],
        named: dict[str, tree_sitter.Node],
    ) -> Callee:
        subject = next((named[option] for option in _SUBJECT_OPTIONS if option in named), None)
        if subject is None and positional and callee.takes_function_first and positional[0].type != "none":
            subject = positional[0]
        fullgraph = callee.fullgraph or self.fullgraph(call)
        return replace(callee, subject=subject, fullgraph=fullgraph, takes_function_first=True)

    def fullgraph(self, call: tree_sitter.Node) -> bool:
        """Whether the call has ``fullgraph=True``, or ``nopython=True`` as in older code."""
        arguments = call.child_by_field_name("arguments")
        _, named = self._arguments(arguments) if arguments is not None else ([], {})
        return any(option in named and named[option].type == "true" for option in _FULLGRAPH_OPTIONS)

    def definition_of(self, subject: tree_sitter.Node) -> tree_sitter.Node | None:
        """The function, class or lambda of this file that an expression refers to or creates, if the source shows it."""
        for _ in range(_DEEPEST):
            subject = _unwrapped(subject)
            if subject.type == "lambda":
                return subject
            if subject.type == "call":
                function = subject.child_by_field_name("function")
                made = self._defined_as(function, subject) if function is not None else None
                if made is not None and made.type == "class_definition":
                    return made
                method = function is not None and function.type == "attribute"
                receiver = function.child_by_field_name("object") if function is not None and method else None
                if receiver is None or made is not None:
                    return None
                subject = receiver
                continue
            found = self._defined_as(subject, subject)
            if found is not None:
                return found
            value = self.assigned.get(self.tree.node_text(subject)) if subject.type == "identifier" else None
            if value is None:
                return None
            subject = value
        return None

    def _defined_as(self, node: tree_sitter.Node, used_at: tree_sitter.Node) -> tree_sitter.Node | None:
        """The definition that a name refers to where it is used, innermost scope first; ``self.f`` is that of the class."""
        dotted = self.dotted(_unwrapped(node))
        if not dotted:
            return None
        first, _, rest = dotted.partition(".")
        for ancestor in ancestors(used_at):
            if ancestor.type == "class_definition" and first in ("self", "cls") and rest:
                return self.defined.get(f"{qualified_name(self.tree, ancestor)}.{rest}")
            if ancestor.type == "function_definition" and first not in ("self", "cls"):
                found = self.defined.get(f"{qualified_name(self.tree, ancestor)}.<locals>.{dotted}")
                if found is not None:
                    return found
        return self.defined.get(dotted)

    def may_be_a_module_object(self, receiver: tree_sitter.Node) -> bool:
        """Whether ``receiver.compile()`` may be ``nn.Module.compile``: not a literal, a module or something from the standard library."""
        receiver = _unwrapped(receiver)
        root = _root(receiver)
        if root is None:
            return False
        name = self.tree.node_text(root)
        if self.imports.is_standard_library(name):
            return False
        dotted = self.dotted(receiver)
        if dotted and (name in self.imports.modules or self.imports.resolve(dotted).startswith("torch.")):
            return False
        if name in self.imports.modules and not self.imports.names[name].startswith("torch"):
            return receiver.type == "call" and self._makes_an_instance(receiver)
        value = self.assigned.get(name)
        origin = _root(_unwrapped(value)) if value is not None else None
        return origin is None or not self.imports.is_standard_library(self.tree.node_text(origin))

    def _makes_an_instance(self, call: tree_sitter.Node) -> bool:
        function = call.child_by_field_name("function")
        return function is not None and self.tree.node_text(function).rpartition(".")[2][:1].isupper()

    def dotted(self, node: tree_sitter.Node) -> str:
        """``a.b.c`` for a chain of attributes on a name, '' for any other expression."""
        parts: list[str] = []
        while node.type == "attribute":
            attribute, value = node.child_by_field_name("attribute"), node.child_by_field_name("object")
            if attribute is None or value is None:
                return ""
            parts.append(self.tree.node_text(attribute))
            node = value
        if node.type != "identifier":
            return ""
        return ".".join([self.tree.node_text(node), *reversed(parts)])

    def _arguments(self, node: tree_sitter.Node) -> tuple[list[tree_sitter.Node], dict[str, tree_sitter.Node]]:
        positional: list[tree_sitter.Node] = []
        named: dict[str, tree_sitter.Node] = {}
        if node.type == "generator_expression":
            return positional, named
        for argument in node.named_children:
            if argument.type == "keyword_argument":
                name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
                if name is not None and value is not None:
                    named[self.tree.node_text(name)] = value
            elif argument.type not in ("comment", "dictionary_splat", "ERROR"):
                positional.append(argument)
        return positional, named


def read_names(tree: SourceTree) -> CalleeNames:
    imports = read_imports(tree)
    if not imports.has_torch:
        return CalleeNames(tree, imports)
    assigned: dict[str, tree_sitter.Node] = {}
    captures = _ASSIGNMENTS.everywhere(tree)
    for node in sorted(captures.get("assignment", []), key=lambda found: found.start_byte):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            assigned[tree.node_text(left)] = right
    definitions = _DEFINED.everywhere(tree).get("definition", [])
    ordered = sorted(definitions, key=lambda found: found.start_byte)
    return CalleeNames(tree, imports, assigned, {qualified_name(tree, node): node for node in ordered})


def _known(full: str) -> Callee | None:
    if full in _COMPILE:
        return Callee()
    if full in _OPTIMIZE:
        # the first argument of optimize is the backend; what it returns takes the function
        return Callee(fullgraph=full.endswith("_assert"), takes_function_first=False)
    return Callee(fullgraph=True, is_export=True) if full in _EXPORT else None


def _unwrapped(node: tree_sitter.Node) -> tree_sitter.Node:
    while node.type in ("parenthesized_expression", "await"):
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        if inner is None:
            break
        node = inner
    return node


def _root(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name at the start of a chain of attributes, calls and subscripts; None if there is none."""
    while node.type != "identifier":
        following = next(
            (
                child
                for name in ("object", "function", "value")
                if (child := node.child_by_field_name(name)) is not None
            ),
            None,
        )
        if node.type not in ("attribute", "call", "subscript") or following is None:
            return None
        node = _unwrapped(following)
    return node
