"""The folders that commands leave: what their files are called, what is in them, and how they are read.

`record` turns JSON and CSV into dataclasses and names the field that is wrong; `run`, `latency`, `profile`
and `sweep` say what each command writes. Nothing else of the package knows these files.
"""
