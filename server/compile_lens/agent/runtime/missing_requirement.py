"""Finds out what was missing when a program raised: arguments, weights, a dataset or a file."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .counted_arguments import counted_arguments, ends_without
from .protocol import MissingRequirementReport

# a part of the file's path, the function -> what it looks for, and the parameters that name it. The user's call is the outermost.
LOADERS = (
    ("/torch/serialization.py", "load", "a saved file", ("f",)),
    ("/torch/jit/_serialization.py", "load", "a saved file", ("f",)),
    ("/torch/hub.py", "load", "a `torch.hub` repository", ("repo_or_dir",)),
    ("/torch/hub.py", "load_state_dict_from_url", "weights", ("url",)),
    ("/torch/hub.py", "download_url_to_file", "a file", ("url",)),
    ("/safetensors/", "load_file", "a saved file", ("filename",)),
    ("/transformers/", "from_pretrained", "a pretrained model", ("pretrained_model_name_or_path",)),
    ("/diffusers/", "from_pretrained", "a pretrained model", ("pretrained_model_name_or_path",)),
    ("/transformers/pipelines/", "pipeline", "a pretrained model", ("model",)),
    ("/timm/models/", "create_model", "weights", ("model_name",)),
    ("/huggingface_hub/", "from_pretrained", "a pretrained model", ("pretrained_model_name_or_path",)),
    ("/huggingface_hub/", "snapshot_download", "a repository on the Hugging Face Hub", ("repo_id",)),
    ("/huggingface_hub/", "hf_hub_download", "a repository on the Hugging Face Hub", ("repo_id",)),
    ("/datasets/load.py", "load_dataset", "a dataset", ("path",)),
    ("/datasets/load.py", "load_from_disk", "a dataset", ("dataset_path",)),
    ("/torchvision/datasets/", "__init__", "a dataset", ("root",)),
    ("/torchaudio/datasets/", "__init__", "a dataset", ("root",)),
    ("/numpy/lib/", "load", "a saved file", ("file",)),
)
# what hubs raise that is no OSError
OF_HUBS = frozenset(
    {
        "DatasetNotFoundError",
        "GatedRepoError",
        "HTTPError",
        "LocalEntryNotFoundError",
        "OfflineModeIsEnabled",
        "RepositoryNotFoundError",
        "UnpicklingError",
    }
)
NOT_FOUND = re.compile(r"^(?:Dataset not found|Error downloading)")  # torchvision's RuntimeErrors


def find_missing_requirement(error: BaseException) -> MissingRequirementReport | None:
    """What was missing, or None where the error is about something else."""
    frames = list(_frames(error))
    counted = _counted(error) if isinstance(error, SystemExit | IndexError) and not sys.argv[1:] else None
    if counted is not None:
        return counted
    if isinstance(error, SystemExit):
        return _arguments(error, frames)
    # a loader may wrap what it met: torch.hub raises a RuntimeError for an address that it cannot reach
    if not any(map(is_not_found, (error, error.__cause__, error.__context__))):
        return None
    found: MissingRequirementReport | None = None
    for frame in frames:
        for part, function, what, names in LOADERS:
            if frame.f_code.co_name == function and part in frame.f_code.co_filename.replace(os.sep, "/"):
                name = _named(frame.f_locals, names)
                if name:
                    return MissingRequirementReport(what, name)
                found = found or MissingRequirementReport(what, "")
    if found is not None:
        return found
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, (str, os.PathLike)):
        return MissingRequirementReport("a file", str(error.filename))
    return None


def is_not_found(error: BaseException | None) -> bool:
    """Whether ``error`` is what loaders raise for something that is not there."""
    return isinstance(error, OSError) or type(error).__name__ in OF_HUBS or NOT_FOUND.match(str(error)) is not None


def _frames(error: BaseException) -> Iterator[FrameType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry.tb_frame
        entry = entry.tb_next


def _named(values: dict[str, Any], names: tuple[str, ...]) -> str:
    found = next((values[name] for name in names if isinstance(values.get(name), (str, os.PathLike))), "")
    return str(found)


def _counted(error: BaseException) -> MissingRequirementReport | None:
    """The arguments for the lack of which the program ends here, where nobody passed any: those that it takes from `sys.argv`."""
    main = str(getattr(sys.modules.get("__main__"), "__file__", None) or "")
    text, entry = "".join(linecache.getlines(main)), error.__traceback__
    while entry is not None:
        is_last = isinstance(error, SystemExit) or entry.tb_next is None
        if entry.tb_frame.f_code.co_filename == main and is_last and ends_without(text, entry.tb_lineno):
            names = ", ".join(each.name or f"argument{each.number}" for each in counted_arguments(text))
            return MissingRequirementReport("arguments", f"the following arguments are required: {names}")
        entry = entry.tb_next
    return None


def _arguments(error: SystemExit, frames: list[FrameType]) -> MissingRequirementReport | None:
    """What argparse, or click, says of the arguments before it ends the program."""
    for frame in frames:
        message = frame.f_locals.get("message")
        if frame.f_code.co_name == "error" and frame.f_code.co_filename.endswith("argparse.py") and message:
            return MissingRequirementReport("arguments", str(message))
    cause = error.__context__
    words = getattr(cause, "format_message", None)
    if words is not None and type(cause).__module__.partition(".")[0] in ("click", "typer"):
        return MissingRequirementReport("arguments", str(words()))
    return None
