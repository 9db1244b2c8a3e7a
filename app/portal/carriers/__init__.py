"""Carriers: their status, accounts and trunks."""
