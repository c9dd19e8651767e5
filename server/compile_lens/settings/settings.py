"""All settings: their names, types, defaults and documentation, in one place.

Every editor uses the same nested object: in ``initializationOptions``, in ``workspace/configuration`` (section
``compileLens``) and in ``didChangeConfiguration``. ``python -m compile_lens.settings.settings`` prints the schema; VS Code's
``package.json`` embeds it by subject (``settings/groups.py``).
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec

from compile_lens.analysis.filters import DEFAULT_CAP, OFF, Filters
from compile_lens.analysis.finding import Severity
from compile_lens.settings.sandbox_settings import BudgetSettings, SandboxSettings
from compile_lens.settings.setting import documented
from compile_lens.settings.view_settings import InlaySettings, LensSettings, StageSettings
from compile_lens.syntax.predictions.registry import ALL
from compile_lens.workers.cache_limit import DEFAULT_LIMIT_BYTES
from compile_lens.workers.job import Depth, Substitution

# of seconds and gigabytes; a workspace may name any, of which timers and limits of the system would make errors
LARGEST_NUMBER = 1e6
SECTION = "compileLens"
LONGEST_SHOWN = 60
T = TypeVar("T")


class Consent(str, Enum):
    """When the user's code may run in the background."""

    ASK = "ask"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """When and how a file runs in the background."""

    enabled: Consent = field(
        default=Consent.ASK,
        metadata=documented(
            "Run your files in the background to see what `torch.compile` does. Default: ask once per workspace.",
            values=(
                "Ask once per workspace.",
                "Run in every trusted workspace without asking.",
                "Never run in the background. A file runs only when you run a command that analyzes it.",
            ),
            scope="machine",
        ),
    )
    on_open: bool = field(
        default=True, metadata=documented("Analyze a file that uses `torch.compile` when it is opened. Default: on.")
    )
    on_save: bool = field(
        default=True, metadata=documented("Analyze a file that uses `torch.compile` when it is saved. Default: on.")
    )
    timeout: float = field(
        default=60.0,
        metadata=documented("Time limit of a run in seconds. Findings up to then are shown. Default: 60.", minimum=1),
    )
    depth: Depth = field(
        default=Depth.DYNAMO,
        metadata=documented(
            "How far a run compiles. Default: Dynamo only.",
            values=(
                "Stop after Dynamo: finds graph breaks and recompiles. Fastest.",
                "Stop after AOTAutograd: also finds errors of the backward pass and of functionalization.",
                "Compile as written, including kernels. Slowest.",
            ),
        ),
    )
    stand_in: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "Emulate a CUDA device on the CPU when a program needs a GPU and none is available (docs/gpu.md). Default: "
            "auto.",
            values=(
                "Emulate the GPU, so that Dynamo traces the same program as on a GPU.",
                "Run the program as it is on this machine.",
            ),
        ),
    )
    missing_weights: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "Use random weights when pretrained weights are not available on this machine (docs/missing-weights.md). "
            "Default: auto.",
            values=(
                "Use the same architecture with random weights, so that the code after loading is analyzed.",
                "Let the program raise, as it does on this machine.",
            ),
        ),
    )
    missing_data: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "Use a few made-up batches when a data set, a memory-mapped array or an image processor is not available on this "
            "machine (docs/missing-data.md). Default: auto.",
            values=(
                "Use made-up data with the right types and shapes, so that the code after loading is analyzed.",
                "Let the program raise, as it does on this machine.",
            ),
        ),
    )
    missing_modules: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "Use stubs for modules that are not installed, such as loggers, when a file is imported (docs/entries.md). Default: auto.",
            values=(
                "Use a stub: attributes and calls without a result do nothing, and models that inherit from it are plain modules.",
                "Let the import raise, as it does on this machine.",
            ),
        ),
    )
    entry: str = field(
        default="",
        metadata=documented(
            "How files run (docs/entries.md): `script`, `get_inputs`, `synthesized`, a test as `FILE::TEST`, … A "
            "comment in the file, `# compile-lens: entry=…`, sets it for that file. Default: the first entry that "
            "compiles anything.",
            scope="resource",
        ),
    )
    arguments: tuple[str, ...] = field(
        default=(),
        metadata=documented(
            "Command-line arguments of the file, as in `sys.argv[1:]`. Default: those of launch.json, if it starts the "
            "file."
        ),
    )


class SeverityLevel(str, Enum):
    """A severity that the user gives to a code or a kind, or ``off``."""

    ERROR = Severity.ERROR.value
    WARNING = Severity.WARNING.value
    INFORMATION = Severity.INFORMATION.value
    HINT = Severity.HINT.value
    OFF = OFF


@dataclass(frozen=True, slots=True)
class PredictionSettings:
    """Predicted graph breaks."""

    enabled: bool = field(
        default=True,
        metadata=documented(
            "Predict graph breaks from the source as you type. Nothing runs, so it also works in untrusted workspaces. "
            "A run replaces predictions with what really happens. Their severity is that of `prediction`. Default: on."
        ),
    )
    rules: Mapping[str, bool] = field(
        default_factory=dict,
        metadata=documented(
            'Prediction rules to turn off, as in `{"tensor-item": false}`. docs/predictions.md lists the rules and their precision. '
            "Default: all are on.",
            switches=ALL,
        ),
    )


@dataclass(frozen=True, slots=True)
class FixSettings:
    """Quick fixes."""

    verify: bool = field(
        default=True,
        metadata=documented(
            "Verify each quick fix by analyzing the changed text in the background, so that its title says what it "
            "does. Only where background runs are allowed, while nothing else runs, and for programs that end within "
            "seconds. Default: on."
        ),
    )


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Traces from other runs and machines."""

    map: Mapping[str, str] = field(
        default_factory=dict,
        metadata=documented(
            'Folders of the machine that recorded a trace, and what they are on this one, as in `{"/cluster/job": "/home/me/project"}`. '
            "Default: files are found by the end of their path and their content.",
            is_text=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Caches of background runs."""

    limit: float = field(
        default=DEFAULT_LIMIT_BYTES / 1e9,
        metadata=documented(
            "Size limit of the caches of background runs in GB; the least recently used entries are deleted first. "
            "Your own torch caches are never touched. Default: 4.",
            minimum=0.1,
            scope="machine",
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings."""

    python: str = field(
        default="",
        metadata=documented(
            "The Python interpreter that runs your files; it must have torch. Default: the choice in the Python extensions of VS Code, "
            "then the active environment, then the environment of the folder (venv, uv, conda, pixi, poetry), then `python3`.",
            scope="machine",
        ),
    )
    run: RunSettings = field(default_factory=RunSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    severity: Mapping[str, SeverityLevel] = field(
        default_factory=dict,
        metadata=documented(
            'The severity of findings by code or kind, as in `{"GB0059": "off", "recompile": "warning"}`. A code takes '
            "precedence over its kind; `off` hides. Default: those of docs/findings."
        ),
    )
    max_findings: float = field(
        default=float(DEFAULT_CAP),
        metadata=documented("The number of findings shown per file, the most severe first. Default: 200.", minimum=1),
    )
    just_my_code: bool = field(
        default=True,
        metadata=documented(
            "Show findings in installed libraries at your line that calls them. If off: in the library's file. Default: on."
        ),
    )
    lenses: LensSettings = field(default_factory=LensSettings)
    inlays: InlaySettings = field(default_factory=InlaySettings)
    stages: StageSettings = field(default_factory=StageSettings)
    predictions: PredictionSettings = field(default_factory=PredictionSettings)
    fixes: FixSettings = field(default_factory=FixSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    traces: TraceSettings = field(default_factory=TraceSettings)

    @property
    def filters(self) -> Filters:
        """Which findings are shown, and how severe they are."""
        severities = {name: level.value for name, level in self.severity.items()}
        return Filters(severities, int(self.max_findings), self.just_my_code)

    @property
    def of_runs(self) -> Settings:
        """Only what a run depends on: two settings that are equal in this need no other run."""
        run = dataclasses.replace(self.run, enabled=Consent.ASK, on_open=True, on_save=True)
        return Settings(
            python=self.python, run=run, sandbox=self.sandbox, budget=self.budget, just_my_code=self.just_my_code
        )


def read_settings(value: object, base: Settings | None = None) -> tuple[Settings, tuple[str, ...]]:
    """Settings from an editor's object, and one sentence for each value that cannot be used.

    What the object does not name is as in ``base`` (the defaults); what cannot be used too. Keys that are not known are
    passed over: an editor's extension has settings of its own in the same section.
    """
    base = base or Settings()
    if value is None:
        return base, ()
    if not isinstance(value, Mapping):
        return base, (f"The settings of {SECTION} must be an object, not {_abbreviated(value)}.",)
    problems: list[str] = []
    return _read(base, value, SECTION, problems), tuple(problems)


def configuration_schema() -> dict[str, Any]:
    """The settings as ``contributes.configuration`` of a VS Code extension.

    ``properties`` is JSON schema for other editors, too.
    """
    return {"title": "Compile Lens", "properties": dict(_properties(Settings(), SECTION))}


def _read(base: T, value: Mapping[object, object], path: str, problems: list[str]) -> T:
    changes: dict[str, object] = {}
    hints = get_type_hints(type(base))
    for entry in dataclasses.fields(base):  # type: ignore[arg-type]
        name, default = _key(entry.name), getattr(base, entry.name)
        given = value.get(name)
        if given is None:
            continue
        if dataclasses.is_dataclass(default):
            if isinstance(given, Mapping):
                changes[entry.name] = _read(default, given, f"{path}.{name}", problems)
            else:
                problems.append(f"{path}.{name} must be an object, not {_abbreviated(given)}.")
            continue
        try:
            changes[entry.name] = _checked(given, hints[entry.name], entry.metadata)
        except ValueError:
            expected, used = _expected(entry, default), json.dumps(_plain(default))
            problems.append(f"{path}.{name} must be {expected}, not {_abbreviated(given)}; {used} is used.")
    return dataclasses.replace(base, **changes)  # type: ignore[type-var]


def _checked(value: object, kind: Any, documented: Mapping[str, Any]) -> object:
    """``value`` as a ``kind``. Raises ValueError."""
    result: object = msgspec.convert(value, Annotated[kind, msgspec.Meta(ge=documented["minimum"])])
    if isinstance(result, float) and not result <= LARGEST_NUMBER:
        raise ValueError(value)
    if documented["switches"] and isinstance(result, Mapping) and not result.keys() <= documented["switches"]:
        raise ValueError(value)
    return result


def _properties(settings: object, path: str) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    for entry in dataclasses.fields(settings):  # type: ignore[arg-type]
        name, default = f"{path}.{_key(entry.name)}", getattr(settings, entry.name)
        if dataclasses.is_dataclass(default):
            found += _properties(default, name)
            continue
        schema: dict[str, Any] = {
            "scope": entry.metadata["scope"],
            **_json_type(entry, default),
            "default": _plain(default),
            "markdownDescription": entry.metadata["text"],
        }
        if entry.metadata["values"]:
            schema["markdownEnumDescriptions"] = list(entry.metadata["values"])
        if entry.metadata["minimum"] is not None:
            schema["minimum"] = entry.metadata["minimum"]
        found.append((name, schema))
    return found


def _json_type(entry: dataclasses.Field[Any], default: object) -> dict[str, Any]:
    if names := sorted(entry.metadata["switches"]):
        properties = {name: {"type": "boolean"} for name in names}
        return {"type": "object", "properties": properties, "additionalProperties": False}
    if isinstance(default, Enum):
        return {"type": "string", "enum": [member.value for member in type(default)]}
    if isinstance(default, tuple):
        return {"type": "array", "items": {"type": "string"}}
    if entry.metadata["is_text"]:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if isinstance(default, Mapping):
        return {
            "type": "object",
            "additionalProperties": {"type": "string", "enum": [level.value for level in SeverityLevel]},
        }
    return {"type": {bool: "boolean", float: "number", str: "string"}[type(default)]}


def _expected(entry: dataclasses.Field[Any], default: object) -> str:
    if entry.metadata["switches"]:
        return "an object that maps rule names (docs/predictions.md) to true or false"
    if isinstance(default, Enum):
        return "one of " + ", ".join(json.dumps(member.value) for member in type(default))
    if isinstance(default, tuple):
        return "a list of strings"
    if entry.metadata["is_text"]:
        return "an object with strings as values"
    if isinstance(default, Mapping):
        return "an object with values of " + ", ".join(json.dumps(level.value) for level in SeverityLevel)
    words = {bool: "true or false", float: "a number", str: "a string"}[type(default)]
    minimum = entry.metadata["minimum"]
    return words if minimum is None else f"{words} of at least {minimum}"


def _abbreviated(value: object) -> str:
    """A value that cannot be used, as far as it helps to see which one it is."""
    shown = json.dumps(value, default=str, ensure_ascii=False)
    return shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + "…"


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def _key(name: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), name)


if __name__ == "__main__":
    json.dump(configuration_schema(), sys.stdout, indent=2)
    print()
