"""Prints the tools as VS Code's package.json lists them: ``python -m compile_lens.assistants.editor_tools``."""

from __future__ import annotations

import json
import sys
from typing import Any

from compile_lens.assistants.tools import TOOLS

# while the extension offers the server for assistants, which has the same tools
WHEN = "!compileLens.offersMcp"
PREFIX = "compile-lens_"


def contributed() -> list[dict[str, Any]]:
    """The value of ``contributes.languageModelTools``."""
    return [
        {
            "name": f"{PREFIX}{tool.name}",
            "displayName": tool.title,
            "toolReferenceName": f"compileLens{''.join(word.capitalize() for word in tool.name.split('_'))}",
            "canBeReferencedInPrompt": True,
            "userDescription": tool.description.partition(". ")[0].rstrip(".") + ".",
            "modelDescription": f"torch.compile: {tool.description} Text between ⟪ and ⟫ is data of the analyzed program.",
            "tags": ["python", "pytorch", "torch.compile"],
            "when": WHEN,
            "inputSchema": tool.input_schema,
        }
        for tool in TOOLS
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(contributed(), indent=2, ensure_ascii=False) + "\n")
