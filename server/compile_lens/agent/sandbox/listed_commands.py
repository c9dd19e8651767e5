"""Of calls that do one of many things by a number: the numbers that are let through (``prctl``, ``fcntl``), or are not (sockets).

A later kernel gives new numbers to old calls. Of ``prctl`` and ``fcntl``, what is not listed here is answered as by a kernel that does not
know it.
"""

from __future__ import annotations

PRCTL, FCNTL = (157, 167), (72, 25)
# prctl(2), include/uapi/linux/prctl.h: what concerns the process or thread itself, and what it may know of that. Not in the list are
# those for another process (PR_SCHED_CORE), for one that is put back as it was (PR_SET_MM, PR_GET_TID_ADDRESS,
# PR_TIMER_CREATE_RESTORE_IDS), for the disks' own daemons (PR_SET_IO_FLUSHER), a table of up to a gigabyte of the kernel's
# (PR_FUTEX_HASH), and filters, for which the whole machine has one number (PR_SET_SECCOMP)
OPTIONS = {
    "PR_SET_PDEATHSIG": 1, "PR_GET_PDEATHSIG": 2, "PR_GET_DUMPABLE": 3, "PR_SET_DUMPABLE": 4, "PR_GET_KEEPCAPS": 7,
    "PR_SET_KEEPCAPS": 8, "PR_SET_NAME": 15, "PR_GET_NAME": 16, "PR_GET_SECCOMP": 21,
    "PR_CAPBSET_READ": 23, "PR_CAPBSET_DROP": 24, "PR_GET_TSC": 25, "PR_SET_TSC": 26, "PR_GET_SECUREBITS": 27,
    "PR_SET_SECUREBITS": 28, "PR_SET_TIMERSLACK": 29, "PR_GET_TIMERSLACK": 30, "PR_MCE_KILL": 33, "PR_MCE_KILL_GET": 34,
    "PR_SET_CHILD_SUBREAPER": 36, "PR_GET_CHILD_SUBREAPER": 37, "PR_SET_NO_NEW_PRIVS": 38, "PR_GET_NO_NEW_PRIVS": 39,
    "PR_SET_THP_DISABLE": 41, "PR_GET_THP_DISABLE": 42, "PR_CAP_AMBIENT": 47, "PR_SVE_SET_VL": 50, "PR_SVE_GET_VL": 51,
    "PR_GET_SPECULATION_CTRL": 52, "PR_SET_SPECULATION_CTRL": 53, "PR_PAC_RESET_KEYS": 54, "PR_SET_TAGGED_ADDR_CTRL": 55,
    "PR_GET_TAGGED_ADDR_CTRL": 56, "PR_PAC_SET_ENABLED_KEYS": 60, "PR_PAC_GET_ENABLED_KEYS": 61, "PR_SME_SET_VL": 63,
    "PR_SME_GET_VL": 64, "PR_SET_MDWE": 65, "PR_GET_MDWE": 66, "PR_GET_SHADOW_STACK_STATUS": 74,
    "PR_SET_SHADOW_STACK_STATUS": 75, "PR_LOCK_SHADOW_STACK_STATUS": 76,
    # names of mappings, the process's own auxiliary vector, and who may trace it
    "PR_SET_VMA": 0x53564D41, "PR_GET_AUXV": 0x41555856, "PR_SET_PTRACER": 0x59616D61,
}  # fmt: skip
# with the value 0, a process would close its files and memory to whoever counts them, and all that it would gain is that it dumps no
# core, as is so in any case: reported as done, since programs that want it for their secrets end without it
SET_DUMPABLE, CLOSED = OPTIONS["PR_SET_DUMPABLE"], 0
# fcntl(2), include/uapi/linux/fcntl.h
COMMANDS = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_GETLK": 5, "F_SETLK": 6, "F_SETLKW": 7,
    "F_SETOWN": 8, "F_GETOWN": 9, "F_SETSIG": 10, "F_GETSIG": 11, "F_SETOWN_EX": 15, "F_GETOWN_EX": 16,
    "F_GETOWNER_UIDS": 17, "F_OFD_GETLK": 36, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38, "F_GETLEASE": 1025,
    "F_NOTIFY": 1026, "F_DUPFD_QUERY": 1027, "F_CREATED_QUERY": 1028, "F_DUPFD_CLOEXEC": 1030, "F_SETPIPE_SZ": 1031,
    "F_GETPIPE_SZ": 1032, "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034, "F_GET_RW_HINT": 1035, "F_GET_FILE_RW_HINT": 1037,
    "F_SET_FILE_RW_HINT": 1038,
}  # fmt: skip
# a lease on a file of the user's makes whoever opens it wait; a hint about its life stays with the file, and needs no right to write
F_SETLEASE, F_SET_RW_HINT = 1024, 1036
# of sockets, by level (include/uapi/asm-generic/socket.h, include/uapi/linux/tcp.h): filters, which the kernel translates into memory of
# which the whole machine has one number, as it has for what sockets reserve (net.ipv4.tcp_mem); sending and receiving without a copy, by
# which a socket or a mapping keeps a page for each of its bytes; and protocols above TCP, which are modules of the kernel's
SOL_SOCKET, IPPROTO_TCP = 1, 6
SET_OPTIONS = (
    (54, 208),
    {
        SOL_SOCKET: {
            "SO_ATTACH_FILTER": 26, "SO_LOCK_FILTER": 44, "SO_ATTACH_BPF": 50, "SO_ATTACH_REUSEPORT_CBPF": 51,
            "SO_ATTACH_REUSEPORT_EBPF": 52, "SO_ZEROCOPY": 60, "SO_RESERVE_MEM": 73,
        },
        IPPROTO_TCP: {"TCP_ULP": 31},
    },
)  # fmt: skip
READ_OPTIONS = (55, 209), {IPPROTO_TCP: {"TCP_ZEROCOPY_RECEIVE": 35}}
