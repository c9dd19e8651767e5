# Reads from address 0 in native code.
# overlay: killed crash
# landlock: killed crash

import planted
import ctypes
ctypes.string_at(0)
