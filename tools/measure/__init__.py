"""Measurements behind commands, and benchmarks to be run by hand."""
