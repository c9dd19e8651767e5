"""Which methods of a model do nothing but set attributes of its modules: `freeze()`, `set_causal(flag)`.

Read from their source, since they are called without the program's asking: what writes a file, prints, trains or changes numbers in place
is none. What cannot be read, or calls what is not known, is none either.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from ..runtime.parsed_source import parsed_source_of
from .plain_values import have_plain_operators, is_known_name, is_of_torch, is_plain_object, reads_plainly

# what a name or an expression is: a module of the model, one of its parameters, several of them, or any other value
MODULE, PARAMETER, MODULES, PARAMETERS, VALUE = "module", "parameter", "modules", "parameters", "value"
OF_ITERABLE = {MODULES: MODULE, PARAMETERS: PARAMETER, MODULE: MODULE}
ITERABLES = {
    "modules": MODULES,
    "children": MODULES,
    "named_modules": MODULES,
    "named_children": MODULES,
    "values": MODULES,
    "items": MODULES,
    "parameters": PARAMETERS,
    "named_parameters": PARAMETERS,
}
# those of `torch.nn.Module` that set attributes alone
OF_MODULES = frozenset(("train", "eval", "requires_grad_"))
FUNCTIONS = frozenset(
    (
        "isinstance", "issubclass", "hasattr", "getattr", "bool", "int", "float", "str", "len", "range", "enumerate",
        "list", "tuple", "dict", "set", "type", "min", "max",
    )
)  # fmt: skip
# those of torch that make a tensor of their arguments
MAKING = frozenset(
    ["zeros", "ones", "full", "empty", "tensor", "arange", "eye", "zeros_like", "ones_like", "full_like"]
)
# attributes that are no attributes of a module: to set them changes what a tensor holds
OF_TENSORS = frozenset(("data", "grad"))
EXPRESSIONS = (
    ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Dict, ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.JoinedStr, ast.FormattedValue,
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


class PlainMethods:
    """Those of the classes of ``modules``, which are all modules of one model."""

    def __init__(self, modules: Iterable[Any]) -> None:
        self._modules = list(modules)
        self._classes = list(dict.fromkeys(map(type, self._modules)))
        self._known: dict[FunctionType, bool] = {}

    def is_plain(self, name: str) -> bool:
        """Whether each method of that name in the classes is plain, and there is one."""
        import torch

        found = [inspect.getattr_static(cls, name, None) for cls in self._classes]
        methods = [each for each in found if each is not None]
        of_torch = getattr(torch.nn.Module, name, None) if name in OF_MODULES else None
        return bool(methods) and all(each is of_torch or self._is_plain(each) for each in methods)

    def _is_plain(self, method: object) -> bool:
        if not isinstance(method, FunctionType):
            return False
        if method not in self._known:
            self._known[method] = True  # one that calls itself adds nothing
            self._known[method] = self._reads_as_plain(method)
        return self._known[method]

    def _reads_as_plain(self, method: FunctionType) -> bool:
        function = definition_of(method)
        if function is None or function.decorator_list or not function.args.args:
            return False
        defaults = (*(method.__defaults__ or ()), *(method.__kwdefaults__ or {}).values())
        if not (have_plain_operators(self._classes) and all(map(is_plain_object, defaults))):
            return False
        return _MethodBody(self, function.args, method.__globals__).is_plain(function.body)

    def holds(self, name: str, what: str) -> bool:
        """Whether an attribute of that name is a module, or a parameter, wherever a module of the model has it."""
        others = [vars(module) for module in self._modules]
        return any(name in each[what] for each in others) and not any(name in each for each in others)

    def is_attribute(self, name: str) -> bool:
        """Whether setting it sets an attribute and runs no code of the program's."""
        import torch

        known = (getattr(torch.nn.Module, "__setattr__"),)  # noqa: B009
        return not name.startswith("__") and not any(
            hasattr(type(inspect.getattr_static(cls, name, None)), "__set__") or cls.__setattr__ not in known
            for cls in self._classes
        )

    def is_readable(self, name: str) -> bool:
        """Whether reading it from a module runs no code of the program's."""
        return not name.startswith("__") and reads_plainly(self._modules, name)


class _MethodBody:
    """The statements of a method, with what its names are."""

    def __init__(self, methods: PlainMethods, taken: ast.arguments, of_module: dict[str, Any]) -> None:
        self._methods = methods
        others = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg)
        self._names = {each.arg: VALUE for each in others if each is not None}
        self._names[(*taken.posonlyargs, *taken.args)[0].arg] = MODULE
        self._of_module = of_module

    def is_plain(self, body: list[ast.stmt]) -> bool:
        return all(self._is_plain_statement(statement) for statement in body)

    def _is_plain_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Pass | ast.Continue | ast.Break):
            return True
        if isinstance(statement, ast.Expr):
            return self._is_plain_value(statement.value)
        if isinstance(statement, ast.Return):
            return statement.value is None or self._is_plain_value(statement.value)
        if isinstance(statement, ast.Assign):
            return self._is_plain_value(statement.value) and all(
                self._can_set(target, self._kind(statement.value)) for target in statement.targets
            )
        if isinstance(statement, ast.AnnAssign):
            value = statement.value
            return value is None or (self._is_plain_value(value) and self._can_set(statement.target, self._kind(value)))
        if isinstance(statement, ast.If):
            return self._is_plain_value(statement.test) and self.is_plain([*statement.body, *statement.orelse])
        if isinstance(statement, ast.For):
            return self._is_plain_loop(statement)
        if isinstance(statement, ast.Assert):
            return self._is_plain_value(statement.test) and (
                statement.msg is None or self._is_plain_value(statement.msg)
            )
        return isinstance(statement, ast.Raise) and all(
            part is None or self._is_plain_value(part) for part in (statement.exc, statement.cause)
        )

    def _is_plain_loop(self, loop: ast.For) -> bool:
        kind = OF_ITERABLE.get(self._kind(loop.iter), VALUE)
        for target in ast.walk(loop.target):
            if isinstance(target, ast.Name):
                self._names[target.id] = VALUE
            elif not isinstance(target, ast.Tuple | ast.expr_context):
                return False
        # of pairs with a name or a number, the second one is the module
        last = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
        if isinstance(last, ast.Name):
            self._names[last.id] = kind
        return self._is_plain_value(loop.iter) and self.is_plain([*loop.body, *loop.orelse])

    def _can_set(self, target: ast.expr, kind: str) -> bool:
        if isinstance(target, ast.Name):
            self._names[target.id] = kind
            return True
        if not isinstance(target, ast.Attribute) or target.attr in OF_TENSORS:
            return False
        owner = self._kind(target.value)
        return (owner == MODULE and self._methods.is_attribute(target.attr)) or (
            owner == PARAMETER and target.attr == "requires_grad"
        )

    def _is_plain_value(self, value: ast.expr) -> bool:
        return all(map(self._is_plain_part, ast.walk(value)))

    def _is_plain_part(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self._is_plain_call(node)
        if isinstance(node, ast.Name):
            return node.id in self._names or is_known_name(node.id, self._of_module, FUNCTIONS)
        if isinstance(node, ast.Attribute):
            return self._is_readable(node)
        if isinstance(node, ast.FormattedValue):
            return self._kind(node.value) == VALUE
        return isinstance(node, EXPRESSIONS)

    def _is_readable(self, node: ast.Attribute) -> bool:
        owner = self._kind(node.value)
        if owner == VALUE:
            return self._is_of_torch(node.value)
        return owner == PARAMETER or self._methods.is_readable(node.attr)

    def _is_of_torch(self, node: ast.expr) -> bool:
        """Whether it is torch, or something of it: `nn.init`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self._names and is_of_torch(self._of_module.get(node.id))

    def _is_plain_call(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Name):
            is_own = function.id not in self._names and function.id not in self._of_module
            is_text_of_module = function.id == "str" and any(self._kind(each) != VALUE for each in call.args)
            is_error = function.id not in FUNCTIONS and is_known_name(function.id, {}, ())
            return is_own and not is_text_of_module and (function.id in FUNCTIONS or is_error)
        if not isinstance(function, ast.Attribute):
            return False
        if isinstance(function.value, ast.Name) and function.value.id == "torch":
            return function.attr in MAKING and self._is_of_torch(function.value)
        owner = self._kind(function.value)
        if owner == PARAMETER:
            return function.attr == "requires_grad_"
        return owner == MODULE and (function.attr in ITERABLES or self._methods.is_plain(function.attr))

    def _kind(self, value: ast.expr) -> str:
        if isinstance(value, ast.Name):
            return self._names.get(value.id, VALUE)
        if isinstance(value, ast.Attribute) and self._kind(value.value) == MODULE:
            of_modules = self._methods.holds(value.attr, "_modules")
            return MODULE if of_modules else PARAMETER if self._methods.holds(value.attr, "_parameters") else VALUE
        if isinstance(value, ast.Subscript):
            # a part of several is one, or several again
            return self._kind(value.value)
        if isinstance(value, ast.Call):
            return self._kind_of_call(value)
        return VALUE

    def _kind_of_call(self, call: ast.Call) -> str:
        function = call.func
        if isinstance(function, ast.Name) and function.id in ("list", "tuple", "enumerate") and len(call.args) == 1:
            return self._kind(call.args[0])
        if isinstance(function, ast.Attribute) and self._kind(function.value) == MODULE:
            return ITERABLES.get(function.attr, VALUE)
        return VALUE


def definition_of(method: FunctionType) -> ast.FunctionDef | None:
    """The syntax of a method; None where its text is not known, or where it is no ``def``."""
    tree = parsed_source_of(method)
    found = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    return found if isinstance(found, ast.FunctionDef) else None
