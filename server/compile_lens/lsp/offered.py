"""What the server offers an editor, so that ``initialize`` is answered before the features are loaded.

It must be quick to import. ``tests/lsp/test_offered.py`` compares it with what the features register.
"""

from __future__ import annotations

from lsprotocol import types

# after each of them a word or a value can be completed
COMPLETION_TRIGGERS = ('"', "'", ",", ".", "=", "[", "{", "(", "+", "-")

# requests of our own (docs/editors/protocol.md)
DETAILS_AT = "compileLens/detailsAt"
STAGE_LINKS = "compileLens/stageLinks"

# the repair of a file
FIX_ALL_KIND = "source.fixAll.compileLens"

# method → its options
METHODS: dict[str, object] = {
    types.TEXT_DOCUMENT_DID_OPEN: None,
    types.TEXT_DOCUMENT_DID_CHANGE: None,
    types.TEXT_DOCUMENT_DID_SAVE: None,
    types.TEXT_DOCUMENT_DID_CLOSE: None,
    types.TEXT_DOCUMENT_HOVER: None,
    types.TEXT_DOCUMENT_DEFINITION: None,
    types.TEXT_DOCUMENT_IMPLEMENTATION: None,
    types.TEXT_DOCUMENT_REFERENCES: None,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: None,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: None,
    types.TEXT_DOCUMENT_FOLDING_RANGE: None,
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(
        trigger_characters=list(COMPLETION_TRIGGERS), resolve_provider=True
    ),
    types.COMPLETION_ITEM_RESOLVE: None,
    types.TEXT_DOCUMENT_SIGNATURE_HELP: types.SignatureHelpOptions(
        trigger_characters=["(", ","], retrigger_characters=["="]
    ),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL_KIND, "repro"]
    ),
    types.TEXT_DOCUMENT_CODE_LENS: types.CodeLensOptions(resolve_provider=False),
    types.TEXT_DOCUMENT_INLAY_HINT: types.InlayHintOptions(resolve_provider=False),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: types.DocumentLinkOptions(resolve_provider=False),
    types.NOTEBOOK_DOCUMENT_DID_OPEN: None,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: None,
    types.NOTEBOOK_DOCUMENT_DID_SAVE: None,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: None,
    types.WORKSPACE_EXECUTE_COMMAND: None,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: None,
    DETAILS_AT: None,
    STAGE_LINKS: None,
    types.WORKSPACE_TEXT_DOCUMENT_CONTENT: None,
}

# the cells of these come together with their notebook
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("jupyter-notebook", [types.NotebookCellLanguage("python")])], save=True
)

# only to an editor that pulls diagnostics: pygls would offer it to every editor
PULL = types.DiagnosticOptions(identifier="compile-lens", inter_file_dependencies=True, workspace_diagnostics=False)

COMMANDS = (
    "compileLens.allowNetwork",
    "compileLens.allowWorkspace",
    "compileLens.allowedWorkspaces",
    "compileLens.analyze",
    "compileLens.analyzeAsIfCompiled",
    "compileLens.analyzeCell",
    "compileLens.analyzeWithoutSandbox",
    "compileLens.applyFix",
    "compileLens.assistantTool",
    "compileLens.bisect",
    "compileLens.bisectFinding",
    "compileLens.cancel",
    "compileLens.chooseEntry",
    "compileLens.closeTraces",
    "compileLens.compare",
    "compileLens.compareStages",
    "compileLens.doctor",
    "compileLens.entries",
    "compileLens.explainRuns",
    "compileLens.fixAll",
    "compileLens.fixChoices",
    "compileLens.fixTaken",
    "compileLens.followTraces",
    "compileLens.forgetFixChoices",
    "compileLens.keepOneGraph",
    "compileLens.keepWrites",
    "compileLens.leaveGpu",
    "compileLens.logs",
    "compileLens.minify",
    "compileLens.minifyFinding",
    "compileLens.openStages",
    "compileLens.openTrace",
    "compileLens.revokeWorkspace",
    "compileLens.runAndFollow",
    "compileLens.showDetails",
    "compileLens.showStage",
    "compileLens.stageSource",
    "compileLens.stages",
    "compileLens.stagesPage",
    "compileLens.stopFollowingTraces",
    "compileLens.useGpu",
    "compileLens.vary",
    "compileLens.verifyBisection",
    "compileLens.writeIssue",
    "compileLens.writeRepro",
    "compileLens.writeUnitTest",
)
