"""Finds what to call in a file: its compile regions, or else the modules and functions that nothing else in it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import tree_sitter

from compile_lens.agent.runtime.entry_plans import CallTarget, CompileAt
from compile_lens.entries.builders import builders
from compile_lens.entries.module_classes import (
    autograd_functions,
    heirs,
    module_classes,
    open_bases,
    with_other_methods,
)
from compile_lens.entries.plain_methods import methods_of_heirs, other_ways_in, owner_of, plain_methods, with_effects
from compile_lens.entries.tensor_code import is_about_tensors, names_in
from compile_lens.syntax.definitions import Definition, definitions
from compile_lens.syntax.regions import Region, RegionKind, find_regions
from compile_lens.syntax.tree import Query, SourceTree

MOST_MODULES = 400


@dataclass(frozen=True, slots=True)
class Target:
    """A class or function that can be called. ``name`` is its qualified name, a method's with its class.

    ``compile_line`` is None if the file compiles it itself; otherwise the line to report as that of the compilation.
    ``uses`` are names of the file's other classes and functions that it uses. ``given`` are constructor arguments, as text, from a
    call site. ``only_module``: it is none if its class turns out to be no module; ``only_plain``: if it turns out to be one. ``builds``: it
    is a function, and the model that it returns is what is called.
    """

    name: str
    line: int
    compile_line: int | None = None
    fullgraph: bool = False
    uses: frozenset[str] = frozenset()
    given: Mapping[str, str] = field(default_factory=dict)
    is_region: bool = False
    only_module: bool = False
    only_plain: bool = False
    builds: bool = False

    @property
    def plan(self) -> CallTarget:
        """The target as the agent gets it."""
        at = None if self.compile_line is None else CompileAt(self.compile_line, self.fullgraph)
        return CallTarget(
            self.name, at, self.given, only_module=self.only_module, only_plain=self.only_plain, builds=self.builds
        )


def find_targets(tree: SourceTree, regions: tuple[Region, ...] | None = None) -> tuple[Target, ...]:
    """The targets of a file, the best first. If a file has compile regions, they are its only targets, with the modules whose methods
    they are."""
    known = definitions(tree)
    uses = _uses(tree, known)
    calls = call_sites(tree, known)
    of_regions = _region_targets(tree, known, find_regions(tree) if regions is None else regions, uses, calls)
    if not of_regions:
        return _outermost(tree, known, uses, calls)
    # a module that compiles a method of its own is called as its users call it, too
    modules = {d.qualified_name for d in module_classes(tree)}
    owners = {owner for t in of_regions for owner, _, name in [t.name.rpartition(".")] if name != "forward"} & modules
    whole = [t for t in _outermost(tree, known, uses, calls) if t.name in owners] if owners else []
    return (*of_regions, *(t for t in whole if t.name not in {known.name for known in of_regions}))


def target_named(tree: SourceTree, name: str) -> Target | None:
    """The target for a class, function or method of the file, to compile as if the file did."""
    known = definitions(tree)
    found = next((d for d in known if d.qualified_name == name and d.kind in ("class", "function")), None)
    if found is None or "<locals>" in name:
        return None
    owner = name.partition(".")[0]
    given = call_sites(tree, known).get(owner, {})
    return Target(name, found.def_line, found.def_line, uses=_uses(tree, known).get(owner, frozenset()), given=given)


def region_named(tree: SourceTree, name: str) -> str | None:
    """The name of the function or class that region ``name`` compiles, '' if the source does not show it; None if there is no such region.

    A region goes by its own name (``model`` of ``torch.compile(model)``), and by that of what it compiles.
    """
    known = definitions(tree)
    for region in find_regions(tree):
        target = next((d.qualified_name for d in known if _is_target(d, region)), "")
        if name in (region.name, target):
            return target
    return None


def candidates(tree: SourceTree) -> tuple[Target, ...]:
    """Modules and functions of the file that are not compiled yet, in the order of the file: each could be."""
    known = definitions(tree)
    regions = find_regions(tree)
    at = _by_first_line(known)
    compiled = {d.qualified_name for region in regions for d in at.get(region.target_line, ()) if _is_target(d, region)}
    # what a compiled function or class uses is compiled with it
    uses = _uses(tree, known)
    reached = {name for owner in compiled for name in uses.get(owner.partition(".")[0], frozenset())}
    found = [*module_classes(tree), *_tensor_functions(tree, known)]
    names = sorted((d for d in found if d.qualified_name not in compiled | reached), key=lambda d: d.def_line)
    return tuple(Target(d.qualified_name, d.def_line, d.def_line, uses=uses[d.qualified_name]) for d in names)


def _region_targets(
    tree: SourceTree,
    known: tuple[Definition, ...],
    regions: tuple[Region, ...],
    uses: Mapping[str, frozenset[str]],
    calls: Mapping[str, Mapping[str, str]],
) -> tuple[Target, ...]:
    found: list[Target] = []
    at = _by_first_line(known)
    for region in regions:
        definition = next((d for d in at.get(region.target_line, ()) if _is_target(d, region)), None)
        if definition is None or definition.kind == "lambda" or "<locals>" in definition.qualified_name:
            continue
        if region.kind is RegionKind.EXPORT:
            continue
        name = definition.qualified_name
        owner = name.partition(".")[0]
        found.append(
            Target(
                name,
                region.line,
                None if region.kind is RegionKind.DECORATOR else region.line,
                region.fullgraph,
                uses.get(owner, frozenset()),
                calls.get(owner, {}),
                True,
            )
        )
    return tuple({target.name: target for target in reversed(found)}.values())[::-1]


def _by_first_line(known: tuple[Definition, ...]) -> dict[int | None, list[Definition]]:
    found: dict[int | None, list[Definition]] = {}
    for definition in known:
        found.setdefault(definition.first_line, []).append(definition)
    return found


def _is_target(definition: Definition, region: Region) -> bool:
    return region.target_line == definition.first_line and definition.last_line <= (region.target_end_line or 0)


def _outermost(
    tree: SourceTree,
    known: tuple[Definition, ...],
    uses: Mapping[str, frozenset[str]],
    calls: Mapping[str, Mapping[str, str]],
) -> tuple[Target, ...]:
    """Modules that use most of the file first, each adding something to those before it; then functions."""
    # of very many, the last ones: they are usually built of those above them
    modules = module_classes(tree)[-MOST_MODULES:]
    names = {d.qualified_name for d in modules}
    reachable = {d.qualified_name: _closure(d.qualified_name, uses) & names | {d.qualified_name} for d in modules}
    ordered: list[Definition] = []
    covered: set[str] = set()
    lines = {d.qualified_name: d.last_line - d.first_line + 1 for d in modules}
    # greedy: the module that adds most lines comes first; in a tie the last one, which is usually built of those above it
    rest = list(modules)
    while rest:
        best = max(
            rest,
            key=lambda d: (
                sum(lines[name] for name in reachable[d.qualified_name] - covered),
                not d.name.startswith("_"),
                d.def_line,
            ),
        )
        if not reachable[best.qualified_name] - covered:
            break
        ordered.append(best)
        covered |= reachable[best.qualified_name]
        rest.remove(best)
    # the others follow, in case the first cannot be constructed
    # what others use comes last: most of it runs as a part of them
    functions = sorted(_tensor_functions(tree, known), key=lambda d: any(d.name in used for used in uses.values()))
    methods = plain_methods(tree)
    of_heirs = methods_of_heirs(tree)
    ways = other_ways_in(tree)
    inherited = heirs(tree, known)
    bases = open_bases(tree, known)
    applied = autograd_functions(tree, known)
    building = builders(tree, known, uses, names, functions)
    return tuple(
        Target(
            f"{d.qualified_name}.apply" if d in applied else d.qualified_name,
            d.def_line,
            d.def_line,
            uses=uses[owner_of(d)],
            given=calls.get(owner_of(d), {}) if d not in applied else {},
            only_module=d in inherited or d in bases,
            only_plain=d in methods or d in of_heirs,
            builds=d in building,
        )
        for d in [
            *ordered,
            *rest,
            *with_other_methods(tree, known),
            *inherited,
            *bases,
            *applied,
            *functions,
            *building,
            *methods,
            *ways,
            *of_heirs,
        ]
    )


def _tensor_functions(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """Top-level functions of tensors without side effects: a parameter is annotated as Tensor, or the body uses torch."""
    return [
        d
        for d in known
        if d.kind == "function"
        and "." not in d.qualified_name
        and d.parameters
        and d.name not in ("main", "forward_hook")
        and not d.name.startswith(("test", "train", "load", "save", "get_", "make_", "build", "parse", "init", "__"))
        and is_about_tensors(tree, d)
    ]


def _uses(tree: SourceTree, known: tuple[Definition, ...]) -> dict[str, frozenset[str]]:
    """For each top-level class and function, the others that it names."""
    top = {d.name for d in known if "." not in d.qualified_name and d.kind != "lambda"}
    return {
        d.name: frozenset(name for name in names_in(tree, d) if name in top and name != d.name)
        for d in known
        if "." not in d.qualified_name and d.kind != "lambda"
    }


def _closure(name: str, uses: Mapping[str, frozenset[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name.partition(".")[0]]
    while waiting:
        for used in uses.get(waiting.pop(), frozenset()):
            if used not in found:
                found.add(used)
                waiting.append(used)
    return found


_CALLS = Query("(call function: [(identifier) (attribute)] @function arguments: (argument_list) @arguments) @call")
_ASSIGNED = Query("(module (expression_statement (assignment left: (identifier) @name right: (_) @value)))")
_LITERALS = frozenset({"integer", "float", "true", "false", "none", "string", "tuple", "list", "unary_operator"})


def call_sites(tree: SourceTree, known: tuple[Definition, ...]) -> dict[str, dict[str, str]]:
    """For each class of the file, the arguments of its first call with literal arguments only."""
    parameters = {
        d.qualified_name.rpartition(".")[0]: [p.name for p in d.parameters][1:] for d in known if d.name == "__init__"
    }
    return literal_calls(tree, parameters)


def literal_calls(
    tree: SourceTree, parameters: Mapping[str, list[str]], is_partial: bool = False
) -> dict[str, dict[str, str]]:
    """For each class in ``parameters``, the arguments by name of its first call in ``tree`` with literal arguments only.

    ``is_partial``: of calls with others, too, those that are literals.
    """
    found: dict[str, dict[str, str]] = {}
    constants: dict[str, str] | None = None
    for _, captured in _CALLS.matches(tree.root):
        name = tree.node_text(captured["function"][0]).rpartition(".")[2]
        if name not in parameters or name in found:
            continue
        constants = _constants(tree) if constants is None else constants
        given = _literal_arguments(tree, captured["arguments"][0], parameters[name], constants, is_partial)
        if given:
            found[name] = given
    return found


def _constants(tree: SourceTree) -> dict[str, str]:
    """The names of the top level that stand for a literal."""
    found: dict[str, str] = {}
    for _, captured in _ASSIGNED.matches(tree.root):
        name, value = tree.node_text(captured["name"][0]), captured["value"][0]
        # one that is assigned again is no constant
        found[name] = tree.node_text(value) if name not in found and _is_literal(value) else ""
    return {name: text for name, text in found.items() if text}


def _literal_arguments(
    tree: SourceTree, node: tree_sitter.Node, names: list[str], constants: Mapping[str, str], is_partial: bool
) -> dict[str, str]:
    given: dict[str, str] = {}
    position = 0
    for child in node.named_children:
        if child.type == "comment":
            continue
        name: str | None
        value: tree_sitter.Node | None
        if child.type == "keyword_argument":
            key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            name = tree.node_text(key) if key is not None else None
        else:
            name, value = names[position] if position < len(names) else None, child
            position += 1
        text = tree.node_text(value) if value is not None else ""
        if name is not None and value is not None and (_is_literal(value) or text in constants):
            given[name] = constants.get(text, text)
        elif not is_partial:
            return {}
    return given


def _is_literal(node: tree_sitter.Node) -> bool:
    if node.type == "string":
        return not any(child.type == "interpolation" for child in node.named_children)
    return node.type in _LITERALS and all(
        _is_literal(child) for child in node.named_children if node.type in ("tuple", "list", "unary_operator")
    )


def units(tree: SourceTree) -> tuple[Definition, ...]:
    """What an analysis of the file can be about: its modules, its functions of tensors, those with a gradient of their own, and such
    methods of classes that are no modules."""
    known = definitions(tree)
    methods = (*plain_methods(tree), *with_effects(tree))
    return (
        *module_classes(tree),
        *_tensor_functions(tree, known),
        *autograd_functions(tree, known),
        *methods,
    )
