"""What is installed for a drawn file: what it and the modules beside it import, known by data, in a version that they were written for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.corpus import environments
from tests.corpus.libraries import distributions, earlier, needed


def test_what_a_file_imports_anywhere_and_the_modules_beside_it_at_once(tmp_path: Path) -> None:
    package = tmp_path / "net"
    (package / "parts").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "parts" / "layer.py").write_text("import einops\nfrom .. import settings\ndef draw():\n    import seaborn\n")
    (package / "settings.py").write_text("import yaml\n")
    (package / "unrelated.py").write_text("import dgl\n")
    train = package / "train.py"
    train.write_text(
        "import os, torch\nfrom typing import TYPE_CHECKING\nfrom net.parts import layer\n"
        "try:\n    import apex\nexcept ImportError:\n    apex = None\n"
        "if TYPE_CHECKING:\n    import pandas\nelse:\n    import scipy.stats\n"
        "def plot():\n    import matplotlib\n"
    )
    assert needed([train], tmp_path) == ["einops", "matplotlib", "scipy", "torch", "yaml"]


def test_a_module_is_brought_by_what_is_known_to_bring_it() -> None:
    known = distributions()
    assert (known["cv2"], known["sklearn"], known["pytorch_lightning"]) == (
        "opencv-python-headless",
        "scikit-learn",
        "pytorch-lightning",
    )
    assert set(environments._undeclared({"einops", "of_nobody", "yaml"}, {"yaml": "ruamel-yaml"})) == {
        "einops",
        "of-nobody",
        "ruamel-yaml",
    }


def test_versions_that_do_not_agree() -> None:
    said = "The package `transformers` requires `huggingface-hub>=0.34.0,<1.0`, but `2.4.0` is installed\n"
    assert environments.DISAGREES.findall(said + "The package `a` requires `torch>=2`, but it's not installed") == [
        ("transformers", "huggingface-hub")
    ]


@pytest.mark.parametrize(
    ("version", "message", "expected"),
    [
        ("2.0.1", "", "lib<2"),
        ("0.11.0", "", "lib<0.11"),
        ("0.0.3", "", ""),
        ("2", "`np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.", "numpy<2"),
        ("2", "module 'numpy' has no attribute 'bool8'", "numpy<2"),
        ("1.26", "module 'numpy' has no attribute 'float'.\n`np.float` was a deprecated alias", "numpy<1.24"),
        ("7.0", "Descriptors cannot be created directly.\nIf this call came from a _pb2.py file", "protobuf<3.21"),
    ],
)
def test_an_earlier_version(version: str, message: str, expected: str) -> None:
    assert earlier("lib", version, message) == expected


def test_what_imports_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (tmp_path / "asks.py").write_text("import library.gone\n")
    (tmp_path / "lacks.py").write_text("import nobody_has_this\n")
    (tmp_path / "fails.py").write_text("raise TypeError('Descriptors cannot be created directly.')\n")
    monkeypatch.setattr(
        environments, "IMPORT_EACH", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + environments.IMPORT_EACH
    )
    said = environments._said(Path(sys.executable), ["asks", "lacks", "fails", "json"])
    assert [(one["importing"], one["kind"], one["module"]) for one in said] == [
        ("asks", "older", "library"),
        ("lacks", "lacks", "nobody_has_this"),
        ("fails", "older", ""),
    ]
    assert list(environments._earlier(said, tmp_path, "")) == ["protobuf<3.21"]
    assert json.dumps(said)


def test_boxes_that_overlap_are_left_out() -> None:

    import torch

    from tests.corpus import vision_operators

    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30], [0, 0, 10, 9]])
    scores = torch.tensor([0.5, 0.9, 0.8, 0.7])
    assert vision_operators._nms(boxes, scores, 0.5).tolist() == [1, 2]
    assert vision_operators._nms(boxes[:0], scores[:0], 0.5).tolist() == []


@pytest.mark.parametrize("name", ["_C", "_C_stable"])
def test_the_operators_of_torchvision_take_the_place_of_its_compiled_part(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "torchvision"
    inside.mkdir()
    (inside / f"{name}.so").touch()
    (inside / "extension.py").write_text(f'if _load_library("{name}"):\n    pass\n')
    environments._leave_out_cuda(tmp_path)
    assert "if define():" in (inside / "extension.py").read_text()
    assert sorted(each.name for each in inside.iterdir()) == ["extension.py", "vision_operators.py"]
