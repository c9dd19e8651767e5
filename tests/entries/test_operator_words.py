"""What torch's operators say of wrong inputs is read as what they require, in the words of real tensors and of those without memory."""

from __future__ import annotations

import pytest
from tests.entries.operator_errors import required_by, wrong_calls

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


@pytest.mark.parametrize("is_fake", [False, True], ids=["real", "without-memory"])
def test_each_error_requires_what_was_wrong(is_fake: bool) -> None:
    unread: dict[str, list[str]] = {}
    for call in wrong_calls():
        if call.is_fake or not is_fake:
            read = required_by(call.error(is_fake))
            if call.required not in read:
                unread[f"{call.text}: {call.required}"] = read
    assert not unread
