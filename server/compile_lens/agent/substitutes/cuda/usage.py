"""Whether a program uses a GPU, judged by its text before it runs, and who asks for one while it runs."""

from __future__ import annotations

import ast
import os
import re
import sys
import traceback
from types import FrameType

from ...runtime.parsed_source import LONGEST_OUTSIDE, parsed
from ...runtime.protocol import RunCommand
from ...runtime.regular_file import read_regular_text

# "cuda", "cuda:0", the "cuda:" of an f-string; "nccl"
DEVICE = re.compile(r"cuda(:\d*)?|nccl|(cpu:gloo,)?cuda:nccl(,cpu:gloo)?")
NAMES = frozenset({"cuda", "nccl", "accelerator"})
# of a trainer: `Trainer(accelerator="gpu")`
TRAINED_ON = ("accelerator", ("gpu", "cuda"))
QUICK_CHECK = re.compile(r"\bcuda\b|\bnccl\b|torch\.accelerator\b|\baccelerator\s*=\s*['\"]gpu\b")

# of the CUDA driver; no device has the number -1
HIDING = "CUDA_VISIBLE_DEVICES"


def names_gpu(command: RunCommand) -> bool:
    """``uses_gpu`` for the text that is to run; False where it cannot be read, which is reported when it is run."""
    try:
        return uses_gpu(command.text if command.text is not None else read_regular_text(command.file))
    except OSError:
        return False


def hides_gpus(command: RunCommand) -> bool:
    """Whether the text that is to run hides all GPUs from torch, at its top level and whatever it is called with."""
    try:
        text = command.text if command.text is not None else read_regular_text(command.file)
        tree = parsed(text, LONGEST_OUTSIDE) if HIDING in text else None
    except OSError:
        return False  # running it reports the error
    return tree is not None and any(map(_hides, tree.body))


def _hides(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return False
    target, value = statement.targets[0], statement.value
    name = target.value.attr if isinstance(target.value, ast.Attribute) else getattr(target.value, "id", "")
    variable = target.slice.value if isinstance(target.slice, ast.Constant) else None
    return (name, variable) == ("environ", HIDING) and isinstance(value, ast.Constant) and value.value in ("", "-1")


def uses_gpu(text: str) -> bool:
    """Whether ``text`` names a ``cuda`` device, NCCL or ``torch.accelerator``. Docstrings and comments do not count,
    but in a text that is too long to be looked at closely."""
    if not QUICK_CHECK.search(text):
        return False
    tree = parsed(text, LONGEST_OUTSIDE)
    return tree is None or any(_uses(node) for node in ast.walk(tree))


def _uses(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES
    if isinstance(node, ast.alias):
        return node.name.split(".")[-1] in NAMES or node.name.startswith("torch.cuda.")
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith(("torch.cuda", "torch.accelerator"))
    if isinstance(node, ast.keyword):
        return node.arg == TRAINED_ON[0] and isinstance(node.value, ast.Constant) and node.value.value in TRAINED_ON[1]
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and DEVICE.fullmatch(node.value) is not None


def is_compiler_asking() -> bool:
    """Whether the call comes from the compiler, which only probes for devices: to Inductor an error is an answer."""
    folder = os.path.dirname(str(sys.modules["torch"].__file__))
    compilers = tuple(os.path.join(folder, name) for name in ("_inductor", "_dynamo", "_functorch"))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(compilers):
            return True
        frame = frame.f_back
    return False


# of torch's folder: code that asks for the state of GPUs
OF_DEVICES = (
    "cuda/",
    "accelerator/",
    "backends/cuda",
    "backends/cudnn",
    "_dynamo/device_interface.py",
    "utils/_triton.py",
)
# what C++ says of an operator, a layout or a function that the emulated device lacks; 'CPU', where the kernel of a CPU is called for it
LACKING = re.compile(
    r"from the '\w*(CUDA|CPU)' backend|Cannot access storage of (Sparse|Nested)|instantiate dummy base class"
    r"|has no attribute '_cuda|CUDA (driver|error)"
)
INNERMOST = 2


def is_of_device(error: BaseException, words: str) -> bool:
    """Whether code for GPUs raised ``error``: torch's, what emulates a device here, or an operator that has no kernel for it.

    ``words`` is its message.
    """
    last = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)][-INNERMOST:]
    here, folder = os.path.dirname(__file__), os.path.dirname(str(sys.modules["torch"].__file__))
    of_devices = (os.path.join(here, ""), *(os.path.join(folder, name) for name in OF_DEVICES))
    return any(name.startswith(of_devices) for name in last) or LACKING.search(words) is not None
