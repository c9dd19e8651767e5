"""Checks flags, modes, backends, options and values against a torch version, and suggests corrections."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import CONFIG_MODULES, Knowledge

# torch's Python code reads variables with these prefixes, and all of them are known; other names may belong to the program
_FAMILIES = re.compile(r"TORCH_LOGS|TORCH_COMPILE_|TORCHDYNAMO_|TORCHINDUCTOR_|TORCH_TRACE|TORCH_BISECT_")
_WORDS = {
    KnowledgeKind.LOG: "log",
    KnowledgeKind.MODE: "mode",
    KnowledgeKind.BACKEND: "backend",
    KnowledgeKind.OPTION: "option",
    KnowledgeKind.ARGUMENT: "argument",
}
_LITERALS = {"true": "bool", "false": "bool", "integer": "int", "float": "float", "string": "str", "none": "None"}
_ACCEPTED = {
    "bool": {"bool"},
    "int": {"int", "bool"},
    "float": {"float", "int"},
    "str": {"str"},
}


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """One sentence, and names to write instead, best first. ``certain``: it cannot work, whatever is installed."""

    message: str
    instead: tuple[str, ...] = ()
    certain: bool = True


def check_log(knowledge: Knowledge, name: str) -> SettingProblem | None:
    """A name in ``TORCH_LOGS`` or a keyword of ``set_logs``."""
    # torch also accepts the name of any Python module, and `help`
    if not name or name == "help" or "." in name or knowledge.knows(KnowledgeKind.LOG, name):
        return None
    return _unknown(knowledge, KnowledgeKind.LOG, name)


def check_variable(knowledge: Knowledge, name: str) -> SettingProblem | None:
    """The name of an environment variable that is set."""
    if not _FAMILIES.match(name) or knowledge.knows(KnowledgeKind.ENVIRONMENT, name):
        return None
    torch = _torch(knowledge)
    reason = knowledge.past.why_unknown(KnowledgeKind.ENVIRONMENT, name, knowledge.tables.torch)
    instead = tuple(knowledge.close(KnowledgeKind.ENVIRONMENT, name))
    if not reason and not instead:
        return None
    return SettingProblem(
        f"{torch} does not read the variable '{name}'{f': {reason}' if reason else ''}.", instead, certain=False
    )


def check_name(knowledge: Knowledge, kind: KnowledgeKind, name: str) -> SettingProblem | None:
    """A mode, a backend or an argument of ``torch.compile``."""
    if knowledge.knows(kind, name):
        return None
    return _unknown(knowledge, kind, name)


def check_option(knowledge: Knowledge, full: str) -> SettingProblem | None:
    """An option by its full name, as ``options={…}``, ``config.patch`` and assignments name it."""
    if knowledge.knows(KnowledgeKind.OPTION, full):
        return None
    module = next((name for name in CONFIG_MODULES if full.startswith(f"{name}.")), "")
    short = full.removeprefix(f"{module}.")
    if module == "torch._inductor.config" and short in ("guard_filter_fn", "use_aoti", "enable_progress_bar"):
        return None  # removed from `options` by torch.compile itself
    if short.split(".")[0] in (
        "patch",
        "save_config",
        "load_config",
        "get_hash",
        "to_dict",
        "codegen_config",
        "_config",
    ):
        return None
    known = [
        name.removeprefix(f"{module}.")
        for name in knowledge.names(KnowledgeKind.OPTION)
        if name.startswith(f"{module}.")
    ]
    reason = knowledge.past.why_unknown(KnowledgeKind.OPTION, full, knowledge.tables.torch)
    instead = tuple(_close(short, known))
    return SettingProblem(
        f"{_torch(knowledge)} has no option '{short}' in {module}{f': {reason}' if reason else ''}.", instead
    )


def check_value(knowledge: Knowledge, full: str, node_type: str, text: str) -> SettingProblem | None:
    """Check the type of a literal value of an option, and whether it is among the choices."""
    given = _LITERALS.get(node_type)
    row = knowledge.tables.table(KnowledgeKind.OPTION).get(full)
    if given is None or row is None:
        return None
    declared = row.get("type", "")
    choices = re.findall(r"['\"]([^'\"]+)['\"]", declared) if "Literal[" in declared else []
    if given == "str" and choices and text.strip("\"'") not in choices:
        wrong = text.strip("\"'")
        return SettingProblem(
            f"'{wrong}' is not a value of this option: {', '.join(choices)}.", tuple(_close(wrong, choices))
        )
    if declared not in _ACCEPTED or given in _ACCEPTED[declared]:
        return None
    # an option whose default has another type than declared accepts more than declared
    if row.get("default") == "None" or "callable" in row.get("source", "").lower():
        return None
    return SettingProblem(f"This option takes {declared}, not {given}.", certain=False)


def check_argument_value(name: str, node_type: str) -> SettingProblem | None:
    """Check a literal value of an argument of ``torch.compile``."""
    given = _LITERALS.get(node_type)
    wanted = {
        "fullgraph": ("bool",),
        "dynamic": ("bool", "None"),
        "disable": ("bool",),
        "isolate_recompiles": ("bool",),
        "recompile_limit": ("int", "None"),
        "mode": ("str", "None"),
        "backend": ("str", "None"),
        "options": ("None",),
        "name": ("str", "None"),
    }.get(name)
    if given is None or wanted is None or given in wanted:
        return None
    return SettingProblem(
        f"'{name}' takes {' or '.join(wanted) if name != 'options' else 'a dict or None'}, not {given}."
    )


def _unknown(knowledge: Knowledge, kind: KnowledgeKind, name: str) -> SettingProblem:
    reason = knowledge.past.why_unknown(kind, name, knowledge.tables.torch)
    instead = tuple(knowledge.close(kind, name))
    # other packages may register backends
    certain = kind is not KnowledgeKind.BACKEND
    return SettingProblem(
        f"{_torch(knowledge)} has no {_WORDS[kind]} '{name}'{f': {reason}' if reason else ''}.", instead, certain
    )


def _torch(knowledge: Knowledge) -> str:
    return f"torch {knowledge.tables.torch.partition('+')[0]}"


def _close(name: str, known: list[str]) -> list[str]:
    last = {option: option.rpartition(".")[2] for option in known}
    exact = [option for option, short in last.items() if short == name]
    return [*exact, *(option for option in difflib.get_close_matches(name, known, 3, 0.6) if option not in exact)][:3]
