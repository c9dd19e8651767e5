"""What torch's operators say of wrong inputs is read as what they require, in the words of real tensors and of those without memory."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.operator_errors import required_by, wrong_calls

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


arguments = agent_module("inputs.synthesis.terms.arguments")
candidates = agent_module("inputs.synthesis.terms.candidate")
dimensions = agent_module("inputs.synthesis.terms.dimensions")
other_shapes = agent_module("inputs.synthesis.changes.other_shapes")


@pytest.mark.parametrize("is_fake", [False, True], ids=["real", "without-memory"])
def test_each_error_requires_what_was_wrong(is_fake: bool) -> None:
    unread: dict[str, list[str]] = {}
    for call in wrong_calls():
        if call.is_fake or not is_fake:
            read = required_by(call.error(is_fake))
            if call.required not in read:
                unread[f"{call.text}: {call.required}"] = read
    assert not unread


def segmentation() -> object:
    """A candidate with an image and the number of a class for each of its rows."""
    unknowns = dimensions.Unknowns()
    for name, size in {"B": 2, "C": 3, "H": 32, "W": 32}.items():
        unknowns.get(name, size)
    image = arguments.Tensor("float32", ("B", "C", "H", "W"), has_known_rank=True)
    mask = arguments.Tensor("int64", ("B", "H"), 2)
    return candidates.Candidate(arguments.Arguments((("image", image), ("mask", mask))), unknowns)


def test_labels_change_their_rank_before_images_do() -> None:
    (first, *_) = other_shapes.of_rank(segmentation(), 3, False, is_about_labels=True)
    assert {path: len(tensor.dims) for path, tensor in first.arguments.tensors()} == {"image": 4, "mask": 3}


def test_images_of_the_usual_side_are_among_the_larger_ones() -> None:
    sides = [each.unknowns.values["W"] for each in other_shapes.larger(segmentation())]
    assert 224 in sides and sides == sorted(sides)
