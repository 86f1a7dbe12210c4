"""Exact dynamic programs that several problems share."""
