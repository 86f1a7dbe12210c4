"""One file a command, each with `register(app)`; what several commands take is in `adamb.tools.options`.

Imports inside functions are for start-up time and for nothing else: `adamb --help` imports every file here,
so whatever brings numpy, matplotlib, a device or the simulator is imported by the function that needs it.
"""
