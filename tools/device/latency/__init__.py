"""What act and observe cost on a target, call by call."""
