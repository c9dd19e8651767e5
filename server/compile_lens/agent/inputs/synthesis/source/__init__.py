"""What source says of parameters: annotations, docstrings, and what bodies do with them."""
