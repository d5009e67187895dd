"""How numbers and names are told: the same words on the terminal, in reports and in Python."""
