"""How long fits, answers and reports take."""
