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
