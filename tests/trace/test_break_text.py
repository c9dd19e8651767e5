"""Texts of breaks as releases of torch wrote them."""

from __future__ import annotations

from compile_lens.trace.break_text import parse_break

# torch 2.8, a break in a `try` block; Dynamo's own frames are cut
SKIPPED_2_8 = """\
Graph break: skip: from user code at:
  File "train.py", line 9, in f
    torch._dynamo.graph_break()

Traceback (most recent call last):
  File "torch/_dynamo/convert_frame.py", line 1272, in __call__
    result = self._inner_convert(
torch._dynamo.exc.Unsupported: Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break. Message: None
  Hint: Remove the `torch._dynamo.graph_break()` call.

  Developer debug context: Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`


from user code:
   File "train.py", line 9, in f
    torch._dynamo.graph_break()

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace
"""


def test_a_skipped_frame_of_torch_2_8_has_the_line_of_its_break() -> None:
    parsed = parse_break(SKIPPED_2_8)
    assert [(frame.file, frame.line, frame.name) for frame in parsed.stack] == [("train.py", 9, "f")]
    assert parsed.reason.title == "Call to `torch._dynamo.graph_break()`"
    assert parsed.reason.explanation == "User-inserted graph break. Message: None"
    assert parsed.reason.skipped_frame
