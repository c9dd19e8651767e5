"""Settings from what editors send, and the schema that VS Code shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compile_lens.analysis.filters import Filters
from compile_lens.settings.groups import grouped
from compile_lens.settings.settings import Consent, RunSettings, Settings, configuration_schema, read_settings
from compile_lens.workers.job import Depth

ROOT = Path(__file__).resolve().parents[2]


def test_no_settings_are_the_defaults() -> None:
    assert read_settings(None) == (Settings(), ())
    assert read_settings({}) == (Settings(), ())


def test_every_setting_is_read() -> None:
    given = {
        "python": "/venv/bin/python",
        "run": {
            "enabled": "always",
            "onOpen": False,
            "onSave": False,
            "timeout": 5,
            "depth": "aot",
            "arguments": ["--steps", "1"],
            "entry": "script",
        },
    }
    run = RunSettings(Consent.ALWAYS, False, False, 5.0, Depth.AOT, entry="script", arguments=("--steps", "1"))
    assert read_settings(given) == (Settings("/venv/bin/python", run), ())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"python": 3}, 'compileLens.python must be a string, not 3; "" is used.'),
        ({"run": {"onOpen": "no"}}, 'compileLens.run.onOpen must be true or false, not "no"; true is used.'),
        ({"run": {"timeout": 0}}, "compileLens.run.timeout must be a number of at least 1, not 0; 60 is used."),
        ({"run": {"timeout": True}}, "compileLens.run.timeout must be a number of at least 1, not true; 60 is used."),
        (
            {"run": {"enabled": "maybe"}},
            'compileLens.run.enabled must be one of "ask", "always", "never", not "maybe"; "ask" is used.',
        ),
        (
            {"run": {"arguments": "--x"}},
            'compileLens.run.arguments must be a list of strings, not "--x"; [] is used.',
        ),
        ({"run": []}, "compileLens.run must be an object, not []."),
        (
            {"severity": {"GB0059": "loud"}},
            'compileLens.severity must be an object with values of "error", "warning", "information", "hint", "off", '
            'not {"GB0059": "loud"}; {} is used.',
        ),
        ("x", 'The settings of compileLens must be an object, not "x".'),
    ],
)
def test_a_bad_value_is_one_sentence_and_the_default(given: Any, sentence: str) -> None:
    assert read_settings(given) == (Settings(), (sentence,))


def test_a_bad_value_leaves_the_good_ones() -> None:
    settings, problems = read_settings({"run": {"timeout": "x", "onSave": False}})
    assert (settings.run.on_save, settings.run.timeout, len(problems)) == (False, 60.0, 1)


def test_settings_are_read_on_top_of_others() -> None:
    base, _ = read_settings({"python": "/p", "run": {"timeout": 5}})
    settings, _ = read_settings({"run": {"onOpen": False}}, base)
    assert (settings.python, settings.run.timeout, settings.run.on_open) == ("/p", 5.0, False)


def test_severities_and_the_cap_become_filters() -> None:
    given, problems = read_settings({"severity": {"GB0059": "off", "recompile": "warning"}, "maxFindings": 5})
    assert problems == ()
    assert given.filters == Filters({"GB0059": "off", "recompile": "warning"}, 5)
    assert Settings().filters == Filters()


def test_null_and_unknown_keys_are_passed_over() -> None:
    assert read_settings({"python": None, "server": {"command": "x"}, "trusted": True}) == (Settings(), ())


def test_the_schema_says_type_default_and_documentation_of_each_setting() -> None:
    properties = configuration_schema()["properties"]
    assert set(properties) >= {"compileLens.python", "compileLens.run.enabled", "compileLens.run.arguments"}
    for schema in properties.values():
        assert schema["markdownDescription"] and "default" in schema and "type" in schema and "scope" in schema
        assert len(schema.get("enum", ())) == len(schema.get("markdownEnumDescriptions", ()))


def test_the_defaults_of_the_schema_are_the_defaults() -> None:
    nested: dict[str, Any] = {}
    for name, schema in configuration_schema()["properties"].items():
        *path, last = name.split(".")[1:]
        level = nested
        for part in path:
            level = level.setdefault(part, {})
        level[last] = schema["default"]
    assert read_settings(nested) == (Settings(), ())


def test_the_module_prints_the_schema() -> None:
    command = [sys.executable, "-m", "compile_lens.settings.settings"]
    printed = subprocess.run(command, capture_output=True, check=True, cwd=ROOT / "server").stdout
    assert json.loads(printed) == configuration_schema()


def test_each_setting_is_in_one_group() -> None:
    groups = grouped()
    listed = [(name, schema) for group in groups for name, schema in group["properties"].items()]
    assert len(listed) == len(dict(listed))
    for _, schema in listed:
        del schema["order"]
    assert dict(listed) == configuration_schema()["properties"]
    assert all(group["properties"] for group in groups)


def test_vs_code_offers_the_same_settings() -> None:
    contributes = json.loads((ROOT / "vscode-client" / "package.json").read_text())["contributes"]
    assert contributes["configuration"][:-1] == grouped()


def test_the_page_of_settings_is_made_from_them() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    module = [sys.executable, "-m", "compile_lens.settings.settings_page"]
    assert page.read_text(encoding="utf-8") == subprocess.run(module, capture_output=True, text=True, check=True).stdout
