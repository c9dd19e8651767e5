"""Unusual ways to call compiled code, all of them clean: nothing may be found."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import dataclasses
import functools
import itertools
import operator
import threading
import timeit

import torch

X = torch.ones(4)


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


# program: by_map
list(map(doubled, [X, X, X]))
list(itertools.starmap(doubled, [(X,), (X,)]))


# program: by_timeit
timeit.timeit(lambda: doubled(X), number=2)
timeit.Timer("f(x)", globals={"f": doubled, "x": X}).repeat(2, 1)


# program: by_partial_and_methodcaller
functools.partial(doubled, X)()
operator.methodcaller("__call__", X)(doubled)
operator.call(doubled, X) if hasattr(operator, "call") else doubled(X)


# program: by_executor
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    list(pool.map(doubled, [X, X]))
    pool.submit(doubled, x=X).result()


# program: by_thread
thread = threading.Thread(target=doubled, args=(X,))
thread.start()
thread.join()
timer = threading.Timer(0, doubled, [X])
timer.start()
timer.join()


# program: by_coroutine
async def awaited():
    first = await asyncio.to_thread(doubled, X)
    return await asyncio.get_running_loop().run_in_executor(None, doubled, first)


asyncio.run(awaited())


# program: by_exit_stack
with contextlib.ExitStack() as stack:
    stack.callback(doubled, X)


# program: by_context
contextvars.copy_context().run(doubled, X)


# program: by_dispatch
@functools.singledispatch
def dispatched(value):
    raise TypeError(type(value))


@dispatched.register
@torch.compile(backend="eager")
def _(value: torch.Tensor):
    return value + 1


dispatched(X)


# program: by_dataclass_method
@dataclasses.dataclass
class Step:
    scale: float = 2.0

    @torch.compile(backend="eager")
    def apply(self, x):
        return x * self.scale

    @classmethod
    @torch.compile(backend="eager")
    def made(cls, x):
        return x + 1

    @staticmethod
    @torch.compile(backend="eager")
    def plain(x):
        return x - 1


Step().apply(X)
Step.made(X)
Step.plain(X)


# program: by_cached_property
class Lazy:
    @functools.cached_property
    def run(self):
        return torch.compile(lambda x: x.exp(), backend="eager")


lazy = Lazy()
lazy.run(X)
lazy.run(X)


# program: by_chain_of_calls
class Outer:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, *arguments):
        return self.inner(*arguments)


Outer(Outer(Outer(doubled)))(X)


# program: by_generator
def produced(function, count):
    x = X
    for _ in range(count):
        x = function(x)
        yield x


for _ in produced(doubled, 3):
    pass


# program: by_sort_key
sorted([X, X * 2], key=lambda x: float(doubled(x).sum()))
functools.reduce(lambda left, right: left + doubled(right), [X, X, X])


# program: by_iter_with_sentinel
next(iter(functools.partial(doubled, X), None))


# program: by_decorator_stack
def traced(function):
    @functools.wraps(function)
    def inner(*arguments, **options):
        return function(*arguments, **options)

    return inner


@traced
@functools.lru_cache(maxsize=None)
@torch.compile(backend="eager")
def layered(x):
    return x.tanh()


layered(X)
layered(X)


# program: by_module_apply
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
for part in model.children():
    part.compile(backend="eager")
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not-compiled x2
model(X)
model.eval()


# program: by_compiling_twice
torch.compile(torch.compile(lambda x: x + 3, backend="eager"), backend="eager")(X)


# program: by_getattr
class Proxy:
    def __getattr__(self, name):
        return functools.partial(globals()[name])


Proxy().doubled(X)


# program: by_exception_handler
try:
    raise ValueError
except ValueError:
    doubled(X)
finally:
    doubled(X)
