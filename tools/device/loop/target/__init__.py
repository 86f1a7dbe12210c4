"""What runs on a target: its side of the link, in C and in MicroPython."""
