"""Parameters, each said once, and what is made of them; light enough for a shell to wait for."""
