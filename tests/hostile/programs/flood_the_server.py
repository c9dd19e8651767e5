# Reports without end, in the words of the protocol.
# overlay: killed budget
# timeout: 20

import planted
import gc
wire = next(each for each in gc.get_objects() if type(each).__name__ == "Wire")
event = b'{"event": "unknown", "text": "' + b"x" * (1 << 20) + b'"}'
while True:
    wire._send(b"E", event)
