"""One module a question: a function from a selection to records."""
