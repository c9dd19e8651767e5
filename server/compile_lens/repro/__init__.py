"""From a finding to a script that fails by its exit code, and on to the cause."""
