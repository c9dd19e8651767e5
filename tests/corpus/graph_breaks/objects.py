"""Objects and classes of the user's own, containers, and what of them can be rebuilt after a break."""

import collections
import dataclasses
import functools
import types
import typing

import torch

from _attempt import attempt

X = torch.ones(4)


class Plain:
    def __init__(self):
        self.value = 1


class Custom:
    def __str__(self):
        return "custom"

    def __len__(self):
        return 3

    def __hash__(self):
        return 3

    def __eq__(self, other):
        return True


@attempt(X, Plain())
def gb0254(x, thing):
    setattr(thing, x, 3)
#   ^^^^^^^^^^^^^^^^^^^^ GB0254
    return x


@attempt(X, Plain())
def gb4271(x, thing):
    thing.__class__ = Custom
#   ^^^^^^^^^^^^^^^ GB4271
    return x + 1


class GetAttr:
    __getattr__ = functools.partial(lambda self, name: 5)


@attempt(X, GetAttr())
def gb0256(x, thing):
    return x + thing.anything
#              ^^^^^^^^^^^^^^ GB0256


@attempt(X)
def gb1584(x):
    def inner():
        return x

    return repr(inner)
#          ^^^^^^^^^^^ GB1584


@attempt(X)
def gb0147(x):
    class_ = type("Made", (), {})
    return class_(), x
#          ^^^^^^^^ GB0147


@attempt(X)
def gb0011(x):
    y = 1
    del y
    return x + y
#              ^ GB0011


@attempt(X)
def gb0091(x):
    def inner():
        return later

    y = inner()
#       ^^^^^^^ GB0091
    later = 3
    return x + y + later


class Base:
    value = 3

    def method(self):
        return 1


class Derived(Base):
    def method(self):
        return super().missing
#              ^^^^^^^^^^^^^^^ GB0113

    def plain_value(self):
        return super().value()

    def deletes(self, name):
        super().__delattr__(name)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^ GB0084 x2

    def no_arguments(self):
        return super(Derived)

    def sets(self):
        super().__setattr__("other", 3)
        return self.other


@attempt(X, Derived())
def gb0113(x, thing):
    return x + thing.method()


@attempt(X, Derived())
def gb0084(x, thing):
    thing.deletes(x)
    return x


class Movie(typing.TypedDict, total=False):
    name: str


@attempt(X)
def gb0257(x):
    return Movie(name="a"), x
#          ^^^^^^^^^^^^^^^ GB0257


@attempt({X, X + 1})
def gb0222_argument(things):
    return [t + 1 for t in things]
#          ^^^^^^^^^^^^^^^^^^^^^^^ GB0222


@attempt(X, {X: 1}.keys())
def gb0203(x, keys):
    return x, list(keys)
#             ^^^^^^^^^^ GB0203 x2


@attempt(X, types.MappingProxyType({X: 1}))
def gb0204(x, proxy):
    return x, proxy
#          ^^^^^^^^ GB0204


@attempt(X, types.MappingProxyType({"a": 1}), {"a": 1})
def gb0198_argument(x, proxy, d):
    d["b"] = 3
    return x + proxy["a"]
#              ^^^^^^^^^^ GB0198


@attempt(X)
def gb6622(x):
    return [x] == [x + 1]
#          ^^^^^^^^^^^^^^ GB6622


@attempt(X)
def gb6622_order(x):
    return [x] < [x + 1]
#          ^^^^^^^^^^^^^ GB6622


@attempt(X)
def gb9648(x):
    return iter([x]) != object(), x
#          ^^^^^^^^^^^^^^^^^^^^^ GB9648
#                       ^^^^^^^^ GB0059


@attempt(X)
def gb0682(x):
    return {x.sin: 1}
#          ^^^^^^^^^^ GB0682


@attempt(X)
def gb6215(x):
    return x.sin == x.cos, x
#          ^^^^^^^^^^^^^^ GB6215


@attempt(X)
def gb0363(x):
    return torch.Generator(), x
#          ^^^^^^^^^^^^^^^^^ GB0363


@attempt(X, torch.Generator())
def gb7650(x, generator):
    generator.manual_seed(3)
#   ^^^^^^^^^^^^^^^^^^^^^^^^ GB7650
    return torch.rand(3, generator=generator)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0055


@attempt(X, torch.Generator())
def gb7650_seed(x, generator):
    return x + generator.seed()
#              ^^^^^^^^^^^^^^^^ GB7650


def make():
    yield 1


@attempt(X, make())
def gb0253(x, g):
    return x + g.send(None)
#              ^^^^^^^^^^^^ GB0253


@attempt(X, make())
def gb0253_close(x, g):
    g.close()
#   ^^^^^^^^^ GB0253
    return x


@attempt(X)
def gb0180(x):
    return dataclasses.fields(5), x
#          ^^^^^^^^^^^^^^^^^^^^^ GB0180


@attempt(X)
def gb0201(x):
    return collections.namedtuple("P", [x]), x
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0059
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0088
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0201


@attempt(X, torch.jit.script(torch.nn.Linear(4, 4)))
def gb4695(x, module):
    return module(x)
#          ^^^^^^^^^ GB4695 x2


@attempt(X)
def gb7312(x):
    return make(x, 3)
#          ^^^^^^^^^^ GB7312


@attempt(X)
def gb7312_call(x):
    def inner(a):
        return a

    return inner(x, x)
#          ^^^^^^^^^^^ GB7312
