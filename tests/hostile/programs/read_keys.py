# Reads a private key.
# overlay: raised denied-read
# landlock: raised denied-read
# python: raised denied-read

import planted
print(open(planted.key).read())
