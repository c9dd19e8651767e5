# Saves a checkpoint, and loads it again.
# overlay: ok
# prints: loaded 3
# landlock: raised denied-write
# python: raised denied-write

import planted
import torch
torch.save({"step": 3}, "checkpoint.pt")
print("loaded", torch.load("checkpoint.pt")["step"])
