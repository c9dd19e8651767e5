"""Ways to run a file that is no script: by its example inputs, its doctests, a test that reaches it, or inputs that are made up."""
