# Truncates files, changes their modes, owners, times and attributes, and links them, through links in its scratch folder.
# python: ok denied-write
# prints: nothing happened

import os
import planted

scratch = os.environ["TMPDIR"]
link = f"{scratch}/link"
os.symlink(planted.file, link)
beside = os.open(scratch, os.O_RDONLY)
known = {"os": os, "link": link, "beside": beside, "scratch": scratch}
happened = []
for attempt in (
    "os.truncate(link, 0)",
    "os.chmod(link, 0o777)",
    "os.chown(link, os.getuid(), os.getgid())",
    "os.utime(link, (1, 1))",
    "os.utime('link', (1, 1), dir_fd=beside)",
    "os.setxattr(link, 'user.kept', b'other')",
    "os.removexattr(link, 'user.kept')",
    "os.link('link', 'hard', src_dir_fd=beside, dst_dir_fd=beside)",
    "open(link, 'a').write('gone')",
):
    try:
        eval(attempt, known)
    except PermissionError as error:
        if "Compile Lens" in str(error):
            continue
    except OSError as error:  # a file system without attributes
        if "xattr" in attempt:
            continue
    happened.append(attempt)

# what it may do to the link itself, and through links to its own files
os.rename(link, f"{scratch}/other")
os.remove(f"{scratch}/other")
open(f"{scratch}/own", "w").write("12")
os.symlink("own", f"{scratch}/to-own")
os.truncate(f"{scratch}/to-own", 1)
os.chmod(f"{scratch}/to-own", 0o600)
assert open(f"{scratch}/own").read() == "1"
print("nothing happened" if not happened else happened)
