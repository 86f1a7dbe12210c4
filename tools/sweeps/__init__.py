"""The sweeps that come with the program."""
