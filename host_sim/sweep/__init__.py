"""Sweeps: problems x agents x budgets x seeds, resumable, here or on a cluster."""
