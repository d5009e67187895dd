"""Networks of the neural completers and how they are trained: all that imports PyTorch."""
