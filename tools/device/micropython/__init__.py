"""The Python core as a board has it, in the real interpreter.

`package` makes the files of a board, `interpreter` runs them in MicroPython without one, `machine` on a machine of
QEMU; `module/` is the C core as a module of MicroPython, `builds` compiles that, `costs` are those of every form.
"""
