# Writes and reads by names within folders that it has open, by links, and with names whose methods say otherwise.
# python: ok denied-read denied-write denied-write denied-write denied-write

import planted
import os, tempfile
os.chdir(tempfile.gettempdir())
open("own", "w").close()
home, here = os.open(planted.home, os.O_RDONLY), os.open(".", os.O_RDONLY)
keys = os.path.relpath(planted.token, planted.home)

class Name(bytes):
    def decode(self, *_):
        return "own"

def attempt(what):
    try:
        what()
    except OSError:
        pass

attempt(lambda: os.open(keys, os.O_RDONLY, dir_fd=home))
attempt(lambda: os.open("thesis.tex", os.O_WRONLY | os.O_TRUNC, dir_fd=home))
attempt(lambda: os.rename("own", "thesis.tex", src_dir_fd=here, dst_dir_fd=home))
attempt(lambda: os.link(planted.file, "second"))
attempt(lambda: open(Name(os.fsencode(planted.file)), "w"))
