# With GPUs: gives controls of fourteen file systems to files that it may read, in which a driver has no part.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: done []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
def number(direction, kind, command, size):
    return direction << 30 | size << 16 | kind << 8 | command
READS, WRITES, NEITHER = 2, 1, 0
controls = {
    "FAT_IOCTL_SET_ATTRIBUTES": number(WRITES, ord("r"), 0x11, 4),
    "FS_IOC_SETFLAGS": number(WRITES, ord("f"), 2, 8),
    "FS_IOC_SETVERSION": number(WRITES, ord("v"), 2, 8),
    "FS_IOC_FSSETXATTR": number(WRITES, ord("X"), 32, 28),
    "FS_IOC_SET_ENCRYPTION_POLICY": number(READS, ord("f"), 19, 12),
    "FS_IOC_ENABLE_VERITY": number(WRITES, ord("f"), 133, 128),
    "EXT4_IOC_MIGRATE": number(NEITHER, ord("f"), 9, 0),
    "EXT4_IOC_MOVE_EXT": number(3, ord("f"), 15, 40),
    "EXT4_IOC_SWAP_BOOT": number(NEITHER, ord("f"), 17, 0),
    "FIFREEZE": number(3, ord("X"), 119, 4),
    "FITRIM": number(3, ord("X"), 121, 24),
    "FS_IOC_SETFSLABEL": number(WRITES, 0x94, 50, 256),
    "BTRFS_IOC_SNAP_CREATE": number(WRITES, 0x94, 1, 4096),
    "FICLONE": number(WRITES, 0x94, 9, 4),
    "FIDEDUPERANGE": number(3, 0x94, 54, 24),
    "OCFS2_IOC_RESVSP": number(WRITES, ord("o"), 40, 48),
    "CEPH_IOC_LAZYIO": number(NEITHER, 0x97, 4, 0),
    "CIFS_IOC_SHUTDOWN": number(READS, ord("X"), 125, 4),
    "CIFS_IOC_SET_INTEGRITY": number(NEITHER, 0xCF, 4, 0),
    "BCH_IOCTL_SUBVOLUME_CREATE": number(WRITES, 0xBC, 16, 32),
    "F2FS_IOC_START_ATOMIC_WRITE": number(NEITHER, 0xF5, 1, 0),
    "XFS_IOC_SWAPEXT": number(3, ord("X"), 109, 128),
    "FIBMAP": number(NEITHER, 0, 1, 0),
}
done = []
for path in (planted.file, planted.home, __file__):
    descriptor = libc.open(path.encode(), os.O_RDONLY)
    for name, control in controls.items():
        if libc.ioctl(descriptor, ctypes.c_ulong(control), (ctypes.c_uint64 * 600)(0x40)) >= 0:
            done.append((name, path))
print("done", done)
