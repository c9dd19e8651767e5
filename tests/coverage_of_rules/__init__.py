"""Which functions, branches, patterns and table rows of the product its corpora reach."""
