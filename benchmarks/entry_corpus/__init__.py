"""How many real files are analyzed with no help: each as it is, none arranged, none with an entry made for it."""
