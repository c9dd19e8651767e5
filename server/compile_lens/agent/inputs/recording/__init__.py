"""Notes what a program does with its models and functions while it runs."""
