"""Predicts the graph breaks of a file from its source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, partial

import tree_sitter

from compile_lens.syntax.definitions import qualified_name, whole_definition
from compile_lens.syntax.predictions import registry
from compile_lens.syntax.predictions.budget import WalkBudget
from compile_lens.syntax.predictions.interpreter import Interpreter
from compile_lens.syntax.predictions.prediction import Prediction, RuleContext, RuleMatch
from compile_lens.syntax.predictions.program import ParsedProgram
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.switches import read_switches
from compile_lens.syntax.predictions.uses import Use
from compile_lens.syntax.predictions.values import AbstractValue, ValueSort
from compile_lens.syntax.regions import Region, RegionKind, find_regions
from compile_lens.syntax.tree import Query, Range, SourceTree, ancestors, parse

_DEFINITIONS = Query("[(function_definition) (class_definition) (lambda)] @definition")


def predict(source: str | SourceTree, rules: frozenset[str] | None = None) -> tuple[Prediction, ...]:
    """The predictions for a file, in its order, by the rules of these names or by all. Never raises on broken code."""
    tree = parse(source) if isinstance(source, str) else source
    # torch.export.export does not use Dynamo unless strict=True (torch/export/__init__.py, torch 2.13)
    regions = [region for region in find_regions(tree) if region.kind is not RegionKind.EXPORT]
    return _Predictor(tree, registry.ALL if rules is None else rules).of(regions) if regions else ()


def functions_reached(source: str | SourceTree) -> frozenset[int]:
    """The first lines of the functions that ``predict`` visits: those of the regions, and what they call in the same file."""
    tree = parse(source) if isinstance(source, str) else source
    predictor = _Predictor(tree, frozenset())
    predictor.of([region for region in find_regions(tree) if region.kind is not RegionKind.EXPORT])
    return frozenset(tree.position(whole_definition(node).start_byte)[0] for node in predictor.reached())


class _Predictor:
    """Walks the regions of one file and collects what the rules match."""

    def __init__(self, tree: SourceTree, rules: frozenset[str]) -> None:
        self._tree = tree
        self._rules = rules
        self._program = ParsedProgram(tree)
        self._switches = read_switches(tree)
        self._context = RuleContext(self._switches, tree.node_text)
        self._found: dict[tuple[str, int, int], tuple[RuleMatch, tree_sitter.Node, list[Region]]] = {}
        self._reached: set[int] = set()

    def of(self, regions: list[Region]) -> tuple[Prediction, ...]:
        budget = WalkBudget()
        for region in regions:
            interpreter = Interpreter(self._program, self._switches, partial(self._on_use, region), budget)
            # code nested deeper than Python's stack allows: keep what was found until then
            with suppress(RecursionError):
                interpreter.enter(self._target(region, interpreter))
            self._reached |= interpreter.reached
        predictions = (self._prediction(*found) for found in self._found.values())
        return tuple(sorted(predictions, key=lambda found: (found.place.line, found.place.column, found.rule)))

    def reached(self) -> Iterator[tree_sitter.Node]:
        return (node for node in self._definitions if node.id in self._reached)

    @cached_property
    def _definitions(self) -> list[tree_sitter.Node]:
        return _DEFINITIONS.captures(self._tree.root).get("definition", [])

    @cached_property
    def _definition_at(self) -> dict[int, tree_sitter.Node]:
        """By the first line, decorators included; the outermost of several."""
        found: dict[int, tree_sitter.Node] = {}
        for node in self._definitions:
            found.setdefault(self._tree.position(whole_definition(node).start_byte)[0], node)
        return found

    def _on_use(self, region: Region, use: Use, function: tree_sitter.Node) -> None:
        for find in registry.FAMILIES:
            for match in find(use, self._context):
                if match.rule in self._rules:
                    key = match.rule, match.node.start_byte, match.node.end_byte
                    regions = self._found.setdefault(key, (match, function, []))[2]
                    if region not in regions:
                        regions.append(region)

    def _target(self, region: Region, interpreter: Interpreter) -> AbstractValue:
        """What a region compiles, if that is in this file."""
        if region.target_line is not None:
            node = self._definition_at.get(region.target_line)
            if node is not None:
                return self._defined(node)
        start = self._tree.offset(region.line, region.column)
        end = self._tree.offset(region.end_line, region.end_column)
        call = self._tree.root.named_descendant_for_byte_range(start, end)
        if call is None or call.type != "call":
            return interpreter.expressions.value(None, Scope({}))
        return interpreter.expressions.value(_subject(call), Scope({}))

    def _defined(self, node: tree_sitter.Node) -> AbstractValue:
        if node.type == "class_definition":
            return AbstractValue(ValueSort.CLASS, node=node)
        owner = self._program.class_around(node)
        is_method = owner is not None and "staticmethod" not in set(self._program.decorators(node))
        return AbstractValue(
            ValueSort.FUNCTION, node=node, owner=AbstractValue(ValueSort.INSTANCE, node=owner) if is_method else None
        )

    def _prediction(self, match: RuleMatch, function: tree_sitter.Node, regions: list[Region]) -> Prediction:
        return Prediction(
            rule=match.rule,
            code=match.code,
            place=self._place(match.node),
            sentence=match.sentence,
            function=qualified_name(self._tree, function),
            function_line=self._tree.position(whole_definition(function).start_byte)[0],
            regions=tuple(regions),
        )

    def _place(self, node: tree_sitter.Node) -> Range:
        """The range as CPython reports it: a method call that begins a line starts at the method's name."""
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
