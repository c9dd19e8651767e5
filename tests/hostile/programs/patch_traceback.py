# Breaks the modules that describe exceptions, then raises.
# overlay: raised run-error

import planted
import linecache, traceback
traceback.TracebackException = linecache.getline = None
raise ValueError("told all the same")
