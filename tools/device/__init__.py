"""The controller on processors other than this computer's, real and emulated.

`extras` names what is not installed, runs the programs of others and keeps what they make; `settings` and `stream`
are the job that every target gets: a controller's options, and a recorded run. `emulator` compiles the C core and
runs it on a Cortex-M or an AVR, `micropython` has the Python core as a board has it. On them stand `latency`
(costs of single calls), `loop` (a whole run where the controller really runs) and `port` (exports for boards).
"""
