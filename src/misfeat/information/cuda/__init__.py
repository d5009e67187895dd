"""Counting on a CUDA device: the same sums as the kernels of the processor, to rounding."""
