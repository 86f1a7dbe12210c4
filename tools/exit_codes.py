"""What the exit code of `adamb` says."""

OK = 0
VIOLATED = 1
"""A budget or a bound was broken, a block is damaged, a job does not fit, a required part is missing."""
USAGE = 2
"""The command line or a file is not what the command takes."""
INTERRUPTED = 130
