"""What organizations pay, cost and earn in a month.

`rating` says what usage costs, `usage` reads the totals of the days, `statements` closes months and
keeps what was billed, `margin` compares prices with costs.
"""
