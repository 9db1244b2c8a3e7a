"""Formulas whose result a workbook does not hold."""

UNCALCULATED = "=\t"
"""What such a formula begins with in place of its ``=``: no text that somebody typed does."""
