# Breaks the json module, then raises.
# overlay: raised run-error

import planted
import json, json.encoder
json.dumps = json.loads = json.JSONEncoder = json.encoder.JSONEncoder = None
raise ValueError("told all the same")
