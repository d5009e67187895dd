"""Reading: any table, wherever it lives, as columns whose values can be counted and coded."""
