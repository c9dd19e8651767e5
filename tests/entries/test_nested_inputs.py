"""Inputs of which a program reads keys inside of lists and of other dictionaries: targets of detectors, batches of several kinds."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
signatures = agent_module("inputs.synthesis.source.signatures")

MODULES = """\
import torch
import torch.nn.functional as F
from torch import nn


def boxes_of(targets, number):
    return targets[number]["boxes"]


class Matcher(nn.Module):
    @torch.no_grad()
    def forward(self, outputs, targets):
        queries = outputs["pred_logits"].flatten(0, 1).softmax(-1)
        boxes = outputs["pred_boxes"].flatten(0, 1)
        labels = torch.cat([each["labels"] for each in targets])
        wanted = torch.cat([each["boxes"] for each in targets])
        cost = torch.cdist(boxes, wanted, p=1) - queries[:, labels]
        sizes = [len(each["boxes"]) for each in targets]
        return [part.argmin(0) for part in cost.view(2, -1, len(wanted)).split(sizes, -1)]


class Criterion(nn.Module):
    @torch.no_grad()
    def compare(self, out, targets):
        return sum(F.l1_loss(out["pred_boxes"][n][: len(boxes_of(targets, n))], boxes_of(targets, n)) for n in range(2))

    def forward(self, outputs, targets):
        targets = [{key: value.float() for key, value in each.items()} for each in targets]
        return self.compare(outputs, targets) + sum(self.compare(each, targets) for each in outputs["aux_outputs"])


class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.video, self.audio = nn.Linear(8, 4), nn.Linear(6, 4)

    def forward(self, batch):
        means = [self.video(batch["inputs"]["video"]).mean(), self.audio(batch["inputs"]["audio"]).mean()]
        return sum(means) + sum(weight * item["score"].sum() for weight, item in zip((1, 2), batch["items"]))


class Either(nn.Module):
    def forward(self, batch):
        if isinstance(batch, dict):
            batch = batch["image"]
        return batch.mean()


class Graph:
    def forward(self, data):
        return data["x"] + data.weights
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("nested") / "nested_inputs.py"
    return imported(file, MODULES)


def _inside(modules: object, name: str) -> dict[str, object]:
    infos = signatures.read_parameters(getattr(modules, name).forward, skip_first=True)
    return {info.name: info.inside for info in infos if info.inside}


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("Matcher", {"outputs": {"pred_logits": {}, "pred_boxes": {}}, "targets": {"*": {"labels": {}, "boxes": {}}}}),
        (
            "Criterion",
            {
                "outputs": {"pred_boxes": {}, "aux_outputs": {"*": {"pred_boxes": {}}}},
                "targets": {"*": {"boxes": {}}},
            },
        ),
        ("Kinds", {"batch": {"inputs": {"video": {}, "audio": {}}, "items": {"*": {"score": {}}}}}),
        ("Either", {}),
    ],
)
def test_keys_are_read_through_loops_and_functions(modules: object, name: str, inside: dict[str, object]) -> None:
    assert _inside(modules, name) == inside


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Matcher", 'targets=[{"labels": int64[3] < 2, "boxes": (float32[3, 4]'),
        ("Criterion", '"aux_outputs": [{"pred_boxes": float32[2, 8, 4] < 1}, {"pred_boxes": float32[2, 8, 4] < 1}]}'),
        ("Kinds", '"items": [{"score": float32[3] < 1}, {"score": float32[3] < 1}]})'),
        ("Either", "Either()(batch=float32["),
    ],
)
def test_lists_of_dictionaries_lead_to_a_call(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression
