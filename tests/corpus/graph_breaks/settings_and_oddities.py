"""What needs a particular setting, or an unusual object."""

import contextlib
import types

import torch
from torch.utils import _pytree as pytree

from _attempt import attempt

X = torch.ones(4)
LEAF = torch.ones(4, requires_grad=True)
LIBRARY = torch.library.Library("compile_lens_corpus", "DEF")


@attempt(X, dynamic=True)
def gb0002(x):
    assert x.shape[0] > 99, "long"
#          ^^^^^^^^^^^^^^^ GB0002
    return x + 1


@attempt(X, 2.5, dynamic=True)
def gb0021(x, size):
    y = x * size
    name = f"norm: {size:.2f}"
#          ^^^^^^^^^^^^^^^^^^^ GB0021
    return y * 2, name


@attempt(X)
def gb0171(x):
    raise AssertionError(5)
#         ^^^^^^^^^^^^^^^^^ GB0171


@attempt(X, contextlib.nullcontext())
def gb2852(x, thing):
    return x + len(repr(types.SimpleNamespace(a=x)))
#                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB2852
#                       ^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0147


class Meta(type):
    def __getattribute__(cls, name):
        return super().__getattribute__(name)


class WithMeta(metaclass=Meta):
    value = torch.ones(1)

    @classmethod
    def method(cls):
        return 3


@attempt(X)
def gb5458(x):
    return x + WithMeta.method()
#              ^^^^^^^^^^^^^^^ GB5458


class NoGuards(torch.nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return x + 1


@attempt(X, NoGuards())
def gb0119(x, module):
    return module.forward(x)
#          ^^^^^^^^^^^^^^ GB0119


@attempt(X)
def gb9316(x):
    return x + 1 if id([x]) > 5 else x
#                   ^^^^^^^^^^^ GB4501
#                   ^^^^^^^^^^^ GB9316


@attempt(X, config={"reorderable_logging_functions": {print}})
def gb0296(x):
    print(x, [x])
#   ^^^^^^^^^^^^^ GB0296
    return x + 1


class TorchFunction(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})

    def sin(self):
        return self.cos()

    @property
    def marked(self):
        return 3

    real = 7


@attempt(torch.ones(2).as_subclass(TorchFunction))
def gb0164(x):
    return x.real
#          ^^^^^^ GB0164


class Refuses(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.sin:
            return NotImplemented
        return super().__torch_function__(func, types, args, kwargs or {})


@attempt(torch.ones(2).as_subclass(Refuses))
def gb0000(x):
    return torch.sin(x)
#          ^^^^^^^^^^^^ GB0000


@attempt(X)
def gb0350(x):
    return torch.cond(x.sum() > 0, lambda a: [a.sin(), None], lambda a: [a.cos(), None], (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0350


@attempt(X)
def gb0310(x):
    return torch.ops.higher_order.cond([1], torch.sin, torch.cos, (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0310


@attempt(torch.ones(2, 0))
def gb0326(x):
    return torch.ops.higher_order.map_impl(lambda a: (a.sin(),), [torch.ones(())], [])
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0326


class Jsonable:
    def method(self):
        return 3


@attempt(X)
def gb0312(x):
    return torch.ops.higher_order.cond(x.sum() > 0, lambda a, b: a.sin(), lambda a, b: a.cos(), (x, Jsonable()))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0312


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, scale=1):
        return a * scale

    @staticmethod
    def backward(ctx, g):
        return g, None


@attempt(LEAF)
def gb4372(x):
    return Function.apply(x, scale=3, other=4)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB4372


@attempt(X, type("Cell", (torch.nn.Module,), {"forward": lambda self, x: x})())
def gb0162(x, module):
    super(type(module), module).__init__()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0162
    return x


@attempt(X)
def gb0183(x):
    return dict.fromkeys([[1], [2]], x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0183


@torch._dynamo.assume_constant_result
def constant(x):
    return 3


@attempt(X)
def gb2520(x):
    return x + constant([x])
#              ^^^^^^^^^^^^^ GB2520


LIBRARY.define("plain(Tensor x) -> Tensor")
LIBRARY.impl("plain", lambda x: x + 1, "CompositeExplicitAutograd")


@attempt(X, config={"only_allow_pt2_compliant_ops": True})
def gb0043(x):
    return torch.ops.compile_lens_corpus.plain(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0043


@attempt(X)
def gb0049(x):
    return torch.ops.aten.add(x)
#          ^^^^^^^^^^^^^^^^^^^^^ GB0049


@pytree.register_constant
class Constant:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        return isinstance(other, Constant)


@torch._dynamo.nonstrict_trace
def takes_anything(thing, x):
    return x + 1


class Context:
    def __init__(self, x):
        self.x = x

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return True


class Registered:
    def __init__(self, x):
        self.x = x


pytree.register_pytree_node(Registered, lambda r: ((r.x,), Context(r.x)), lambda c, _: Registered(c[0]))


@attempt(X)
def gb0239(x):
    return takes_anything(Registered(x), x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0239


@attempt(LEAF, config={"capture_profiler_record_function": True})
def gb0370_captured(x):
    with torch.profiler.record_function("name"):
        torch._dynamo.graph_break()
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0370
        return x + 1


@attempt(X)
def gb0279(x):
    with torch.fx.traceback.annotate({"a": 1}):
        torch._dynamo.graph_break()
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0279
        return x + 1


@attempt(X)
def gb0234(x):
    torch._C._pop_torch_function_stack()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0234
    return x


@attempt(X)
def gb0359(x):
    return torch._C._SDPAParams(x, x, x, None, 0.0, False, False).no_such, x
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0007
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0359


@attempt(X)
def gb5195(x):
    return torch._prims_common.elementwise_dtypes([x], type_promotion_kind=None), x
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB5195
