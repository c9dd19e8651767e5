"""What a call to be found consists of: arguments with unknown sizes, the conditions on these, candidates."""
