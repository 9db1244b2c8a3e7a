"""The price, costs and margin of organizations by month.

`rating` says what usage costs, `usage` reads the totals of the days, `statements` closes months and
keeps what was billed, `margin` compares prices with costs.
"""
