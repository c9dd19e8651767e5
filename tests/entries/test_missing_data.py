"""Data that are not here: what replaces them has the types and shapes of the program's own use, and each line says so."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.analysis.outcome import Outcome
from compile_lens.workers.job import Job, Substitution
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
TOKENS = """\
import numpy as np
import torch

state = np.random.get_state()[1][0]
tokens = np.memmap("train.bin", dtype=np.uint16, mode="r")
table = np.memmap("table.bin", np.float32, "r", shape=(4, 8))
try:
    more = np.memmap("more.bin", dtype=np.uint16, mode="r")
except FileNotFoundError:
    more = None
assert more is None and state == np.random.get_state()[1][0]


@torch.compile
def embed(ids):
    return torch.nn.functional.embedding(ids, torch.ones(64, 8))


starts = torch.randint(len(tokens) - 16, (4,))
batch = torch.stack([torch.from_numpy(tokens[i : i + 16].astype(np.int64)) for i in starts])
embed(batch)
assert table.shape == (4, 8)
"""
IMAGES = """\
import torch, torchvision
from torchvision import transforms

images = torchvision.datasets.CIFAR10("data", train=False, transform=transforms.ToTensor())
folder = torchvision.datasets.ImageFolder("images", transforms.Compose([transforms.Resize((8, 8)), transforms.ToTensor()]))


@torch.compile
def mean(x):
    return x.mean()


for batch, label in torch.utils.data.DataLoader(images, batch_size=50):
    mean(batch)
mean(folder[0][0])
"""
ROWS = """\
import datasets, torch

reviews = datasets.load_dataset("someone/reviews", split="train")
pairs = datasets.load_dataset("glue", "mrpc")


@torch.compile
def mean(x):
    return x.float().mean()


mean(torch.tensor([len(row["review_text"]) * row["stars"] for row in reviews]))
assert pairs["validation"].features["label"].num_classes == 2
"""


def run(host: WarmHost, folder: Path, text: str, **changes: Substitution) -> Outcome:
    file = folder / "program.py"
    file.write_text(text)
    return host.run(replace(Job(str(file), cwd=str(folder)), **changes))


def made_up(outcome: Outcome) -> dict[int, str]:
    return {f.place.line: f.message for f in outcome.findings if f.code == "made-up-data"}


def test_missing_arrays_are_random_and_each_line_says_so(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, TOKENS)
    assert made_up(outcome) == {
        5: "The file `train.bin` is not on this machine; 262144 random numbers of type uint16 replace it.",
        6: "The file `table.bin` is not on this machine; 4×8 random numbers of type float32 replace it.",
    }
    assert [f.code for f in outcome.findings if f.kind.value == "run-error"] == []
    assert outcome.graphs == 1


def test_the_program_raises_where_it_is_off(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, TOKENS, missing_data=Substitution.OFF)
    assert made_up(outcome) == {}
    assert [(f.code, f.place.line) for f in outcome.findings] == [("missing-data", 5)]


def test_images_have_the_size_and_the_last_batch_of_the_real_ones(tmp_path: Path, warm_host: WarmHost) -> None:
    pytest.importorskip("torchvision")
    outcome = run(warm_host, tmp_path, IMAGES)
    assert sorted(made_up(outcome)) == [4, 5]
    # 10000 images are 200 batches of 50, so no batch is smaller
    assert "100 random images of 32×32×3 in 10 classes" in made_up(outcome)[4]


def test_rows_have_the_columns_that_the_program_reads(tmp_path: Path, warm_host: WarmHost) -> None:
    pytest.importorskip("datasets")
    outcome = run(warm_host, tmp_path, ROWS)
    assert sorted(made_up(outcome)) == [3, 4]
    assert outcome.graphs == 1


@pytest.mark.parametrize(
    ("name", "source", "columns"),
    [
        ("wikitext wikitext-2-raw-v1", "", ("text",)),
        ("glue mrpc", "", ("sentence1", "sentence2", "label", "idx")),
        ("me/mine", "data['train']['prompt'], row['label'], batch['input_ids']", ("prompt", "label")),
        ("me/mine", "batch['input_ids'], batch['labels']", ()),
    ],
)
def test_columns(tmp_path: Path, name: str, source: str, columns: tuple[str, ...]) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "program.py"
    file.write_text(source)
    found = agent_module("substitutes.data.hub_datasets").columns_of(name, [{"file": str(file), "line": 1}])
    assert found == columns


@pytest.mark.parametrize(
    ("source", "real", "length"),
    [
        ("DataLoader(data, batch_size=100)", 60_000, 200),
        ("DataLoader(data, batch_size=128)", 60_000, 256 + 60_000 % 128),
        ("parser.add_argument('--batch-size', type=int, default=32)", None, 64 + 17),
        ("config = {'batch_size': 8}\nBATCH_SIZE = 4", None, 16 + 5),
        ("", None, 128 + 33),
    ],
)
def test_lengths(tmp_path: Path, source: str, real: int | None, length: int) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(source))
    stack = [{"file": str(file), "line": 1}]
    assert agent_module("substitutes.data.lengths").made_up_length(stack, real) == length
