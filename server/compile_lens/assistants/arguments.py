"""Checks the arguments of a tool against its JSON schema, and says in one sentence what is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
}


class WrongArgument(Exception):
    """Its text is one sentence for the assistant."""


def checked(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` with the defaults of ``schema``. Raises WrongArgument for what the schema does not allow."""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    for name in given:
        if name not in properties:
            near = difflib.get_close_matches(name, properties, 1)
            known = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(properties)}."
            raise WrongArgument(f"{tool} has no argument '{name[:40]}'. {known}")
    for name in schema.get("required", ()):
        if name not in given:
            raise WrongArgument(f"{tool} needs the argument '{name}'.")
    found: dict[str, Any] = {}
    for name, rule in properties.items():
        if name in given:
            found[name] = _value(tool, name, rule, given[name])
        elif "default" in rule:
            found[name] = rule["default"]
    return found


def _value(tool: str, name: str, rule: Mapping[str, Any], value: Any) -> Any:
    expected = rule["type"]
    is_number = expected == "integer" and isinstance(value, bool)
    if not isinstance(value, TYPES[expected]) or is_number:
        raise WrongArgument(f"The argument '{name}' of {tool} must be of type {expected}.")
    if "enum" in rule and value not in rule["enum"]:
        raise WrongArgument(f"The argument '{name}' of {tool} must be one of {', '.join(rule['enum'])}.")
    if expected == "integer" and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        raise WrongArgument(
            f"The argument '{name}' of {tool} must be from {rule.get('minimum')} to {rule.get('maximum')}."
        )
    if isinstance(value, str) and len(value) > rule.get("maxLength", len(value)):
        raise WrongArgument(f"The argument '{name}' of {tool} has more than {rule['maxLength']:,} characters.")
    if isinstance(value, str) and len(value) < rule.get("minLength", 0):
        raise WrongArgument(f"The argument '{name}' of {tool} is empty.")
    return value
