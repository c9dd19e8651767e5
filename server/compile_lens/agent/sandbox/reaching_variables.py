"""Variables of the environment by which libraries in C++ write files or start programs, and ask nothing when they do.

Only those count here that such a library follows in a program that sets nothing else, on a processor alone: a script may set those of
NCCL or of a GPU where it uses neither, and must not end for that.
"""

from __future__ import annotations

# the value is a file: graphs of lazy tensors (torch/csrc/lazy/core/debug_util.cpp), measurements of FBGEMM (fbgemm/src/FbgemmFP16.cc
# and others: FBGEMM_STATS_LOGPATH), and each call of MKL (oneMKL's guide for developers: "Using Intel oneMKL Verbose Mode")
WRITTEN = frozenset({"LTC_SAVE_TENSORS_FILE", "FBGEMM_STATS_LOGPATH", "MKL_VERBOSE_OUTPUT_FILE"})
# the value is a program, which torch starts to name the lines of addresses (torch/csrc/profiler/unwind/unwind.cpp)
STARTED = frozenset({"TORCH_ADDR2LINE_BINARY"})
