# Crashes with the fault handler switched off.
# overlay: killed crash

import planted
import ctypes, faulthandler
faulthandler.disable()
ctypes.string_at(0)
