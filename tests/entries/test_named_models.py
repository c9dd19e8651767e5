"""A script that ends before it makes its model: the model that it names further down, or that a builder of its project makes, is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NETS = """\
import torch


class FocalLoss(torch.nn.Module):
    def forward(self, scores, labels):
        return torch.nn.functional.cross_entropy(scores, labels)


class Tagger(torch.nn.Module):
    def __init__(self, words, width, tags=7):
        super().__init__()
        self.words, self.out = torch.nn.Embedding(words, width), torch.nn.Linear(width, tags)

    def forward(self, tokens):
        return self.out(self.words(tokens))


class Builder:
    def __init__(self, options):
        self.options = options

    def build(self):
        return make_tagger(self.options)


KINDS = {"tagger": Tagger}


def make_tagger(options):
    return KINDS[options["kind"]](options["words"], width=12)
"""
DIRECT = """\
import json
import sys

from shop.nets import FocalLoss, Tagger

WORDS = 50


def main():
    loss = FocalLoss()
    options = json.load(open(sys.argv[1]))
    net = Tagger(WORDS, options["width"])
    for batch in options["batches"]:
        loss(net(batch), batch).backward()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("usage: train.py OPTIONS")
    main()
"""
BY_A_BUILDER = """\
import argparse
import json


def main(path):
    from shop.nets import Builder

    options = json.load(open(path))
    model = Builder(options["model"]).build()
    model.eval()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    main(parser.parse_args().config)
"""
OWN = """\
import json

import torch


class Own(torch.nn.Module):
    def forward(self, x):
        return x + 1


settings = json.load(open("missing.json"))
if settings["train"]:
    Own()(torch.ones(3))
"""


def written(folder: Path, source: str) -> str:
    (folder / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "shop" / "nets.py").write_text(NETS)
    (folder / "shop" / "train.py").write_text(source)
    return str(folder / "shop" / "train.py")


@pytest.mark.parametrize(("source", "given"), [(DIRECT, "words=50"), (BY_A_BUILDER, "width=12")])
def test_a_model_that_is_named_and_not_made(tmp_path: Path, warm_host: WarmHost, source: str, given: str) -> None:
    file = written(tmp_path, source)
    outcome = warm_host.run_choice(file, choose(file, source, tmp_path, "model"))
    assert outcome.calls and outcome.calls[0].target == "Tagger", outcome.failure
    assert given in outcome.calls[0].making, outcome.calls[0]
    assert outcome.graphs


def test_its_own_classes_are_left_to_who_analyzes_all_of_them(tmp_path: Path, warm_host: WarmHost) -> None:
    file = written(tmp_path, OWN)
    outcome = warm_host.run_choice(file, choose(file, OWN, tmp_path, "model"))
    assert not outcome.calls
