"""What the connected editor can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsprotocol import types

from compile_lens.documents.line_index import Encoding

STATUS_CAPABILITY = "compileLensStatus"
# renders the Markdown of `compileLens/showPage`, under a title
PAGES_CAPABILITY = "compileLensPages"
# shows the text of `compileLens/confirmChange` as a diff, and asks
CHANGES_CAPABILITY = "compileLensChanges"
# shows the tree of `compileLens/tree`
TREE_CAPABILITY = "compileLensTree"
# colors the links of `compileLens/stageLinks`, and asks again at `compileLens/stagesChanged`
STAGES_CAPABILITY = "compileLensStages"
# runs the commands of `command:` links in hovers
LINKS_CAPABILITY = "compileLensCommandLinks"
# shows the message of a diagnostic in the hover at it, above what the server says
MESSAGES_CAPABILITY = "compileLensMessagesInHovers"


@dataclass(frozen=True, slots=True)
class EditorCapabilities:
    """The client capabilities that the server uses, read once from ``initialize``."""

    encoding: Encoding = Encoding.UTF16
    pulls_diagnostics: bool = False
    related_information: bool = False
    shows_progress: bool = False
    markdown: bool = True
    answers_configuration: bool = False
    registers_configuration: bool = False
    shows_status: bool = False
    versioned_edits: bool = False
    confirms_changes: bool = False
    refreshes_lenses: bool = False
    refreshes_inlays: bool = False
    shows_documents: bool = False
    shows_pages: bool = False
    shows_tree: bool = False
    follows_command_links: bool = False
    shows_messages_in_hovers: bool = False
    takes_contents: bool = False
    links_stages: bool = False

    def markup(self, markdown: str) -> types.MarkupContent:
        """Markdown, declared as plain text for an editor that does not render it."""
        return types.MarkupContent(types.MarkupKind.Markdown if self.markdown else types.MarkupKind.PlainText, markdown)


def read_capabilities(capabilities: types.ClientCapabilities, encoding: str) -> EditorCapabilities:
    """Read ``capabilities``; ``encoding`` is the position encoding that was negotiated.

    Diagnostics are pushed to an editor that can pull but cannot be asked to pull again: it would never see a run end.
    """
    document = capabilities.text_document or types.TextDocumentClientCapabilities()
    workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
    window = capabilities.window or types.WindowClientCapabilities()
    pull, push = document.diagnostic, document.publish_diagnostics
    refresh = workspace.diagnostics is not None and workspace.diagnostics.refresh_support is True
    changes, edit = workspace.did_change_configuration, workspace.workspace_edit
    lenses, inlays, contents = workspace.code_lens, workspace.inlay_hint, workspace.text_document_content
    formats = document.hover.content_format if document.hover else None
    return EditorCapabilities(
        encoding=Encoding(encoding),
        pulls_diagnostics=pull is not None and refresh,
        related_information=any(entry is not None and entry.related_information is True for entry in (pull, push)),
        shows_progress=window.work_done_progress is True,
        markdown=formats is None or types.MarkupKind.Markdown in formats,
        answers_configuration=workspace.configuration is True,
        registers_configuration=changes is not None and changes.dynamic_registration is True,
        shows_status=_experimental(capabilities.experimental, STATUS_CAPABILITY),
        shows_pages=_experimental(capabilities.experimental, PAGES_CAPABILITY),
        shows_tree=_experimental(capabilities.experimental, TREE_CAPABILITY),
        follows_command_links=_experimental(capabilities.experimental, LINKS_CAPABILITY),
        shows_messages_in_hovers=_experimental(capabilities.experimental, MESSAGES_CAPABILITY),
        takes_contents=contents is not None and contents.dynamic_registration is True,
        links_stages=_experimental(capabilities.experimental, STAGES_CAPABILITY),
        confirms_changes=_experimental(capabilities.experimental, CHANGES_CAPABILITY),
        versioned_edits=edit is not None and edit.document_changes is True,
        refreshes_lenses=lenses is not None and lenses.refresh_support is True,
        shows_documents=window.show_document is not None and window.show_document.support is True,
        refreshes_inlays=inlays is not None and inlays.refresh_support is True,
    )


def _experimental(experimental: object, name: str) -> bool:
    if isinstance(experimental, Mapping):
        return experimental.get(name) is True
    return getattr(experimental, name, None) is True
