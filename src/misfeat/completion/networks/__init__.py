"""What the completers with a neural network share. Only its modules that say so import torch."""
