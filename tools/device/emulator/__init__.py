"""The C core on emulated processors.

`compile` makes images and reads them, `callgraph` finds their stack need, `cortex_m` runs and counts them; `core`
puts a controller on one, `avr` on the processor of an Arduino.
"""
