"""Functions that users call: their signatures and torch's documentation."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from .arguments import argument_lines, documented
from .operators import SourceLocations
from .source import cleaned

# modules whose public functions and classes concern compilation, with names that a module does not list in __all__
_MODULES: dict[str, tuple[str, ...]] = {
    "torch.compiler": (),
    "torch._dynamo": ("explain", "list_backends", "register_backend"),
    "torch._dynamo.decorators": ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked", "mark_static", "mark_static_address"),
    "torch._dynamo.testing": ("CompileCounter", "CompileCounterWithBackend", "EagerAndRecordGraphs"),
    "torch._dynamo.utils": ("counters", "compile_times"),
    "torch._dynamo.convert_frame": (),
    "torch.export": (),
    "torch.export.dynamic_shapes": (),
    "torch._inductor": (
        "compile", "aot_compile", "aoti_compile_and_package", "aoti_load_package", "list_mode_options", "list_options",
        "cudagraph_mark_step_begin", "standalone_compile",
    ),
    "torch._inductor.compiler_bisector": ("CompilerBisector", "BisectionResult"),
    "torch._inductor.utils": ("fresh_cache", "fresh_inductor_cache", "clear_caches"),
    "torch._logging": ("set_logs", "trace_structured"),
    "torch._functorch.aot_autograd": ("aot_function", "aot_module", "aot_module_simplified", "aot_export_module", "make_boxed_func"),
    "torch._functorch.partitioners": ("default_partition", "min_cut_rematerialization_partition"),
    "torch.fx": ("symbolic_trace", "Graph", "Node", "GraphModule", "Interpreter", "Transformer", "Tracer", "Proxy", "wrap"),
    "torch.fx.experimental.proxy_tensor": ("make_fx",),
    "torch.fx.experimental.symbolic_shapes": (
        "guard_or_false", "guard_or_true", "statically_known_true", "is_concrete_int", "guard_size_oblivious", "ShapeEnv", "DimDynamic",
    ),
    "torch.library": (),
    "torch._higher_order_ops": ("cond", "while_loop", "scan", "associative_scan", "invoke_subgraph", "flex_attention"),
    "torch.utils.checkpoint": ("checkpoint",),
    "torch.nn.attention.flex_attention": ("flex_attention", "create_block_mask"),
}  # fmt: skip
# every function in these may become an operator of a graph; their documentation is shortened
_OPERATOR_MODULES = ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special")
_DIRECTIVE = re.compile(r"([ \t]*)\.\. (?:(\w[\w-]*)::|_)[ \t]*(.*)")
# `:widths: 15 85`, below a directive
_OPTION = re.compile(r"\s+:[\w-]+:(?:\s|\Z)")
_TITLED = frozenset({"note", "warning", "seealso", "versionadded", "deprecated", "important", "tip", "caution"})
MAX_SUMMARY = 420
MAX_SIGNATURE = 600
MAX_OF_AN_ARGUMENT = 700


def functions(places: SourceLocations) -> dict[str, dict[str, Any]]:
    """Functions and classes by the name that users write (``torch.compiler.disable``)."""
    import torch

    found: dict[str, dict[str, Any]] = {"torch.compile": _entry_point(torch.compile, places)}
    for module_name, named in _MODULES.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        for name in [*getattr(module, "__all__", ()), *named]:
            thing = getattr(module, name, None)
            if thing is not None and not inspect.ismodule(thing) and callable(thing):
                found.setdefault(f"{module_name}.{name}", _entry_point(thing, places))
    for owner_name in _OPERATOR_MODULES:
        owner: Any = torch.Tensor if owner_name == "torch.Tensor" else importlib.import_module(owner_name)
        for name in dir(owner):
            if name.startswith("_") or f"{owner_name}.{name}" in found:
                continue
            thing = getattr(owner, name, None)
            if callable(thing) and not inspect.isclass(thing) and thing.__doc__:
                found[f"{owner_name}.{name}"] = _entry(thing, places, MAX_SUMMARY)
    return found


def _entry_point(thing: Any, places: SourceLocations) -> dict[str, Any]:
    """An entry with its arguments separate, so that a long text above them hides none."""
    doc = inspect.cleandoc(thing.__doc__ or "") if isinstance(thing.__doc__, str) else ""
    arguments = {name: cleaned(_without_roles(text), MAX_OF_AN_ARGUMENT) for name, text in documented(doc).items()}
    if not arguments:
        return _entry(thing, places, 1600)
    lines = doc.split("\n")
    apart = argument_lines(lines)
    rest = [*lines[: apart.start - 1], *lines[apart.stop :]]
    return {**_entry(thing, places, 1600, "\n".join(rest)), "arguments": arguments}


def _entry(thing: Any, places: SourceLocations, most: int, text: str | None = None) -> dict[str, Any]:
    doc = inspect.cleandoc(thing.__doc__ or "") if isinstance(thing.__doc__, str) else ""
    doc = doc if text is None else text
    signature, doc = _signature(thing, doc)
    entry = {
        "what": "class" if inspect.isclass(thing) else "function",
        "signature": signature if len(signature) <= MAX_SIGNATURE else signature[: MAX_SIGNATURE - 1] + "…",
        "doc": cleaned(_without_roles(doc), most),
        "at": places.of(thing),
    }
    return {key: value for key, value in entry.items() if value}


def _signature(thing: Any, doc: str) -> tuple[str, str]:
    """The signature, from Python or from the first line of a builtin's documentation, and the documentation without that line."""
    first, _, rest = doc.partition("\n")
    if re.match(r"\w+\(.*\)\s*->", first):
        return first[first.index("(") :].strip(), rest.strip()
    try:
        signature = re.sub(r"<object object at 0x\w+>|<[\w.]+ object at 0x\w+>", "…", str(inspect.signature(thing)))
        signature = re.sub(r"<function (?:[\w.]+\.)?(<lambda>|\w+) at 0x\w+>", r"\1", signature)
        signature = re.sub(r"<class '(?:builtins\.)?([\w.]+)'>", r"\1", signature)
        signature = re.sub(r"(: |-> )'([^']+)'", r"\1\2", signature)  # annotations that torch does not evaluate
        signature = re.sub(r"\b(?:collections\.abc|typing)\.|~", "", signature)
        # the repr of a module as a default contains its folder
        return re.sub(r"<module '([\w.]+)' from '[^']*'>", r"\1", signature), doc
    except (TypeError, ValueError):
        return "", doc


def _without_roles(text: str) -> str:
    """Replace ``:class:`~torch.Tensor``` and ``:math:`x``` by plain code, and the rest of reStructuredText by Markdown."""
    text = re.sub(r":\w+(?::\w+)?:`~?([^`<]*?)(?:\s*<[^`>]*>)?`", r"`\1`", text).replace("``", "`")
    text = re.sub(r"`([^`<>]+?)\s*<(https?://[^`>]+)>`_+", r"[\1](\2)", text)
    lines: list[str] = []
    dedent = 0  # columns of the text of a note, which would be code in Markdown
    for line in text.split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            dedent = 0
            if directive.group(2) in _TITLED:
                dedent = len(directive.group(1)) + 1
                lines.append(f"{directive.group(1)}{directive.group(2).capitalize()}: {directive.group(3)}".rstrip())
            continue  # what follows a directive for code is indented, which is code in Markdown, too
        if _OPTION.match(line):
            continue
        indent = len(line) - len(line.lstrip())
        dedent = 0 if line.strip() and indent < dedent else dedent
        lines.append(re.sub(r"::\s*$", ":", line[min(indent, dedent + 3) :] if dedent else line))
    return "\n".join(lines)
