"""Resolves calls: follows functions and methods of this file, and knows what other calls return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import msgspec
import tree_sitter

from compile_lens.syntax.predictions import results, vocabulary
from compile_lens.syntax.predictions.program import ParsedProgram
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.switches import Switches
from compile_lens.syntax.predictions.uses import CallUse, SetAttribute, Use
from compile_lens.syntax.predictions.values import (
    PYTHON,
    TENSOR,
    UNKNOWN,
    AbstractValue,
    ValueSort,
    element,
    join,
    join_all,
    sequence_of,
)

_CHECKPOINT = frozenset({"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"})
_MODULE_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict"})
# methods of a module that return the module
_RETURN_SELF = frozenset(
    {"to", "eval", "train", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_"}
)


class Walk(Protocol):
    """What resolving a call needs of the interpreter that walks the program."""

    @property
    def program(self) -> ParsedProgram: ...

    @property
    def switches(self) -> Switches: ...

    def report(self, use: Use, scope: Scope) -> None: ...

    def evaluate(self, node: tree_sitter.Node, scope: Scope) -> AbstractValue: ...

    def follow(
        self,
        called: AbstractValue,
        positional: tuple[AbstractValue, ...],
        named: Mapping[str, AbstractValue],
        is_whole: bool,
    ) -> AbstractValue: ...


class CallResolver:
    """Resolves what is called and, if it is in this file, has ``walk`` follow it."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._program = walk.program
        self._attributes: dict[int, dict[str, AbstractValue]] = {}
        self._silent = 0

    @property
    def is_silent(self) -> bool:
        """Whether uses are not reported, because what runs is not part of the compiled function."""
        return self._silent > 0

    @contextmanager
    def silence(self) -> Iterator[None]:
        self._silent += 1
        try:
            yield
        finally:
            self._silent -= 1

    def call(self, use: CallUse, called: AbstractValue, is_whole: bool, scope: Scope) -> AbstractValue:
        """Report a call and return its result."""
        if called.sort is ValueSort.FUNCTION and called.node is not None:
            return self._function(use, called, is_whole, scope)
        if called.sort is ValueSort.INSTANCE and called.node is not None:
            return self._instance(use, called, is_whole, scope)
        self._walk.report(use, scope)
        captures = self._walk.switches.capture_scalar_outputs
        if called.sort is ValueSort.CLASS and called.node is not None:
            return AbstractValue(ValueSort.INSTANCE, node=called.node)
        if called.sort is ValueSort.MODULE:
            return sequence_of(TENSOR) if vocabulary.returns_several(called.name) else TENSOR
        if called.sort is ValueSort.SEQUENCE:
            return self._through(called, use.positional, scope)
        if called.sort is ValueSort.NAME and called.name:
            return self._named(use, called.name, scope, captures)
        receiver = use.receiver
        if receiver is None:
            return UNKNOWN
        if receiver.sort in (ValueSort.INSTANCE, ValueSort.MODULE) and use.method in _RETURN_SELF:
            return receiver
        if receiver.is_tensor:
            return results.of_tensor_method(use.method, use.positional, use.named, captures)
        if receiver.sort is ValueSort.UNKNOWN and use.method in vocabulary.EVIDENT_METHODS:
            return results.of_tensor_method(use.method, use.positional, use.named, captures)
        if receiver.sort is ValueSort.ARRAY:
            return receiver
        return PYTHON if receiver.sort is ValueSort.PYTHON else UNKNOWN

    def _named(self, use: CallUse, name: str, scope: Scope, captures: bool) -> AbstractValue:
        if name in _CHECKPOINT and use.positional:
            return self._checkpointed(use, scope)
        if name in _MODULE_LISTS:
            held = [element(value) if value.sort is ValueSort.SEQUENCE else value for value in use.positional]
            return AbstractValue(ValueSort.SEQUENCE, name=name, each=join_all(tuple(held)), elements=None)
        if name == "builtins.super" and scope.owner is not None:
            return AbstractValue(ValueSort.INSTANCE, name="super", node=scope.owner, owner=scope.names.get("self"))
        return results.of_name(name, use.positional, use.named, captures)

    def _checkpointed(self, use: CallUse, scope: Scope) -> AbstractValue:
        function, arguments = use.positional[0], use.positional[1:]
        inner = CallUse(use.node, "", "", None, arguments)
        if function.sort in (ValueSort.FUNCTION, ValueSort.INSTANCE):
            return self.call(inner, function, True, scope)
        return TENSOR if function.sort is ValueSort.MODULE else UNKNOWN

    def _function(self, use: CallUse, called: AbstractValue, is_whole: bool, scope: Scope) -> AbstractValue:
        assert called.node is not None
        if self._program.is_disabled(called.node):
            self._walk.report(msgspec.structs.replace(use, is_disabled=True), scope)
            return UNKNOWN
        self._walk.report(use, scope)
        if self._program.is_opaque(called.node):
            return UNKNOWN
        return self._walk.follow(called, use.positional, use.named, is_whole)

    def _instance(self, use: CallUse, called: AbstractValue, is_whole: bool, scope: Scope) -> AbstractValue:
        assert called.node is not None
        if called.others:
            may_be = (replace(called, others=()), *called.others)
            return join_all(tuple(self._instance(use, value, is_whole, scope) for value in may_be))
        method = self._program.method(called.node, "forward") or self._program.method(called.node, "__call__")
        if method is None:
            self._walk.report(use, scope)
            return UNKNOWN
        bound = AbstractValue(ValueSort.FUNCTION, node=method, owner=replace(called, name=""))
        return self._function(use, bound, is_whole, scope)

    def _through(self, sequential: AbstractValue, positional: tuple[AbstractValue, ...], scope: Scope) -> AbstractValue:
        """Call a Sequential; its modules are assumed to be alike."""
        if sequential.each is None or sequential.each.sort is not ValueSort.INSTANCE:
            return TENSOR if sequential.each is not None and sequential.each.sort is ValueSort.MODULE else UNKNOWN
        node = sequential.each.node
        assert node is not None
        return self.call(CallUse(node, "", "", None, positional), sequential.each, True, scope)

    def attribute(self, owner: AbstractValue, name: str, scope: Scope) -> AbstractValue:
        """An attribute of an instance or class of this file: a method, a property, or what ``__init__`` assigns."""
        assert owner.node is not None
        program = self._program
        if owner.sort is ValueSort.CLASS and name == "apply" and program.is_autograd_function(owner.node):
            forward = program.method(owner.node, "forward")
            return AbstractValue(ValueSort.FUNCTION, node=forward, owner=UNKNOWN) if forward is not None else UNKNOWN
        is_super = owner.name == "super"
        method = program.method(owner.node, name, after=owner.node if is_super else None)
        if method is not None:
            instance = owner.owner if is_super else owner
            decorators = set(program.decorators(method))
            if decorators & {"staticmethod", "builtins.staticmethod"}:
                return AbstractValue(ValueSort.FUNCTION, node=method)
            bound = AbstractValue(
                ValueSort.FUNCTION, node=method, owner=instance if owner.sort is ValueSort.INSTANCE else None
            )
            if decorators & {"property", "functools.cached_property", "cached_property"}:
                return self._walk.follow(bound, (), {}, True)
            return bound
        return self.attributes(owner.node).get(name, UNKNOWN)

    def attributes(self, class_node: tree_sitter.Node) -> dict[str, AbstractValue]:
        """What the attributes of an instance are, as far as ``__init__`` and the class body define them."""
        if class_node.id in self._attributes:
            return self._attributes[class_node.id]
        found: dict[str, AbstractValue] = {}
        self._attributes[class_node.id] = found
        for owner in reversed(self._program.lineage(class_node)):
            self._read_class(owner, class_node, found)
        return found

    def _read_class(
        self, owner: tree_sitter.Node, class_node: tree_sitter.Node, found: dict[str, AbstractValue]
    ) -> None:
        program = self._program
        for member in program.members(owner):
            target = (
                member.named_children[0] if member.type == "expression_statement" and member.named_children else None
            )
            annotation = target.child_by_field_name("type") if target is not None else None
            left = target.child_by_field_name("left") if target is not None else None
            if (
                annotation is not None
                and left is not None
                and vocabulary.is_tensor_annotation(program.text(annotation))
            ):
                found[program.text(left)] = TENSOR
        initializer = program.method(owner, "__init__")
        if initializer is not None and program.class_around(initializer) == owner:
            with self.silence():
                instance = AbstractValue(ValueSort.INSTANCE, node=class_node)
                self._walk.follow(AbstractValue(ValueSort.FUNCTION, node=initializer, owner=instance), (), {}, False)
        for name in program.attributes_assigned_outside_init(owner):
            value = found.get(name)
            if value is not None and value.sort is not ValueSort.INSTANCE:
                found[name] = TENSOR if value.is_tensor else UNKNOWN

    def assign(self, target: tree_sitter.Node, value: AbstractValue, scope: Scope) -> None:
        """Record an assignment to an attribute or an index."""
        owner_node = target.child_by_field_name("object")
        attribute_node = target.child_by_field_name("attribute")
        if target.type == "subscript" and (held := target.child_by_field_name("value")) is not None:
            self._hold(held, value, scope)
        if target.type != "attribute" or owner_node is None or attribute_node is None:
            for child in target.named_children:
                self._walk.evaluate(child, scope)
            return
        owner = self._walk.evaluate(owner_node, scope)
        attribute = self._program.text(attribute_node)
        self._walk.report(SetAttribute(target, owner, attribute), scope)
        if owner.sort is ValueSort.INSTANCE and owner.node is not None and self.is_silent:
            attributes = self._attributes.setdefault(owner.node.id, {})
            attributes[attribute] = join(attributes[attribute], value) if attribute in attributes else value

    def _hold(self, held: tree_sitter.Node, value: AbstractValue, scope: Scope) -> None:
        """Record that ``__init__`` adds a module to a ModuleList or ModuleDict attribute."""
        instance = scope.names.get("self")
        owner, _, name = self._program.text(held).partition(".")
        if not self.is_silent or owner != "self" or instance is None or instance.node is None:
            return
        attributes = self._attributes.get(instance.node.id, {})
        holder = attributes.get(name)
        if holder is not None and holder.sort is ValueSort.SEQUENCE and holder.name in _MODULE_LISTS:
            is_first = holder.each is None or holder.each.sort is ValueSort.UNKNOWN
            attributes[name] = replace(holder, each=value if is_first else join(holder.each or value, value))

    def register(self, use: CallUse, scope: Scope) -> None:
        """Record ``self.register_buffer("name", tensor)``, ``self.register_parameter`` and ``self.layers.append(layer)``."""
        function = use.node.child_by_field_name("function")
        held = function.child_by_field_name("object") if function is not None and use.method == "append" else None
        if held is not None and use.positional:
            self._hold(held, use.positional[-1], scope)
        receiver = use.receiver
        arguments = use.node.child_by_field_name("arguments")
        if receiver is None or receiver.sort is not ValueSort.INSTANCE or receiver.node is None or arguments is None:
            return
        if use.method in ("register_buffer", "register_parameter") and self.is_silent and arguments.named_children:
            name = self._program.text(arguments.named_children[0]).strip("\"'")
            self._attributes.setdefault(receiver.node.id, {})[name] = TENSOR
