"""Names by which a function reaches files, processes, the network or code, and the ways in which a file gives them other names."""

from __future__ import annotations

import pytest

from compile_lens.entries.targets import candidates, find_targets
from compile_lens.syntax.tree import parse


def is_called(above: str, statement: str) -> bool:
    source = f"import torch\n{above}\ndef scale(x: torch.Tensor, path):\n    {statement}\n    return torch.sin(x)\n"
    tree = parse(source)
    assert bool(find_targets(tree)) == bool(candidates(tree))
    return bool(find_targets(tree))


@pytest.mark.parametrize(
    ("above", "statement"),
    [
        ("import gzip", "gzip.GzipFile(path, 'w')"),
        ("from lzma import LZMAFile as L", "L(path, 'w')"),
        ("import bz2", "bz2.BZ2File(path, 'w')"),
        ("", "import runpy; runpy.run_path(path)"),
        ("import cProfile", "cProfile.run('1', path)"),
        ("from timeit import *", "timeit(path)"),
        ("import code", "code.InteractiveInterpreter().runsource(path)"),
        ("import py_compile", "py_compile.compile(path, path)"),
        ("from concurrent.futures import ProcessPoolExecutor", "ProcessPoolExecutor().submit(print)"),
        ("import socketserver", "socketserver.TCPServer(('', 1), None)"),
        ("import imaplib", "imaplib.IMAP4(path)"),
        ("import xmlrpc.client", "xmlrpc.client.ServerProxy(path).x()"),
        ("import ssl", "ssl.get_server_certificate((path, 1))"),
        ("from netrc import netrc", "netrc()"),
        ("import logging.handlers", "logging.handlers.RotatingFileHandler(path)"),
        ("import numpy as np", "np.savez_compressed(path, a=1)"),
        ("import torch.onnx", "torch.onnx.export(x, x, path)"),
        ("from torch.onnx import export as e", "e(x, x, path)"),
        ("", "torch.ops.load_library(path)"),
        ("import pandas as pd", "pd.DataFrame(x).to_csv(path)"),
        ("from images import save_image", "save_image(x, path)"),
        ("import images", "images.imwrite(path, x)"),
        ("import numpy as np", "np.lib.format.open_memmap(path, 'w+', shape=(2,))"),
        ("from io import open_code as o", "o(path)"),
        ("from models import snapshot_download", "snapshot_download(path)"),
    ],
)
def test_more_names_say_that_a_function_reaches_the_world(above: str, statement: str) -> None:
    assert not is_called(above, statement)


@pytest.mark.parametrize(
    "above",
    [
        "if 0:\n    pass\nelse:\n    R = os.remove",
        "if 0:\n    pass\nelif 1:\n    R = os.remove",
        "if 1:\n    if 1:\n        R = os.remove",
        "for R in [os.remove]:\n    pass",
        "for _ in range(1):\n    R = os.remove",
        "while True:\n    R = os.remove\n    break",
        "with suppress():\n    R = os.remove",
        "with os as R, suppress():\n    pass",
        "try:\n    1 / 0\nexcept Exception:\n    R = os.remove",
        "try:\n    pass\nfinally:\n    R = os.remove",
        "(R := os.remove)",
        "class K:\n    R = os.remove",
        "match 1:\n    case _:\n        R = os.remove",
        "Q = R = os.remove",
        "R = []\nR += [os.remove]",
    ],
)
def test_a_name_given_in_any_block_hides_nothing(above: str) -> None:
    assert not is_called(f"import os\n{above}", "R(path)")


@pytest.mark.parametrize(
    "above",
    [
        "for R in os.remove, os.unlink:\n    pass",
        "for R in [os.remove] + []:\n    pass",
        "for R in [] or [os.remove]:\n    pass",
        "for R in [os.remove] if 1 else []:\n    pass",
        "for R in (g for g in [os.remove]):\n    pass",
        "for R in [g for g in [os.remove]]:\n    pass",
        "for key, R in {'a': os.remove}.items():\n    pass",
        "for R in iter([os.remove]):\n    pass",
        "class C:\n    L = [os.remove]\nfor R in C.L:\n    pass",
        "with nullcontext(1) as z, nullcontext(os.remove) as R:\n    pass",
        "with (nullcontext(os.remove) as R):\n    pass",
        "match os.remove:\n    case R:\n        pass",
        "match [1, os.remove]:\n    case [int(), R]:\n        pass",
        "match [os.remove]:\n    case [*R]:\n        pass",
        "match dict(a=os.remove):\n    case {'a': S(y=z)} | {'a': (1 as z)}:\n        R = z",
        "[R := g for g in [os.remove]]",
        "(R := vars(os)['remove'])",
        "R, S = map(partial, [os.remove, os.unlink])",
        "[R, *rest] = vars(os).values()",
        "for Q in iter([os.remove]):\n    R = Q",
        # which Python reads, and our parser does not
        "x = 1\nfor R in *[os.remove],:\n    pass",
    ],
)
def test_what_comes_out_of_something_hides_nothing(above: str) -> None:
    source = f"import os\nimport torch\n\ndef scale(x: torch.Tensor, path):\n    R(path)\n    return torch.sin(x)\n\n{above}\n"
    assert not find_targets(parse(source))


@pytest.mark.parametrize(
    "statement",
    [
        "y = x + R",
        "y = R = x",
        "y = [R for R in (x,)]",
        "y = K.R; R = x",
        "R: int = y(R=R) if x else R",
    ],
)
def test_a_name_of_the_functions_own_is_not_the_files(statement: str) -> None:
    is_own = statement in ("y = R = x", "R: int = y(R=R) if x else R")
    assert is_called("import os\nfor R in os.listdir():\n    pass", statement) == is_own


def test_a_default_and_what_is_global_are_the_files() -> None:
    above = "import os\nfor R in iter([os.remove]):\n    pass\n"
    for head, statement in (("x: torch.Tensor, R=R", "R(x)"), ("x: torch.Tensor", "global R; R(x); R = 1")):
        source = f"import torch\n{above}\ndef scale({head}):\n    {statement}\n    return torch.sin(x)\n"
        assert not find_targets(parse(source))


@pytest.mark.parametrize(
    ("above", "statement"),
    [
        # names of modules that the file does not import
        ("", "code, trace = x.trace(), x.select(0, 1)"),
        ("from .profile import run", "run(x)"),
        # what a function binds is its own, and what is gone through has items of its own
        ("import os\ndef f():\n    y = os.sep", "y = x"),
        ("import os\nfor y in os.environ:\n    pass\nfor z in os.listdir():\n    pass", "y = z = x"),
        ("import os\ntry:\n    pass\nexcept os.error as e:\n    pass", "e = x.exp()"),
        # `export` of a compiler; what is asked of a module without writing
        ("", "torch.export.export(x, x)"),
        ("", "torch.onnx.is_in_onnx_export()"),
        ("from timeit import default_timer as timer", "timer()"),
        ("", "torch.save_for_backward(x)"),
    ],
)
def test_what_only_looks_like_it_is_called(above: str, statement: str) -> None:
    assert is_called(above, statement)
