"""Evaluates expressions to what the source says about their values, and reports each use on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import tree_sitter

from compile_lens.syntax.predictions import results, vocabulary
from compile_lens.syntax.predictions.budget import WalkBudget
from compile_lens.syntax.predictions.calls import CallResolver
from compile_lens.syntax.predictions.narrowing import narrow
from compile_lens.syntax.predictions.program import ParsedProgram
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.uses import Branch, CallUse, Index, Use
from compile_lens.syntax.predictions.values import (
    ARRAY,
    NONE,
    PYTHON,
    TENSOR,
    UNBACKED,
    UNKNOWN,
    AbstractValue,
    ValueSort,
    element,
    join,
    join_all,
    known,
    sequence,
    sequence_of,
)

_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "generator_expression", "dictionary_comprehension")
# Python converts no number of any length
_INDEX = re.compile(r"-?[0-9]{1,9}")


class ExpressionEvaluator:
    """Evaluates expressions; ``report`` gets each use with the scope in which it appears."""

    def __init__(
        self, program: ParsedProgram, calls: CallResolver, report: Callable[[Use, Scope], None], budget: WalkBudget
    ) -> None:
        self.program = program
        self.calls = calls
        self.report = report
        self._budget = budget
        self._looking_up: set[str] = set()

    def value(self, node: tree_sitter.Node | None, scope: Scope) -> AbstractValue:
        """Evaluate an expression and report the uses in it."""
        if node is None or not self._budget.take():
            return UNKNOWN
        evaluate = _EVALUATE.get(node.type)
        if evaluate is not None:
            return evaluate(self, node, scope)
        if node.type in _COMPREHENSIONS:
            return self._comprehension(node, scope)
        joined = tuple(self.value(child, scope) for child in node.named_children)
        return (
            joined[0]
            if node.type in ("await", "parenthesized_expression", "expression_list") and len(joined) == 1
            else UNKNOWN
        )

    def test(self, node: tree_sitter.Node, scope: Scope, is_branch: bool = True) -> bool | None:
        """Evaluate a condition and return its truth if the source decides it.

        Each value that Python branches on is reported; without ``is_branch`` (an assertion, which stays in the graph) the condition
        as a whole is not one.
        """
        if node.type == "parenthesized_expression" and node.named_children:
            return self.test(node.named_children[0], scope, is_branch)
        if node.type == "not_operator":
            argument = node.child_by_field_name("argument")
            truth = self.test(argument, scope) if argument is not None else None
            return None if truth is None else not truth
        if node.type == "boolean_operator":
            return self._test_both(node, scope)
        value = self.value(node, scope)
        if is_branch:
            self.report(Branch(node, value), scope)
        return value.truth

    def bind(self, target: tree_sitter.Node, value: AbstractValue, scope: Scope) -> None:
        """Bind the names on the left side of an assignment."""
        if target.type == "identifier":
            scope.names[self.program.text(target)] = value
        elif target.type in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list"):
            starred = any("splat" in part.type for part in target.named_children)
            for index, part in enumerate(target.named_children):
                self.bind(part, element(value, None if starred else index), scope)
        elif target.type in ("list_splat_pattern", "list_splat"):
            for part in target.named_children:
                self.bind(part, sequence_of(value), scope)
        elif target.type == "parenthesized_expression" and target.named_children:
            self.bind(target.named_children[0], value, scope)
        else:
            self.calls.assign(target, value, scope)

    def _test_both(self, node: tree_sitter.Node, scope: Scope) -> bool | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        is_and = any(child.type == "and" for child in node.children)
        first = self.test(left, scope) if left is not None else None
        if first is not None and first != is_and:
            return first
        inner = scope.inner()
        if left is not None:
            narrow(self.program, left, is_and, inner)
        second = self.test(right, inner) if right is not None else None
        if first is not None:
            return second
        return second if second is not None and second != is_and else None

    def name(self, written: str, scope: Scope) -> AbstractValue:
        """Look up a name: local, then defined in the file, then imported, then built in."""
        if written in scope.names:
            return scope.names[written]
        program = self.program
        if written in program.functions:
            return AbstractValue(ValueSort.FUNCTION, node=program.functions[written])
        if written in program.classes:
            return AbstractValue(ValueSort.CLASS, node=program.classes[written])
        if written in program.assigned:
            return self._assigned_at_top(written)
        full = program.imports.resolve(written)
        if full:
            return AbstractValue(ValueSort.NAME, name=full)
        return UNKNOWN if written in program.changed else AbstractValue(ValueSort.NAME, name=f"builtins.{written}")

    def _assigned_at_top(self, written: str) -> AbstractValue:
        if written in self._looking_up:
            return UNKNOWN
        self._looking_up.add(written)
        try:
            with self.calls.silence():
                return self.value(self.program.assigned[written], Scope({}))
        finally:
            self._looking_up.discard(written)

    def _identifier(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return self.name(self.program.text(node), scope)

    def _attribute(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        attribute = node.child_by_field_name("attribute")
        owner = self.value(node.child_by_field_name("object"), scope)
        return self.attribute_of(owner, self.program.text(attribute) if attribute is not None else "", scope)

    def attribute_of(self, owner: AbstractValue, attribute: str, scope: Scope) -> AbstractValue:
        """What ``owner.attribute`` is."""
        if owner.sort is ValueSort.NAME:
            return (
                LOGGER_LEVEL
                if owner == results.LOGGER
                else AbstractValue(ValueSort.NAME, name=f"{owner.name}.{attribute}")
            )
        if owner.sort in (ValueSort.INSTANCE, ValueSort.CLASS):
            return self.calls.attribute(owner, attribute, scope)
        if attribute == "shape":
            return sequence_of(PYTHON)
        if attribute in vocabulary.FACTS and owner.sort in (ValueSort.TENSOR, ValueSort.UNKNOWN, ValueSort.ARRAY):
            return PYTHON
        if owner.is_tensor:
            return TENSOR if attribute in vocabulary.TENSOR_ATTRIBUTES else UNKNOWN
        if owner.sort is ValueSort.SEQUENCE and attribute in vocabulary.SEQUENCE_ATTRIBUTES:
            return element(owner)
        if owner.sort is ValueSort.MODULE and attribute in ("weight", "bias"):
            return TENSOR
        return UNKNOWN

    def _call(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return UNKNOWN
        receiver, method = None, ""
        if function.type == "attribute":
            attribute = function.child_by_field_name("attribute")
            method = self.program.text(attribute) if attribute is not None else ""
            receiver = self.value(function.child_by_field_name("object"), scope)
            called = self.attribute_of(receiver, method, scope)
        else:
            called = self.value(function, scope)
        positional, named, is_whole = self._arguments(arguments, scope)
        use = CallUse(node, called.name if called.sort is ValueSort.NAME else "", method, receiver, positional, named)
        return self.calls.call(use, called, is_whole, scope)

    def _arguments(
        self, node: tree_sitter.Node, scope: Scope
    ) -> tuple[tuple[AbstractValue, ...], dict[str, AbstractValue], bool]:
        """Positional and named arguments, and whether these are all (no ``*`` or ``**`` among them)."""
        if node.type == "generator_expression":
            return (self._comprehension(node, scope),), {}, True
        positional: list[AbstractValue] = []
        named: dict[str, AbstractValue] = {}
        is_whole = True
        for argument in node.named_children:
            if argument.type == "keyword_argument":
                name = argument.child_by_field_name("name")
                value = self.value(argument.child_by_field_name("value"), scope)
                if name is not None:
                    named[self.program.text(name)] = value
            elif argument.type in ("list_splat", "dictionary_splat"):
                self.value(argument.named_children[0] if argument.named_children else None, scope)
                is_whole = False
            elif argument.type != "comment":
                positional.append(self.value(argument, scope))
        return tuple(positional), named, is_whole

    def _subscript(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        value = self.value(node.child_by_field_name("value"), scope)
        indices = node.children_by_field_name("subscript")
        if len(indices) == 1 and indices[0].type in ("tuple", "parenthesized_expression"):
            indices = indices[0].named_children
        only: int | None = None
        for index in indices:
            if index.type == "slice":
                for bound in index.named_children:
                    self.value(bound, scope)
                continue
            self.report(Index(node, value, self.value(index, scope)), scope)
            text = self.program.text(index)
            only = int(text) if len(indices) == 1 and _INDEX.fullmatch(text) else None
        if value.sort is ValueSort.SEQUENCE and any(index.type == "slice" for index in indices):
            return sequence_of(element(value))
        return element(value, only) if value.sort is not ValueSort.PYTHON else PYTHON

    def _comparison(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        parts = [child for child in node.named_children if child.type != "comment"]
        values = [self.value(part, scope) for part in parts]
        if _compares_identity(node):
            is_not = any(child.type in ("is not", "not") for child in node.children)
            return _identity(values, is_not)
        if any(child.type in ("in", "not in") for child in node.children):
            return PYTHON
        if any(value.is_none or value.sort is ValueSort.NAME for value in values):
            return PYTHON
        if any(value.is_tensor for value in values):
            return TENSOR
        if any(value.sort is ValueSort.UNBACKED for value in values):
            return UNBACKED
        if any(value.sort is ValueSort.ARRAY for value in values):
            return ARRAY
        return PYTHON if all(value.sort is ValueSort.PYTHON for value in values) else UNKNOWN

    def _binary(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        left = self.value(node.child_by_field_name("left"), scope)
        right = self.value(node.child_by_field_name("right"), scope)
        operator = node.child_by_field_name("operator")
        written = operator.type if operator is not None else ""
        text = node.child_by_field_name("left")
        if written == "%" and text is not None and text.type in ("string", "concatenated_string"):
            return PYTHON
        return arithmetic(left, right)

    def _unary(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        value = self.value(node.child_by_field_name("argument"), scope)
        return (
            replace(value, truth=None)
            if value.sort in (ValueSort.TENSOR, ValueSort.ARRAY, ValueSort.UNBACKED, ValueSort.PYTHON)
            else UNKNOWN
        )

    def _not(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return UNKNOWN
        value = self.value(argument, scope)
        return PYTHON if value.truth is None else known(not value.truth)

    def _boolean(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        left = node.child_by_field_name("left")
        first = self.value(left, scope)
        if left is not None and left.type not in ("boolean_operator", "not_operator"):
            self.report(Branch(left, first), scope)
        is_and = any(child.type == "and" for child in node.children)
        if first.truth is not None and first.truth != is_and:
            return first
        second = self.value(node.child_by_field_name("right"), scope)
        return second if first.truth is not None else join(first, second)

    def _conditional(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) != 3:
            return UNKNOWN
        truth = self.test(parts[1], scope)
        found: list[AbstractValue] = []
        for part, holds in ((parts[0], True), (parts[2], False)):
            if truth is None or truth == holds:
                inner = scope.inner()
                narrow(self.program, parts[1], holds, inner)
                found.append(self.value(part, inner))
        return join_all(tuple(found))

    def _sequence(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        values = tuple(self.value(child, scope) for child in node.named_children if child.type != "comment")
        has_splat = any(child.type == "list_splat" for child in node.named_children)
        return sequence_of(join_all(values)) if has_splat else sequence(values)

    def _comprehension(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        inner = scope.inner()
        for clause in node.named_children[1:]:
            if clause.type == "for_in_clause":
                left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
                iterated = self.value(right, inner)
                if left is not None:
                    self.bind(left, element(iterated), inner)
            elif clause.type == "if_clause" and clause.named_children:
                self.test(clause.named_children[0], inner)
        body = self.value(node.named_children[0], inner) if node.named_children else UNKNOWN
        return UNKNOWN if node.type == "dictionary_comprehension" else sequence_of(body)

    def _named(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        value = self.value(node.child_by_field_name("value"), scope)
        name = node.child_by_field_name("name")
        if name is not None:
            self.bind(name, value, scope)
        return value

    def _lambda(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return AbstractValue(ValueSort.FUNCTION, node=node, closure=scope.names)

    def _string(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        for child in node.named_children:
            if child.type in ("interpolation", "string"):
                self._string(child, scope) if child.type == "string" else self.value(
                    child.child_by_field_name("expression"), scope
                )
        return PYTHON

    def _number(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return known(self.program.text(node).strip("0.jJlL_") != "")

    def _true(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return known(True)

    def _false(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return known(False)

    def _none(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return NONE


LOGGER_LEVEL = AbstractValue(ValueSort.NAME, name="logging.Logger.method")

_EVALUATE: dict[str, Callable[[ExpressionEvaluator, tree_sitter.Node, Scope], AbstractValue]] = {
    "identifier": ExpressionEvaluator._identifier,
    "attribute": ExpressionEvaluator._attribute,
    "call": ExpressionEvaluator._call,
    "subscript": ExpressionEvaluator._subscript,
    "comparison_operator": ExpressionEvaluator._comparison,
    "binary_operator": ExpressionEvaluator._binary,
    "unary_operator": ExpressionEvaluator._unary,
    "not_operator": ExpressionEvaluator._not,
    "boolean_operator": ExpressionEvaluator._boolean,
    "conditional_expression": ExpressionEvaluator._conditional,
    "tuple": ExpressionEvaluator._sequence,
    "list": ExpressionEvaluator._sequence,
    "expression_list": ExpressionEvaluator._sequence,
    "named_expression": ExpressionEvaluator._named,
    "lambda": ExpressionEvaluator._lambda,
    "string": ExpressionEvaluator._string,
    "concatenated_string": ExpressionEvaluator._string,
    "integer": ExpressionEvaluator._number,
    "float": ExpressionEvaluator._number,
    "true": ExpressionEvaluator._true,
    "false": ExpressionEvaluator._false,
    "none": ExpressionEvaluator._none,
}


def arithmetic(left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """The result of a binary operator."""
    sides = (left, right)
    if any(value.is_tensor for value in sides):
        return TENSOR
    if any(value.sort is ValueSort.ARRAY for value in sides):
        return ARRAY
    if any(value.sort is ValueSort.UNBACKED for value in sides):
        return UNBACKED
    if left.sort is ValueSort.SEQUENCE and right.sort is ValueSort.SEQUENCE:
        return sequence_of(join(element(left), element(right)))
    return PYTHON if left.sort is ValueSort.PYTHON and right.sort is ValueSort.PYTHON else UNKNOWN


def _compares_identity(node: tree_sitter.Node) -> bool:
    return any(child.type in ("is", "is not") for child in node.children)


def _identity(values: list[AbstractValue], is_not: bool) -> AbstractValue:
    if len(values) == 2 and values[1].is_none:
        if values[0].is_none:
            return known(not is_not)
        if values[0].sort in (ValueSort.INSTANCE, ValueSort.MODULE) or values[0].truth is not None:
            return known(is_not)
    return PYTHON
