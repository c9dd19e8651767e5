"""All settings: their names, types, defaults and documentation, in one place.

Every editor uses the same nested object: in ``initializationOptions``, in ``workspace/configuration`` (section
``compileLens``) and in ``didChangeConfiguration``. ``python -m compile_lens.settings.settings`` prints the schema that
VS Code's ``package.json`` embeds.
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
from compile_lens.syntax.predictions.registry import ALL
from compile_lens.workers.cache_limit import DEFAULT_LIMIT_BYTES
from compile_lens.workers.job import Depth, Substitution

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
            "Whether Compile Lens may run your files in the background to see what `torch.compile` does.",
            values=(
                "Ask once for each workspace.",
                "Run in every trusted workspace without asking.",
                "Never run in the background; a file runs only when you ask for its analysis.",
            ),
            scope="machine",
        ),
    )
    on_open: bool = field(
        default=True, metadata=documented("Analyze a file that uses `torch.compile` when it is opened.")
    )
    on_save: bool = field(
        default=True, metadata=documented("Analyze a file that uses `torch.compile` when it is saved.")
    )
    timeout: float = field(
        default=60.0,
        metadata=documented("Seconds after which a run is ended. What was found by then is shown.", minimum=1),
    )
    depth: Depth = field(
        default=Depth.DYNAMO,
        metadata=documented(
            "How far a run compiles.",
            values=(
                "Stop after Dynamo: graph breaks and recompiles, in the shortest time.",
                "Stop after AOTAutograd: errors of the backward pass and of functionalization, too.",
                "Compile as written, kernels included. Slow.",
            ),
        ),
    )
    stand_in: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "What becomes of a program that asks for a GPU where there is none (docs/gpu.md).",
            values=(
                "The CPU stands in for it, and Dynamo meets the same program as on a GPU.",
                "The program runs as it does on this machine.",
            ),
        ),
    )
    missing_weights: Substitution = field(
        default=Substitution.AUTO,
        metadata=documented(
            "What becomes of a program whose pretrained weights are not here (docs/missing-weights.md).",
            values=(
                "The same architecture with random weights stands in, so that what comes after is analyzed.",
                "The program raises, as it does on this machine.",
            ),
        ),
    )
    entry: str = field(
        default="",
        metadata=documented(
            "How files run (docs/entries.md): `script`, `get_inputs`, `synthesised`, a test as `FILE::TEST`, … Empty: the first way that "
            "compiles anything. A comment in the file, `# compile-lens: entry=…`, says it for that file.",
            scope="resource",
        ),
    )
    arguments: tuple[str, ...] = field(
        default=(), metadata=documented("Command-line arguments for the file, as in `sys.argv[1:]`.")
    )


class SeverityLevel(str, Enum):
    """A severity that the user gives to a code or a kind, or ``off``."""

    ERROR = Severity.ERROR.value
    WARNING = Severity.WARNING.value
    INFORMATION = Severity.INFORMATION.value
    HINT = Severity.HINT.value
    OFF = OFF


@dataclass(frozen=True, slots=True)
class LensSettings:
    """What stands above the lines."""

    enabled: bool = field(
        default=True,
        metadata=documented("Show above each compile region and each compiled function what the last run did with it."),
    )
    candidates: bool = field(
        default=True,
        metadata=documented(
            "Offer above modules and functions that are not compiled yet to say what `torch.compile` would do."
        ),
    )


@dataclass(frozen=True, slots=True)
class InlaySettings:
    """What stands in the lines."""

    enabled: bool = field(
        default=False,
        metadata=documented("Show in the lines where a graph ends, and which dimensions of a parameter are dynamic."),
    )


@dataclass(frozen=True, slots=True)
class PredictionSettings:
    """Breaks that the source foretells."""

    enabled: bool = field(
        default=True,
        metadata=documented(
            "Show as you type where the source alone foretells a graph break. Nothing is run for it, so it works in workspaces where "
            "files may not run, too; a run replaces it by what really happens. Its severity is that of `prediction`."
        ),
    )
    rules: Mapping[str, bool] = field(
        default_factory=dict,
        metadata=documented(
            'Rules to turn on or off, as in `{"tensor-item": false, "copy": true}`. docs/predictions.md lists them with how often each '
            "is right; those that are not right often enough, or too seldom tried, are off.",
            switches=ALL,
        ),
    )


@dataclass(frozen=True, slots=True)
class FixSettings:
    """Quick fixes."""

    verify: bool = field(
        default=True,
        metadata=documented(
            "Analyze the changed text of each quick fix in the background, so that its title says what it does. "
            "Only where background runs are allowed, while nothing else runs, and for programs that end within seconds."
        ),
    )


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What is kept between runs."""

    limit: float = field(
        default=DEFAULT_LIMIT_BYTES / 1e9,
        metadata=documented(
            "Gigabytes that the caches of background runs may take; what was used longest ago goes first. "
            "They are in a folder of their own: your torch's caches are never touched.",
            minimum=0.1,
            scope="machine",
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a user can set."""

    python: str = field(
        default="",
        metadata=documented(
            "The Python interpreter that runs your files; it must have torch. Empty: the active environment, the "
            "workspace's virtual environment, then `python3`.",
            scope="machine",
        ),
    )
    run: RunSettings = field(default_factory=RunSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    severity: Mapping[str, SeverityLevel] = field(
        default_factory=dict,
        metadata=documented(
            'The severity of findings by code or kind, as in `{"GB0059": "off", "recompile": "warning"}`. '
            "A code goes before its kind; `off` hides."
        ),
    )
    max_findings: float = field(
        default=float(DEFAULT_CAP),
        metadata=documented("How many findings of one file are shown; the worst are.", minimum=1),
    )
    just_my_code: bool = field(
        default=True,
        metadata=documented(
            "What happens inside an installed library is shown at your line that calls it. Off: in the library's file, where it happens."
        ),
    )
    lenses: LensSettings = field(default_factory=LensSettings)
    inlays: InlaySettings = field(default_factory=InlaySettings)
    predictions: PredictionSettings = field(default_factory=PredictionSettings)
    fixes: FixSettings = field(default_factory=FixSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)

    @property
    def filters(self) -> Filters:
        """What the user does not want to see."""
        severities = {name: level.value for name, level in self.severity.items()}
        return Filters(severities, int(self.max_findings), self.just_my_code)


def read_settings(value: object, base: Settings | None = None) -> tuple[Settings, tuple[str, ...]]:
    """Settings from an editor's object, and one sentence for each value that cannot be used.

    What the object does not name is as in ``base`` (the defaults); what cannot be used too. Keys that are not known are
    passed over: an editor's extension has settings of its own in the same section.
    """
    base = base or Settings()
    if value is None:
        return base, ()
    if not isinstance(value, Mapping):
        return base, (f"The settings of {SECTION} must be an object, not {_shown(value)}.",)
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
                problems.append(f"{path}.{name} must be an object, not {_shown(given)}.")
            continue
        try:
            changes[entry.name] = _checked(given, hints[entry.name], entry.metadata)
        except ValueError:
            expected, used = _expected(entry, default), json.dumps(_plain(default))
            problems.append(f"{path}.{name} must be {expected}, not {_shown(given)}; {used} is used.")
    return dataclasses.replace(base, **changes)  # type: ignore[type-var]


def _checked(value: object, kind: Any, documented: Mapping[str, Any]) -> object:
    """``value`` as a ``kind``. Raises ValueError."""
    result: object = msgspec.convert(value, Annotated[kind, msgspec.Meta(ge=documented["minimum"])])
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
    if isinstance(default, Mapping):
        return {
            "type": "object",
            "additionalProperties": {"type": "string", "enum": [level.value for level in SeverityLevel]},
        }
    return {"type": {bool: "boolean", float: "number", str: "string"}[type(default)]}


def _expected(entry: dataclasses.Field[Any], default: object) -> str:
    if entry.metadata["switches"]:
        return "an object of names of rules (docs/predictions.md) with true or false"
    if isinstance(default, Enum):
        return "one of " + ", ".join(json.dumps(member.value) for member in type(default))
    if isinstance(default, tuple):
        return "a list of strings"
    if isinstance(default, Mapping):
        return "an object with values of " + ", ".join(json.dumps(level.value) for level in SeverityLevel)
    words = {bool: "true or false", float: "a number", str: "a string"}[type(default)]
    minimum = entry.metadata["minimum"]
    return words if minimum is None else f"{words} of at least {minimum}"


def _shown(value: object) -> str:
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
