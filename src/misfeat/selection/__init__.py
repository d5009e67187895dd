"""What a fit found, and every question it answers."""
