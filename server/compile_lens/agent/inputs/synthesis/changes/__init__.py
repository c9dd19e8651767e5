"""Changes to the arguments of a call that may avoid its error."""
