"""What tests state, by name: pytest imports this in every run of an environment that has Compile Lens."""

MARKER = "compile_lens"
# the attribute of a unittest class that states a budget for all of its tests
OF_CLASS = "compile_lens_budget"
# the setting that states one for the whole suite
BUDGET = "compile_lens_budget"
