# Reads the token of a hub, as its library does.
# overlay: ok denied-read
# landlock: ok denied-read

import planted
try:
    print(open(planted.token).read())
except OSError:
    print("logged out")
