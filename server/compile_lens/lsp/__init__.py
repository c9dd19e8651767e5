"""The language server: the only room that knows the protocol. One module per feature."""
