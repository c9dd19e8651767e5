"""The names of a file as its functions see them: imports, definitions, and top-level names assigned once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.definitions import decorator_expression, decorator_nodes
from compile_lens.syntax.imports import Imports, read_imports
from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.tree import Query, SourceTree, ancestors

# a call of a function marked with one of these is a graph break
DISABLING = frozenset(
    {
        "torch.compiler.disable",
        "torch._dynamo.disable",
        "torch._disable_dynamo",
        "torch._dynamo.decorators.disable",
        "torch.compiler.skip_frame",
    }
)
# a function marked with one of these is not followed: Dynamo does not trace its body, or the decorator changes what a call does
OPAQUE = frozenset(
    [
        "allow_in_graph",
        "assume_constant_result",
        "custom_op",
        "triton_op",
        "nonstrict_trace",
        "leaf_function",
        "substitute_in_graph",
        "script",
        "jit",
        "contextmanager",
        "asynccontextmanager",
        "lru_cache",
        "cache",
        "overload",
        "forbid_in_graph",
    ]
)
_MAX_BASES = 20
_ASSIGNED = Query(
    "[(assignment left: (attribute) @target) (augmented_assignment left: (attribute) @target)]",
)
_GLOBAL = Query("(global_statement) @statement")


class ProgramParameter(Struct, frozen=True):
    """A parameter of a function or lambda; ``star`` is ``*`` or ``**`` for variadic parameters."""

    name: str
    annotation: str
    default: tree_sitter.Node | None
    star: str = ""


class ParsedProgram:
    """The top level of a file."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.imports: Imports = read_imports(tree)
        self.functions: dict[str, tree_sitter.Node] = {}
        self.classes: dict[str, tree_sitter.Node] = {}
        self.assigned: dict[str, tree_sitter.Node] = {}
        times: Counter[str] = Counter()
        for statement in _top_level(tree.root):
            definition = statement.child_by_field_name("definition") or statement
            if definition.type == "function_definition":
                self.functions[self.name_of(definition)] = definition
            elif definition.type == "class_definition":
                self.classes[self.name_of(definition)] = definition
            elif statement.type == "expression_statement" and statement.named_children:
                left = statement.named_children[0].child_by_field_name("left")
                right = statement.named_children[0].child_by_field_name("right")
                if left is not None and right is not None and left.type == "identifier":
                    times[self.text(left)] += 1
                    self.assigned[self.text(left)] = right
        changed = {name for name, count in times.items() if count > 1} | self._declared_global()
        self.assigned = {name: node for name, node in self.assigned.items() if name not in changed}
        self.changed = frozenset(changed)
        # by the function's node: looked up for each parameter and each call
        self._evident: dict[int, frozenset[str]] = {}
        self._decorators: dict[int, tuple[str, ...]] = {}

    def text(self, node: tree_sitter.Node) -> str:
        return self.tree.node_text(node)

    def name_of(self, definition: tree_sitter.Node) -> str:
        name = definition.child_by_field_name("name")
        return self.text(name) if name is not None else "<lambda>"

    def decorators(self, definition: tree_sitter.Node) -> tuple[str, ...]:
        """The full names of the decorators of a definition, without their arguments."""
        if definition.id not in self._decorators:
            self._decorators[definition.id] = tuple(dict.fromkeys(self._read_decorators(definition)))
        return self._decorators[definition.id]

    def _read_decorators(self, definition: tree_sitter.Node) -> Iterator[str]:
        for decorator in decorator_nodes(definition):
            expression = decorator_expression(decorator)
            if expression is not None and expression.type == "call":
                expression = expression.child_by_field_name("function")
            if expression is not None:
                written = "".join(self.text(expression).split())
                yield self.imports.resolve(written) or written

    def is_disabled(self, function: tree_sitter.Node) -> bool:
        return any(name in DISABLING for name in self.decorators(function))

    def is_opaque(self, function: tree_sitter.Node) -> bool:
        return any(name.rpartition(".")[2] in OPAQUE for name in self.decorators(function))

    def bases(self, class_node: tree_sitter.Node) -> list[str]:
        """The full names of the bases of a class; of one in this file its own name."""
        arguments = class_node.child_by_field_name("superclasses")
        written = [
            "".join(self.text(base).split())
            for base in (arguments.named_children if arguments is not None else [])
            if base.type in ("identifier", "attribute")
        ]
        return [self.imports.resolve(base) or base for base in written]

    def lineage(self, class_node: tree_sitter.Node) -> list[tree_sitter.Node]:
        """The class and those of its bases that are in this file, nearest first."""
        found = [class_node]
        for node in found:
            for base in self.bases(node):
                parent = self.classes.get(base)
                if parent is not None and parent not in found and len(found) < _MAX_BASES:
                    found.append(parent)
        return found

    def method(
        self, class_node: tree_sitter.Node, name: str, after: tree_sitter.Node | None = None
    ) -> tree_sitter.Node | None:
        """The definition of a method, inherited ones included; ``after`` starts the lookup after that class, as ``super()`` does."""
        lineage = self.lineage(class_node)
        if after is not None and after in lineage:
            lineage = lineage[lineage.index(after) + 1 :]
        for owner in lineage:
            for member in self.members(owner):
                if member.type == "function_definition" and self.name_of(member) == name:
                    return member
        return None

    def members(self, class_node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
        body = class_node.child_by_field_name("body")
        for member in body.named_children if body is not None else []:
            yield member.child_by_field_name("definition") or member

    def attributes_assigned_outside_init(self, class_node: tree_sitter.Node) -> set[str]:
        """The attributes of ``self`` that other methods than ``__init__`` assign."""
        found: set[str] = set()
        for member in self.members(class_node):
            if member.type != "function_definition" or self.name_of(member) == "__init__":
                continue
            for target in _ASSIGNED.captures(member).get("target", []):
                written = self.text(target)
                if written.startswith("self."):
                    found.add(written.removeprefix("self."))
        return found

    def class_around(self, function: tree_sitter.Node) -> tree_sitter.Node | None:
        """The class that a function is a method of."""
        for ancestor in list(ancestors(function))[1:]:
            if ancestor.type == "class_definition":
                return ancestor
            if ancestor.type in ("function_definition", "lambda"):
                return None
        return None

    def is_module_class(self, class_node: tree_sitter.Node) -> bool:
        """Whether instances are called through ``forward``: a class that has one and is no autograd function."""
        return self.method(class_node, "forward") is not None and not self.is_autograd_function(class_node)

    def is_autograd_function(self, class_node: tree_sitter.Node) -> bool:
        return any(
            base.endswith(("autograd.Function", "function.Function"))
            for owner in self.lineage(class_node)
            for base in self.bases(owner)
        )

    def parameters(self, function: tree_sitter.Node) -> list[ProgramParameter]:
        node = function.child_by_field_name("parameters")
        found: list[ProgramParameter] = []
        for child in node.named_children if node is not None else []:
            annotation, default = child.child_by_field_name("type"), child.child_by_field_name("value")
            name = child if child.type == "identifier" else child.child_by_field_name("name")
            if name is None and child.named_children:
                name = child.named_children[0]
            star = ""
            for pattern in (child, name):
                if pattern is not None and pattern.type in ("list_splat_pattern", "dictionary_splat_pattern"):
                    star = "*" if pattern.type == "list_splat_pattern" else "**"
                    name = pattern.named_children[0] if pattern.named_children else None
            if name is not None and name.type == "identifier":
                written = self.text(annotation) if annotation is not None else ""
                found.append(ProgramParameter(self.text(name), written, default, star))
        return found

    def is_used_as_tensor(self, function: tree_sitter.Node, name: str) -> bool:
        """Whether the body reads an attribute or calls a method of ``name`` that only tensors have."""
        evident = self._evident.get(function.id)
        if evident is None:
            evident = self._evident[function.id] = self._evident_tensors(function)
        return name in evident

    def _evident_tensors(self, function: tree_sitter.Node) -> frozenset[str]:
        """The names whose first decisive use in the body is that of a tensor."""
        uses: dict[str, bool] = {}
        body = function.child_by_field_name("body")
        waiting = [body] if body is not None else []
        while waiting:
            node = waiting.pop()
            if node.type == "attribute":
                owner, attribute = node.child_by_field_name("object"), node.child_by_field_name("attribute")
                if owner is not None and owner.type == "identifier" and attribute is not None:
                    uses.setdefault(self.text(owner), self.text(attribute) in vocabulary.EVIDENT_ATTRIBUTES)
            elif node.type == "call" and (name := self._first_argument_of_torch(node)):
                uses.setdefault(name, True)
            waiting.extend(reversed(node.named_children))
        return frozenset(name for name, is_tensor in uses.items() if is_tensor)

    def _first_argument_of_torch(self, call: tree_sitter.Node) -> str:
        """The name passed as first argument to a function of torch that takes a tensor there; '' if there is none."""
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or function.type != "attribute" or arguments is None or not arguments.named_children:
            return ""
        first, called = arguments.named_children[0], self.text(function)
        if first.type != "identifier" or called.rpartition(".")[2] in _TAKES_NUMBERS:
            return ""
        return self.text(first) if vocabulary.returns_tensor(self.imports.resolve("".join(called.split()))) else ""

    def _declared_global(self) -> set[str]:
        statements = _GLOBAL.captures(self.tree.root).get("statement", [])
        return {self.text(name) for statement in statements for name in statement.named_children}


# functions of torch whose first argument may well be a number or a shape
_TAKES_NUMBERS = frozenset(
    [
        "tensor",
        "as_tensor",
        "zeros",
        "ones",
        "empty",
        "full",
        "rand",
        "randn",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "randint",
        "randperm",
        "range",
        "scalar_tensor",
        "from_numpy",
        "asarray",
        "hann_window",
        "triu_indices",
        "tril_indices",
        "cat",
        "stack",
    ]
)


def _top_level(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The statements of a file, those in an ``if`` or ``try`` of the top level included."""
    for statement in root.named_children:
        yield statement
        if statement.type in ("if_statement", "try_statement", "with_statement"):
            for block in statement.named_children:
                yield from _top_level(block) if block.type == "block" else _blocks_of(block)


def _blocks_of(clause: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if clause.type.endswith("_clause"):
        for child in clause.named_children:
            if child.type == "block":
                yield from _top_level(child)
