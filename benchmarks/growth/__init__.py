"""How costs grow with the length of files, the number of findings, ranks and open files, and the size of traces."""
