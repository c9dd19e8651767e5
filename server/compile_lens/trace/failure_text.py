"""The user's part of an error that torch raises while compiling: what follows "from user code:"."""

from __future__ import annotations

import re

from compile_lens.trace.report import StackFrame
from compile_lens.trace.stack_text import parse_stack

FROM_USER_CODE = re.compile(r"^\s*from user code:\s*$", re.MULTILINE)
# what torch appends after the user's stack (torch/_dynamo/exc.py, ``augment_exc_message``, torch 2.6 to 2.13)
APPENDIX = re.compile(
    r"^(?:Set TORCH(?:DYNAMO_VERBOSE|_LOGS)|You can suppress this exception|The above exception was|Traceback \()",
    re.MULTILINE,
)


def parse_user_stack(text: str) -> tuple[StackFrame, ...]:
    """The user's stack in an error's text, outermost first; empty if it has none. The last "from user code:" counts."""
    last = None
    for match in FROM_USER_CODE.finditer(text):
        last = match
    if last is None:
        return ()
    rest = text[last.end() :]
    appendix = APPENDIX.search(rest)
    return parse_stack(rest[: appendix.start()] if appendix else rest)


def message_of(text: str) -> str:
    """An error's own message, without the user's stack and torch's advice."""
    match = FROM_USER_CODE.search(text)
    head = text[: match.start()] if match else text
    appendix = APPENDIX.search(head)
    return (head[: appendix.start()] if appendix else head).strip()
