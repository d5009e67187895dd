"""Every experiment of the MISFEAT paper, on our implementation, beside its printed numbers."""
