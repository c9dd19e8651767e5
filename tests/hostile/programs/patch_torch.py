# Replaces functions of torch that the analysis listens to.
# overlay: ok

import planted
import torch, torch._dynamo.convert_frame, torch._logging
torch._logging.trace_structured = None
torch._dynamo.convert_frame.log_dynamo_start = None
