"""The calls of a run as a script of plain torch: the file is imported, and each call is made as it is shown."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls
from compile_lens.analysis.outcome import Outcome
from compile_lens.entries.keep_inputs import as_python
from compile_lens.pipeline.entry_choice import EntryChoice

HEAD = """\
import importlib
import importlib.util
import sys
import torch
from torch import nn

ROOT, PACKAGE, NAME, FILE = {root!r}, {package!r}, {name!r}, {file!r}
sys.path.insert(0, ROOT)


def imported(name, package):
    if package:
        importlib.import_module(package)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError:
        raise
    except Exception as problem:  # what stands above is used
        print(problem)
    return module


try:
    module = imported(NAME, PACKAGE)
except Exception:
    if not PACKAGE:
        raise
    module = imported(NAME.replace(".", "_"), "")


def given(*args, **kwargs):
    return args, kwargs


def bring(dotted):
    # the deepest part of a dotted name that is a module
    root, parts = dotted.partition(".")[0], dotted.split(".")
    if root in globals():
        return
    for count in range(len(parts), 0, -1):
        try:
            importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        globals()[root] = sys.modules[root]
        return


globals().update({{name: value for name, value in vars(module).items() if not name.startswith("__")}})
"""
# each call is of a module of its own, which none before it may change
APART = "torch._dynamo.reset()\n"


def plain_script(file: Path, choice: EntryChoice, outcome: Outcome) -> str:
    """What gives the findings of ``outcome``, of the first entry of ``choice`` with its name, without this project."""
    entry = next(entry for entry in choice.entries if entry.spec == outcome.entry)
    plan = entry.plan
    compiled = {target.name: target.compile for target in plan.targets} if isinstance(plan, SynthesizedCalls) else {}
    apart = isinstance(plan, SynthesizedCalls) and plan.apart
    root, package, name = _place(file)
    lines = [HEAD.format(root=root, package=package, name=name, file=str(file))]
    for number, call in enumerate(outcome.calls):
        options = compiled[call.target] if call.target in compiled else getattr(plan, "compile", None)
        made = ast.parse(as_python(call.text), mode="eval").body
        assert isinstance(made, ast.Call)
        target = ast.unparse(made.func)
        wrapped = f"torch.compile(target{number}, fullgraph={options.fullgraph})" if options else f"target{number}"
        arguments = ast.unparse(ast.Call(ast.Name("given"), made.args, made.keywords))
        brought = sorted({ast.unparse(node) for node in ast.walk(made) if isinstance(node, ast.Attribute)})
        lines += [f"bring({dotted!r})" for dotted in brought if re.fullmatch(r"[\w.]+", dotted)]
        # what is random is drawn in the order of the run: the inputs come first
        lines.append(
            f"{APART if number and apart else ''}torch.manual_seed(0)\nargs, kwargs = {arguments}\n"
            f"target{number} = {target}\ncall{number} = {wrapped}\ncall{number}(*args, **kwargs)\n"
        )
    return "\n".join(lines)


def _place(file: Path) -> tuple[str, str, str]:
    """The folder that must be on the path, the package of ``file`` ('' for none), and its dotted name."""
    folder, parts = file.parent, [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return os.fspath(folder), ".".join(parts[:-1]), ".".join(parts)
