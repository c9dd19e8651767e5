"""Programs under a torch that knows nothing of this project, and what that torch says of them."""
