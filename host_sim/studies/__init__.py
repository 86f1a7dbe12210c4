"""Questions about problems and about the paper, answered by numbers."""
