# Writes where nothing is copied.
# overlay: raised denied-write
# landlock: raised denied-write
# python: raised denied-write

import planted
open("/compile-lens-hostile/model.pt", "w")
