"""What the code of a graph in a trace may consist of before it is written into a script: what torch prints of one, and nothing else.

A trace says any text. A graph is a class with `forward`, whose statements assign what operators and methods of tensors return.
"""

from __future__ import annotations

import ast

from compile_lens.entries.makers import is_word
from compile_lens.late_pattern import pattern
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.graph_attributes import is_method, is_of_program, is_of_value
from compile_lens.repro.plain_text import DTYPES, FORMS
from compile_lens.syntax.foreign_texts import parse_module

_OPERATOR = pattern(r"torch\.ops\.\w+\.\w+(?:\.\w+)?")
# modules whose functions a graph calls: one name follows, since the modules below them lead to all of Python
_FUNCTIONS_OF = frozenset(
    [
        "operator", "math",
        *(f"torch.{name}" for name in ("nn.functional", "functional", "special", "linalg", "fft", "sparse", "nested", "signal.windows",
                                       "autograd.grad_mode", "autograd.forward_ad", "amp", "amp.autocast_mode",
                                       "_vmap_internals", "_higher_order_ops")),
        *(f"torch._C.{name}" for name in ("_nn", "_fft", "_linalg", "_special", "_sparse", "_nested", "_functorch", "_functions",
                                          "_autograd")),
        *(f"torch._functorch.{name}" for name in ("predispatch", "vmap", "eager_transforms")),
    ]
)  # fmt: skip
_STATES = pattern(r"^(?:_set_grad_enabled|_\w*(?:grad|autocast|vmap|inference|deterministic)\w*)")
_NAME = pattern(r"_?[a-z]\w*")
# names that stand for more than they say
_EXACTLY = frozenset(
    [
        "torch.autograd.function.FunctionCtx", "torch.Size", "torch._C._SDPAParams", "torch.ops.higher_order.register_hook",
        *(f"torch._C._autograd._saved_tensors_hooks_{name}" for name in ("disable", "enable")),
        *(f"torch._functorch.{name}.lazy_load_decompositions" for name in ("predispatch", "vmap")),
        "torch.autograd.forward_ad._maybe_load_decompositions", "torch.autograd.grad", "torch.Tensor",
        "torch._C._log_api_usage_once", "torch.nn.attention._sdpa_kernel", "torch.nn.attention._cur_sdpa_kernel_backends",
    ]
)  # fmt: skip
# what takes or returns functions, returns modules and types, or is about Python and no tensor
_NOT_ON_VALUES = pattern(
    r"^(?:partial|cast|warn|fork|wait|classproperty|_?deprecated|\w*(?:module|deploy|multiprocess|jit|extension|origin|upgrader|package)\w*"
    r"|(?:parse|merge|unify|prepare|set_default|set_print|init)_\w*|methodcaller|attrgetter|itemgetter|call|_add_docstr|make_fx"
    r"|custom_[bf]wd|\w*decorator|boolean_dispatch|handle_torch_function|script_if_tracing|_disable_dynamo|_check\w*_with|_?wraps\w*|exposed_in"
    r"|tree_\w+|\w*vmap(?:_impl)?|grad|grad_and_value\w*|grad_impl|jac\w+|hessian|_?jvp(?:_with\w+)?|_?vjp(?:_with\w+)?|linearize"
    r"|functionalize|functional_call|_?foreach_map|cond|while_loop\w*|scan|map|gradcheck|gradgradcheck|lazy_dynamo_disallow|flat_apply)"
)
# names of functions that read and write files, load code, start programs, or look into objects
_REACHES_OUT = pattern(
    r"^(?:__\w*|\w*(?:file|save|load|open|dump|export|import|path|write|read_|library|system|exec|eval|compile|hub|package|serializ|pickle"
    r"|storage|data_ptr|numpy|share_memory|classes|register|signal|spawn|popen|socket|url|module_from)\w*)"
)
_TYPES = frozenset(["slice", "int", "float", "bool", "complex", "tuple", "list", "dict", "range"])
_OF_PYTHON = _TYPES | {"abs", "max", "min", "sum", "len", "round", "pow", "device"}
# looks up the member of an enumeration by its name (torch/nn/attention/__init__.py)
_MEMBER_BY_NAME, _MEMBER = "torch.nn.attention._backend_from_string", pattern(r"[A-Z][A-Z_]*")
_VALUES = ("math.inf", "math.nan", "math.pi")
_MADE = ("torch.nn.Parameter", "torch.nn.Buffer")
_STATEMENTS_OF_CONSTRUCTORS = ("register_buffer", "register_parameter", "__init__")
Parts = tuple[type[ast.expr], ...]
_ROOTS = ("torch", "operator", "math")
_PLAIN: Parts = (
    ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Slice, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Subscript,
    ast.Starred,
)  # fmt: skip


_GLOBALS = frozenset(["self", "torch", "inf", "nan", "device", "operator", "math"])


def check_graph(text: str, frame: str) -> None:
    """Raises CannotWrite unless ``text`` is a class as torch prints a graph."""
    try:
        body = parse_module(text).body
    except SyntaxError:
        raise CannotWrite(f"The graph of frame {frame} is not valid Python.") from None
    node = body[0] if len(body) == 1 else None
    found = _unknown_in(node) if isinstance(node, ast.ClassDef) else "more than a class"
    if found:
        raise CannotWrite(f"The graph of frame {frame} has code that torch does not write into a graph: {found:.100}.")


def _unknown_in(cls: ast.ClassDef) -> str:
    """What no graph has, in a class and those inside of it; '' for nothing."""
    is_plain = (
        not cls.decorator_list and not cls.keywords and [ast.unparse(base) for base in cls.bases] == ["torch.nn.Module"]
    )
    if not is_plain:
        return f"the class {cls.name}"
    for node in cls.body:
        if isinstance(node, ast.ClassDef):
            found = _unknown_in(node)
        elif isinstance(node, ast.FunctionDef) and node.name in ("forward", "__init__"):
            found = _Function(node).unknown()
        else:
            found = _line(node)
        if found:
            return found
    return ""


class _Function:
    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._is_constructor = function.name == "__init__"
        stored = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self._names = {argument.arg for argument in function.args.args} | stored

    def unknown(self) -> str:
        """What no function of a graph has, in one line; '' for nothing."""
        function, given = self._function, self._function.args
        is_plain = not (function.decorator_list or given.defaults or given.posonlyargs or given.kwonlyargs)
        # a module that had another name would be a value
        is_of_module = bool(given.args) and given.args[0].arg == "self"
        hidden = self._names & ((_GLOBALS - {"self"}) | _OF_PYTHON | {"getattr"})
        if not (is_plain and is_of_module) or given.vararg is not None or given.kwarg is not None or hidden:
            return f"the signature of {function.name}"
        annotations = [*(argument.annotation for argument in given.args), function.returns]
        if not all(node is None or self._is_annotation(node) for node in annotations):
            return f"an annotation of {function.name}"
        return next((_line(node) for node in function.body if not self._is_statement(node)), "")

    def _is_annotation(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self._is_value(node)

    def _is_statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets, value):
                return all(map(self._is_target, targets)) and self._is_value(value)
            case ast.AnnAssign(target, annotation, value):
                is_typed = self._is_target(target) and self._is_annotation(annotation)
                return is_typed and (value is None or self._is_value(value))
            case ast.AugAssign(target, _, value):
                return self._is_target(target) and self._is_value(value)
            case ast.Return(value):
                return value is None or self._is_value(value)
            case ast.Expr(value):
                return self._is_value(value)
            case ast.Delete(targets):
                return all(isinstance(target, ast.Name) for target in targets)
            case ast.Assert(test, message):
                return self._is_value(test) and (message is None or isinstance(message, ast.Constant))
        return isinstance(node, ast.Pass)

    def _is_target(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                # what has no name in the program is called `_`, `__1`, …
                return not name.startswith("__") or name.strip("_").isdecimal()
            case ast.Tuple(items) | ast.List(items):
                return all(map(self._is_target, items))
            case ast.Attribute(ast.Name("self"), name):
                return self._is_constructor and is_of_program(name)
            case ast.Subscript(value, index):
                return self._is_target(value) and self._is_value(index)
        return False

    def _is_value(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(str(text)):
                # an equation may start with an ellipsis ('...i,...j->...ij')
                return is_word(text.removeprefix("...").lstrip(","))
            case ast.Constant(value):
                return not isinstance(value, bytes)
            case ast.Name(name):
                return (name in self._names and name != "self") or name in ("inf", "nan", "Ellipsis") or name in _TYPES
            case ast.Attribute(value, name):
                return self._is_attribute(node, value, name)
            case ast.Call(func, arguments, named):
                inner = [*arguments, *(keyword.value for keyword in named)]
                is_given = self._is_given_to_operator if _is_operator(func) else self._is_value
                return self._is_callee(func, arguments) and all(map(is_given, inner))
        if isinstance(node, _PLAIN):
            return all(self._is_value(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return False

    def _is_given_to_operator(self, node: ast.expr) -> bool:
        """Whether ``node`` is a value, or an operator that another one is about (`auto_functionalized`)."""
        return _is_operator(node) or self._is_value(node)

    def _is_attribute(self, node: ast.expr, value: ast.expr, name: str) -> bool:
        """Whether ``node`` is a constant, or a part of a value: no function and no module is one, of which any other could be taken."""
        dotted = ast.unparse(node)
        if dotted.partition(".")[0] in _ROOTS:
            return (
                dotted.startswith("torch.") and dotted.count(".") == 1 and name in DTYPES | FORMS
            ) or dotted in _VALUES
        # what a graph owns has the names of the program
        if isinstance(value, ast.Name) and value.id == "self":
            return is_of_program(name)
        is_named = (is_of_value(name) and not is_method(name)) or (
            _is_owned(value) and is_of_program(name) and _is_plain_name(name)
        )
        return is_named and self._is_value(value)

    def _is_callee(self, func: ast.expr, arguments: list[ast.expr]) -> bool:
        """Whether ``func`` is an operator, a function of computing, or a method of what one returned."""
        match func:
            case ast.Name("getattr"):
                return (
                    len(arguments) == 2
                    and isinstance(arguments[1], ast.Constant)
                    and is_of_value(arguments[1].value)
                    and not is_method(arguments[1].value)
                )
            case ast.Name(name):
                return name in _OF_PYTHON and name not in self._names
            case ast.Attribute(value, name):
                dotted = ast.unparse(func)
                if self._is_constructor and name in _STATEMENTS_OF_CONSTRUCTORS:
                    return ast.unparse(value) in ("self", "super()")
                if dotted == _MEMBER_BY_NAME:
                    return _is_member(arguments)
                if dotted.partition(".")[0] in _ROOTS:
                    return _is_function(dotted) or (self._is_constructor and dotted in _MADE)
                return (is_method(name) and self._is_value(value)) or self._is_attribute(func, value, name)
        return False


def _is_member(arguments: list[ast.expr]) -> bool:
    match arguments:
        case [ast.Constant(str(name))]:
            return _MEMBER.fullmatch(name) is not None
    return False


def _is_operator(node: ast.expr) -> bool:
    dotted = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    return _OPERATOR.fullmatch(dotted) is not None and all(map(_is_plain_name, dotted.split(".")))


def _is_function(dotted: str) -> bool:
    """Whether ``dotted`` is an operator or a function of computing, which is called and nothing else."""
    if dotted in _EXACTLY:
        return True
    module, _, name = dotted.rpartition(".")
    if not all(map(_is_plain_name, dotted.split("."))):
        return False
    if _OPERATOR.fullmatch(dotted) is not None:
        return True
    if _NOT_ON_VALUES.fullmatch(name) is not None:
        return False
    if module == "torch._C":
        return _STATES.fullmatch(name) is not None
    return (module == "torch" or module in _FUNCTIONS_OF) and _NAME.fullmatch(name) is not None


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and _REACHES_OUT.fullmatch(name) is None


def _is_owned(node: ast.expr) -> bool:
    """Whether ``node`` is ``self.a.b``: a module of the graph, or a tensor."""
    return isinstance(node, ast.Attribute) and (
        (isinstance(node.value, ast.Name) and node.value.id == "self") or _is_owned(node.value)
    )


def _line(node: ast.AST) -> str:
    return f"`{ast.unparse(node).splitlines()[0]}`"
