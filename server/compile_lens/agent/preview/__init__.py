"""Compiles a program as for a GPU that is not there: every graph as far as its kernels, none of which is launched."""
