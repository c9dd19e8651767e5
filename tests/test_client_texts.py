"""What the VS Code client shows where VS Code itself makes links of text, which may run commands: ``notice`` takes them out."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "vscode-client" / "src"
# VS Code reads ``[label](command:…)`` as a link in these (parseLinkedText, src/vs/base/common/linkedText.ts)
MESSAGE = re.compile(r"\bshow(?:Information|Warning|Error)Message\(\s*(.*)")
PROMPT = re.compile(r"\bprompt: (?!string;)(.*)")
LANGUAGE_STATUS = re.compile(r"\bthis\.item\.(?:text|detail) = (.*)")
# what is shown of an item of a list, where VS Code makes a picture of ``$(name)`` (src/vs/base/common/iconLabels.ts)
LISTED = re.compile(r"\b(?:label|description|detail): ?(`[^`]*`|[\w.]+(?=\s*[,}]))")
# what a template may fill in: text that has been through ``label``, a picture or a number of ours
FILLED = re.compile(r"\$\{(?!label\(|icons\[|every\.length|known \?)")
# text of ours alone
LITERAL = re.compile(r'"[^"]*"[,;)]')


def sinks() -> list[tuple[str, str]]:
    found = []
    for file in sorted(SOURCES.glob("*.ts")):
        text = file.read_text()
        patterns = [MESSAGE, PROMPT, *([LANGUAGE_STATUS] if "createLanguageStatusItem" in text else [])]
        found += [(file.name, match[1]) for pattern in patterns for match in pattern.finditer(text)]
    return found


def test_no_text_becomes_a_link_that_runs_a_command() -> None:
    given = sinks()
    assert {"languageStatus.ts", "traces.ts", "compareStages.ts", "assistants.ts"} <= {name for name, _ in given}
    bad = [(name, text) for name, text in given if not text.startswith("notice(") and not LITERAL.match(text)]
    assert not bad


def test_no_name_becomes_a_picture_in_a_list() -> None:
    texts = {file.name: file.read_text() for file in SOURCES.glob("*.ts")}
    listed = [
        (name, text) for name, whole in texts.items() if "showQuickPick" in whole for text in LISTED.findall(whole)
    ]
    assert {"entries.ts", "stages.ts", "compareStages.ts", "repros.ts"} <= {name for name, _ in listed}
    assert not [one for one in listed if FILLED.search(one[1]) or (one[1][0] not in "`" and one[1] != "string")]
