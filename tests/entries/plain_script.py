"""The calls of a run with made-up inputs as a script of plain torch: the file is imported, and each call is made as it is shown."""

from __future__ import annotations

import ast
from pathlib import Path

from compile_lens.entries.pin import as_python
from compile_lens.session.entry_choice import Choice
from compile_lens.session.outcome import Outcome

HEAD = """\
import importlib.util
import sys
import torch

sys.path.insert(0, {folder!r})
spec = importlib.util.spec_from_file_location({name!r}, {file!r})
module = importlib.util.module_from_spec(spec)
sys.modules[{name!r}] = module
try:
    spec.loader.exec_module(module)
except ImportError:
    raise
except Exception as problem:  # what stands above is used
    print(problem)


def given(*args, **kwargs):
    return args, kwargs


globals().update({{name: value for name, value in vars(module).items() if not name.startswith("__")}})
"""


def plain_script(file: Path, choice: Choice, outcome: Outcome) -> str:
    """What gives the findings of ``outcome``, of the first entry of ``choice`` with its name, without this project."""
    entry = next(entry for entry in choice.entries if entry.spec == outcome.entry)
    compiled = {target["name"]: target.get("compile") for target in entry.plan["targets"]}
    lines = [HEAD.format(folder=str(file.parent), name=file.stem, file=str(file))]
    for number, call in enumerate(outcome.calls):
        options = compiled[call.target]
        made = ast.parse(as_python(call.text), mode="eval").body
        assert isinstance(made, ast.Call)
        target = ast.unparse(made.func)
        wrapped = (
            f"torch.compile(target{number}, fullgraph={bool(options.get('fullgraph'))})"
            if options
            else f"target{number}"
        )
        arguments = ast.unparse(ast.Call(ast.Name("given"), made.args, made.keywords))
        # what is random is drawn in the order of the run: the inputs come first
        lines.append(
            f"torch.manual_seed(0)\nargs, kwargs = {arguments}\ntarget{number} = {target}\ncall{number} = {wrapped}\n"
            f"call{number}(*args, **kwargs)\n"
        )
    return "\n".join(lines)
