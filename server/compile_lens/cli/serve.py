"""Runs the language server. What editors wait for imports nothing here that parses command lines."""

from __future__ import annotations


def run_server(tcp: tuple[str, int] | None = None) -> int:
    """Serve one editor over standard input and output, or over ``tcp`` (host, port); the exit code."""
    from compile_lens.lsp.serving import serve

    return serve(tcp)
