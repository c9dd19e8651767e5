# Fetches a page.
# overlay: raised denied-network
# landlock: raised denied-network
# python: raised denied-network

import planted
import urllib.request
urllib.request.urlopen("http://192.0.2.1/model.pt", timeout=5)
