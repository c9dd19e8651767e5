# Overwrites its own source.
# overlay: ok
# landlock: raised denied-write
# python: raised denied-write

import planted
open(__file__, "w").write("gone")
