"""``predict``: the graph breaks that a file's source foretells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, partial

import tree_sitter

from compile_lens.syntax.definitions import qualified_name, whole_definition
from compile_lens.syntax.predictions import registry
from compile_lens.syntax.predictions.execution import Trace
from compile_lens.syntax.predictions.prediction import Broken, Prediction
from compile_lens.syntax.predictions.program import Program
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.switches import read_switches
from compile_lens.syntax.predictions.uses import Use
from compile_lens.syntax.predictions.values import Sort, Value
from compile_lens.syntax.regions import Region, RegionKind, find_regions
from compile_lens.syntax.tree import LANGUAGE, Range, SourceTree, ancestors, parse

_DEFINITIONS = tree_sitter.Query(LANGUAGE, "[(function_definition) (class_definition) (lambda)] @definition")

# statements walked for all regions of a file, so that no file takes long
_MOST_STATEMENTS = 40_000


def predict(source: str | SourceTree, rules: frozenset[str] | None = None) -> tuple[Prediction, ...]:
    """The predictions for a file, in its order, by those ``rules`` (names) or by all that are on. Never raises on broken code."""
    tree = parse(source) if isinstance(source, str) else source
    # torch.export.export does not use Dynamo unless strict=True (torch/export/__init__.py, torch 2.13)
    regions = [region for region in find_regions(tree) if region.kind is not RegionKind.EXPORT]
    return _Predictor(tree, registry.ON if rules is None else rules).of(regions) if regions else ()


def functions_reached(source: str | SourceTree) -> frozenset[int]:
    """The first lines of the functions that ``predict`` looks at: those of the regions, and what they call in the same file."""
    tree = parse(source) if isinstance(source, str) else source
    predictor = _Predictor(tree, frozenset())
    predictor.of([region for region in find_regions(tree) if region.kind is not RegionKind.EXPORT])
    return frozenset(tree.position(whole_definition(node).start_byte)[0] for node in predictor.reached())


class _Predictor:
    """Walks the regions of one file one after the other and collects what the rules say."""

    def __init__(self, tree: SourceTree, rules: frozenset[str]) -> None:
        self._tree = tree
        self._rules = rules
        self._program = Program(tree)
        self._switches = read_switches(tree)
        self._setting = Setting(self._switches, tree.node_text)
        self._found: dict[tuple[str, int, int], tuple[Broken, tree_sitter.Node, list[Region]]] = {}
        self._reached: set[int] = set()

    def of(self, regions: list[Region]) -> tuple[Prediction, ...]:
        left = _MOST_STATEMENTS
        for region in regions:
            trace = Trace(self._program, self._switches, partial(self._on_use, region), left)
            # code that is nested deeper than Python's stack: what was found by then counts
            with suppress(RecursionError):
                trace.enter(self._target(region, trace))
            self._reached |= trace.reached
            left = max(0, left - trace.statements)
        predictions = (self._prediction(*found) for found in self._found.values())
        return tuple(sorted(predictions, key=lambda found: (found.place.line, found.place.column, found.rule)))

    def reached(self) -> Iterator[tree_sitter.Node]:
        return (node for node in self._definitions if node.id in self._reached)

    @cached_property
    def _definitions(self) -> list[tree_sitter.Node]:
        return tree_sitter.QueryCursor(_DEFINITIONS).captures(self._tree.root).get("definition", [])

    @cached_property
    def _definition_at(self) -> dict[int, tree_sitter.Node]:
        """By the first line, decorators included; the outermost of several."""
        found: dict[int, tree_sitter.Node] = {}
        for node in self._definitions:
            found.setdefault(self._tree.position(whole_definition(node).start_byte)[0], node)
        return found

    def _on_use(self, region: Region, use: Use, function: tree_sitter.Node) -> None:
        for family in registry.FAMILIES:
            for broken in family(use, self._setting):
                if broken.rule in self._rules:
                    key = broken.rule, broken.node.start_byte, broken.node.end_byte
                    regions = self._found.setdefault(key, (broken, function, []))[2]
                    if region not in regions:
                        regions.append(region)

    def _target(self, region: Region, trace: Trace) -> Value:
        """What a region compiles, when that is in this file."""
        if region.target_line is not None:
            node = self._definition_at.get(region.target_line)
            if node is not None:
                return self._defined(node)
        start = self._tree.offset(region.line, region.column)
        end = self._tree.offset(region.end_line, region.end_column)
        call = self._tree.root.named_descendant_for_byte_range(start, end)
        if call is None or call.type != "call":
            return trace.expressions.value(None, Scope({}))
        return trace.expressions.value(_subject(call), Scope({}))

    def _defined(self, node: tree_sitter.Node) -> Value:
        if node.type == "class_definition":
            return Value(Sort.CLASS, node=node)
        owner = self._program.class_around(node)
        is_method = owner is not None and "staticmethod" not in set(self._program.decorators(node))
        return Value(Sort.FUNCTION, node=node, owner=Value(Sort.INSTANCE, node=owner) if is_method else None)

    def _prediction(self, broken: Broken, function: tree_sitter.Node, regions: list[Region]) -> Prediction:
        return Prediction(
            rule=broken.rule,
            code=broken.code,
            place=self._place(broken.node),
            sentence=broken.sentence,
            function=qualified_name(self._tree, function),
            function_line=self._tree.position(whole_definition(function).start_byte)[0],
            regions=tuple(regions),
        )

    def _place(self, node: tree_sitter.Node) -> Range:
        """The expression as the interpreter reports it: a method on a line of its own begins at its name."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        if function is not None and function.type == "attribute":
            receiver, attribute = function.child_by_field_name("object"), function.child_by_field_name("attribute")
            if receiver is not None and attribute is not None:
                before, name = self._tree.position(receiver.end_byte), self._tree.position(attribute.start_byte)
                if before[0] != name[0]:
                    return self._tree.range_between(attribute.start_byte, node.end_byte)
        statement = next((found for found in ancestors(node) if found.type == "subscript"), None)
        if statement is not None and node.parent is not None and node.parent in (statement, *statement.named_children):
            return self._tree.node_range(statement)
        return self._tree.node_range(node)


def _subject(call: tree_sitter.Node) -> tree_sitter.Node | None:
    """``x`` of ``torch.compile(x)``, ``torch.compile()(x)`` and ``x.compile()``."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    for argument in arguments.named_children if arguments is not None else []:
        if argument.type not in ("keyword_argument", "comment", "list_splat", "dictionary_splat"):
            return argument
    return function.child_by_field_name("object") if function is not None and function.type == "attribute" else None
