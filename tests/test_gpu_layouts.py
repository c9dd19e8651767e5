"""Sparse and nested tensors on the emulated GPU: the values of the CPU, and the graph breaks of a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("gpu-stand-in")


@pytest.fixture
def host(warm_host: WarmHost) -> WarmHost:
    return warm_host


def run(host: WarmHost, tmp_path: Path, text: str) -> Outcome:
    file = tmp_path / "program.py"
    file.write_text(text)
    return host.run(Job(str(file), timeout_s=300.0))


SPARSE = """
import torch
from torch import nn

torch.manual_seed(0)
at, values = torch.stack([torch.arange(6), torch.arange(6).flip(0)]), torch.randn(6)
weights, table = torch.randn(6, 3), torch.randn(6, 4)


def everything(device):
    coo = torch.sparse_coo_tensor(at, values, (6, 6)).to(device)
    other = coo.clone()
    other.add_(coo).mul_(2.0)
    csr = coo.to_sparse_csr()
    csr.mul_(3)
    w = weights.clone().to(device).detach().requires_grad_()
    torch.sparse.mm(coo, w).sin().sum().backward()
    rows = nn.Embedding(6, 4, sparse=True, _weight=table.clone()).to(device)
    optimizer = torch.optim.SparseAdam(rows.parameters())
    rows(torch.tensor([1, 1, 4], device=device)).cos().sum().backward()
    assert rows.weight.grad.is_sparse and rows.weight.grad.device.type == device
    optimizer.step()
    dense = torch.zeros(6, 6, device=device)
    dense.add_(coo)
    yield from (coo.to_dense(), other.to_dense(), csr.values(), csr @ w.detach(), w.grad, rows.weight.detach(), dense)
    yield from (coo.transpose(0, 1).coalesce().values(), torch.sparse.mm(coo, coo).to_dense(), torch.sparse.softmax(coo, 1).to_dense())
    yield from (dense.to_sparse().coalesce().indices(), dense.to_sparse_csc().to_dense(), torch.sparse.sum(coo, 0).to_dense())


for one, same in zip(everything("cpu"), everything("cuda"), strict=True):
    assert same.is_cuda
    torch.testing.assert_close(same.cpu(), one)
"""


def test_sparse_tensors_have_the_values_of_the_cpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, SPARSE)
    assert outcome.status is Status.OK, outcome.findings


SPARSE_GRAPHS = """
import torch

i = torch.tensor([[0, 1, 2], [2, 0, 1]], device="cuda")
coo = torch.sparse_coo_tensor(i, torch.ones(3, device="cuda"), (3, 3))
csr = torch.eye(3, device="cuda").to_sparse_csr()

@torch.compile
def propagate(features, adjacency):
    return torch.relu(torch.sparse.mm(adjacency, features))

@torch.compile
def row_sums(x):
    s = x.to_sparse()
    return torch.sparse.sum(s, 1).to_dense() + x.sum(1)

propagate(torch.randn(3, 4, device="cuda"), coo)
propagate(torch.randn(3, 4, device="cuda"), csr)
row_sums(torch.eye(4, device="cuda"))
"""


def test_sparse_tensors_break_as_on_a_gpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, SPARSE_GRAPHS)
    # as plain torch 2.11 wrote on an H100
    expected = {("GB0015", 10, 2), ("GB0277", 14, 1), ("GB0015", 15, 2)}
    assert {(f.code, f.place.line, f.count) for f in outcome.findings if f.kind is Kind.GRAPH_BREAK} == expected


NESTED = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
rows = [torch.randn(2, 8), torch.randn(5, 8)]
heads = [torch.randn(3, 2, 8), torch.randn(3, 5, 8)]
dense, kept = torch.randn(2, 5, 8), torch.tensor([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
linear = nn.Linear(8, 4)


@torch.compile
def doubled(x):
    return x.relu() * 2


def everything(device):
    x = torch.nested.nested_tensor(rows, device=device)
    moved = torch.nested.nested_tensor(rows).to(device)
    made = torch.nested.as_nested_tensor([row.to(device) for row in rows])
    own = nn.Linear(8, 4).to(device)
    own.load_state_dict(linear.state_dict())
    normed = F.layer_norm(own(x), (4,), torch.ones(4, device=device), torch.zeros(4, device=device))
    normed.to_padded_tensor(0.0).sin().sum().backward()
    yield from (own.weight.grad, own.bias.grad, normed.detach().to_padded_tensor(-1.0))
    (x + moved).mul_(2).add_(made)
    moved.relu_()
    first = moved.unbind()[0]  # a view
    first.fill_(3.0)
    assert moved.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
    yield from (moved.to_padded_tensor(0.0), *(x.transpose(1, 2)).unbind(), x.cpu().to_padded_tensor(0.0).to(device))
    q = torch.nested.nested_tensor(heads, device=device)
    for result in (F.softmax(q, -1), q.matmul(q.transpose(-1, -2)), F.scaled_dot_product_attention(q, q, q), q.clone().cos()):
        assert result.is_nested and result.device.type == device
        yield from (result.contiguous() if result.dim() else result).unbind()
    with torch.inference_mode():  # the fast path makes a nested tensor of the mask
        yield nn.TransformerEncoder(layer.to(device), 2).eval()(dense.to(device), src_key_padding_mask=~kept.to(device))
    layer.to("cpu")
    yield from doubled(x).unbind()


for one, same in zip(everything("cpu"), everything("cuda"), strict=True):
    assert same.is_cuda and not same.is_nested
    torch.testing.assert_close(same.cpu(), one)
"""


def test_nested_tensors_have_the_values_of_the_cpu_and_break_as_on_a_gpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, NESTED)
    assert outcome.status is Status.OK, outcome.findings
    (broken,) = [finding for finding in outcome.findings if finding.kind is Kind.GRAPH_BREAK]
    assert (broken.code, broken.place.line) == ("GB0016", 16)
