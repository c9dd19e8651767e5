"""Text with styles for a terminal, without the library that shows them: most output goes to a pipe or a file, which takes none."""

from __future__ import annotations


class Styled:
    """Pieces of a line, each with its style in Rich's words; that of the first is under the others."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self.pieces = [(text, style)]

    def append(self, text: str, style: str = "") -> None:
        """Add a piece."""
        self.pieces.append((text, style))

    @property
    def plain(self) -> str:
        """The text alone."""
        return "".join(text for text, _ in self.pieces)


def cells(text: str) -> int:
    """How many columns of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
