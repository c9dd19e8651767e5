"""The commonest graph breaks in the user's words: what the code does that ends the graph. torch's own message stays beside them.

Most breaks of real programs have one of these codes (torch/_dynamo/graph_break_registry.json, torch 2.13); the rest keep torch's title.
"""

from __future__ import annotations

import re

from compile_lens.trace.report import BreakReason

# what torch's explanation names: (pattern, title with the name in it); the plain title where it names nothing
NAMED = {
    "GB0059": (re.compile(r"builtin operator `(?P<name>[^`]+)`"), "`{name}` cannot be traced with these arguments"),
    "GB0142": (re.compile(r"enter a `(?P<name>[^`]+)` context manager"), "Dynamo cannot enter a `{name}` context"),
    "GB0156": (
        re.compile(r"trace method `(?P<name>[^`]+)` of class `(?P<type>[^`]+)`"),
        "Dynamo cannot trace the method `{name}` of `{type}`",
    ),
    "GB0036": (re.compile(r"Operator `(?P<name>[^`]+)`"), "how large the result of `{name}` is depends on the data"),
    "GB0033": (re.compile(r"Operator `(?P<name>[^`]+)`"), "`{name}` takes a number out of a tensor"),
    "GB0082": (
        re.compile(r"bytecode instruction `(?P<name>[^`]+)`"),
        "Dynamo does not know this Python construct (`{name}`)",
    ),
    "GB0158": (re.compile(r"`ndarray\.(?P<name>\w+)\(\)`"), "torch's NumPy has no `ndarray.{name}`"),
    "GB0467": (re.compile(r"on type (?P<name>\S+?)\.?$"), "an attribute of a `{name}` is set, which a graph cannot"),
}
TITLES = {
    "GB0007": "the function that is called here is one that Dynamo leaves to Python",
    "GB0011": "a local variable is read that may not have been set",
    "GB0013": "the handle of a hook leaves the graph",
    "GB0015": "a sparse tensor comes in",
    "GB0016": "a nested tensor comes in",
    "GB0021": "an f-string formats a number that only a run knows",
    "GB0025": "`torch._dynamo.graph_break()` asks for it",
    "GB0033": "a number is taken out of a tensor",
    "GB0036": "how large the result is depends on the data",
    "GB0045": "`is_inference()` is asked for",
    "GB0046": "whether inference mode is on is asked for",
    "GB0055": "an argument of the call cannot be a part of a graph",
    "GB0056": "the `.data` of a tensor made in the graph is replaced",
    "GB0059": "a built-in function cannot be traced with these arguments",
    "GB0082": "Dynamo does not know this Python construct",
    "GB0083": "a module has backward hooks",
    "GB0088": "an exception is raised here that nothing in the traced code catches",
    "GB0090": "the operator does not say what it returns without running",
    "GB0092": "an object made while tracing is needed in Python, and cannot be made there again",
    "GB0098": "the function that is called is marked `torch.compiler.disable`",
    "GB0104": "a tensor with a history of gradients comes in",
    "GB0105": "`.numpy()` is called while `trace_numpy` is off",
    "GB0107": "a tensor is filled with random numbers in place",
    "GB0108": "`.retain_grad()` is called",
    "GB0109": "`.tolist()` is called on a tensor that holds no integers",
    "GB0112": "the operator refuses these arguments",
    "GB0123": "`.backward()` is called inside of what is compiled",
    "GB0124": "a Python number is taken out of a tensor with `.item()`",
    "GB0125": "`requires_grad_()` is called",
    "GB0126": "a tensor is resized in place",
    "GB0127": "a tensor is resized in place",
    "GB0142": "Dynamo cannot enter this context manager",
    "GB0147": "Dynamo cannot trace the function that is called",
    "GB0149": "a function transform (`torch.func`, `vmap`, `grad`) cannot be traced here",
    "GB0156": "Dynamo cannot trace this method",
    "GB0158": "torch's NumPy does not have this method",
    "GB0170": "the code branches on a tensor's value",
    "GB0179": "`copy.deepcopy` is called",
    "GB0185": "a NumPy array cannot become a tensor",
    "GB0206": "whether a tensor requires a gradient is changed",
    "GB0207": "a list is sorted by what only the data tell",
    "GB0208": "a torch function returns something that is no tensor",
    "GB0253": "a generator is used by its methods",
    "GB0291": "a logger is called",
    "GB0294": "torch has no such NumPy function",
    "GB0467": "an attribute is set that a graph cannot set",
    "GB0569": "a tensor is turned into text",
    "GB4198": "a tensor is copied with `copy.deepcopy`",
    "GB4315": "the operator refuses these arguments",
    "GB4347": "Dynamo cannot step through this iterator",
    "GB5173": "tensors of different devices meet",
    "GB5976": "addresses of tensors are compared",
    "GB7312": "the arguments do not fit the function",
    "GB7650": "a `torch.Generator` is used",
}


def own_title(reason: BreakReason) -> str | None:
    """What the code does, without a stop at the end; None for a code that has no words of ours."""
    code = reason.code or ""
    named = NAMED.get(code)
    if named is not None:
        pattern, title = named
        match = pattern.search(reason.explanation)
        if match is not None:
            return title.format(**match.groupdict())
    return TITLES.get(code)
