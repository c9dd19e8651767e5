"""Runs jobs in the user's interpreter: the standby, forked runs, the program, and the processes they start."""
