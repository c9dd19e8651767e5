"""What things mean: flags, options, codes, operators, IR, kernels. Tables that were extracted from a torch, and texts of ours."""
