"""What the computer gives: compiled code, devices, memory, threads and progress."""
