"""In the loop: the host plays the environment, the controller decides and learns where it really runs.

`adamb_link` is what runs there, in C or Python, `link` the host's side of the conversation, `transports` its ways
(memory, pipes, a serial port), `board` puts MicroPython's side on a board; `agent` plays with all of it, and
compares every step.
"""
