"""First guesses of arguments, before a call is tried."""
