"""What all benchmarks share: tables, draws, resumable work, and output."""
