"""Ways to run a file: found in its source and in the sources around it, in the order in which they are chosen."""
