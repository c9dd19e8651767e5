"""Writes *graph* repros: one graph that torch printed in its trace, with inputs of the same sizes, without the program."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compile_lens.repro.contract import Criterion
from compile_lens.repro.expectation import Expectation
from compile_lens.repro.expressions import CannotWrite, Expressions, contiguous_strides
from compile_lens.repro.graph_code import check_graph
from compile_lens.repro.graph_inputs import GraphInputs, tensor
from compile_lens.repro.harness import harness, imports
from compile_lens.repro.plain_text import dtype
from compile_lens.repro.source import Script, import_lines
from compile_lens.repro.templates import render
from compile_lens.syntax.foreign_texts import parse_module
from compile_lens.trace.report import Artifact, CompileReport

# the best first: compiling Dynamo's graph repeats everything that follows
STAGES = {
    "dynamo_output_graph": "the graph that Dynamo captured",
    "fx_graph_runnable": "the graph that AOTAutograd passed to Inductor",
    "aot_inference_graph": "the graph that AOTAutograd passed to Inductor",
    "aot_forward_graph": "the forward graph that AOTAutograd passed to Inductor",
}
VERSION = re.compile(r"^# torch version: (?P<version>\S+)$", re.MULTILINE)
DEVICE_CALL = re.compile(r"device\(type='(?P<type>\w+)'(?:, index=\d+)?\)")
DEVICE_TEXT = re.compile(r"(?P<quote>['\"])(?P<type>cuda|xpu|mps|hpu|npu)(?::\d+)?(?P=quote)")
ANNOTATED = re.compile(r"\](?:cuda|xpu|mps|hpu|npu)(?::\d+)?(?P<end>\")")
NOT_OF_A_FRAME = re.compile(r"[^\w/!.\[\]-]")
# one graph neither breaks nor recompiles
NEED_SOURCE = (Criterion.BREAKS, Criterion.RECOMPILES)
# comments name files of the machine that recorded the trace
COMMENT = re.compile(r"^\s*# (?:File: .*?, code: ?)?(?P<code>.*)$")


@dataclass(frozen=True, slots=True)
class _Graph:
    """The source of a module class, its name, and descriptions of its inputs by name."""

    text: str
    name: str
    inputs: tuple[tuple[str, Any], ...]


def frames_with_graphs(report: CompileReport) -> tuple[str, ...]:
    """Compile ids of frames with a graph, in the order of the trace."""
    found = (artifact.compile_id for artifact in report.artifacts if artifact.name in STAGES)
    return tuple(dict.fromkeys(compile_id for compile_id in found if compile_id))


def torch_of(report: CompileReport) -> str:
    """The version of torch that wrote a trace, from its records or its scripts; '' if neither has it."""
    for artifact in report.artifacts:
        if not report.torch and artifact.name == "fx_graph_runnable" and (text := artifact.payload.text()):
            found = VERSION.search(text)
            return found["version"] if found else ""
    return report.torch


def write_graph(
    report: CompileReport, known: GraphInputs, frame: str, expected: Expectation, replacement_device: str = ""
) -> Script:
    """The script for the graph of ``frame``. Raises CannotWrite with the reason, in one sentence."""
    if expected.criterion in NEED_SOURCE:
        raise CannotWrite("Graph breaks and recompiles need the program's source: use --kind source.")
    artifact = _artifact(report, frame)
    text = artifact.payload.text()
    if text is None:
        raise CannotWrite(f"The graph of frame {frame} is truncated in this trace.")
    reader = _runnable if artifact.name == "fx_graph_runnable" else _printed
    try:
        graph = reader(text, known, frame)
    except (SyntaxError, ValueError, TypeError):
        raise CannotWrite(f"The graph of frame {frame} is not valid Python.") from None
    expressions = Expressions(replacement_device)
    expressions.begin()
    inputs = [(name, expressions.write(value)) for name, value in graph.inputs]
    body = moved_to_device(graph.text, replacement_device) if replacement_device else graph.text
    check_graph(body, frame)
    backward = any(isinstance(value, dict) and value.get("requires_grad") for _, value in graph.inputs)
    foreign = expressions.devices - {"cpu", "meta"}
    notes = ["A trace has no input values: inputs are random with a fixed seed, indices are 0 or 1."]
    if replacement_device and foreign:
        notes.append(
            f"Recorded on {', '.join(sorted(foreign))}, which is not available: moved to {replacement_device}."
        )
    frame_in_words = NOT_OF_A_FRAME.sub("?", frame)
    subject = render(
        "graph", stage=STAGES[artifact.name], frame=frame_in_words, code=body, class_name=graph.name, inputs=inputs
    )
    return Script(
        imports=f"{import_lines(imports(expected.criterion))}from math import inf, nan\n\nfrom torch import device\n",
        subject=subject,
        judge=harness(expected.criterion, expected.constants, backward, (), False),
        notes=tuple(notes),
        backward=backward,
    )


def _artifact(report: CompileReport, frame: str) -> Artifact:
    for stage in STAGES:
        # the last attempt is the one that compiled
        found = [a for a in report.artifacts if a.name == stage and a.compile_id == frame]
        if found:
            return found[-1]
    known = ", ".join(frames_with_graphs(report)) or "none"
    raise CannotWrite(f"The trace has no graph of frame {frame}. It has graphs of: {known}.")


def _printed(text: str, known: GraphInputs, frame: str) -> _Graph:
    """A graph as ``print_readable`` writes it, with types as annotations in quotes."""
    text = textwrap.dedent(text).replace("class <lambda>(", "class GraphModule(")
    module = next((node for node in parse_module(text).body if isinstance(node, ast.ClassDef)), None)
    forward = _forward(module)
    if module is None or forward is None:
        raise CannotWrite(f"The graph of frame {frame} has no forward.")
    inputs = []
    for argument in forward.args.args[1:]:
        annotation = argument.annotation.value if isinstance(argument.annotation, ast.Constant) else ""
        inputs.append((argument.arg, known.describe(frame, argument.arg, str(annotation))))
    made = _constructor(module, forward, known, frame)
    return _Graph(_cleaned(text, made), module.name, tuple(inputs))


def _forward(module: ast.ClassDef | None) -> ast.FunctionDef | None:
    body = module.body if module is not None else []
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "forward"), None)


def _constructor(module: ast.ClassDef, forward: ast.FunctionDef, known: GraphInputs, frame: str) -> list[str]:
    """Constructor lines for what a graph owns: bodies of higher-order operators, and tensors."""
    nested = {node.name for node in module.body if isinstance(node, ast.ClassDef)}
    lines = [f"self.{name} = self.{name}()" for name in sorted(nested)]
    expressions = Expressions()
    expressions.begin()
    for node in ast.walk(forward):
        if not (
            isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Constant) and node.value is not None
        ):
            continue
        path = ast.unparse(node.value)
        if path.startswith("self.") and path.removeprefix("self.") not in nested:
            name = path.removeprefix("self.")
            if not name.isidentifier():
                raise CannotWrite(f"The graph calls {path}, a module that the trace does not contain.")
            lines.append(f"{path} = {expressions.write(known.describe(frame, name, str(node.annotation.value)))}")
    for node in ast.walk(forward):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("self."):
            raise CannotWrite(f"The graph calls {ast.unparse(node.func)}, a module that the trace does not contain.")
    return lines


def _cleaned(text: str, constructor: list[str]) -> str:
    """The class with the user's lines as comments, without file names, and with a constructor if it needs one."""
    lines = list(_lines(text))
    if constructor:
        made = [
            "    def __init__(self):",
            "        super().__init__()",
            *(f"        {line}" for line in constructor),
            "",
        ]
        lines[1:1] = made
    return "\n".join(lines).strip("\n")


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        comment = COMMENT.match(line)
        if comment is None:
            yield line.rstrip()
        elif comment["code"] and comment["code"] != "No stacktrace found for following nodes":
            yield f"{line[: len(line) - len(line.lstrip())]}# {comment['code']}"


def _runnable(text: str, known: GraphInputs, frame: str) -> _Graph:
    """A script of ``torch._dynamo.repro.after_aot``: the class ``Repro``, and ``load_args`` with its inputs."""
    tree = parse_module(text)
    module = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Repro"), None)
    loader = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "load_args"), None)
    forward = _forward(module)
    if module is None or loader is None or forward is None:
        raise CannotWrite(f"The script of frame {frame} in this trace has an unknown form.")
    described = list(_read_arguments(loader))
    names = [argument.arg for argument in forward.args.args[1:]]
    if len(names) != len(described):
        raise CannotWrite(f"The script of frame {frame} in this trace does not define all inputs of its graph.")
    lines = text.splitlines()[module.lineno - 1 : module.end_lineno]
    return _Graph("\n".join(line for line in lines if line.strip()), "Repro", tuple(zip(names, described, strict=True)))


def _read_arguments(loader: ast.FunctionDef) -> Iterator[Any]:
    """``reader.tensor(buf0, (4, 8), (8, 1), dtype=torch.float16)`` and similar calls (torch/_dynamo/debug_utils.py, torch 2.13)."""
    devices: dict[str, str] = {}
    for statement in loader.body:
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        if call.func.attr == "storage" and isinstance(statement, ast.Assign):
            device = DEVICE_CALL.search(options.get("device", ""))
            devices[ast.unparse(statement.targets[0])] = device["type"] if device else "cpu"
        elif call.func.attr in ("symint", "const"):
            yield _constant(call.args[0]) if call.args else None
        elif call.func.attr == "tensor":
            shape = [int(size) for size in ast.literal_eval(call.args[1])]
            stride = (
                [int(step) for step in ast.literal_eval(call.args[2])]
                if len(call.args) > 2
                else contiguous_strides(shape)
            )
            yield tensor(
                shape,
                stride,
                dtype(options.get("dtype", "torch.float32")),
                devices.get(ast.unparse(call.args[0]), "cpu"),
                False,
            )
        else:
            raise CannotWrite(f"The graph has an input of a kind that cannot be rebuilt: {call.func.attr}.")


def _constant(node: ast.expr) -> Any:
    """A number, a text or None; raises ValueError for what is none, which could be read as the description of a value."""
    value = ast.literal_eval(node)
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError("no constant")
    return value


def moved_to_device(text: str, device: str) -> str:
    """The text of a graph with every device of an accelerator replaced."""
    text = DEVICE_CALL.sub(lambda m: f"device(type={device!r})" if m["type"] != "cpu" else m.group(), text)
    text = ANNOTATED.sub(lambda match: f"]{device}{match['end']}", text)
    return DEVICE_TEXT.sub(lambda match: f"{match['quote']}{device}{match['quote']}", text)
