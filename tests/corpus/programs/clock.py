"""The time and an identifier, read inside compiled code: a program that ends torch 2.11, so it is by itself."""

import datetime
import uuid

import torch

X = torch.ones(4)


# program: stamped
@torch.compile(backend="eager")
def stamped(x):
    now = datetime.datetime.now()
#         ^^^^^^^^^^^^^^^^^^^^^^^ GB0156
    token = uuid.uuid4()
#           ^^^^^^^^^^^^ GB0007
    return x + (1 if now and token else 2)


stamped(X)
