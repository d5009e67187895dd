"""Compiled steps of the transfer. Tables are two-dimensional: a row a cell, a column a class."""
