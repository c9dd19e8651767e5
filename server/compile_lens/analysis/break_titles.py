"""Titles of the most common graph breaks: what the code does that Dynamo cannot trace. torch's own text stays in the explanation.

Most breaks of real programs have one of these codes (torch/_dynamo/graph_break_registry.json, torch 2.13). Others keep torch's title.
"""

from __future__ import annotations

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import BreakReason

ITEM, NUMBER = "GB0124", "a tensor to a Python number"
# torch tells `float(x)` as a call of `item`
CONVERTS = pattern(r"(bool|complex|float|int)\(")
# what torch's explanation names: (pattern, title with the name in it); the plain title where it names nothing
NAMED = {
    "GB0088": (
        pattern(r"^raised exception (?P<name>\w+)\("),
        "`{name}` is raised and the traced code does not catch it",
    ),
    "GB0059": (pattern(r"builtin operator `(?P<name>[^`]+)`"), "`{name}` cannot be traced with these arguments"),
    "GB0142": (
        pattern(r"enter a `(?P<name>[^`]+)` context manager"),
        "Dynamo cannot enter the context manager `{name}`",
    ),
    "GB0156": (
        pattern(r"trace method `(?P<name>[^`]+)` of class `(?P<type>[^`]+)`"),
        "Dynamo cannot trace the method `{name}` of `{type}`",
    ),
    "GB0036": (pattern(r"Operator `(?P<name>[^`]+)`"), "the output shape of `{name}` depends on tensor values"),
    "GB0033": (pattern(r"Operator `(?P<name>[^`]+)`"), "`{name}` converts a tensor to a Python number"),
    "GB0082": (
        pattern(r"bytecode instruction `(?P<name>[^`]+)`"),
        "Dynamo does not support this Python construct (`{name}`)",
    ),
    "GB0148": (
        pattern(r"Getting an inplace view on a graph input"),
        "an input tensor is viewed or resized in place",
    ),
    "GB0158": (pattern(r"`ndarray\.(?P<name>\w+)\(\)`"), "torch has no equivalent of `ndarray.{name}`"),
    "GB0219": (
        pattern(r"Backend compiler `(?P<name>[^`]+)` failed with (?P<why>[^\n]+?)(?:\. Adding a graph break|\n|$)"),
        "backend `{name}` raised an error ({why})",
    ),
    "GB0467": (
        pattern(r"on type (?P<name>\S+?)\.?$"),
        "an attribute is set on a `{name}`, which a graph does not support",
    ),
}
TITLES = {
    "GB0007": "Dynamo skips the function called here",
    "GB0011": "a local variable may be unset where it is read",
    "GB0013": "a hook handle is used that was not registered in the traced code",
    "GB0015": "a sparse tensor is an input",
    "GB0016": "a nested tensor is an input",
    "GB0021": "an f-string formats a value that is unknown at compile time",
    "GB0025": "`torch._dynamo.graph_break()` requests it",
    "GB0033": "a tensor is converted to a Python number",
    "GB0036": "an output shape depends on tensor values",
    "GB0045": "`is_inference()` is called",
    "GB0046": "`torch.is_inference_mode_enabled()` is called",
    "GB0055": "an argument of the call cannot be part of a graph",
    "GB0056": "the `.data` of a tensor created in the graph is replaced",
    "GB0059": "a built-in function cannot be traced with these arguments",
    "GB0082": "Dynamo does not support this Python construct",
    "GB0083": "a module has backward hooks",
    "GB0088": "an exception is raised that the traced code does not catch",
    "GB0090": "the operator does not support fake tensors",
    "GB0092": "an object created while tracing is needed in Python and cannot be rebuilt there",
    "GB0098": "the called function is marked `torch.compiler.disable`",
    "GB0104": "an input tensor has autograd history",
    "GB0105": "`.numpy()` is called while `trace_numpy` is off",
    "GB0107": "a tensor is filled with random numbers in place",
    "GB0108": "`.retain_grad()` is called",
    "GB0109": "`.tolist()` is called on a tensor that does not contain integers",
    "GB0112": "the operator rejects these arguments",
    "GB0123": "`.backward()` is called inside compiled code",
    ITEM: f"`.item()` converts {NUMBER}",
    "GB0125": "`requires_grad_()` is called",
    "GB0126": "a tensor is resized in place",
    "GB0127": "a tensor is resized in place",
    "GB0142": "Dynamo cannot enter this context manager",
    "GB0147": "Dynamo cannot trace the called function",
    "GB0148": "Dynamo cannot trace this call",
    "GB0149": "a function transform (`torch.func`, `vmap`, `grad`) cannot be traced here",
    "GB0156": "Dynamo cannot trace this method",
    "GB0158": "torch has no equivalent of this NumPy method",
    "GB0170": "this line branches on a tensor's value",
    "GB0179": "`copy.deepcopy` is called",
    "GB0185": "a NumPy array cannot be converted to a tensor",
    "GB0206": "`requires_grad` of a tensor is changed",
    "GB0207": "a list is sorted by values that are unknown at compile time",
    "GB0208": "a torch function returns something other than a tensor",
    "GB0219": "the backend raised an error",
    "GB0253": "a method of a generator is called",
    "GB0291": "a logger is called",
    "GB0294": "torch has no equivalent of this NumPy function",
    "GB0467": "an attribute is set on an object that does not support it in a graph",
    "GB0569": "a tensor is converted to a string",
    "GB0811": "Dynamo cannot iterate over this object",
    "GB1220": "objects are compared by a C function that Dynamo cannot trace",
    "GB1752": "Dynamo cannot iterate over this object",
    "GB2861": "an object is hashed by a C function that Dynamo cannot trace",
    "GB3006": "Dynamo cannot trace this operation on the object's type",
    "GB4198": "`copy.deepcopy` copies a tensor",
    "GB4315": "the operator rejects these arguments",
    "GB4347": "Dynamo cannot trace this iterator",
    "GB5173": "tensors on different devices are combined",
    "GB5904": "Dynamo cannot read an item of this object",
    "GB5976": "tensor addresses are compared",
    "GB7312": "the arguments do not match the function's signature",
    "GB7650": "a `torch.Generator` is used",
    "GB8985": "a tensor that is marked with `requires_grad_()` here is returned",
}


def own_title(reason: BreakReason, written: str = "") -> str | None:
    """What the code does, without a period; None for a code without a title of ours. ``written`` is the code itself, if it is known."""
    code = reason.code or ""
    if code == ITEM and (converts := CONVERTS.match(written)) is not None:
        return f"`{converts[1]}` converts {NUMBER}"
    named = NAMED.get(code)
    if named is not None:
        pattern, title = named
        match = pattern.search(reason.explanation) or pattern.search(reason.context)
        if match is not None:
            return title.format(**match.groupdict())
    return TITLES.get(code)
