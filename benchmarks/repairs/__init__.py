"""How many breaks and recompiles of real programs have a verified fix: ``python -m benchmarks.repairs``."""
