"""Histograms of expressions over many files, and drawings of them for a first look."""
