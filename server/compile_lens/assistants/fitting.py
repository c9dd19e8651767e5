"""Keeps an answer below a number of tokens, and says what was left out and how to see it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

DEFAULT_TOKENS = 2_000
MOST_TOKENS = 20_000
LEAST_TOKENS = 200
# tokenizers differ; JSON with paths and code has at least this many characters in each of their tokens, on average
CHARACTERS_PER_TOKEN = 3
# an element whose texts are cut has this many characters of each
SHORT = 80
Answer = dict[str, Any]


def tokens(answer: object) -> int:
    """An estimate of the tokens of ``answer``, from above."""
    return -(-len(written(answer)) // CHARACTERS_PER_TOKEN)


def written(answer: object) -> str:
    """``answer`` as an assistant gets it."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def fit(answer: Answer, lists: Sequence[str], max_tokens: int, offset: int = 0) -> Answer:
    """``answer`` with as many elements of its ``lists`` as fit, from ``offset`` on in the first; the last list is cut first.

    ``left_out`` says how many are missing before and after what is shown. If nothing can be left out any more, texts are cut.
    """
    answer = dict(answer)
    total = {name: len(answer[name]) for name in lists if isinstance(answer.get(name), list)}
    if offset and lists and lists[0] in total:
        answer[lists[0]] = answer[lists[0]][offset:]
    for name in reversed(lists):
        while tokens(_told(answer, total, lists, offset)) > max_tokens and answer.get(name):
            # at least half of what is too much goes at once, so that long lists are cut quickly
            keep = len(answer[name]) // 2 if len(answer[name]) > 64 else len(answer[name]) - 1
            if keep == 0 and name == lists[0]:
                break
            answer[name] = answer[name][:keep]
    told = _told(answer, total, lists, offset)
    limit = max_tokens * CHARACTERS_PER_TOKEN
    while tokens(told) > max_tokens and limit > SHORT:
        limit //= 2
        told = _shortened(told, limit)
    return told


def _told(answer: Answer, total: dict[str, int], lists: Sequence[str], offset: int) -> Answer:
    missing = {
        name: number - len(answer[name]) for name, number in total.items() if number > len(answer.get(name) or ())
    }
    if not missing:
        return answer
    shown = len(answer.get(lists[0]) or ())
    how = f"Pass a max_tokens of up to {MOST_TOKENS}"
    if lists[0] in missing and offset + shown < total[lists[0]]:
        how += f", or offset={offset + shown} for the next {lists[0]}"
    return {**answer, "left_out": {**missing, "how_to_see": f"{how}."}}


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[: longest - 2]}…{value[-1]}"
    if isinstance(value, list):
        return [_shortened(one, longest) for one in value]
    if isinstance(value, dict):
        return {name: _shortened(one, longest) for name, one in value.items()}
    return value
