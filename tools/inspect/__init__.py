"""Blocks from boards: reading them from files, naming their words, judging them."""
