"""Substitutes missing data sets of the library ``datasets``: rows with the columns that the set has, or that the program reads."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ...instrument.in_place import call_after_failure
from ...runtime.missing_requirement import is_not_found
from ...runtime.parsed_source import parsed_file
from ..weights.lookups import Lookups, reason
from .lengths import made_up_length

DATASET = "dataset"
SPLITS = ("train", "validation", "test")
CLASSES = 2
# columns of well-known sets, by a part of their name
KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"wikitext|openwebtext|bookcorpus|wikipedia|fineweb|c4|tiny_?stories|shakespeare|ptb|the_?pile", ("text",)),
    (r"imdb|ag_news|yelp|rotten_tomatoes|emotion|dbpedia|amazon_polarity|tweet_eval", ("text", "label")),
    (r"glue.*(?:sst2|cola)|sst2|cola", ("sentence", "label", "idx")),
    (r"glue.*(?:mnli)|snli|mnli", ("premise", "hypothesis", "label")),
    (r"glue.*(?:qnli)", ("question", "sentence", "label", "idx")),
    (r"glue.*(?:qqp)", ("question1", "question2", "label", "idx")),
    (r"glue.*(?:mrpc|rte|stsb|wnli)", ("sentence1", "sentence2", "label", "idx")),
    (r"squad", ("id", "title", "context", "question", "answers")),
    (r"conll", ("id", "tokens", "pos_tags", "ner_tags")),
    (r"wmt|opus|iwslt", ("translation",)),
    (r"cnn_dailymail", ("article", "highlights", "id")),
    (r"samsum", ("id", "dialogue", "summary")),
    (r"xsum", ("document", "summary", "id")),
    (r"alpaca|dolly", ("instruction", "input", "output", "text")),
    (r"cifar10$|cifar-10", ("img", "label")),
    (r"mnist|food101|imagenet|tiny-imagenet", ("image", "label")),
    (r"beans", ("image", "labels")),
)
TEXT = re.compile(
    r"(?:.*_)?(?:text|sentence\d?|question\d?|premise|hypothesis|context|content|document|summary|article|highlights|prompt|response"
    r"|instruction|input|output|title|caption|passage|completion|abstract|dialogue|chosen|rejected|query|answer|body|story|review)"
)
LABEL = re.compile(r"(?:.*_)?(?:labels?|target|class|score|stars)")
IMAGE = re.compile(r"img|image|pixels|picture")
WORDS = tuple("abcdefghijklmnopqrstuvwxyz")


class HubDatasets:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {"datasets.load": self._change}

    def _change(self, module: Any) -> None:
        for function in (module.load_dataset, module.load_from_disk):
            names = tuple(inspect.signature(function).parameters)
            call_after_failure(function, functools.partial(self._failed, names))

    def _failed(self, names: tuple[str, ...], error: Exception, /, *args: Any, **named: Any) -> tuple[Any] | None:
        given = {**dict(zip(names, args, strict=False)), **named}
        path, config = str(given[names[0]]), given.get("name") or ""
        stack = self._lookups.stack(sys._getframe(1))
        if not is_not_found(error) or not self._lookups.may_substitute(error):
            return None
        columns = columns_of(f"{path} {config}", stack)
        if not columns:
            return None
        count = made_up_length(stack)
        made = _made(columns, count, given.get("split"), bool(given.get("streaming")))
        note = {
            "what": DATASET,
            "name": path,
            "made": f"{count} made-up rows with the columns {', '.join(columns)}",
            "why": reason(error),
            "stack": stack,
        }
        self._lookups.write(note)
        return (made,)


def columns_of(name: str, stack: list[dict[str, Any]]) -> tuple[str, ...]:
    """The columns of a well-known set; else those that the program's file reads by name and whose type the name tells."""
    for pattern, columns in KNOWN:
        if re.search(pattern, name, re.I):
            return columns
    files = dict.fromkeys(frame["file"] for frame in reversed(stack))
    read = (column for file in files for column in _subscripts(file))
    found = tuple(dict.fromkeys(column for column in read if _value(column, 0) is not None))
    return found if any(not LABEL.fullmatch(column) for column in found) else ()


def _subscripts(file: str) -> Iterator[str]:
    """Strings in brackets: ``batch["text"]``."""
    tree = parsed_file(file)
    if tree is None:
        return
    for node in ast.walk(tree):
        key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        if isinstance(key, str) and key not in SPLITS:
            yield key


def _made(columns: tuple[str, ...], count: int, split: Any, streaming: bool) -> Any:
    datasets = sys.modules["datasets"]
    rows = {column: [_value(column, index) for index in range(count)] for column in columns}
    features = datasets.Dataset.from_dict(rows).features.copy()
    for column in columns:
        if LABEL.fullmatch(column):
            features[column] = datasets.ClassLabel(names=[str(index) for index in range(CLASSES)])
        elif IMAGE.fullmatch(column):
            features[column] = datasets.Image()
    made = datasets.Dataset.from_dict(rows, features=features)
    made = made.to_iterable_dataset() if streaming else made
    if isinstance(split, (list, tuple)):
        return [made for _ in split]
    if split is not None:
        return made
    kind = datasets.IterableDatasetDict if streaming else datasets.DatasetDict
    return kind(dict.fromkeys(SPLITS, made))


def _value(column: str, index: int) -> Any:
    """The value of ``column`` in row ``index``; None where its name tells no type."""
    words = [
        letter * (2 + position % 4) for position, letter in enumerate(WORDS[index % 7 :] + WORDS[: 5 + index % 11])
    ]
    if TEXT.fullmatch(column):
        return " ".join(words)
    if LABEL.fullmatch(column):
        return index % CLASSES
    if IMAGE.fullmatch(column):
        return _image(index)
    if column in ("tokens", "words"):
        return words[:12]
    if column.endswith("_tags"):
        return [0] * 12
    if column == "answers":
        return {"text": [words[2]], "answer_start": [len(f"{words[0]} {words[1]} ")]}
    if column == "translation":
        return {language: " ".join(words) for language in ("en", "de", "fr", "ro", "ru")}
    if column in ("messages", "conversations"):
        return [{"role": "user", "content": " ".join(words)}, {"role": "assistant", "content": " ".join(words)}]
    return index if column in ("id", "idx") else None


def _image(index: int) -> Any:
    numpy = sys.modules["numpy"]

    pixels = numpy.random.default_rng(index).integers(0, 256, (64, 64, 3), dtype=numpy.uint8)
    return importlib.import_module("PIL.Image").fromarray(pixels)
