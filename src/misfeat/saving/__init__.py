"""A run as a folder: JSON for settings, safetensors for arrays; nothing is unpickled."""
