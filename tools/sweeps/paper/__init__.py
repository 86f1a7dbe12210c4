"""What `adamb sweep paper` makes of its results: the paper's figures, running times, tests of its claims."""
