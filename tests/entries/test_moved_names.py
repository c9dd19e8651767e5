"""Names that libraries have removed: what fails for the lack of one is told, and the rest is analyzed with what means the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.agent.inputs.importing import moved_functions
from compile_lens.analysis.run_errors import CODE
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
import collections
import torch
from torch import nn
from torch._six import string_classes, container_abcs
from torch._six import unheard_of

try:
    from collections import Mapping
except ImportError:
    Mapping = None


class Net(nn.Module):
    def __init__(self, sizes=3):
        super().__init__()
        if isinstance(sizes, collections.Iterable) or Mapping is not None:
            raise ValueError(sizes)
        if isinstance(sizes, string_classes) or isinstance(sizes, container_abcs.Sequence):
            raise TypeError(sizes)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        y = self.fc(x)
        values, _ = torch.symeig(y @ y.transpose(-1, -2))
        if hasattr(torch, "rfft"):
            return values
        return values * 2 if values.sum() > 0 else values


class Lacking(nn.Module):
    def forward(self, x):
        return torch.never_heard_of(x)
"""


def test_what_follows_a_name_that_was_removed_is_analyzed(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, NET))
    assert [call.target for call in outcome.calls] == ["Net"]
    errors = {finding.place.line: finding for finding in outcome.findings if finding.code == CODE}
    assert set(errors) == {4, 16, 24, 32}
    assert "has no attribute 'never_heard_of'" in errors[32].message and "installed version" in errors[32].explanation
    # of several names that an import lacks, one has nothing in its place
    assert errors[4].hints == (
        "`torch._six.string_classes` was removed in PyTorch 2.0. Use `(str, bytes)` instead.",
        "`torch._six.container_abcs` was removed in PyTorch 2.0. Use `collections.abc` instead.",
    )
    assert "module 'collections' has no attribute 'Iterable'" in errors[16].message
    assert errors[16].hints == (
        "`collections.Iterable` was removed in Python 3.10. Use `collections.abc.Iterable` instead.",
    )
    assert "is now removed" in errors[24].message
    assert all("takes its place" in errors[line].explanation for line in (4, 16, 24))
    assert ("GB0170", 27) in [(finding.code, finding.place.line) for finding in outcome.findings]
    assert "Used `collections.abc.Iterable` in place of `collections.Iterable`, which was removed." in outcome.notes
    assert any(note.startswith("`torch._six.unheard_of` cannot be") or "`torch._six`" in note for note in outcome.notes)


# a process of its own: what stands in for a name does so in the whole process
AS_THE_PROGRAM_FAILS = """\
import collections, inspect, sys, types
from compile_lens.agent.inputs.importing import moved_stand_ins

told = []
moved_stand_ins.tell_to(told.append)

def asks(action):
    try:
        action()
    except Exception as error:
        return moved_stand_ins.stands_in_after(error)

kind = "Iterable"
assert not asks(lambda: getattr(collections, kind))
assert not asks(lambda backend=collections: backend.Iterable)
assert not asks(lambda: collections.Unheard)
assert not hasattr(collections, "Iterable") and told == []
assert asks(lambda: collections.Iterable)
assert collections.Iterable is collections.abc.Iterable
assert [type(each).__name__ for each in told] == ["ImportHelped", "RaisedAside"]
assert not asks(lambda: 1 / 0)
if not hasattr(inspect, "getargspec"):
    assert asks(lambda: inspect.getargspec(asks))
    assert inspect.getargspec(asks) == (["action"], None, None, None)

# as numpy raises it
old = types.ModuleType("numpy")
exec("def __getattr__(name): raise AttributeError('gone', name=None)", vars(old))
sys.modules["numpy"] = numpy = old
assert asks(lambda: numpy.float) and numpy.float is float

def import_old():
    from torch._six import inf
    import torch.tensor

del sys.modules["numpy"]
import torch
assert asks(import_old)
# torch has a `__getattr__`, in whose line the name does not stand
assert asks(lambda: torch.rfft(torch.ones(4), 1)) and torch.rfft(torch.ones(4), 1).shape == (3, 2)
from torch._six import inf
assert inf == torch.inf
assert torch.tensor is not sys.modules.get("torch.tensor")
moved_stand_ins.use_moved_names(False)
assert not asks(lambda: collections.Mapping)
"""


def test_nothing_stands_in_before_the_program_has_failed(tmp_path: Path) -> None:
    file = write(tmp_path, AS_THE_PROGRAM_FAILS)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr


def test_functions_that_were_removed_give_what_they_gave() -> None:
    torch = pytest.importorskip("torch")
    matrix = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    values, vectors = moved_functions.made("torch.eig")(matrix, eigenvectors=True)
    assert values.shape == (2, 2)
    # conjugate pairs: the columns are the real and the imaginary part of the first one's vector
    first = torch.complex(vectors[:, 0], vectors[:, 1])
    number = torch.complex(values[0, 0], values[0, 1])
    torch.testing.assert_close(matrix.to(torch.complex64) @ first, number * first)
    symmetric = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    torch.testing.assert_close(moved_functions.made("torch.symeig")(symmetric)[0], torch.tensor([1.0, 3.0]))
    assert moved_functions.made("torch.symeig")(symmetric)[1].numel() == 0
    right = torch.tensor([[3.0], [3.0]])
    torch.testing.assert_close(moved_functions.made("torch.solve")(right, symmetric).solution, torch.ones(2, 1))
    assert int(moved_functions.made("torch.matrix_rank")(symmetric)) == 2
    signal = torch.randn(3, 8)
    for normalized in (False, True):
        spectrum = moved_functions.made("torch.rfft")(signal, 1, normalized)
        assert spectrum.shape == (3, 5, 2)
        back = moved_functions.made("torch.irfft")(spectrum, 1, normalized, signal_sizes=(8,))
        torch.testing.assert_close(back, signal)
