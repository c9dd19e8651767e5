"""From a job to an outcome: what is run, how, and what is made of it."""
