"""Interprets a compiled function abstractly, statement by statement, and follows it into functions of the same file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import tree_sitter

from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.predictions.budget import WalkBudget
from compile_lens.syntax.predictions.calls import CallResolver
from compile_lens.syntax.predictions.expressions import ExpressionEvaluator, arithmetic
from compile_lens.syntax.predictions.narrowing import narrow
from compile_lens.syntax.predictions.program import ParsedProgram, ProgramParameter
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.switches import Switches
from compile_lens.syntax.predictions.uses import CallUse, Enter, Use
from compile_lens.syntax.predictions.values import (
    PYTHON,
    TENSOR,
    UNKNOWN,
    AbstractValue,
    ValueSort,
    element,
    join_all,
    join_names,
    sequence_of,
)

_DEEPEST = 25
# how often one function is followed with different kinds of arguments
_MAX_CONTEXTS = 8
# the body of a loop is walked twice, because its end may bind names that its beginning reads
_ROUNDS = 2
# every rule looks at a use
_STEPS_OF_A_USE = 10


class Interpreter:
    """One walk from a compile region. ``on_use`` gets every use with the definition of its enclosing function.

    Walks no more than ``budget`` has left.
    """

    def __init__(
        self,
        program: ParsedProgram,
        switches: Switches,
        on_use: Callable[[Use, tree_sitter.Node], None],
        budget: WalkBudget,
    ) -> None:
        self.program = program
        self.switches = switches
        self._on_use = on_use
        self.calls = CallResolver(self)
        self.expressions = ExpressionEvaluator(program, self.calls, self.report, budget)
        self.reached: set[int] = set()
        self._results: dict[tuple[object, ...], AbstractValue] = {}
        self._contexts: dict[int, int] = {}
        self._depth = 0
        self._budget = budget

    def report(self, use: Use, scope: Scope) -> None:
        self._budget.take(_STEPS_OF_A_USE)
        if isinstance(use, CallUse):
            self.calls.register(use, scope)
        if not self.calls.is_silent and scope.function is not None:
            self._on_use(use, scope.function)

    def enter(self, value: AbstractValue) -> None:
        """Walk from what a region compiles: a function, or the ``forward`` of a class or its instance."""
        if value.sort in (ValueSort.CLASS, ValueSort.INSTANCE) and value.node is not None:
            method = self.program.method(value.node, "forward") or self.program.method(value.node, "__call__")
            if method is None:
                return
            value = AbstractValue(
                ValueSort.FUNCTION, node=method, owner=AbstractValue(ValueSort.INSTANCE, node=value.node)
            )
        if value.sort is ValueSort.FUNCTION and value.node is not None and not self.program.is_disabled(value.node):
            self.follow(value, (), {}, is_whole=False)

    def evaluate(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        return self.expressions.value(node, scope)

    def follow(
        self,
        called: AbstractValue,
        positional: tuple[AbstractValue, ...],
        named: Mapping[str, AbstractValue],
        is_whole: bool,
    ) -> AbstractValue:
        """Walk a function with these arguments and return its result. ``is_whole``: there are no other arguments."""
        node = called.node
        if node is None or self._depth >= _DEEPEST or not self._budget.take():
            return UNKNOWN
        names = self._bind(called, positional, named, is_whole)
        key = (node.id, self.calls.is_silent, tuple(sorted((name, _kind(value)) for name, value in names.items())))
        if key in self._results:
            return self._results[key]
        self._contexts[node.id] = self._contexts.get(node.id, 0) + 1
        if self._contexts[node.id] > _MAX_CONTEXTS:
            return UNKNOWN
        self._results[key] = UNKNOWN
        if not self.calls.is_silent:
            self.reached.add(node.id)
        self._depth += 1
        try:
            self._results[key] = self._run(called, names)
        finally:
            self._depth -= 1
        return self._results[key]

    def _run(self, called: AbstractValue, names: dict[str, AbstractValue]) -> AbstractValue:
        node = called.node
        assert node is not None
        scope = Scope({**(called.closure or {}), **names}, node, self.program.class_around(node))
        body = node.child_by_field_name("body")
        if body is None:
            return UNKNOWN
        if node.type == "lambda":
            return self.expressions.value(body, scope)
        self.block(body, scope)
        return join_all(tuple(scope.returned))

    def _bind(
        self,
        called: AbstractValue,
        positional: tuple[AbstractValue, ...],
        named: Mapping[str, AbstractValue],
        is_whole: bool,
    ) -> dict[str, AbstractValue]:
        node = called.node
        assert node is not None
        parameters = self.program.parameters(node)
        names: dict[str, AbstractValue] = {}
        takes_tensor_first = called.owner is not None and self.program.name_of(node) == "forward"
        # a compiled function takes a tensor somewhere, and here there is only one parameter
        takes_tensor_first = takes_tensor_first or (
            not self._depth and len(parameters) == (1 if called.owner is None else 2)
        )
        if called.owner is not None and parameters:
            names[parameters[0].name] = called.owner
            parameters = parameters[1:]
        waiting = list(positional)
        for index, parameter in enumerate(parameters):
            if parameter.star:
                names[parameter.name] = sequence_of(join_all(tuple(waiting))) if parameter.star == "*" else UNKNOWN
                waiting = []
                continue
            given = waiting.pop(0) if waiting else named.get(parameter.name)
            if given is None and is_whole and parameter.default is not None:
                given = self.expressions.value(parameter.default, Scope({}))
            if given is None or given.sort is ValueSort.UNKNOWN:
                given = self._unknown_argument(node, parameter, is_certain=takes_tensor_first and index == 0)
            names[parameter.name] = given
        return names

    def _unknown_argument(
        self, function: tree_sitter.Node, parameter: ProgramParameter, is_certain: bool
    ) -> AbstractValue:
        """What the signature and the body say about a parameter whose argument is not known."""
        annotation = parameter.annotation
        if vocabulary.is_tensor_annotation(annotation):
            return TENSOR
        if vocabulary.is_tensors_annotation(annotation):
            return sequence_of(TENSOR)
        if vocabulary.is_python_annotation(annotation):
            return PYTHON
        default = parameter.default
        if default is not None and default.type not in ("none", "ellipsis"):
            value = self.expressions.value(default, Scope({}))
            return PYTHON if value.sort is ValueSort.PYTHON else UNKNOWN
        if annotation:
            return UNKNOWN
        if is_certain and default is None:
            return TENSOR
        return TENSOR if self.program.is_used_as_tensor(function, parameter.name) else UNKNOWN

    def block(self, node: tree_sitter.Node, scope: Scope) -> bool:
        """Walk statements; False if what follows them is not reached from here."""
        for statement in node.named_children:
            if not self._budget.take_statement():
                return False
            if not self._statement(statement, scope):
                return False
        return True

    def _statement(self, node: tree_sitter.Node, scope: Scope) -> bool:
        walk = _WALK.get(node.type)
        if walk is not None:
            return walk(self, node, scope)
        if node.type.endswith("_statement") or node.type in ("comment", "ERROR"):
            return node.type not in ("raise_statement", "break_statement", "continue_statement")
        self.expressions.value(node, scope)
        return True

    def _expression(self, node: tree_sitter.Node, scope: Scope) -> bool:
        for child in node.named_children:
            if child.type == "assignment":
                self._assignment(child, scope)
            elif child.type == "augmented_assignment":
                self._augmented(child, scope)
            elif child.type != "comment":
                self.expressions.value(child, scope)
        return True

    def _assignment(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or left is None:
            return UNKNOWN
        value = self._assignment(right, scope) if right.type == "assignment" else self.expressions.value(right, scope)
        annotation = node.child_by_field_name("type")
        if (
            value.sort is ValueSort.UNKNOWN
            and annotation is not None
            and vocabulary.is_tensor_annotation(self.program.text(annotation))
        ):
            value = TENSOR
        self.expressions.bind(left, value, scope)
        return value

    def _augmented(self, node: tree_sitter.Node, scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        added = self.expressions.value(right, scope)
        if left is None:
            return
        before = self.expressions.value(left, scope)
        if left.type == "identifier":
            self.expressions.bind(left, arithmetic(before, added), scope)

    def _return(self, node: tree_sitter.Node, scope: Scope) -> bool:
        value = next((child for child in node.named_children if child.type != "comment"), None)
        scope.returned.append(self.expressions.value(value, scope) if value is not None else PYTHON)
        return False

    def _if(self, node: tree_sitter.Node, scope: Scope) -> bool:
        condition, consequence = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is None or consequence is None:
            return True
        alternatives = node.children_by_field_name("alternative")
        return self._branches(condition, consequence, alternatives, scope)

    def _branches(
        self,
        condition: tree_sitter.Node,
        consequence: tree_sitter.Node,
        alternatives: list[tree_sitter.Node],
        scope: Scope,
    ) -> bool:
        truth = self.expressions.test(condition, scope)
        self._budget.take(len(scope.names))
        ends: list[dict[str, AbstractValue]] = []
        if truth is not False:
            taken = scope.inner()
            narrow(self.program, condition, True, taken)
            if self.block(consequence, taken):
                ends.append(taken.names)
        if truth is not True:
            other = scope.inner()
            narrow(self.program, condition, False, other)
            if self._otherwise(alternatives, other):
                ends.append(other.names)
        if not ends:
            return False
        merged = ends[0] if len(ends) == 1 else join_names(ends[0], ends[1])
        scope.names.clear()
        scope.names.update(merged)
        return True

    def _otherwise(self, alternatives: list[tree_sitter.Node], scope: Scope) -> bool:
        if not alternatives:
            return True
        first = alternatives[0]
        if first.type == "elif_clause":
            condition, consequence = first.child_by_field_name("condition"), first.child_by_field_name("consequence")
            if condition is None or consequence is None:
                return True
            return self._branches(condition, consequence, alternatives[1:], scope)
        body = first.child_by_field_name("body")
        return self.block(body, scope) if body is not None else True

    def _for(self, node: tree_sitter.Node, scope: Scope) -> bool:
        left, body = node.child_by_field_name("left"), node.child_by_field_name("body")
        iterated = self.expressions.value(node.child_by_field_name("right"), scope)
        if left is None or body is None:
            return True
        for _ in range(_ROUNDS):
            self.expressions.bind(left, element(iterated), scope)
            self._once(body, scope)
        return self._otherwise(node.children_by_field_name("alternative"), scope)

    def _while(self, node: tree_sitter.Node, scope: Scope) -> bool:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is None or body is None:
            return True
        for _ in range(_ROUNDS):
            if self.expressions.test(condition, scope) is False:
                return True
            self._once(body, scope)
        return True

    def _once(self, body: tree_sitter.Node, scope: Scope) -> None:
        """Walk a body that may or may not run, and merge what it binds with what was bound before."""
        self._budget.take(len(scope.names))
        inner = scope.inner()
        self.block(body, inner)
        scope.names.update(join_names(scope.names, inner.names))

    def _with(self, node: tree_sitter.Node, scope: Scope) -> bool:
        for clause in node.named_children:
            if clause.type != "with_clause":
                continue
            for item in clause.named_children:
                self._enter(item.child_by_field_name("value"), scope)
        body = node.child_by_field_name("body")
        return self.block(body, scope) if body is not None else True

    def _enter(self, node: tree_sitter.Node | None, scope: Scope) -> None:
        target = None
        if node is not None and node.type == "as_pattern" and node.named_children:
            target = node.child_by_field_name("alias")
            node = node.named_children[0]
        if node is None:
            return
        value = self.expressions.value(node, scope)
        named = node.child_by_field_name("function") if node.type == "call" else node
        name = ""
        if named is not None and named.type in ("identifier", "attribute"):
            with self.calls.silence():
                name = self.expressions.value(named, scope).name
        self.report(Enter(node, name, value), scope)
        if target is not None and target.named_children:
            self.expressions.bind(target.named_children[0], UNKNOWN, scope)

    def _try(self, node: tree_sitter.Node, scope: Scope) -> bool:
        """Walk the body and what follows it without an exception; handlers are not walked."""
        goes_on = True
        for child in node.named_children:
            if child.type == "block" and goes_on:
                goes_on = self.block(child, scope)
            elif child.type == "else_clause" and goes_on:
                goes_on = self._otherwise([child], scope)
            elif child.type == "finally_clause":
                for block in child.named_children:
                    goes_on = (self.block(block, scope) if block.type == "block" else True) and goes_on
        return goes_on or any(child.type == "except_clause" for child in node.named_children)

    def _assert(self, node: tree_sitter.Node, scope: Scope) -> bool:
        parts = [child for child in node.named_children if child.type != "comment"]
        if not parts:
            return True
        self.expressions.test(parts[0], scope, is_branch=False)
        narrow(self.program, parts[0], True, scope)
        return True

    def _define(self, node: tree_sitter.Node, scope: Scope) -> bool:
        definition = node.child_by_field_name("definition") or node
        if definition.type == "function_definition":
            name = self.program.name_of(definition)
            scope.names[name] = AbstractValue(ValueSort.FUNCTION, node=definition, closure=scope.names)
        return True


def _kind(value: AbstractValue) -> tuple[object, ...]:
    """The properties of an argument that change how a function runs."""
    node = value.node.id if value.node is not None else 0
    each = value.each.sort.value if value.each is not None else ""
    return (
        value.sort.value,
        node,
        str(value.truth),
        value.is_none,
        each,
        value.name,
        len(value.others),
    )


_WALK: dict[str, Callable[[Interpreter, tree_sitter.Node, Scope], bool]] = {
    "expression_statement": Interpreter._expression,
    "return_statement": Interpreter._return,
    "if_statement": Interpreter._if,
    "for_statement": Interpreter._for,
    "while_statement": Interpreter._while,
    "with_statement": Interpreter._with,
    "try_statement": Interpreter._try,
    "assert_statement": Interpreter._assert,
    "function_definition": Interpreter._define,
    "decorated_definition": Interpreter._define,
    "class_definition": Interpreter._define,
}
