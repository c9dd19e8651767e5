"""Tests and scripts that use a file and compile nothing: what they call of it is compiled as if the file compiled it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import codes, run, write

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

# no search finds what `forward` wants: the keys of the dictionary are in no literal
FUSION = """\
import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.parts = nn.ModuleDict({name: nn.Linear(size, 8) for name, size in sizes.items()})

    def forward(self, batch):
        total = sum(part(batch["of_" + name]) for name, part in self.parts.items())
        print("fused")
        return total
"""
PRINT_LINE = 12
USE = """
    model = Fusion({"audio": 5, "text": 3})
    out = model({"of_audio": torch.randn(2, 5), "of_text": torch.randn(2, 3)})
"""


def used_in(host: WarmHost, root: Path, name: str, text: str, file: str = "pkg/fusion.py") -> Outcome:
    write(root, "[project]\nname = 'pkg'\n", "pyproject.toml")
    write(root, text, name)
    return run(host, root / file, root=root)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    write(tmp_path, "", "pkg/__init__.py")
    write(tmp_path, FUSION, "pkg/fusion.py")
    return tmp_path


def test_the_calls_of_a_test_are_made_again_compiled(package: Path, warm_host: WarmHost) -> None:
    text = f"import torch\nfrom pkg.fusion import Fusion\n\n\ndef test_fusion():\n{USE}    assert out.shape == (2, 8)\n"
    outcome = used_in(warm_host, package, "tests/test_fusion.py", text)
    assert outcome.entry == "tests/test_fusion.py::test_fusion"
    assert codes(outcome) == [("GB0059", PRINT_LINE)]
    (call,) = outcome.calls
    assert (call.target, call.making) == ("Fusion", "Fusion")
    assert call.inputs == "dict"
    # a test that is named is used in the same way
    named = run(warm_host, package / "pkg/fusion.py", outcome.entry, package)
    assert codes(named) == codes(outcome)


def test_the_calls_of_a_script_are_made_again_compiled(package: Path, warm_host: WarmHost) -> None:
    text = (
        f"import torch\nfrom pkg.fusion import Fusion\n\nif __name__ == '__main__':\n    torch.load('absent.pt')\n{USE}"
    )
    outcome = used_in(warm_host, package, "train.py", text)
    assert outcome.entry == "train.py"
    assert codes(outcome) == [("GB0059", PRINT_LINE)]
    assert outcome.calls[0].target == "Fusion"


def test_a_layer_that_another_model_calls_gets_the_inputs_that_it_has_there(package: Path, warm_host: WarmHost) -> None:
    text = """\
import torch
from pkg.fusion import Fusion


class Wrapper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Fusion({"audio": 5})

    def forward(self, x):
        return self.inner({"of_audio": x * 2})


def test_wrapper():
    Wrapper()(torch.randn(2, 5)).sum().backward()
"""
    outcome = used_in(warm_host, package, "tests/test_wrapper.py", text)
    assert [call.target for call in outcome.calls] == ["Fusion"]
    assert codes(outcome) == [("GB0059", PRINT_LINE)]


def test_functions_that_a_test_calls_with_tensors(tmp_path: Path, warm_host: WarmHost) -> None:
    functions = """\
import torch


def scaled(pairs):
    print(len(pairs))
    return sum(torch.mul(a, b["of"]) for a, b in pairs)
"""
    write(tmp_path, functions, "ops.py")
    text = """\
import torch
from ops import scaled


def test_scaled():
    assert scaled([(torch.ones(2), {"of": torch.ones(2)})]).sum() == 2
"""
    outcome = used_in(warm_host, tmp_path, "test_ops.py", text, "ops.py")
    assert outcome.entry == "test_ops.py::test_scaled"
    assert outcome.entry_title == "`test_ops.py::test_scaled`"
    assert [(call.target, call.making) for call in outcome.calls] == [("scaled", "scaled")]
    assert codes(outcome) == [("GB0059", 5)]


def test_a_test_that_fails_before_it_uses_the_file(package: Path, warm_host: WarmHost) -> None:
    text = f"import torch\nfrom pkg.fusion import Fusion\n\n\ndef test_fusion():\n    assert False, 'no data'\n{USE}"
    outcome = used_in(warm_host, package, "tests/test_fusion.py", text)
    assert outcome.entry == "synthesized"
    (passed,) = outcome.passed_over
    assert passed.entry == "tests/test_fusion.py::test_fusion"
    assert "it raises AssertionError: no data" in passed.reason
    assert all(finding.severity is not Severity.ERROR for finding in outcome.findings)


def test_a_test_that_compiles_is_run_as_it_is(package: Path, warm_host: WarmHost) -> None:
    text = f"import torch\nfrom pkg.fusion import Fusion\n\n\ndef test_fusion():\n{USE}    torch.compile(model)(out)\n"
    text = text.replace("(out)", '({"of_audio": torch.randn(2, 5), "of_text": torch.randn(2, 3)})')
    outcome = used_in(warm_host, package, "tests/test_fusion.py", text)
    assert outcome.entry == "tests/test_fusion.py::test_fusion"
    assert not any(call.target == "Fusion" for call in outcome.calls)
    assert codes(outcome)[0] == ("GB0059", PRINT_LINE)


def test_the_text_that_is_not_saved_is_used(package: Path, warm_host: WarmHost) -> None:
    text = f"import torch\nfrom pkg.fusion import Fusion\n\n\ndef test_fusion():\n{USE}"
    write(package, text, "tests/test_fusion.py")
    file = package / "pkg/fusion.py"
    unsaved = FUSION.replace('        print("fused")\n', "")
    choice = choose(str(file), unsaved, package)
    outcome = warm_host.run_choice(str(file), choice, text=unsaved)
    assert outcome.entry == "tests/test_fusion.py::test_fusion"
    assert codes(outcome) == []


def test_an_example_has_the_imports_of_those_before_it_on_its_page(package: Path, warm_host: WarmHost) -> None:
    calls = USE.replace("    ", "")
    page = f"```python\nimport torch\nfrom pkg.fusion import Fusion\n```\n\nThen:\n\n```python\n{calls}```\n"
    outcome = used_in(warm_host, package, "README.md", page)
    assert outcome.entry == "example:README.md"
    assert codes(outcome) == [("GB0059", PRINT_LINE)]
    assert outcome.calls[0].target == "Fusion"


def test_an_example_has_what_it_uses_of_the_definitions_before_it(package: Path, warm_host: WarmHost) -> None:
    model, out = USE.replace("    ", "").strip().splitlines()
    first = 'import torch\n\nsizes = {"audio": 5, "text": 3}\nunused = 1 / 0\n'
    then = f"from pkg.fusion import Fusion\n\n{model.replace(model[model.index('{') : model.index('}') + 1], 'sizes')}\n{out}\n"
    page = f"```python\n{first}```\n\nThen:\n\n```python\n{then}```\n"
    outcome = used_in(warm_host, package, "README.md", page)
    assert outcome.entry == "example:README.md"
    assert codes(outcome) == [("GB0059", PRINT_LINE)]


OUTER = """
class Outer(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.head = torch.nn.Linear(8, 2)

    def forward(self, batch):
        return self.head(self.inner(batch))


"""


def test_an_example_is_about_what_it_makes_of_the_file(package: Path, warm_host: WarmHost) -> None:
    use = USE.replace("    ", "").replace("model(", "Outer(model)(")
    page = f"```python\nimport torch\nfrom pkg.fusion import Fusion\n{OUTER}{use}```\n"
    outcome = used_in(warm_host, package, "README.md", page)
    assert outcome.entry == "example:README.md"
    assert [call.target for call in outcome.calls] == ["Fusion"]
    assert codes(outcome) == [("GB0059", PRINT_LINE)]


def test_tests_that_make_the_main_class_come_first(package: Path) -> None:
    text = "from pkg.fusion import Fusion\n\n\ndef test_name():\n    Fusion.__name__\n\n\ndef test_sizes():\n    Fusion({})\n"
    write(package, "[project]\nname = 'pkg'\n", "pyproject.toml")
    write(package, text, "tests/test_fusion.py")
    file = package / "pkg/fusion.py"
    entries = choose(str(file), file.read_text(), package).entries
    assert [entry.spec.rpartition("::")[2] for entry in entries] == ["test_sizes", "test_name", "synthesized"]
