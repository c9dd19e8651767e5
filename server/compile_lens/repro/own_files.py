"""The files that a program is made of by its own text: what the agent says of their source is compared with what stands in them."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

import tree_sitter

from compile_lens.documents.source_file import source_if_readable
from compile_lens.entries.effects import effect_names
from compile_lens.entries.module_classes import bases_of
from compile_lens.entries.project_names import attribute_chains
from compile_lens.entries.tensor_code import has_effects
from compile_lens.late_pattern import pattern
from compile_lens.pipeline.imported_files import files_of
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.foreign_texts import parse_expression, parse_module
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree, identifiers, kept_with_tree, nodes_of, parse

# decorators that the agent leaves out (agent/capture/source_text.py)
_COMPILES = pattern(
    r"@\s*(?:functools\.)?(?:partial\(\s*)?(?:torch\.)?(?:compile|compiler\.compile|_dynamo\.optimize|dynamo\.optimize)\b"
)
_DECORATORS = Query("(decorator) @decorator")
_ASSIGNED = Query("(assignment left: (attribute) @place)")
_SET = Query(
    '(call function: (identifier) @function arguments: (argument_list . (_) @owner . (string) @name) (#eq? @function "setattr"))'
)
_LAMBDAS = Query("(lambda) @lambda")
_IMPORTS = Query("[(import_statement) (import_from_statement)] @import")
# what registers something with torch (agent/capture/source_text.py)
_REGISTERS = ("register", "impl", "custom_op", "library", "define", "triton_op")
_QUOTES = "'\""
# methods that make an object, and that end it
_OF_OBJECTS = ("__init__", "__new__", "__post_init__", "__setstate__", "__del__")
_DEFINING = ("function_definition", "class_definition", "decorated_definition")
_BINDING = ("assignment", "import_statement", "import_from_statement", "as_pattern", "for_statement", *_DEFINING)
_COMPOUND = (
    "if_statement",
    "try_statement",
    "with_statement",
    "for_statement",
    "type_alias_statement",
    "match_statement",
)


class OwnFiles:
    """The file ``main``, with ``text`` as its content, ``others`` that the user named besides, and what these import below ``root``."""

    def __init__(self, main: Path, text: str | None, root: Path | None, others: Iterable[Path] = ()) -> None:
        self.main = main
        self._paths = {path.resolve() for file in (main, *others) for path in files_of(file, root)}
        self._text = text
        self._trees: dict[Path, SourceTree | None] = {}

    def has(self, file: str) -> bool:
        """Whether ``file`` is one of them."""
        return Path(file).resolve() in self._paths

    def has_statement(self, file: str, text: str) -> bool:
        """Whether ``text`` is a statement at the top level of ``file`` that defines or registers something, but for decorators that
        compile."""
        tree = self._tree(file)
        return tree is not None and any(text in texts for texts in _texts(tree, text, _defines))

    def has_definition(self, file: str, text: str) -> bool:
        """Whether ``text`` is a function or a class anywhere in ``file``, or gives one of its lambdas a name."""
        tree = self._tree(file)
        if tree is None:
            return False
        return any(text in texts for texts in _texts(tree, text, _is_definition)) or _has_lambda(tree, text)

    def renamed(self, file: str, text: str) -> str:
        """What ``text`` gives another name to, as an import of ``file`` does (``h = half`` for ``from part import half as h``), or ''."""
        alias, _, imported = text.partition(" = ")
        tree = self._tree(file) if alias.isidentifier() and imported.isidentifier() else None
        is_said = tree is not None and (imported, alias) in _renamed(tree)
        return imported if is_said else ""

    def has_import(self, file: str, module: str, name: str, alias: str) -> bool:
        """Whether ``file`` has ``from module import name as alias``, or ``import module as alias`` without a ``name``."""
        tree = self._tree(file)
        if tree is None:
            return False
        return any(
            (name, alias) == (each, other)
            and (module == source or (source.startswith(".") and _ends_with(module, source)))
            for source, each, other in _imported(tree)
        ) or (not name and not alias and any(_begins_with(chain, module) for chain in attribute_chains(tree)))

    def imports_module(self, name: str) -> bool:
        """Whether one of them imports the module ``name``, or something of it."""
        return any(name == full or (full.startswith(".") and _ends_with(name, full)) for full in self._modules)

    def imports_package(self, top: str) -> bool:
        """Whether one of them imports something of the package ``top``."""
        return any(full.partition(".")[0] == top for full in self._modules)

    def says(self, full: str) -> bool:
        """Whether one of them imports something by the last part of this name from its package, or reads it as an attribute."""
        top, last = full.partition(".")[0], full.rpartition(".")[2]
        return any(
            said.partition(".")[0] == top and said.rpartition(".")[2] == last
            for tree in self._all
            for said in (*read_imports(tree).names.values(), *attribute_chains(tree))
        )

    def has_parts_of(self, full: str) -> bool:
        """Whether one of them reads an attribute of this name of a library, as of a module."""
        return any(said.startswith(f"{full}.") for tree in self._all for said in attribute_chains(tree))

    def has_alias(self, file: str, name: str, module: str) -> bool:
        """Whether ``name`` is the module ``module`` by an import of ``file``."""
        package, _, last = module.rpartition(".")
        if name == last and self.has_import(file, package, last, ""):
            return True
        return self.has_import(file, module, "", "" if name == module else name) or (
            bool(package) and self.has_import(file, package, last, name)
        )

    def assigns(self, owner: str, name: str) -> bool:
        """Whether one of them assigns something to the attribute ``name`` of what is in the package of ``owner``."""
        top = owner.partition(".")[0]
        return any(
            full.partition(".")[0] == top and full.rpartition(".")[2] == name
            for tree in self._all
            for full in _replaced(tree)
        )

    def has_text(self, text: str) -> bool:
        """Whether a text stands in one of them."""
        return any(f"{quote}{text}{quote}" in tree.text for tree in self._all for quote in "'\"")

    def reaches_out(self, name: str) -> bool:
        """Whether a part of ``name`` says that it reaches what is outside of the program."""
        names = name.split(".")
        return any(not effect_names(tree).isdisjoint(names) for tree in self._all)

    def may_construct(self, name: str) -> bool:
        """Whether nothing that makes or ends objects of the class ``name`` says that it reaches what is outside of the program."""
        lineage = {name.rpartition(".")[2]: None}
        for each in (waiting := list(lineage)):
            bases = {base.rpartition(".")[2] for tree in self._all for base in bases_of(tree).get(each, ())}
            waiting += bases - lineage.keys()
            lineage |= dict.fromkeys(bases)
        wanted = {(each, method) for each in lineage for method in _OF_OBJECTS}
        return not any(
            tuple(definition.qualified_name.split(".")[-2:]) in wanted and has_effects(tree, definition)
            for tree in self._all
            for definition in definitions(tree)
        )

    @cached_property
    def _all(self) -> list[SourceTree]:
        return [tree for tree in map(self._tree, map(str, sorted(self._paths))) if tree is not None]

    @cached_property
    def _modules(self) -> frozenset[str]:
        return frozenset(
            full for tree in self._all for source, name, _ in _imported(tree) for full in _all_of(source, name)
        )

    def _tree(self, file: str) -> SourceTree | None:
        path = Path(file).resolve()
        if path not in self._trees:
            is_main = path == self.main.resolve() and self._text is not None
            text = self._text if is_main else source_if_readable(str(path)) if path in self._paths else None
            self._trees[path] = parse(text) if text is not None else None
        return self._trees[path]


@kept_with_tree
def _imported(tree: SourceTree) -> tuple[tuple[str, str, str], ...]:
    """What a file imports: the module, the name in it ('' for the module itself), and its other name."""
    found = []
    for node in _IMPORTS.everywhere(tree).get("import", []):
        source = node.child_by_field_name("module_name")
        module = _joined(tree, source) if source is not None else ""
        if any(child.type == "wildcard_import" for child in node.named_children):
            found.append((module, "*", ""))
        for each in node.children_by_field_name("name"):
            inner, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
            name = _joined(tree, inner if inner is not None else each)
            other = tree.node_text(alias) if alias is not None else ""
            found.append((module, name, other) if source is not None else (name, "", other))
    return tuple(found)


@kept_with_tree
def _replaced(tree: SourceTree) -> frozenset[str]:
    """The full names of what a file assigns as attributes of what it imports, by a statement or by `setattr`."""
    resolve = read_imports(tree).resolve
    places = [tree.node_text(node) for node in _ASSIGNED.everywhere(tree).get("place", [])]
    for _, found in _SET.matches(tree.root):
        owner, name = (tree.node_text(found[each][0]) for each in ("owner", "name"))
        places.append(f"{owner}.{name.strip(_QUOTES)}")
    return frozenset(filter(None, map(resolve, places)))


def _renamed(tree: SourceTree) -> set[tuple[str, str]]:
    return {(name, alias) for _, name, alias in _imported(tree) if name and alias}


def _joined(tree: SourceTree, node: tree_sitter.Node) -> str:
    return "".join(tree.node_text(node).split())


def _all_of(source: str, name: str) -> Iterator[str]:
    """``a``, ``a.b`` and ``a.b.c`` of ``from a.b import c``."""
    full = source if not name or name == "*" else f"{source}{'' if source.endswith('.') else '.'}{name}"
    if full.startswith("."):
        yield full
        return
    parts = full.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _ends_with(module: str, relative: str) -> bool:
    inner = relative.lstrip(".")
    return not inner or module == inner or module.endswith(f".{inner}")


def _begins_with(chain: str, module: str) -> bool:
    return chain == module or chain.startswith(f"{module}.")


def _texts(
    tree: SourceTree, wanted: str, is_taken: Callable[[SourceTree, tree_sitter.Node], bool]
) -> Iterator[tuple[str, str]]:
    """The statements of a file that may be ``wanted``, in whole lines at the left margin: with all decorators, and without those that
    compile."""
    lines = tree.text.splitlines(keepends=True)
    left_out = set()
    for node in _DECORATORS.everywhere(tree).get("decorator", []):
        if _COMPILES.match(tree.node_text(node)):
            left_out |= set(range(node.start_point[0], node.end_point[0] + 1))
    last = wanted.splitlines()[-1].strip() if wanted else ""
    for node in _statements(tree.root):
        first, end = node.start_point[0], node.end_point[0] + 1
        if end > len(lines) or lines[end - 1].strip() != last:
            continue
        if not _has_its_lines(node, lines) or not is_taken(tree, node):
            continue
        whole = textwrap.dedent("".join(lines[first:end])).rstrip("\n")
        short = textwrap.dedent("".join(lines[n] for n in range(first, end) if n not in left_out)).rstrip("\n")
        yield whole, short


def _is_definition(_: SourceTree, node: tree_sitter.Node) -> bool:
    return node.type in _DEFINING


def _defines(tree: SourceTree, node: tree_sitter.Node) -> bool:
    """Whether a statement at the top level, or in the part that runs as a script, defines, assigns or registers something."""
    block = node.parent
    guard = block.parent if block is not None and block.type == "block" else None
    if guard is not None and not (
        guard.type == "if_statement" and "__name__" in tree.node_text(guard).partition(":")[0]
    ):
        return False
    if node.type in _DEFINING:
        return True
    if node.type == "expression_statement" and node.named_children[0].type == "call":
        called = node.named_children[0].child_by_field_name("function")
        words = [tree.node_text(each) for each in identifiers(called)] if called is not None else []
        return any(word.startswith(_REGISTERS) for word in words)
    return node.type in ("expression_statement", *_COMPOUND) and any(
        next(nodes_of(node, kind), None) is not None for kind in _BINDING
    )


def _has_its_lines(node: tree_sitter.Node, lines: list[str]) -> bool:
    """Whether no other statement, and no end of a text, is in the lines of a statement."""
    (first, start), (last, end) = node.start_point, node.end_point
    before, after = lines[first].encode()[:start], lines[last].encode()[end:]
    return not before.strip() and (not after.strip() or after.strip().startswith(b"#"))


def _statements(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.parent is not None and each.parent.type in ("module", "block"):
            yield each
        waiting += each.named_children


def _has_lambda(tree: SourceTree, text: str) -> bool:
    """Whether ``text`` gives a lambda of the file a name."""
    try:
        match parse_module(text).body:
            case [ast.Assign([ast.Name()], ast.Lambda() as wanted)]:
                nodes = _LAMBDAS.everywhere(tree).get("lambda", [])
                return any(_dump(tree.node_text(node)) == ast.dump(wanted) for node in nodes)
    except SyntaxError:
        pass
    return False


def _dump(text: str) -> str:
    try:
        return ast.dump(parse_expression(f"({text})"))
    except SyntaxError:
        return ""
