# Tries to send its measurements somewhere, and goes on without.
# overlay: ok denied-network

import planted
import urllib.request
try:
    urllib.request.urlopen("http://metrics.example.com/", data=b"loss=1", timeout=5)
except OSError:
    print("offline")
