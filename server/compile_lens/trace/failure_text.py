"""Reads the text of a compile error: its user stacks, and its message without them."""

from __future__ import annotations

import re

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import StackFrame
from compile_lens.trace.stack_text import parse_stack

# what ends a traceback; lines of its message that follow are indented, or no such name
RAISED = pattern(r"^(?:\w+\.)*[A-Z]\w*: ", re.MULTILINE)
FROM_USER_CODE = pattern(r"^[ \t]*from user code:\s*$", re.MULTILINE)
# what torch appends after the user's stack (torch/_dynamo/exc.py, ``augment_exc_message``, torch 2.6 to 2.13)
APPENDIX = pattern(
    r"^(?:Set TORCH(?:DYNAMO_VERBOSE|_LOGS)|You can suppress this exception|The above exception was|Traceback \()",
    re.MULTILINE,
)

# what stands before the stack of the operator that an error is about: torch/fx/interpreter.py, torch/_inductor/exc.py
# (``LoweringException``), torch/_export/non_strict_utils.py and torch/fx/experimental/symbolic_shapes.py (torch 2.13)
OPERATOR = pattern(
    r"^[ \t]*(?:Original traceback|Found from *|The following call raised this error"
    r"|User [Ss]tack(?: \(most recent call last\))?): *$",
    re.MULTILINE,
)
# what torch adds below the first line while an error passes through a higher-order operator (torch/_dynamo/exc.py,
# ``augment_exc_message_with_hop_name``)
HIGHER_ORDER = pattern(r"^  Higher Order Operator: .*\n?", re.MULTILINE)
MAX_COMPARED = 2000
ADVICE = pattern(
    r"^(?:For (?:more|extended|C\+\+)\b.*|If you suspect the guard.*|Use tlparse to see full graph.*"
    r"|The error above occurred when calling torch\.export\.export.*)$\n?",
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


def raised_message(traceback: str) -> str:
    """The message of the exception that ended a ``traceback``; all of the text where none is found."""
    raised = list(RAISED.finditer(traceback))
    return message_of(traceback[raised[-1].end() :] if raised else traceback)


def is_same(message: str, wrapped: str) -> bool:
    """Whether ``wrapped`` is ``message`` again, with other words around it."""
    head = head_of(message)
    return bool(head) and head in HIGHER_ORDER.sub("", wrapped)


def head_of(message: str) -> str:
    """What an error is recognized by where its message was wrapped or cut."""
    # the text of a KeyError has quotes around it, or not
    return HIGHER_ORDER.sub("", message_of(message))[:MAX_COMPARED].strip("'\"")


def parse_operator_stack(text: str) -> tuple[StackFrame, ...]:
    """The stack of the operator that an error names, outermost first, from its graph node's record; empty if it names none."""
    last = None
    for match in OPERATOR.finditer(text):
        last = match
    if last is None:
        return ()
    # the stack ends where its indentation does
    rest = re.split(r"\n(?=[^\s])", text[last.end() :], maxsplit=1)[0]
    return parse_stack(rest)


def own_words_of(text: str) -> str:
    """An error's own message without any stack, and without torch's standing advice on how to learn more."""
    message = message_of(text)
    match = OPERATOR.search(message)
    if match is not None:
        rest = re.split(r"\n(?=[^\s])", message[match.end() :], maxsplit=1)
        message = message[: match.start()] + (rest[1] if len(rest) > 1 else "")
    return re.sub(r"\n{3,}", "\n\n", ADVICE.sub("", message)).strip()
