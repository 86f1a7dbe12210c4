"""In the loop: the host plays the environment, the controller decides and learns where it really runs."""
