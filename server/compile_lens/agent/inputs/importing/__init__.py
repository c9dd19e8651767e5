"""Imports a project as far as it goes: what stands for what is missing, and where else it may be."""
