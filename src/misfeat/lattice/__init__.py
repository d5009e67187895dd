"""The lattice of feature subsets: which subsets a level holds, their numbers and neighbours."""
